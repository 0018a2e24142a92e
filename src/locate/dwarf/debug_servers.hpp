// Debug files that are not installed, from the servers that DEBUGINFOD_URLS names (debuginfod(8)). elfutils' client
// fetches them by build id and keeps them in its own cache, whose place, size and age the user sets
// (debuginfod-client-config(7)).
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace elfaudit {

/// While one exists that is `asked` for, servers are asked. Process-wide: it is about the machine, not about an input.
class DebuginfodScope {
 public:
  explicit DebuginfodScope(bool asked);
  ~DebuginfodScope();
  DebuginfodScope(const DebuginfodScope&) = delete;
  DebuginfodScope& operator=(const DebuginfodScope&) = delete;

 private:
  const bool asked_;
};

bool debug_servers_asked();

/// A server may take long to find what it is asked for, and is slow: the client gives up after 90 s without data
/// (DEBUGINFOD_TIMEOUT), and tries three times.
inline constexpr unsigned kServerPatience = 300;  ///< seconds

struct FetchedFile {
  std::string path;     ///< in the client's cache; empty when it can't be had
  std::string why_not;  ///< "no server of DEBUGINFOD_URLS has it"
};

/// The debug file with this build id, which the caller has yet to prove. Several threads and processes may ask at once:
/// each file is fetched once.
FetchedFile fetch_debug_file(std::span<const std::byte> id);

}  // namespace elfaudit
