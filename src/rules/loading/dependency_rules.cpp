// Libraries that were linked into a file from their archives, and that the file exports as if they were its own. And
// needed-not-allowed: libraries that a file is not to need.
//
// dependency-exported: another file of the process gets that copy, or has one too.
//  1. A file needs libz.so.1 and names functions of zlib. Another file, which is searched before libz.so.1, exports a zlib
//     of its own: the calls go there, to another version or to other state than libz.so.1 has.
//  2. Two modules of Python export copies of one library. Python loads modules with RTLD_LOCAL, where each keeps its own.
//     With RTLD_GLOBAL the second one calls into the first one's copy.
//  3. A link is about to make such a file: the archives are on its command line.
//
// export-leaked: a shared object exports the C++ library or the unwinder from their archives (-static-libstdc++), and needs no
// shared one. Whatever loads it beside the shared ones mixes two of them. What dependency-exported reports is left to it.
//
// dependency-visible (off by default): a shared object exports such a library, and nothing is known of other files.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bitset>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "elfaudit/shipping.hpp"
#include "load/load_closure.hpp"
#include "rules/loading/loaded.hpp"
#include "scan/scan.hpp"
#include "ship/allow_lists.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"

namespace elfaudit {
namespace {

constexpr Rule kExported{
    .id = "dependency-exported",
    .severity = Severity::Warning,
    .summary = "a file exports a library that was linked into it, and other files of the process get or have it too"};

constexpr Rule kVisible{.id = "dependency-visible",
                        .severity = Severity::Warning,
                        .summary = "a shared object exports a third-party library that was linked into it",
                        .on = false};

constexpr Rule kLeaked{.id = "export-leaked",
                       .severity = Severity::Warning,
                       .summary = "a shared object exports the C++ library or the unwinder that was linked into it"};

constexpr Rule kNeededNotAllowed{
    .id = "needed-not-allowed",
    .severity = Severity::Error,
    .summary = "a file needs a library that --may-need does not have, or that --must-not-need has",
    .kind = RuleKind::Silent};
using Words = std::vector<std::string_view>;

/// A library that is often linked into others from its archive.
struct Dependency {
  std::string_view name;
  Words files;               ///< how its own shared objects begin
  Words markers;             ///< functions of it, of which a copy has most; mangled ones without parameters
  Words prefixes;            ///< with which nearly all of its names begin
  std::string_view archive;  ///< for --exclude-libs
  bool of_language = false;  ///< it belongs to the compiler, and every program has it: see export-leaked
};

// The markers are exported by each version of the library since the year in parentheses, as its headers show:
// zlib 1.2 (2003), OpenSSL 1.1 and BoringSSL (2016), libstdc++ 3.4 (2004) and libc++ 3 (2011), and so on.
const std::vector<Dependency>& dependencies() {
  static const std::vector<Dependency> rows = {
      {"zlib",
       {"libz.", "libz-", "zlib"},
       {"inflate", "inflateInit2_", "inflateEnd", "deflate", "deflateInit2_"},
       {"inflate", "deflate", "gzopen", "gzread", "gzwrite", "gzclose", "gzseek", "crc32", "adler32", "_tr_", "zcalloc",
        "zcfree", "zlibVersion", "zlibCompileFlags"},
       "libz.a"},
      {"OpenSSL",
       {"libcrypto", "libssl", "libboringssl"},
       {"EVP_DigestInit_ex", "EVP_CIPHER_CTX_new", "BIO_new", "ERR_get_error", "X509_free", "SSL_CTX_new", "SSL_read"},
       {"EVP_",    "BIO_", "ERR_",  "X509", "SSL_",   "CRYPTO_", "OPENSSL_", "BN_",
        "EC_",     "RSA_", "ASN1_", "PEM_", "RAND_",  "HMAC_",   "SHA1_",    "SHA256_",
        "SHA512_", "AES_", "ossl_", "DSA_", "PKCS7_", "PKCS12_", "OCSP_"},
       "libcrypto.a"},
      {"libcurl",
       {"libcurl"},
       {"curl_easy_init", "curl_easy_perform", "curl_global_init"},
       {"curl_", "Curl_"},
       "libcurl.a"},
      {"SQLite",
       {"libsqlite3", "libsqlcipher"},
       {"sqlite3_open_v2", "sqlite3_prepare_v2", "sqlite3_step"},
       {"sqlite3"},
       "libsqlite3.a"},
      {"libpng", {"libpng"}, {"png_create_read_struct", "png_read_info", "png_set_IHDR"}, {"png_"}, "libpng.a"},
      {"libjpeg",
       {"libjpeg", "libturbojpeg", "libmozjpeg"},
       {"jpeg_CreateDecompress", "jpeg_read_header", "jpeg_std_error"},
       {"jpeg_", "jinit_", "jsimd_"},
       "libjpeg.a"},
      {"libtiff", {"libtiff"}, {"TIFFOpen", "TIFFReadScanline", "TIFFClose"}, {"TIFF", "_TIFF"}, "libtiff.a"},
      {"FreeType",
       {"libfreetype"},
       {"FT_Init_FreeType", "FT_New_Memory_Face", "FT_Load_Glyph"},
       {"FT_"},
       "libfreetype.a"},
      {"libxml2",
       {"libxml2"},
       {"xmlReadMemory", "xmlFreeDoc", "xmlCleanupParser"},
       {"xmlParse", "xmlRead", "xmlFree",  "xmlNew",    "xmlDoc",        "xmlNode",   "xmlCleanup",
        "xmlCtxt",  "xmlBuf",  "xmlXPath", "xmlSchema", "xmlTextReader", "xmlOutput", "xmlGet",
        "xmlSet",   "xmlSAX2", "xmlStr",   "htmlParse", "htmlNew",       "htmlDoc",   "__xml"},
       "libxml2.a"},
      {"Expat", {"libexpat"}, {"XML_ParserCreate", "XML_Parse", "XML_ParserFree"}, {"XML_"}, "libexpat.a"},
      {"bzip2", {"libbz2"}, {"BZ2_bzCompressInit", "BZ2_bzDecompressInit", "BZ2_bzDecompress"}, {"BZ2_"}, "libbz2.a"},
      {"liblzma", {"liblzma"}, {"lzma_stream_decoder", "lzma_code", "lzma_end"}, {"lzma_"}, "liblzma.a"},
      {"zstd",
       {"libzstd"},
       {"ZSTD_compress", "ZSTD_decompress", "ZSTD_createCCtx"},
       {"ZSTD_", "HUF_", "FSE_"},
       "libzstd.a"},
      {"LZ4", {"liblz4"}, {"LZ4_compress_default", "LZ4_decompress_safe", "LZ4_compress_fast"}, {"LZ4"}, "liblz4.a"},
      {"libffi", {"libffi"}, {"ffi_call", "ffi_prep_cif", "ffi_closure_alloc"}, {"ffi_"}, "libffi.a"},
      {"libuv", {"libuv"}, {"uv_run", "uv_loop_init", "uv_tcp_init"}, {"uv_"}, "libuv.a"},
      {"RE2", {"libre2"}, {"_ZN3re23RE2", "_ZN3re24Prog", "_ZN3re26Regexp"}, {"_ZN3re2", "_ZNK3re2"}, "libre2.a"},
      {"gRPC",
       {"libgrpc"},
       {"grpc_init", "grpc_shutdown", "grpc_channel_destroy"},
       {"grpc_", "_ZN9grpc_core"},
       "libgrpc.a"},
      {"protobuf",
       {"libprotobuf"},
       {"_ZN6google8protobuf11MessageLite", "_ZN6google8protobuf7Message", "_ZN6google8protobuf14DescriptorPool"},
       {"_ZN6google8protobuf", "_ZNK6google8protobuf"},
       "libprotobuf.a"},
      {"abseil",
       {"libabsl_"},
       {"_ZN4absl12lts_", "_ZN4absl5Mutex", "_ZN4absl4Cord", "_ZN4absl13base_internal"},
       {"_ZN4absl", "_ZNK4absl"},
       "ALL"},
      {"Boost",
       {"libboost_"},
       {"_ZN5boost10filesystem", "_ZN5boost6system", "_ZN5boost6thread", "_ZN5boost13serialization"},
       {"_ZN5boost", "_ZNK5boost"},
       "ALL"},
      {"the C++ library",
       {"libstdc++", "libc++", "libsupc++"},
       {"__cxa_throw", "__cxa_begin_catch", "__gxx_personality_v0", "_ZSt9terminatev"},
       {"_ZNSt", "_ZNKSt", "_ZSt", "__cxa_", "_ZN9__gnu_cxx", "_ZN10__cxxabiv1", "_Znwm", "_ZdlPv", "__gxx_"},
       "ALL",
       true},
      {"the unwinder",
       {"libgcc_s", "libunwind"},
       {"_Unwind_RaiseException", "_Unwind_Resume", "_Unwind_Backtrace", "_Unwind_GetIP", "_Unwind_DeleteException"},
       {"_Unwind_"},
       "ALL",
       true},
  };
  return rows;
}

constexpr std::size_t kFewestMarkers = 3;
constexpr std::size_t kMostBound = 5;

bool is_file_of(const Dependency& dependency, std::string_view file) {
  return std::ranges::any_of(dependency.files, [&](std::string_view start) { return file.starts_with(start); });
}

/// The number of the marker that the name is; that of the markers for none.
std::size_t marker_of(const Dependency& dependency, std::string_view name) {
  std::size_t at = 0;
  for (const std::string_view marker : dependency.markers) {
    if (marker.starts_with("_ZN") ? name.starts_with(marker) : name == marker) return at;
    ++at;
  }
  return dependency.markers.size();
}

using PrefixOfRow = std::pair<std::string_view, std::size_t>;

/// All prefixes with their rows, sorted; none of them begins with another one.
std::vector<PrefixOfRow> all_prefixes() {
  std::vector<PrefixOfRow> all;
  for (std::size_t row = 0; row < dependencies().size(); ++row)
    for (const std::string_view prefix : dependencies()[row].prefixes) all.emplace_back(prefix, row);
  std::ranges::sort(all);
  std::vector<PrefixOfRow> shortest;
  for (const PrefixOfRow& one : all)
    if (shortest.empty() || !one.first.starts_with(shortest.back().first)) shortest.push_back(one);
  return shortest;
}

/// The row of the dependency whose names begin like this one; kNone for others. Asked of every symbol of every loaded
/// file.
std::uint32_t row_of(std::string_view name) {
  static const std::vector<PrefixOfRow> prefixes = all_prefixes();
  const auto after = std::ranges::upper_bound(prefixes, name, {}, &PrefixOfRow::first);
  if (after == prefixes.begin() || !name.starts_with(std::prev(after)->first)) return kNone;
  return static_cast<std::uint32_t>(std::prev(after)->second);
}

/// A few names pass that are no markers: all others are passed over by their first letters.
class MarkerFilter {
 public:
  MarkerFilter() {
    for (const Dependency& row : dependencies())
      for (const std::string_view marker : row.markers) may_be_.set(key(marker));
  }
  bool may_be_marker(std::string_view name) const { return name.size() >= kLetters && may_be_.test(key(name)); }

