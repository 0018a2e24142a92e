// The options that several commands have, as CLI11 sees them, and what their values mean.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/interface.hpp"
#include "elfaudit/config.hpp"
#include "elfaudit/error.hpp"
#include "elfaudit/jobs.hpp"
#include "elfaudit/policy.hpp"
#include "elfaudit/shipping.hpp"
#include "report/wording.hpp"
#include "rules/python/python_modules.hpp"
#include "rules/rules.hpp"
#include "support/file_uses.hpp"
#include "support/limits.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"
#include "target/gpu_arch.hpp"

namespace elfaudit {

CLI::Validator one_of_these(const std::vector<std::string>& words) {
  const auto check = [words](const std::string& word) {
    if (is_among(word, words)) return std::string();
    if (word == "none" && is_among("never", words)) return std::string("'none': write never");
    return fmt::format("'{}': expected {}{}", word, one_of(words), did_you_mean(word, words));
  };
  return {check, fmt::format("{{{}}}", fmt::join(words, ","))};
}

CLI::Validator existing_folder() {
  return {[](const std::string& path) {
            if (is_folder(path)) return std::string();
            if (!is_there(path)) return fmt::format("'{}': there is no such folder", path);
            const std::string above =
                path.substr(0, path.find_last_of('/') == std::string::npos ? 0 : path.find_last_of('/'));
            return fmt::format("'{}' is a file; expected a folder{}", path,
                               is_build_folder(above) ? ": " + (above.empty() ? "." : above) : std::string());
          },
          "DIR"};
}

/// Refuses -1, 1.5 and words.
static std::string check_number(const std::string& text) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? "" : fmt::format("'{}': expected a number", text);
}

void add_jobs(CLI::App& command, Request& request) {
  command.add_option("-j,--jobs", request.audit.jobs, "threads; 0: one for each core")
      ->check(CLI::Validator(check_number, "N"))
      ->option_text("N")
      ->capture_default_str();
}

void add_sandbox(CLI::App& command, Request& request) {
  command
      .add_flag("--no-sandbox", request.no_sandbox,
                "keep the right to start programs and to write anywhere, which an audit of files does not need")
      ->group(kAdvancedOptions);
}

void add_color(CLI::App& command, Request& request) {
  const std::vector<std::string> times = {"auto", "always", "never"};
  command.add_option("--color", request.color, one_of(times) + "; NO_COLOR is respected")
      ->check(one_of_these(times))
      ->option_text("WHEN")
      ->capture_default_str();
}

void add_format(CLI::App& command, Request& request, const std::vector<std::string>& formats) {
  command.add_option("--format", request.formats, one_of(formats))
      ->allow_extra_args(false)
      ->check(one_of_these(formats))
      ->option_text("FORMAT")
      ->default_str(formats.front());
}

void below(const char* heading, CLI::App& command, const std::function<void()>& add) {
  const std::size_t before = command.get_options().size();
  add();
  const std::vector<CLI::Option*> options = command.get_options([](const CLI::Option*) { return true; });
  for (std::size_t i = before; i < options.size(); ++i)
    if (!options[i]->get_positional() && options[i]->get_group() != kAdvancedOptions) options[i]->group(heading);
}

void add_audit_options(CLI::App& command, Request& request) {
  command
      .add_option(
          "--arch", request.archs,
          "device architecture to link for (sm_90a); may be given several times; default: all that are present, or "
          "those of the command")
      ->option_text("ARCH")
      ->allow_extra_args(false);
  command
      .add_option(
          "--linker", request.linker,
          fmt::format(
              "judge by the rules of {} (bfd is GNU ld), optionally of one version (lld:14); default: the one that "
              "the command runs",
              one_of(linker_names())))
      ->option_text("LINKER[:VERSION]");
  command.add_flag("--facts", request.facts_beside,
                   "read OBJECT.facts in the place of each object that is as it was when `elfaudit index -- "
                   "COMMAND` made that");
  add_jobs(command, request);
}

