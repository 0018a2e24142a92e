// The entry points of libFuzzer, which AFL++ calls too. One program holds all targets: the name that it is called by
// says which it runs.

#include <cstdio>
#include <cstdlib>
#include <string>

#include "fuzz.hpp"

namespace {

using namespace elfaudit::fuzz;

const Target* chosen = nullptr;

}  // namespace

extern "C" {

std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most) __attribute__((weak));

int LLVMFuzzerInitialize(int* /*argc*/, char*** argv) {
  const std::string program = (*argv)[0];
  const std::string name = program.substr(program.rfind('/') + 1);
  for (const Target& target : targets())
    if (target.name == name) chosen = &target;
  if (chosen != nullptr) return 0;
  std::fprintf(stderr, "%s: to be called by the name of a target:\n", name.c_str());
  for (const Target& target : targets()) std::fprintf(stderr, "  %s\n", std::string(target.name).c_str());
  std::exit(2);
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  run(*chosen, {reinterpret_cast<const char*>(data), size});
  return 0;
}

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  Random random(seed);
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (chosen->form == Form::Binary && random() % 2 == 0 && change_structure(bytes, random) && bytes.size() <= most)
    return bytes.copy(reinterpret_cast<char*>(data), most);
  if (LLVMFuzzerMutate != nullptr) return LLVMFuzzerMutate(data, size, most);
  change(bytes, *chosen, chosen->seeds, random);
  return bytes.copy(reinterpret_cast<char*>(data), most);
}
}