 private:
  static constexpr std::size_t kLetters = 6;  // the shortest marker's
  static std::size_t key(std::string_view name) {
    std::uint64_t word = 0;
    std::memcpy(&word, name.data(), kLetters);
    return (word * 0x9e3779b97f4a7c15) >> 52;
  }
  std::bitset<4096> may_be_;
};

/// What one party has and needs of one dependency.
struct Part {
  std::map<std::string_view, SymbolId> exported;  ///< functions and variables of it
  std::set<std::string_view> needed;
  bool is_library = false;  ///< the library's own shared object
  bool needs_file = false;  ///< DT_NEEDED names the library's own shared object
};

class Dependencies {
 public:
  explicit Dependencies(const Evidence& evidence) : evidence_(evidence) {}

  std::vector<Finding> exported() {
    const std::vector<Process> all = processes(evidence_);
    for (const Process& process : all) {
      if (process.is_alone) continue;
      std::set<std::size_t> rows;
      for (const Party& party : process.parties) rows.insert(copies_in(party).begin(), copies_in(party).end());
      for (const std::size_t row : rows) compare(process, row);
    }
    std::set<const ObjectFacts*> given;
    for (const Image& image : evidence_.images) given.insert(image.object);
    for (const Process& process : all) find_leaks(process, given);
    return std::move(findings_);
  }