void add_command(CLI::App& command, Request& request, const std::string& says) {
  const bool has_files = !command.get_options([](const CLI::Option* one) { return one->get_positional(); }).empty();
  CLI::Option* words = command.add_option("command", request.files, says);
  words->option_text("-- COMMAND...");
  // The parser wants no two lists, and what precedes "--" would be files.
  if (has_files) words->expected(1);
}

void add_link_command(CLI::App& command, Request& request) {
  add_command(command, request, "a link command, word for word");
}

void add_input_options(CLI::App& command, Request& request) {
  command
      .add_option("files", request.files,
                  "objects, archives and shared objects in link order; wheels, other packages (.deb, .rpm, .conda, "
                  ".apk, .aar, .jar, tarballs) and directories, which are audited as they are; @FILE reads arguments "
                  "from FILE, - the names of files "
                  "from standard input, one a line")
      ->option_text("FILE...");
  add_audit_options(command, request);
  add_sandbox(command, request);
}

void add_debuginfod(CLI::App& command, Request& request) {
  command.add_flag("--debuginfod", request.audit.debuginfod,
                   "fetch debug info that is not installed from the servers that DEBUGINFOD_URLS names");
}

void add_source_options(CLI::App& command, Request& request) {
  command.add_flag(
      "--preprocess", request.audit.preprocess,
      "rerun the compile commands of objects with findings, preprocessing only, to get the exact includes");
  command
      .add_option("--compile-commands", request.audit.compile_commands,
                  "compile_commands.json to use; default: the nearest at or above each object")
      ->option_text("FILE");
  add_debuginfod(command, request);
  command
      .add_option("--cache", request.audit.cache,
                  "remember runs whose inputs have not changed in DIR, and what debug info says about definitions")
      ->option_text("DIR");
}

void add_path_options(CLI::App& command, Request& request) {
  command
      .add_option("--source-root", request.source_root,
                  "show source paths relative to DIR, not to the current directory")
      ->check(existing_folder())
      ->option_text("DIR");
  command
      .add_option("--map-path", request.path_maps,
                  command.get_name() == "diagnose"
                      ? "read and show paths that begin with FROM as if they began with TO: those of the machine that "
                        "wrote the log; may be given several times"
                      : "show source paths that begin with FROM as if they began with TO; may be given several times")
      ->option_text("FROM=TO")
      ->allow_extra_args(false);
}

/// The severity of that name; nothing for "never".
static std::optional<Severity> severity_of(const std::string& level) {
  const auto* found = std::ranges::find(kSeverities, level, [](Severity severity) { return to_word(severity); });
  return found == std::end(kSeverities) ? std::nullopt : std::optional(*found);
}

void add_report_options(CLI::App& command, Request& request) {
  command
      .add_option("--format", request.formats,
                  one_of(format_names()) +
                      "; FORMAT=FILE writes to a file, and may be given several times; %o in its "
                      "name is replaced by the link's output")
      ->option_text("FORMAT[=FILE]")
      ->default_str(format_names().front())
      ->allow_extra_args(false);
  add_path_options(command, request);
  std::vector<std::string> levels;
  for (const Severity severity : kSeverities) levels.emplace_back(to_word(severity));
  levels.emplace_back("never");
  command
      .add_option_function<std::string>(
          "--fail-on", [&request](const std::string& level) { request.fail_on = severity_of(level); },
          "lowest severity that makes the exit code 1: " + one_of(levels) + " (only report)")
      ->check(one_of_these(levels))
      ->option_text("SEVERITY")
      ->default_str(std::string(to_word(Severity::Error)));
  add_color(command, request);
  command.add_flag("--statistics", request.statistics,
                   "print how many findings each rule and cause has, and how many have a proven edit, in place of the "
                   "report; with --format json as JSON");
  command.add_flag("-q,--quiet", request.quiet, "no progress, and no text when there is nothing to report");
  command.add_flag("--stats", request.stats, "print on standard error how long each stage took")
      ->group(kAdvancedOptions);
}

