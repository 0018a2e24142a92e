// Fingerprints, and findings of one cause joined to one.

#include "report/wording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "elfaudit/diagnosis.hpp"
#include "elfaudit/report.hpp"
#include "support/path.hpp"

namespace elfaudit {
namespace {

/// The name of a file without its folders; of a wheel also without its version and build number, which each release
/// changes: "foo-1.2-cp311-cp311-linux_x86_64.whl" is "foo-cp311-cp311-linux_x86_64.whl" (PyPA, "Binary distribution
/// format", File name convention).
std::string stable_name(const std::string& path) {
  std::string name(base_name(path));
  const std::size_t end = name.find(".whl");
  const std::size_t version = name.find('-');
  if (end == std::string::npos || version > end) return name;
  std::size_t tags = end;
  for (int tag = 0; tag < 3 && tags != std::string::npos && tags > version; ++tag) tags = name.rfind('-', tags - 1);
  if (tags == std::string::npos || tags <= version) return name;
  return name.erase(version, tags - version);
}

/// "a" of "a.o" (make, setuptools), "a.cpp.o" (CMake, meson), "a.pic.o" (Bazel), "a.lo" (libtool); of other files the
/// name.
std::string source_name(const std::string& path) {
  std::string name = stable_name(path);
  const auto drop = [&](std::initializer_list<std::string_view> endings) {
    for (const std::string_view ending : endings) {
      if (name.size() <= ending.size() || !name.ends_with(ending)) continue;
      name.resize(name.size() - ending.size());
      return true;
    }
    return false;
  };
  if (drop({".o", ".obj", ".lo"}) && !drop({".pic"}))
    drop({".c", ".cc", ".cpp", ".cxx", ".c++", ".C", ".cu", ".m", ".mm", ".s", ".S", ".f90", ".f"});
  return name;
}

using NameOf = std::string (*)(const std::string& path);

/// A count, an offset or an address: "7", "0x380".
bool is_number(std::string_view word) {
  while (!word.empty() && std::string_view(",;:.()").find(word.back()) != std::string_view::npos) word.remove_suffix(1);
  if (word.starts_with("0x")) return true;
  return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Where the message is all there is to know a finding by: without folders, counts, offsets and a wheel's version.
/// "/tmp/b1/x.o: section 7 ends at 0x380" is the same finding in another build folder, and in the next build; "3.12"
/// and "sm_90" are what it is about.
std::string without_places(const std::string& message, NameOf name_of) {
  std::string out;
  for (std::size_t start = 0; start < message.size();) {
    const std::size_t end = std::min(message.find(' ', start), message.size());
    if (const std::string word = name_of(message.substr(start, end - start)); !is_number(word)) out += word;
    out += ' ';
    start = end + 1;
  }
  return out;
}

/// FNV-1a: short, and the same everywhere.
class Hash {
 public:
  void add(std::string_view text) {
    for (const unsigned char c : text) mix(c);
    mix(0xff);  // in no UTF-8 text: {"ab", "c"} is not {"a", "bc"}
  }
  std::uint64_t value() const { return value_; }

 private:
  void mix(unsigned char c) { value_ = (value_ ^ c) * 0x100000001b3; }
  std::uint64_t value_ = 0xcbf29ce484222325;
};

std::string fingerprint_by(const Finding& finding, NameOf name_of, NameOf member_name_of) {
  std::vector<std::string> owners;
  for (const Site& site : finding.sites)
    owners.push_back(name_of(site.origin.path) + "\n" + member_name_of(site.origin.member));
  std::ranges::sort(owners);
  Hash hash;
  hash.add(finding.rule);
  hash.add(finding.symbol.empty() ? without_places(finding.message, name_of) : finding.symbol);
  for (const std::string& owner : owners) hash.add(owner);
  return fmt::format("{:016x}", hash.value());
}

}  // namespace

std::string fingerprint(const Finding& finding) {
  return fingerprint_by(finding, stable_name, [](const std::string& member) { return member; });
}

std::string loose_fingerprint(const Finding& finding) { return fingerprint_by(finding, source_name, source_name); }

namespace {

/// The same for findings that one edit, or one decision, is about. Views into the finding. Nothing: about it alone.
auto key_of(const Finding& finding) {
  const bool is_common = finding.cause && !finding.cause->about.empty();
  const auto key = [&] {
    return std::tuple(finding.severity, std::string_view(finding.rule), std::string_view(finding.cause->kind),
                      std::string_view(finding.cause->about), finding.links, finding.leaves_unread);
  };
  return is_common ? std::optional(key()) : std::nullopt;
}

/// Of errors of one command about which the log says nothing else besides.
auto key_of(const DiagnosedError& error) {
  using Key = decltype(std::tuple(error.command_line, std::string_view(error.kind), error.fixes, error.notes,
                                  *key_of(*error.finding)));
  const auto cause = error.finding ? key_of(*error.finding) : std::nullopt;
  return cause ? std::optional<Key>(std::in_place, error.command_line, error.kind, error.fixes, error.notes, *cause)
               : std::nullopt;
}

void join(Finding& finding, Finding&& other) { finding.also.push_back(std::move(other)); }

void join(DiagnosedError& error, DiagnosedError&& other) {
  join(*error.finding, *std::move(other.finding));
  error.lines.insert(error.lines.end(), other.lines.begin(), other.lines.end());
}

/// What has the same key is joined to the first of them, in order.
template <class T>
void join_same(std::vector<T>& all) {
  std::map<typename decltype(key_of(std::declval<const T&>()))::value_type, std::size_t> first;  // views of what stays
  std::vector<std::vector<std::size_t>> others(all.size());
  std::vector<bool> joined(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto key = key_of(all[i]);
    if (!key) continue;
    const auto [at, is_first] = first.try_emplace(*std::move(key), i);
    if (is_first) continue;
    others[at->second].push_back(i);
    joined[i] = true;
  }
  std::vector<T> grouped;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (joined[i]) continue;
    for (const std::size_t other : others[i]) join(all[i], std::move(all[other]));
    grouped.push_back(std::move(all[i]));
  }
  all = std::move(grouped);
}

}  // namespace

void group_by_cause(std::vector<Finding>& findings) { join_same(findings); }

void group_by_cause(std::vector<DiagnosedError>& errors) {
  join_same(errors);
  for (DiagnosedError& error : errors) {
    std::ranges::sort(error.lines);
    error.lines.erase(std::unique(error.lines.begin(), error.lines.end()), error.lines.end());
  }
}

}  // namespace elfaudit
