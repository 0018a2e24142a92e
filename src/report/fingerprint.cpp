#include "report/fingerprint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <vector>

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
  std::sort(owners.begin(), owners.end());
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

}  // namespace elfaudit