void add_edit_options(CLI::App& command, Request& request) {
  CLI::Option* fix = command.add_flag(
      "--fix", request.fix,
      "apply the proven edits of the findings to the files of the project; those with uncommitted changes are left as "
      "they are");
  command.add_flag("--diff", request.diff, "print these edits as one diff for patch -p0, and no report")->excludes(fix);
  command.add_flag("--allow-dirty", request.allow_dirty, "with --fix: edit files that have uncommitted changes, too")
      ->needs(fix);
}

void add_gpu_arch(CLI::App& command, Request& request) {
  command
      .add_option_function<std::string>(
          "--gpu-arch",
          [&request](const std::string& list) {
            const std::vector<GpuArch> archs = parse_gpu_arch_list(list);
            request.audit.gpu_archs.insert(request.audit.gpu_archs.end(), archs.begin(), archs.end());
          },
          "GPU architectures that every file with device code should contain, written as in TORCH_CUDA_ARCH_LIST "
          "(8.0;9.0a;10.0+PTX), CMake (80-real;90-virtual) or nvcc (sm_90a,compute_100)")
      ->option_text("LIST")
      ->allow_extra_args(false);
}

/// "16k", "65536". Throws CLI::ValidationError.
static std::uint64_t parse_page_size(const std::string& text) {
  std::uint64_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  const std::string_view unit(end, text.data() + text.size());
  if (unit == "k" || unit == "K") size = size > 0xffff ? 0 : size << 10;
  if (error != std::errc() || (!unit.empty() && unit != "k" && unit != "K") || !std::has_single_bit(size))
    throw CLI::ValidationError("--page-size", fmt::format("{}: expected a power of two: 16k, 64k", text));
  return size;
}

void add_closure_options(CLI::App& command, ClosureOptions& options) {
  command
      .add_option("--root", options.root, "the directory that is / when the programs run, instead of this machine's")
      ->check(existing_folder())
      ->option_text("DIR");
  command.add_option("--library-path", options.library_path, "LD_LIBRARY_PATH when the programs run")
      ->allow_extra_args(false)
      ->option_text("DIR:...");
}

void add_python(CLI::App& command, Request& request) {
  command
      .add_option_function<std::string>(
          "--python",
          [&request](const std::string& list) {
            const std::vector<int> minors = parse_python_list(list);
            request.audit.pythons.insert(request.audit.pythons.end(), minors.begin(), minors.end());
          },
          "the CPython versions that wheels and extension modules should support: 3.10-3.14, 3.10,3.12")
      ->option_text("LIST")
      ->allow_extra_args(false);
}

void add_ship_options(CLI::App& command, ShipPolicy& ship) {
  command
      .add_option("--runs-on", ship.runs_on,
                  "the oldest system that the files should run on: glibc-2.28, debian-11, ubuntu-22.04, rhel-8, "
                  "manylinux_2_28")
      ->option_text("SYSTEM");
  command
      .add_option(
          "--exports", ship.exports,
          "what shared objects may export: a pattern of symbols, or a file that lists them (a version script, a "
          "Debian .symbols file, or one pattern a line); may be given several times")
      ->option_text("PATTERN|FILE")
      ->allow_extra_args(false);
  command
      .add_option("--may-need", ship.may_need,
                  "the libraries that files may need: a pattern of sonames, or libc, manylinux; may be given several "
                  "times")
      ->option_text("PATTERN")
      ->allow_extra_args(false);
  command
      .add_option("--must-not-need", ship.must_not_need,
                  "the libraries that files must not need: a pattern of sonames; may be given several times")
      ->option_text("PATTERN")
      ->allow_extra_args(false);
  command
      .add_option_function<std::string>(
          "--page-size", [&ship](const std::string& size) { ship.page_size = parse_page_size(size); },
          "the largest page size that shared objects and programs should run with: 16k, 64k")
      ->option_text("SIZE");
}