  std::vector<Finding> visible() {
    std::set<const ObjectFacts*> seen;
    const std::vector<Process> all = processes(evidence_);
    for (const Process& process : all) {
      const Party& party = process.parties.front();
      if (process.kind == Process::Kind::Plugins || process.kind == Process::Kind::Modules) continue;
      if (process.has_program || !seen.insert(party.object).second) continue;
      for (const std::size_t row : copies_in(party))
        if (!dependencies()[row].of_language) findings_.push_back(visible(party, row));
    }
    return std::move(findings_);
  }

 private:
  /// The files that were given, and the output of a link.
  void find_leaks(const Process& process, const std::set<const ObjectFacts*>& given) {
    for (const Party& party : process.parties) {
      const bool is_given = party.object == nullptr || given.contains(party.object);
      const bool of_program =
          party.object == nullptr ? process.has_program : party.object->kind == ObjectKind::Executable;
      if (!is_given || of_program || !leaks_seen_.insert(party.object).second) continue;
      for (const std::size_t row : copies_in(party))
        if (dependencies()[row].of_language && !has_shared(process, party, row) && !is_reported(party, row))
          findings_.push_back(leaked(party, row));
    }
  }

  /// Does the party load the library's own shared object as well?
  bool has_shared(const Process& process, const Party& party, std::size_t row) {
    if (party.object != nullptr) return part(party, row).needs_file;
    return std::ranges::any_of(
        process.parties, [&](const Party& other) { return other.object != nullptr && part(other, row).is_library; });
  }

