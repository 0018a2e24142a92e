// Loops that take threads only where these gain something.
#pragma once

#include <tbb/parallel_for.h>

#include <cstddef>
#include <cstdint>

namespace elfaudit {

/// Starting oneTBB takes about a millisecond of processor time, in which one thread reads a small link's files whole.
inline bool worth_threads(std::size_t count, std::uint64_t bytes) {
  constexpr std::uint64_t kFew = std::uint64_t{16} << 20;
  return count > 1 && bytes > kFew;
}

/// Calls work(i) for every i below `count`, in no order. `bytes`: of input, that all of them read together.
template <class Work>
void for_each_index(std::size_t count, std::uint64_t bytes, const Work& work) {
  if (worth_threads(count, bytes)) return tbb::parallel_for(std::size_t{0}, count, work);
  for (std::size_t i = 0; i < count; ++i) work(i);
}

}  // namespace elfaudit
