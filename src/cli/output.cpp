#include "cli/output.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "elfaudit/origin.hpp"
#include "support/mapped_file.hpp"
#include "support/replace_file.hpp"
#include "support/visible.hpp"

namespace elfaudit {

void print(std::string_view text, std::string_view what, std::FILE* stream) {
  if (std::fwrite(text.data(), 1, text.size(), stream) != text.size() || std::fflush(stream) != 0)
    throw UsageError(fmt::format("cannot write {}: {}", what, std::strerror(errno)));
}

void write_to(const std::string& path, std::string_view text) {
  std::fflush(stdout);  // what came before it, where the path is another name of standard output
  if (const int error = write_file(path, text); error != 0)
    throw UsageError(fmt::format("cannot write {}: {}", path, std::strerror(error)));
}

void complain(std::string_view text) {
  const std::string line = "elfaudit: " + visible(text) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

bool complain_of_shrunk_files() {
  const std::vector<std::string> files = take_shrunk_files();
  for (const std::string& file : files) complain(file + ": became shorter while it was read");
  return !files.empty();
}

std::string message_of(const InputError& error) {
  return Origin{error.path, error.member, {}}.display() + ": " + error.what();
}

}  // namespace elfaudit