  bool is_reported(const Party& party, std::size_t row) const {
    return std::ranges::any_of(
        seen_, [&](const auto& one) { return std::get<0>(one) == row && std::get<1>(one) == party.object; });
  }

  Finding leaked(const Party& party, std::size_t row) {
    const Part& copy = part(party, row);
    const std::string source = source_of(party, row);
    Finding finding = make_finding(
        kLeaked, {},
        fmt::format("{} exports a copy of {} that was linked into it", party.name, dependencies()[row].name));
    finding.sites.push_back(party_site(evidence_, party, copy.exported.begin()->second));
    finding.sites.back().notes.push_back(fmt::format("exports {} functions and variables of it", copy.exported.size()));
    for (const auto& [name, id] : copy.exported) finding.symbols.emplace_back(name);
    finding.cause = {
        "runtime-exported",
        source.empty() ? "it has a copy of its own, needs no shared one, and hides nothing of it"
                       : fmt::format("{} is linked into it, and no option hides what that defines", base_name(source)),
        {}};
    finding.notes.push_back(
        "in a process that has the shared library, too, exceptions, locales and streams of one reach the other's code");
    finding.fixes = fixes(party, row);
    return finding;
  }

  const Part& part(const Party& party, std::size_t row) {
    const auto [at, is_new] = parts_.try_emplace(party.object);
    if (is_new) {
      at->second.resize(dependencies().size());
      read(party, at->second);
    }
    return at->second[row];
  }

  /// As its soname or its own name has it.
  static std::string_view file_name(const Party& party) {
    if (party.object == nullptr) return party.name;
    return party.object->soname.empty() ? base_name(party.name) : std::string_view(party.object->soname);
  }

  /// Rows of the libraries that a party exports, and is not.
  const std::set<std::size_t>& copies_in(const Party& party) {
    const auto [at, is_new] = copies_.try_emplace(party.object);
    if (!is_new) return at->second;
    std::map<std::size_t, std::set<std::size_t>> markers;
    const auto add = [&](std::string_view name) {
      if (const std::uint32_t row = row_of(name); row != kNone)
        if (const std::size_t marker = marker_of(dependencies()[row], name);
            marker < dependencies()[row].markers.size())
          markers[row].insert(marker);
    };
    static const MarkerFilter filter;
    const auto may_be_marker = [&](std::string_view name) { return filter.may_be_marker(name); };
    if (party.object == nullptr) {
      for (const PartySymbol& symbol : symbols_of(evidence_, party, may_be_marker))
        if (symbol.holding == Holding::Shares && !symbol.data && !symbol.weak) add(symbol.name);
    } else if (!party.object->symbolic) {
      for (const Symbol& symbol : party.object->symbols)
        if (symbol.defined() && symbol.type == SymbolType::Function && symbol.binding == Binding::Global &&
            symbol.visibility == Visibility::Default)
          if (const std::string_view name = party.object->name(symbol); may_be_marker(name)) add(name);
    }
    for (const auto& [row, found] : markers)
      if (found.size() >= kFewestMarkers && !is_file_of(dependencies()[row], file_name(party))) at->second.insert(row);
    return at->second;
  }

  static bool is_of_any(std::string_view name) { return row_of(name) != kNone; }

  void read(const Party& party, std::vector<Part>& parts) const {
    for (std::size_t row = 0; row < parts.size(); ++row) {
      parts[row].is_library = is_file_of(dependencies()[row], file_name(party));
      if (party.object != nullptr)
        parts[row].needs_file = std::ranges::any_of(party.object->needed, [&](const std::string& needed) {
          return is_file_of(dependencies()[row], base_name(needed));
        });
    }
    for (const PartySymbol& symbol : symbols_of(evidence_, party, is_of_any)) {
      Part& part = parts[row_of(symbol.name)];
      if (symbol.holding == Holding::Refers) part.needed.insert(symbol.name);
      if (symbol.holding == Holding::Shares && !symbol.weak) part.exported.emplace(symbol.name, symbol.id);
    }
  }