void add_build_options(CLI::App& command, Request& request) {
  command
      .add_option("-p,--build", request.build,
                  "audit the links of the Ninja or CMake build in DIR; FILE... then names targets, and none means the "
                  "build's default targets")
      ->check(existing_folder())
      ->option_text("DIR");
  command
      .add_option(
          "--ask", request.ask,
          "with -p: a compiler of the build, outside PATH, that elfaudit may run to get its linker line; may be "
          "given several times")
      ->option_text("PROGRAM")
      ->allow_extra_args(false)
      ->group(kAdvancedOptions);
}

// --- Values of options and arguments.

std::string read_standard_input() {
  note_unknown_use();
  std::string text;
  char bytes[1 << 16];
  for (;;) {
    const std::size_t n = std::fread(bytes, 1, sizeof bytes, stdin);
    if (n == 0) break;
    text.append(bytes, n);
    if (text.size() > limits::kLogBytes) throw InputError("-", "too large for standard input");
  }
  if (std::ferror(stdin) != 0) throw InputError("-", std::strerror(errno));
  return text;
}

std::vector<std::string> with_names_from_input(const std::vector<std::string>& files) {
  if (std::ranges::count(files, "-") > 1) throw UsageError("standard input (-) is named twice");
  std::vector<std::string> out;
  for (const std::string& file : files) {
    if (file != "-") {
      out.push_back(file);
      continue;
    }
    const std::string text = read_standard_input();
    const std::size_t before = out.size();
    const char end = text.find('\0') == std::string::npos ? '\n' : '\0';  // find -print0
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t stop = std::min(text.find(end, at), text.size());
      if (stop != at) out.push_back(text.substr(at, stop - at));
      at = stop + 1;
    }
    if (is_pasted_log({out.begin() + static_cast<std::ptrdiff_t>(before), out.end()}))
      throw UsageError(
          "- takes the names of files from standard input, which has what a build printed: elfaudit diagnose -");
  }
  return out;
}

std::optional<LinkerChoice> linker_of(const Request& request) {
  if (request.linker.empty()) return std::nullopt;
  return parse_linker_choice(request.linker);
}

PathMap path_map(const Request& request) {
  PathMap map{request.source_root, {}};
  for (const std::string& spec : request.path_maps) {
    const std::size_t equals = spec.rfind('=');
    if (equals == std::string::npos || equals == 0)
      throw UsageError(fmt::format("--map-path {}: expected FROM=TO", spec));
    map.prefixes.push_back({spec.substr(0, equals), spec.substr(equals + 1)});
  }
  return map;
}

bool is_partial(const Request& request) {
  return request.one_link || (!request.build.empty() && !request.files.empty());
}

// --- Those of a project's decisions, on the command line and in its file.

