#include "input/build/ninja_manifest.hpp"

#include <filesystem>
#include <utility>

#include "input/build/ninja_reader.hpp"

namespace elfaudit {
namespace {

bool is_object(const std::string& path) {
  return path.ends_with(".o") || path.ends_with(".obj") || path.ends_with(".lo");
}

/// Collects the edges that make objects.
class CompileEntries {
 public:
  explicit CompileEntries(const std::string& path)
      : folder_(std::filesystem::path(path).parent_path().string()),
        sink_{[this](const auto& edge, const auto* rule, const auto& scope) { return add(edge, rule, scope); }} {}
  CompileEntries(const CompileEntries&) = delete;
  CompileEntries& operator=(const CompileEntries&) = delete;

  const NinjaSink& sink() const { return sink_; }
  std::vector<CompileEntry> take() { return std::move(entries_); }

 private:
  std::size_t add(const NinjaEdge& edge, const NinjaRule* rule, const NinjaScope& scope) {
    if (rule == nullptr || edge.outputs.empty() || edge.inputs.empty() || !is_object(edge.outputs.front())) return 0;
    CompileEntry entry{
        folder_, edge.inputs.front(), edge.outputs.front(), value_for(edge, *rule, scope, "command"), {}};
    const std::size_t size = entry.command.size();
    if (!entry.command.empty()) entries_.push_back(std::move(entry));
    return size;
  }

  std::string folder_;
  NinjaSink sink_;
  std::vector<CompileEntry> entries_;
};

}  // namespace

std::vector<CompileEntry> parse_ninja_manifest(std::string_view text, const std::string& path) {
  CompileEntries entries(path);
  parse_ninja(text, path, entries.sink());
  return entries.take();
}

std::vector<CompileEntry> read_ninja_manifest(const std::string& path) {
  CompileEntries entries(path);
  read_ninja(path, entries.sink());
  return entries.take();
}

}  // namespace elfaudit