  void compare(const Process& process, std::size_t row) {
    for (std::uint32_t x = 0; x < process.parties.size(); ++x) {
      if (!copies_in(process.parties[x]).contains(row)) continue;
      if (process.kind == Process::Kind::Modules)
        compare_modules(process, row, x);
      else if (process.kind != Process::Kind::Plugins)
        compare_bindings(process, row, x);
    }
  }

  /// Rule 1.
  void compare_bindings(const Process& process, std::size_t row, std::uint32_t x) {
    const Part& copy = part(process.parties[x], row);
    for (std::uint32_t f = 0; f < process.parties.size(); ++f) {
      const Part& other = part(process.parties[f], row);
      const bool has_copy = copies_in(process.parties[f]).contains(row);
      if (f == x || other.is_library) continue;
      std::vector<std::string> bound;
      if (other.needs_file && !has_copy) {
        for (const std::string_view name : other.needed)
          if (copy.exported.contains(name) && first_definer(process, row, name) == x) bound.emplace_back(name);
      } else if (has_copy && f > x) {
        bound = own_calls(process.parties[f], copy, other);
      }
      if (!bound.empty()) report(process, row, x, f, bound);
    }
  }

  std::uint32_t first_definer(const Process& process, std::size_t row, std::string_view name) {
    for (std::uint32_t i = 0; i < process.parties.size(); ++i)
      if (part(process.parties[i], row).exported.contains(name)) return i;
    return kNone;
  }

  /// Functions that a file with its own copy looks up, and gets from `copy`.
  std::vector<std::string> own_calls(const Party& party, const Part& copy, const Part& own) const {
    std::vector<std::string> names;
    std::vector<std::uint32_t> indices;
    if (party.object == nullptr || party.object->symbolic || !evidence_.when_looked_up) return {};
    for (const Symbol& symbol : party.object->symbols) {
      const std::string_view name = party.object->name(symbol);
      if (symbol.type != SymbolType::Function || !copy.exported.contains(name) || !own.exported.contains(name))
        continue;
      names.emplace_back(name);
      indices.push_back(symbol.index);
    }
    try {
      const std::vector<LookedUp> when = evidence_.when_looked_up(party.object->origin, indices);
      std::vector<std::string> looked_up;
      for (std::size_t i = 0; i < names.size(); ++i)
        if (when[i] != LookedUp::Never) looked_up.push_back(std::move(names[i]));
      return looked_up;
    } catch (const InputError&) {
      return {};  // who needs these relocations reports them
    }
  }

  /// Rule 2.
  void compare_modules(const Process& process, std::size_t row, std::uint32_t x) {
    const Party& first = process.parties[x];
    for (std::uint32_t y = x + 1; y < process.parties.size(); ++y) {
      const Party& second = process.parties[y];
      if (!copies_in(second).contains(row) || Process::sees(first, second)) continue;
      const std::vector<std::string> calls = own_calls(second, part(first, row), part(second, row));
      if (!calls.empty()) report(process, row, x, y, calls);
    }
  }

  /// The archive or object that a link takes it from; empty for files.
  std::string source_of(const Party& party, std::size_t row) {
    if (party.object != nullptr) return {};
    for (const auto& [name, id] : part(party, row).exported)
      if (id.valid() && evidence_.object(id.in).origin.is_member()) return evidence_.object(id.in).origin.path;
    return {};
  }

  SymbolId definition(const Party& party, std::size_t row, const std::string& name) {
    const auto& exported = part(party, row).exported;
    const auto found = exported.find(name);
    return found == exported.end() ? SymbolId{} : found->second;
  }

  std::vector<Fix> fixes(const Party& party, std::size_t row) {
    const std::string source = source_of(party, row);
    const std::string_view archive = source.empty() ? dependencies()[row].archive : base_name(source);
    return {{fmt::format("link {} with -Wl,--exclude-libs,{}", party.name, archive)},
            {fmt::format("link {} with a version script that lists what it is to export, and `local: *;`", party.name)},
            {fmt::format("link {} against the shared library of {}", party.name, dependencies()[row].name)}};
  }