namespace {

/// `name` where it is a key of the file, else empty.
std::string key_named(const std::string& name) { return is_among(name, kNoKeys) ? std::string() : name; }

/// "fail-on" of --fail-on; empty for what is not a key.
std::string key_of(const CLI::Option& option) {
  const std::vector<std::string>& names = option.get_lnames();
  return names.empty() ? std::string() : key_named(names.front());
}

std::vector<std::string> keys_of(const CLI::App& command) {
  std::vector<std::string> keys;
  for (const CLI::Option* option : command.get_options())
    if (std::string key = key_of(*option); !key.empty()) keys.push_back(std::move(key));
  return keys;
}

/// A basic string of TOML 1.0. It has an escape for every character, but none for bytes that are not UTF-8: those are
/// refused, because another value would be a configuration that does something else.
std::string toml_quoted(const std::string& text) {
  constexpr std::string_view kEscaped = "\b\t\n\f\r\"\\";
  constexpr std::string_view kLetters = "btnfr\"\\";
  if (to_utf8(text) != text)
    throw UsageError("a configuration file can't hold a value that is not UTF-8: '" + text + "'");
  std::string out = "\"";
  for (const char c : text) {
    if (const std::size_t at = kEscaped.find(c); at != std::string_view::npos)
      (out += '\\') += kLetters[at];
    else if (c >= '\0' && c < ' ')
      out += unicode_escape(static_cast<char32_t>(c));
    else
      out += c;
  }
  return hidden_escaped(out, unicode_escape) + "\"";
}

/// The rest of a line, which TOML does not read.
std::string toml_comment(const std::string& text) { return "# " + visible(text) + "\n"; }

/// The lines of [severity]: what set_level() makes this policy of.
std::string dumped_levels(const Policy& policy) {
  std::map<std::string, std::vector<std::string>> levels;
  for (const std::string& rule : policy.enable) levels[rule].emplace_back("on");
  for (const auto& [rule, severity] : policy.severities)
    levels[rule].emplace_back(severity ? to_word(*severity) : "off");
  std::string out;
  for (const auto& [rule, words] : levels)
    out += words.size() == 1 ? fmt::format("{} = \"{}\"\n", rule, words.front())
                             : fmt::format("{} = [\"{}\"]\n", rule, fmt::join(words, "\", \""));
  return out;
}

bool is_list(const CLI::Option& option) { return option.get_items_expected_max() > 1; }

std::string toml_value(const CLI::Option& option) {
  const std::vector<std::string>& results = option.results();
  if (option.get_items_expected_max() == 0) return results.empty() || results.back() == "false" ? "false" : "true";
  if (results.empty()) return is_list(option) ? "[]" : toml_quoted(option.get_default_str());
  if (!is_list(option)) return toml_quoted(results.back());
  std::string list;
  for (const std::string& result : results) list += (list.empty() ? "" : ", ") + toml_quoted(result);
  return "[" + list + "]";
}

}  // namespace

void add_policy_options(CLI::App& command, PolicyRequest& request) {
  command
      .add_option("--severity", request.severities,
                  fmt::format("set a rule's severity, or switch the rule on or off: RULE={}. Rules that are off by "
                              "default, header-definition and untracked-header, open every object's debug info. "
                              "divergent-definition=on compares types, too, by all debug info",
                              fmt::join(level_names(), "|")))
      ->option_text("RULE=LEVEL")
      ->allow_extra_args(false);
  command
      .add_option("--select", request.select,
                  "report these rules and no others: a rule, a pattern such as 'python-*', or several with commas")
      ->option_text("RULE")
      ->allow_extra_args(false);
  command.add_option("--ignore", request.ignore, "report nothing of these rules")
      ->option_text("RULE")
      ->allow_extra_args(false);
  command.add_option("--enable", request.enable, "the same as --severity RULE=on")
      ->option_text("RULE")
      ->allow_extra_args(false)
      ->group(kAdvancedOptions);
  command
      .add_option("--suppress", request.suppressions,
                  "accept findings: rule=..., symbol=..., input=..., file=... (patterns), until=2027-01-31, "
                  "reason=... (required, last)")
      ->option_text("WHAT")
      ->allow_extra_args(false);
  command.add_option("--never-read", request.never_read, "exclude inputs that match a pattern; they are not read")
      ->option_text("PATTERN")
      ->allow_extra_args(false);
  command.add_option("--baseline", request.baseline, "only findings that are not in FILE count")->option_text("FILE");
  command.add_option("--write-baseline", request.write_baseline, "write the current findings to FILE, and succeed")
      ->option_text("FILE");
  command.add_flag("-v,--verbose", request.verbose,
                   "show every definition of a finding, and how many findings each suppression matches");
  command
      .add_option("--config", request.config,
                  "read FILE instead of the nearest .elfaudit.toml, or pyproject.toml with [tool.elfaudit]")
      ->option_text("FILE");
  command.add_flag("--no-config", request.no_config, "read no configuration file");
  command
      .add_flag("--dump-config", request.dump_config,
                "print the effective configuration, in the form of a configuration file")
      ->group(kAdvancedOptions);
}

