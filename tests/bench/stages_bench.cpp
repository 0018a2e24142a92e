// The stages by themselves, on objects that write_objects.cpp made: stages_bench, with ELFAUDIT_BENCH_OBJECTS naming
// their folder. Times are for comparing two versions on one machine; what is demanded is in scripts/bench.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "elfaudit/audit.hpp"
#include "resolve/resolve.hpp"
#include "scan/prefilter.hpp"
#include "scan/scan.hpp"
#include "support/name_hash.hpp"

namespace elfaudit {
namespace {

const std::vector<std::string>& objects() {
  static const std::vector<std::string> paths = [] {
    std::vector<std::string> found;
    const char* folder = std::getenv("ELFAUDIT_BENCH_OBJECTS");
    if (folder != nullptr)
      for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().extension() == ".o") found.push_back(entry.path().string());
    std::sort(found.begin(), found.end());
    return found;
  }();
  return paths;
}

LinkJob job_of_objects() {
  LinkJob job;
  for (const std::string& path : objects()) job.inputs.emplace_back().path = path;
  return job;
}

void hash_names(benchmark::State& state) {
  const std::string name(static_cast<std::size_t>(state.range(0)), 'x');
  for (auto _ : state) benchmark::DoNotOptimize(hash_name(name.c_str(), name.c_str() + name.size() + 1));
}
BENCHMARK(hash_names)->Arg(8)->Arg(60)->Arg(500);

void prefilter(benchmark::State& state) {
  for (auto _ : state)
    benchmark::DoNotOptimize(prefilter_inputs(objects(), static_cast<unsigned>(state.range(0)), false));
}
BENCHMARK(prefilter)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

void full_scan(benchmark::State& state) {
  const LinkJob job = job_of_objects();
  for (auto _ : state) benchmark::DoNotOptimize(scan(job, static_cast<unsigned>(state.range(0))));
}
BENCHMARK(full_scan)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

void full_resolve(benchmark::State& state) {
  LinkJob job = job_of_objects();
  job.linker = static_cast<LinkerKind>(state.range(0));
  const std::vector<InputFacts> facts = scan(job);
  for (auto _ : state) benchmark::DoNotOptimize(resolve(job, facts));
}
BENCHMARK(full_resolve)
    ->Arg(static_cast<int>(LinkerKind::Bfd))
    ->Arg(static_cast<int>(LinkerKind::Lld))
    ->Arg(static_cast<int>(LinkerKind::Mold))
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace elfaudit

BENCHMARK_MAIN();