  void report(const Process& process, std::size_t row, std::uint32_t x, std::uint32_t f,
              std::vector<std::string> names) {
    const Party& first = process.parties[x];
    const Party& second = process.parties[f];
    if (!seen_.emplace(row, first.object, second.object).second) return;
    const Dependency& dependency = dependencies()[row];
    std::ranges::sort(names);
    const bool own = copies_in(second).contains(row);
    const bool modules = process.kind == Process::Kind::Modules;
    std::string message;
    if (modules)
      message = fmt::format("{} and {} both export a copy of {}: loaded with RTLD_GLOBAL, one calls the other's",
                            first.name, second.name, dependency.name);
    else if (own)
      message = fmt::format("{} exports a copy of {}, and {}, which has one of its own, calls that", first.name,
                            dependency.name, second.name);
    else
      message = fmt::format("{} exports a copy of {}, and {}, which needs the shared library, calls that copy",
                            first.name, dependency.name, second.name);
    Finding finding = make_finding(kExported, names.size() == 1 ? names.front() : std::string(), message);
    if (names.size() > 1) finding.symbols = names;
    finding.sites.push_back(party_site(evidence_, first, definition(first, row, names.front())));
    finding.sites.back().notes.push_back(
        fmt::format("exports {} functions and variables of it", part(first, row).exported.size()));
    finding.sites.push_back(party_site(evidence_, second, definition(second, row, names.front())));
    finding.sites.back().role = own ? Role::Kept : Role::Reference;
    finding.notes.push_back(fmt::format("{} {} there: {}", names.size(),
                                        modules             ? "calls may go"
                                        : names.size() == 1 ? "symbol binds"
                                                            : "symbols bind",
                                        some_symbols(names, kMostBound)));
    if (!is_of_the_user(evidence_, first) && !is_of_the_user(evidence_, second)) finding.severity = Severity::Note;
    finding.fixes = fixes(first, row);
    findings_.push_back(std::move(finding));
  }

  Finding visible(const Party& party, std::size_t row) {
    const Part& copy = part(party, row);
    Finding finding = make_finding(
        kVisible, {},
        fmt::format("{} exports a copy of {} that was linked into it", party.name, dependencies()[row].name));
    finding.sites.push_back(party_site(evidence_, party, copy.exported.begin()->second));
    finding.sites.back().notes.push_back(fmt::format("exports {} functions and variables of it", copy.exported.size()));
    for (const auto& [name, id] : copy.exported) finding.symbols.emplace_back(name);
    finding.fixes = fixes(party, row);
    return finding;
  }

  const Evidence& evidence_;
  std::unordered_map<const ObjectFacts*, std::set<std::size_t>> copies_;
  std::unordered_map<const ObjectFacts*, std::vector<Part>> parts_;
  std::set<std::tuple<std::size_t, const ObjectFacts*, const ObjectFacts*>> seen_;
  std::set<const ObjectFacts*> leaks_seen_;
  std::vector<Finding> findings_;
};

std::vector<Finding> exported_dependencies(const Evidence& evidence) { return Dependencies(evidence).exported(); }

std::vector<Finding> visible_dependencies(const Evidence& evidence) { return Dependencies(evidence).visible(); }

}  // namespace

bool is_of_a_known_dependency(const std::vector<std::string>& names) {
  std::map<std::uint32_t, std::size_t> count;
  for (const std::string& name : names) ++count[row_of(name)];
  return std::ranges::any_of(count,
                             [&](const auto& one) { return one.first != kNone && 2 * one.second >= names.size(); });
}

// --- needed-not-allowed: the lists of --may-need and --must-not-need.
//
//  1. What a file itself needs is compared, and what its neighbours need: files of its package, of its folder outside of the
//     system's, or found by $ORIGIN. Neighbours are allowed themselves.
//  2. The NVIDIA driver's libraries come with the machine: allowed unless --must-not-need names them.
//  3. A symbol that binds to the library is the reason. Without one, nothing in the file needs it.

namespace {

/// "-lz" of a link, by its symbols: who refers first.
struct BoundSymbols {
  SymbolId reference;
  std::string symbol{};
  std::size_t count = 0;
};

class NeedCheck {
 public:
  explicit NeedCheck(const Evidence& evidence) : evidence_(evidence), ship_(*evidence.ship) {
    for (const Image& image : evidence.images) packages_.try_emplace(image.object, image.package);
  }

