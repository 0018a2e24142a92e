#include "rules/loaded.hpp"

#include <algorithm>
#include <filesystem>

#include "locate/shown_path.hpp"

namespace elfaudit {

std::string loaded_name(const Image& image, std::uint32_t library) {
  if (library == 0) return image.object->origin.display();
  const ObjectFacts* facts = library < image.loaded.size() ? image.loaded[library] : nullptr;
  if (facts != nullptr && facts->origin.is_member()) return facts->origin.display();
  return shown_path(image.closure.libraries[library].path, working_folder());
}

Site loaded_site(const Image& image, std::uint32_t library, Role role) {
  Site site;
  site.role = role;
  const ObjectFacts* facts = library < image.loaded.size() ? image.loaded[library] : nullptr;
  if (library == 0) facts = image.object;
  if (facts != nullptr)
    site.origin = facts->origin;
  else
    site.origin.path = site.origin.bytes_path = image.closure.libraries[library].path;
  if (!site.origin.is_member()) site.origin.path = loaded_name(image, library);
  return site;
}

std::string shown_directory(const std::string& directory) {
  const std::string normal = std::filesystem::path(directory).lexically_normal().string();
  const std::string site = "/<prefix>/lib/python/";  // where the images stage installs wheels
  if (normal.starts_with(site)) return normal.substr(site.size());
  return normal;
}

bool is_program(const Image& image) { return image.object->kind == ObjectKind::Executable; }

bool is_python_module(const ObjectFacts& object) {
  const std::string name =
      std::filesystem::path(object.origin.is_member() ? object.origin.member : object.origin.path).filename().string();
  if (name.find(".cpython-") != std::string::npos || name.ends_with(".abi3.so")) return true;
  return std::any_of(object.symbols.begin(), object.symbols.end(), [&](const Symbol& symbol) {
    return symbol.defined() && object.name(symbol).starts_with("PyInit_");
  });
}

bool closure_is_known(const Image& image) {
  if (!image.closure.complete() || image.loaded.empty()) return false;
  if (std::find(image.loaded.begin(), image.loaded.end(), nullptr) != image.loaded.end()) return false;
  for (const LoadedLibrary& library : image.closure.libraries)
    for (const NeededLibrary& needed : library.needed)
      if (needed.library == kNone) return false;
  return true;
}

std::string loaded_by(const std::vector<std::string>& images) {
  std::string text = images.empty() ? std::string() : images.front();
  if (images.size() > 1) text += " and " + std::to_string(images.size() - 1) + " more";
  return text;
}

const Definitions::Names& Definitions::names_of(const ObjectFacts& library) {
  const auto [at, first] = names_.try_emplace(&library);
  if (!first) return at->second;
  for (const Symbol& symbol : library.symbols)
    if (symbol.defined()) at->second.emplace(library.name(symbol), &symbol);
  return at->second;
}

bool Definitions::answers(const ObjectFacts& library, const ObjectFacts& asker, const Symbol& reference) {
  const auto [from, to] = names_of(library).equal_range(asker.name(reference));
  const std::string_view wanted = asker.text(reference.version);
  return std::any_of(from, to, [&](const auto& entry) {
    const Symbol& definition = *entry.second;
    // A library without versions has only one definition, which answers to every version.
    return wanted.empty() || definition.version.empty() || library.text(definition.version) == wanted;
  });
}

std::uint32_t Definitions::first(const Image& image, const ObjectFacts& asker, const Symbol& reference) {
  for (std::uint32_t i = 0; i < image.loaded.size(); ++i)
    if (image.loaded[i] != nullptr && answers(*image.loaded[i], asker, reference)) return i;
  return kNone;
}

std::vector<const Symbol*> needed_symbols(const ObjectFacts& object, bool weak_too) {
  std::vector<const Symbol*> needed;
  for (const Symbol& symbol : object.symbols)
    if (!symbol.defined() && (weak_too || !symbol.weak()) && !symbol.name.empty()) needed.push_back(&symbol);
  return needed;
}

}  // namespace elfaudit
