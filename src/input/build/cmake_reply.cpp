#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>

#include "input/build/build_readers.hpp"
#include "support/read_file.hpp"
#include "support/shell_words.hpp"

namespace elfaudit {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::size_t kMostBytes = std::size_t{256} << 20;  // of one file

std::optional<Json> read_json(const std::string& path) {
  const std::optional<std::string> text = read_whole(path, kMostBytes);
  if (!text) return std::nullopt;
  Json document = Json::parse(*text, nullptr, false);
  if (document.is_discarded()) return std::nullopt;
  return document;
}

/// The text at a key; empty when there is none.
std::string text_at(const Json& json, const char* key) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  return json.is_object() && found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// The list at a key; empty when there is none.
const Json& list_at(const Json& json, const char* key) {
  static const Json none = Json::array();
  if (!json.is_object()) return none;
  const auto found = json.find(key);
  return found != json.end() && found->is_array() ? *found : none;
}

/// "a client should read the index file that is last in lexicographic order"
std::string newest_index(const std::string& reply) {
  std::string newest;
  std::error_code error;
  for (fs::directory_iterator at(reply, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with("index-") && name.ends_with(".json") && name > newest) newest = name;
  }
  return newest;
}

/// A file that the reply names, which can only be in its own folder.
std::optional<Json> part_of(const std::string& reply, const std::string& name) {
  if (name.empty() || name.find('/') != std::string::npos) return std::nullopt;
  return read_json(in_folder(reply, name));
}

void read_target(const std::string& reply, const Json& target, BuildGraph& graph) {
  const std::string name = text_at(target, "name");
  const std::optional<Json> details = part_of(reply, text_at(target, "jsonFile"));
  if (name.empty() || !details) return;
  for (const Json& artifact : list_at(*details, "artifacts"))
    if (const std::string path = text_at(artifact, "path"); !path.empty()) graph.add_alias(name, path);
}

}  // namespace

void read_cmake_names(const std::string& folder, BuildGraph& graph) {
  const std::string reply = in_folder(folder, ".cmake/api/v1/reply");
  const std::optional<Json> index = part_of(reply, newest_index(reply));
  if (!index) return;
  for (const Json& object : list_at(*index, "objects")) {
    if (text_at(object, "kind") != "codemodel") continue;
    const std::optional<Json> model = part_of(reply, text_at(object, "jsonFile"));
    if (!model) continue;
    for (const Json& configuration : list_at(*model, "configurations"))
      for (const Json& target : list_at(configuration, "targets")) read_target(reply, target, graph);
  }
}

}  // namespace elfaudit