  std::vector<Finding> run() {
    if (evidence_.job.scope.command && evidence_.job.output != OutputKind::Relocatable) check_link();
    for (const Image& image : evidence_.images)
      for (std::uint32_t i = 0; i < image.loaded.size() && !image.judged_with_its_loaders; ++i)
        if (image.loaded[i] != nullptr && (i == 0 || is_neighbour(image, i))) check(image, i);
    return std::move(findings_);
  }

 private:
  /// The option whose list does not allow the library; empty when it is allowed.
  std::string refused_by(const std::string& name, bool neighbour) const {
    const auto fits = [&](const std::string& entry) { return fits_library(entry, name); };
    if (std::ranges::any_of(ship_.must_not_need, fits)) return "--must-not-need";
    if (ship_.may_need.empty() || neighbour || host_of(name) == Host::Driver) return {};
    return std::ranges::any_of(ship_.may_need, fits) ? std::string() : "--may-need";
  }

  /// Rule 1.
  bool is_neighbour(const Image& image, std::uint32_t library) const {
    const auto given = packages_.find(image.loaded[library]);
    if (given != packages_.end() && (given->second == image.package || given->second == kNone)) return true;
    const std::string& path = image.closure.libraries[library].path;
    if (is_of_the_system(path)) return false;
    if (folder_of(path) == folder_of(image.closure.libraries.front().path)) return true;
    for (const LoadedLibrary& asker : image.closure.libraries)
      for (const NeededLibrary& needed : asker.needed)
        if (needed.library == library && needed.rule.find("ORIGIN") != std::string::npos) return true;
    return false;
  }

  void check(const Image& image, std::uint32_t asker) {
    for (const NeededLibrary& needed : image.closure.libraries[asker].needed) {
      const bool is_found = needed.library != kNone && image.loaded[needed.library] != nullptr;
      const std::string by = refused_by(needed.name, is_found && is_neighbour(image, needed.library));
      if (by.empty() || !seen_.emplace(loaded_name(image, asker), needed.name).second) continue;
      Finding finding = begin(short_name(image, asker), needed.name, by);
      finding.sites.push_back(loaded_site(image, asker, Role::Reference));
      BoundSymbols binding;
      if (is_found) {
        finding.sites.push_back(loaded_site(image, needed.library, Role::Candidate));
        for (const Symbol* reference : needed_symbols(*image.loaded[asker], true)) {
          if (definitions_.first(image, *image.loaded[asker], *reference) != needed.library) continue;
          if (binding.count++ == 0) binding.symbol = image.loaded[asker]->name(*reference);
        }
      }
      explain(finding, short_name(image, asker), needed.name, option_for(needed.name), is_found ? &binding : nullptr);
    }
  }

  void check_link() {
    const std::string output(base_name(evidence_.job.output_path));
    for (std::uint32_t i = 0; i < evidence_.inputs.size(); ++i) {
      if (evidence_.inputs[i].objects.empty() || !evidence_.resolution.linked[i][0]) continue;
      const ObjectFacts& library = evidence_.inputs[i].objects.front();
      if (library.kind != ObjectKind::SharedObject || evidence_.job.inputs[i].just_symbols) continue;
      const std::string name = library.soname.empty() ? std::string(base_name(library.origin.path)) : library.soname;
      // In a build, the others are those of its own targets as far as is known.
      const std::string& path = library.origin.path;
      const bool is_built_here = !path.starts_with('/') || (evidence_.job.scope.of_build && !is_of_the_system(path));
      const std::string by = refused_by(name, is_built_here);
      if (by.empty() || !seen_.emplace(output, name).second) continue;
      Finding finding = begin(output, name, by);
      const BoundSymbols binding = first_binding(i);
      if (binding.count != 0) add_reference(finding, binding.reference);
      finding.sites.push_back(make_file_site(library.origin, {}, Role::Candidate));
      const std::string& spelled = evidence_.job.inputs[i].spelled;
      explain(finding, output, name, spelled.starts_with("-l") ? spelled : option_for(name), &binding);
    }
  }

  void add_reference(Finding& finding, SymbolId id) const {
    finding.sites.push_back(make_site(evidence_, id, Role::Reference));
    try {
      const std::uint32_t index = evidence_.symbol(id).index;
      const std::vector<Use> uses = find_uses(evidence_.object(id.in).origin, std::span(&index, 1));
      if (uses.empty()) return;
      finding.sites.back().section = uses.front().section;
      finding.sites.back().offset = uses.front().offset;
    } catch (const InputError&) {
      // Its symbols were read, which is enough.
    }
  }