void read_config_for(CLI::App& command, PolicyRequest& request, const std::vector<std::string>& inputs) {
  if (request.no_config) return;
  const bool found = request.config.empty();
  std::string path = found ? find_config(".") : request.config;
  if (path.empty())
    if (const std::string folder = folder_of_inputs(inputs); !folder.empty()) path = find_config(folder);
  if (path.empty()) return;
  // Keys of every command are keys of the file: one file serves check and link.
  std::vector<std::string> known;
  for (const CLI::App* each : command.get_parent()->get_subcommands([](const CLI::App*) { return true; })) {
    const std::vector<std::string> keys = keys_of(*each);
    known.insert(known.end(), keys.begin(), keys.end());
  }
  const CLI::Option* build = command.get_option_no_throw("--build");
  if (const std::string folder = build != nullptr && build->count() != 0 ? build->as<std::string>() : "";
      !found && !folder.empty() && !is_there(path) && is_there(in_folder(folder, "build-" + path + ".ninja")))
    throw UsageError(
        fmt::format("--config names a file of settings; a configuration of the build is a target: "
                    "elfaudit check -p {} all:{}",
                    shell_line({folder}), path));
  request.read = read_config(path, known, found);
  request.config = request.read.path;
  for (const ConfigValue& value : request.read.values) {
    CLI::Option* option = command.get_option_no_throw("--" + value.key);
    if (option == nullptr || option->count() != 0) continue;  // another command's, or the command line says it
    try {
      if (option->get_items_expected_max() == 0 && value.values == std::vector<std::string>{"false"}) continue;
      for (const std::string& one : value.values) option->add_result(one);
      option->run_callback();
    } catch (const CLI::Error& error) {
      std::string_view said = error.what();
      take_prefix(said, fmt::format("--{}: ", value.key));
      throw UsageError(fmt::format("{}: {}: {}", value.where, value.key, said));
    }
  }
}

std::string dumped_config(const CLI::App& command, const PolicyRequest& request) {
  std::string out = toml_comment(request.config.empty() ? "no configuration file" : "from " + request.config);
  for (const CLI::Option* option : command.get_options()) {
    const std::string key = key_of(*option);
    if (key.empty()) continue;
    const bool set = option->count() != 0;
    out += fmt::format("{}{} = {}  {}", set ? "" : "# ", key, toml_value(*option),
                       toml_comment(option->get_description()));
  }
  const Policy policy = policy_of(request);
  if (!policy.severities.empty() || !policy.enable.empty()) out += "\n[severity]\n" + dumped_levels(policy);
  for (const SeverityOverride& part : policy.overrides) {
    out += "\n[[override]]\n";
    if (!part.target.empty()) out += fmt::format("target = {}\n", toml_quoted(part.target));
    if (!part.path.empty()) out += fmt::format("path = {}\n", toml_quoted(part.path));
    out += "[override.severity]\n";
    for (const auto& [rule, severity] : part.severities)
      out += fmt::format("{} = \"{}\"\n", rule, severity ? to_word(*severity) : "off");
  }
  for (const Suppression& one : policy.suppressions) {
    out += "\n[[suppress]]  " + toml_comment(one.where);
    const std::pair<const char*, const std::string*> fields[] = {{"rule", &one.rule},     {"symbol", &one.symbol},
                                                                 {"input", &one.input},   {"file", &one.file},
                                                                 {"reason", &one.reason}, {"until", &one.until}};
    for (const auto& [key, text] : fields)
      if (!text->empty()) out += fmt::format("{} = {}\n", key, toml_quoted(*text));
  }
  return out;
}

