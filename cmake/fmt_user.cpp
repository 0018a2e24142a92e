// Does fmt.cpp make a library of the fmt that is installed? Every kind of argument that this project formats.
#include <fmt/format.h>

#include <string>

int main(int argc, char** argv) {
  const std::string text = fmt::format("{} {:>8} {:#x} {:.1f} {:5.2f} {} {}\n", argv[0], argc, argc, argc / 3.0,
                                       argc / 3.0F, 'c', argc == 1);
  return text.empty() ? 1 : 0;
}