  /// Of an input that is a shared object: what its definitions are kept for.
  BoundSymbols first_binding(std::uint32_t input) const {
    std::set<std::string_view> kept;
    const ObjectFacts& library = evidence_.inputs[input].objects.front();
    for (std::uint32_t s = 0; s < library.symbols.size(); ++s)
      if (evidence_.resolution.resolution_of({{input, 0}, s}) == SymbolResolution::Kept)
        kept.insert(library.name(library.symbols[s]));
    BoundSymbols binding;
    std::set<std::string_view> counted;
    for (std::uint32_t i = 0; i < evidence_.inputs.size(); ++i)
      for (std::uint32_t o = 0; o < evidence_.inputs[i].objects.size(); ++o) {
        const ObjectFacts& object = evidence_.inputs[i].objects[o];
        if (!evidence_.resolution.linked[i][o] || object.kind != ObjectKind::Relocatable) continue;
        for (std::uint32_t s = 0; s < object.symbols.size(); ++s) {
          const std::string_view name = object.name(object.symbols[s]);
          if (object.symbols[s].defined() || !kept.contains(name) || !counted.insert(name).second) continue;
          if (binding.count++ == 0) binding = {{{i, o}, s}, std::string(name), 1};
        }
      }
    return binding;
  }

  static Finding begin(const std::string& file, const std::string& name, const std::string& by) {
    return make_finding(
        kNeededNotAllowed, {},
        fmt::format("{} needs {}, which {} {}", file, name, by, by == "--may-need" ? "does not allow" : "forbids"));
  }

  /// What links the library's archive in its place; empty where there is none. Of a finished file that is not known.
  std::string static_option(const std::string& name, const std::string& option) const {
    if (name.starts_with("libstdc++."))
      return "-static-libstdc++, and -Wl,--exclude-libs,libstdc++.a for a shared object";
    if (name.starts_with("libgcc_s.")) return "-static-libgcc";
    if (is_added_by_driver(name) || !option.starts_with("-l")) return {};
    const std::string archive = fmt::format("lib{}.a", option.substr(2));
    const bool is_here = std::ranges::any_of(evidence_.job.search_dirs, [&](const std::string& folder) {
      return is_there((std::filesystem::path(folder) / archive).string());
    });
    return is_here ? fmt::format("its archive: -Wl,-Bstatic {0} -Wl,-Bdynamic in place of {0}", option) : std::string();
  }

  /// `binding`: null where the library is not found.
  void explain(Finding& finding, const std::string& file, const std::string& name, const std::string& option,
               const BoundSymbols* binding) {
    if (binding == nullptr) {
      finding.notes.push_back(name + " is not found here: what it is needed for is not known");
    } else if (binding->count == 0) {
      finding.cause = {"nothing-binds", fmt::format("nothing in {} refers to a symbol of it", file), {}};
      finding.fixes.push_back(
          {fmt::format("remove {} when linking {}, or put -Wl,--as-needed before it", option, file)});
    } else {
      const std::string more =
          binding->count == 1 ? "" : fmt::format(" and {} more of its symbols", binding->count - 1);
      finding.cause = {"symbol-binds", fmt::format("{} refers to {}{}", file, demangle(binding->symbol), more), {}};
      if (std::string other = static_option(name, option); !other.empty())
        finding.fixes.push_back({fmt::format("link {} with {}", file, other)});
      if (!is_added_by_driver(name))
        finding.fixes.push_back({fmt::format("remove what refers to it, and {} from the link of {}", option, file)});
    }
    finding.fixes.push_back({finding.message.ends_with("forbids")
                                 ? fmt::format("if it is meant, take what fits {} out of --must-not-need", name)
                                 : fmt::format("if it is meant: --may-need {}", name)});
    findings_.push_back(std::move(finding));
  }

  const Evidence& evidence_;
  const ShipPolicy& ship_;
  std::map<const ObjectFacts*, std::uint32_t> packages_;  ///< of the files that were given
  Definitions definitions_;
  std::set<std::pair<std::string, std::string>> seen_;
  std::vector<Finding> findings_;
};

std::vector<Finding> not_allowed(const Evidence& evidence) {
  if (evidence.ship == nullptr || (evidence.ship->may_need.empty() && evidence.ship->must_not_need.empty())) return {};
  return NeedCheck(evidence).run();
}

}  // namespace

RuleFamily dependency_rules() {
  return {{&kExported, &kLeaked, &kVisible, &kNeededNotAllowed},
          {{exported_dependencies}, {visible_dependencies, &kVisible}, {not_allowed}}};
}

}  // namespace elfaudit