namespace {

using Json = nlohmann::ordered_json;

Json either(Json one) { return {{"anyOf", {one, {{"type", "array"}, {"items", one}}}}}; }

Json schema_of(const OptionWords& option) {
  Json schema;
  if (option.takes == Takes::Nothing)
    schema = {{"type", "boolean"}};
  else if (option.value == "FORMAT[=FILE]")
    schema = {{"type", "string"}, {"pattern", fmt::format("^({})(=.+)?$", fmt::join(option.choices, "|"))}};
  else if (!option.choices.empty() && option.value != "RULE")
    schema = {{"enum", option.choices}};
  else
    schema = {{"type", {"string", "integer", "number"}}};
  if (option.repeats) schema = either(std::move(schema));
  schema["description"] = option.says;
  return schema;
}

Json table_of(Json properties, Json required = Json::array()) {
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

}  // namespace

std::string config_schema(const CommandWords& program) {
  const Json text = {{"type", "string"}};
  const std::vector<std::string> rules = rule_ids();
  Json keys = Json::object();
  for (const CommandWords& command : program.commands)
    for (const OptionWords& option : command.options)
      for (const std::string& name : option.names)
        if (const std::string key = name.starts_with("--") ? key_named(name.substr(2)) : ""; !key.empty())
          keys.emplace(key, schema_of(option));
  Json ship = Json::object();
  for (const std::string_view key : kShipKeys) ship[std::string(key)] = keys[std::string(key)];
  const Json levels = {{"type", "object"},
                       {"propertyNames", {{"enum", rules}}},
                       {"additionalProperties", either({{"enum", level_names()}})}};
  const Json override = table_of({{"path", text}, {"target", text}, {"severity", levels}});
  Json suppress = Json::object();
  for (const char* key : {"rule", "symbol", "input", "file", "reason"}) suppress[key] = text;
  suppress["until"] = {{"description", "a date, 2027-01-31, as TOML has it or in quotes"}};
  keys["required-version"] = {{"type", "string"},
                              {"description", "the versions of elfaudit that may read this file: >=0.1,<1"}};
  keys["extends"] = either(text);
  keys["enable"] = either({{"enum", rules}});
  keys["severity"] = levels;
  keys["override"] = {{"type", "array"}, {"items", override}};
  keys["ship"] = table_of(std::move(ship));
  keys["suppress"] = {{"type", "array"}, {"items", table_of(std::move(suppress), {"reason"})}};
  Json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                 {"title", ".elfaudit.toml"},
                 {"description", "The settings of a project. Made by `elfaudit --generate config-schema`."}};
  schema.update(table_of(std::move(keys)));
  return json_text(schema, 2) + "\n";
}

void set_levels(Policy& policy, const PolicyRequest& request) {
  select_rules(policy, request.select, request.ignore);
  for (const std::string& rule : request.enable) set_level(policy, rule, "on");
  for (const std::string& spec : request.severities) {
    const std::size_t equals = spec.find('=');
    if (equals == std::string::npos) throw UsageError(fmt::format("--severity {}: expected RULE=LEVEL", spec));
    const std::string rule = spec.substr(0, equals);
    const std::string level = spec.substr(equals + 1);
    set_level(policy, rule, level);
    if (level == "on") continue;  // the severities of parts of the project stay
    for (SeverityOverride& part : policy.overrides) part.severities.erase(rule);
  }
}

Policy policy_of(const PolicyRequest& request) {
  Policy policy = policy_of(request.read);
  set_levels(policy, request);
  for (const std::string& spec : request.suppressions) policy.suppressions.push_back(parse_suppression(spec));
  if (!request.baseline.empty() && request.write_baseline.empty()) policy.baseline = read_baseline(request.baseline);
  policy.baseline_path = request.baseline;
  check_policy(policy);
  return policy;
}

}  // namespace elfaudit
