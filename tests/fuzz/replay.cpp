// Runs the targets without a fuzzing engine: on their seeds, on files, and on cut and changed inputs, the same ones each
// time.
// For CTest and for looking at a crash.
//
// usage: elfaudit_fuzz_replay [-n COUNT] [-s SEED] [-t TARGET]... [FOLDER]...
//        elfaudit_fuzz_replay --list | --write-seeds FOLDER | --write-dictionaries FOLDER
//   -n  so many cut and as many changed inputs for each target, fewer for those that are slow; 0 without it
//   -s  other changes
//   FOLDER/TARGET/* are inputs of that target; a file is an input of the targets named

#include <sys/resource.h>
#include <sys/time.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "fuzz.hpp"

namespace {

namespace fs = std::filesystem;
using namespace elfaudit::fuzz;

// --- Where the input is that is being read, when something does not hold: an abort of the sanitizers and of require().

std::string current;  ///< the file that a crash is written to
const std::string* input = nullptr;

void save_input(int signal) {
  if (input != nullptr) {
    std::FILE* file = std::fopen(current.c_str(), "wb");
    if (file != nullptr) {
      std::fwrite(input->data(), 1, input->size(), file);
      std::fclose(file);
    }
    std::fprintf(stderr, "the input is %s, %zu bytes\n", current.c_str(), input->size());
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

constexpr unsigned kSeconds = 20;  ///< of processor time: an endless loop, not a slow machine

/// True when it was refused.
bool try_input(const Target& target, const std::string& bytes, const std::string& name) {
  static const fs::path folder =
      std::getenv("FUZZ_CRASHES") != nullptr ? fs::path(std::getenv("FUZZ_CRASHES")) : fs::temp_directory_path();
  current = (folder / ("crash-" + std::string(target.name) + "-" + name)).string();
  input = &bytes;
  itimerval limit{};
  limit.it_value.tv_sec = kSeconds;
  ::setitimer(ITIMER_PROF, &limit, nullptr);
  const bool refused = run(target, bytes);
  input = nullptr;
  return refused;
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

struct Options {
  std::size_t changed = 0;
  std::uint64_t seed = 0;
  std::vector<std::string> names;
  std::vector<std::string> folders;
};

void replay(const Target& target, const Options& options) {
  std::vector<std::string> corpus = target.seeds;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < corpus.size(); ++i) names.push_back("seed-" + std::to_string(i));
  for (const std::string& place : options.folders) {
    const bool alone = fs::is_regular_file(place);
    for (const fs::path& path : alone ? std::vector<fs::path>{place} : files_in(fs::path(place) / target.name)) {
      corpus.push_back(text_of(path));
      names.push_back(path.filename().string());
    }
  }
  std::size_t refused = 0;
  for (std::size_t i = 0; i < corpus.size(); ++i) refused += try_input(target, corpus[i], names[i]) ? 1 : 0;
  const std::size_t changed = corpus.empty() ? 0 : (options.changed + target.cost - 1) / target.cost;
  // What waits for a bracket to close has to see that nothing comes any more: each is cut at places all over it.
  const std::size_t cuts = (changed + corpus.size() - 1) / std::max<std::size_t>(corpus.size(), 1);
  for (std::size_t i = 0; i < changed; ++i) {
    const std::string& whole = corpus[i % corpus.size()];
    try_input(target, whole.substr(0, whole.size() * (i / corpus.size()) / cuts), "cut-" + std::to_string(i));
  }
  Random random(std::hash<std::string_view>{}(target.name) + options.seed);
  for (std::size_t i = 0; i < changed; ++i) {
    std::string bytes = corpus[random() % corpus.size()];
    change(bytes, target, corpus, random);
    try_input(target, bytes, "changed-" + std::to_string(i));
  }
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  std::printf("%-20s %4zu inputs, %zu refused, %6zu cut and changed; %ld s, %ld MiB so far\n",
              std::string(target.name).c_str(), corpus.size(), refused, 2 * changed,
              used.ru_utime.tv_sec + used.ru_stime.tv_sec, used.ru_maxrss >> 10);
}

void write(const fs::path& path, const std::string& bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

/// As AFL++ and libFuzzer read it.
std::string dictionary_of(const Target& target) {
  std::string text;
  for (const std::string& word : target.words) {
    text += '"';
    for (const char c : word) {
      char escaped[5];
      std::snprintf(escaped, sizeof escaped, "\\x%02x", static_cast<unsigned char>(c));
      text += c > ' ' && c <= '~' && c != '"' && c != '\\' ? std::string(1, c) : std::string(escaped);
    }
    text += "\"\n";
  }
  return text;
}

}  // namespace

/// What the sanitizers find ends in save_input().
extern "C" const char* __asan_default_options() { return "abort_on_error=1"; }

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  Options options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const auto value = [&] {
      require(i + 1 < words.size(), "the option has a value");
      return words[++i];
    };
    if (word == "--list") {
      for (const Target& target : targets()) std::printf("%s\n", std::string(target.name).c_str());
      return 0;
    }
    if (word == "--write-seeds") {
      const fs::path into = value();
      for (const Target& target : targets())
        for (std::size_t k = 0; k < target.seeds.size(); ++k)
          write(into / target.name / ("seed-" + std::to_string(k)), target.seeds[k]);
      return 0;
    }
    if (word == "--write-dictionaries") {
      const fs::path into = value();
      for (const Target& target : targets())
        if (!target.words.empty()) write(into / (std::string(target.name) + ".dict"), dictionary_of(target));
      return 0;
    }
    if (word == "-n") {
      options.changed = std::stoull(value());
    } else if (word == "-s") {
      options.seed = std::stoull(value());
    } else if (word == "-t") {
      options.names.push_back(value());
    } else {
      options.folders.push_back(word);
    }
  }
  for (const int signal : {SIGABRT, SIGPROF}) std::signal(signal, save_input);
  for (const Target& target : targets())
    if (options.names.empty() ||
        std::find(options.names.begin(), options.names.end(), target.name) != options.names.end())
      replay(target, options);
  return 0;
}
