// Landlock: a set of rights that are handled, which is all that is lost, and rules that give some of them back below a path.

#include "cli/commands.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "support/file.hpp"
#include "support/file_uses.hpp"

namespace elfaudit {
namespace {

// linux/landlock.h, which Debian 11 does not have; the numbers are those of all machines.
constexpr long kCreateRuleset = 444, kAddRule = 445, kRestrictSelf = 446;
constexpr unsigned kAskVersion = 1, kPathBeneath = 1;
constexpr std::uint64_t kExecute = 1, kWriteFile = 1U << 1, kRemoveFile = 1U << 5, kMakeDir = 1U << 7,
                        kMakeReg = 1U << 8;
constexpr std::uint64_t kAllWrites = kWriteFile | 0x1ff0;  // bits 4 to 12: to remove and to make what folders hold
constexpr std::uint64_t kBindAndConnect = 3;
constexpr long kVersionWithNetwork = 4;

struct Ruleset {
  std::uint64_t files = kExecute | kAllWrites;
  std::uint64_t network = 0;
};

struct [[gnu::packed]] PathRule {
  std::uint64_t allowed;
  std::int32_t parent;
};

bool allow(int ruleset, const std::string& path, std::uint64_t rights) {
  const FileDescriptor fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
  const PathRule rule{rights, fd.get()};
  return fd && ::syscall(kAddRule, ruleset, kPathBeneath, &rule, 0) == 0;
}

/// The folder in which the file that `path` leads to is or will be, and the file, if it is none that is replaced (a FIFO).
bool allow_file(int ruleset, const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::weakly_canonical(path, error);
  struct stat info {};
  if (error || std::filesystem::is_symlink(real, error)) return false;  // a link to what is yet to be made
  if (::stat(real.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) return allow(ruleset, real.string(), kWriteFile);
  return allow(ruleset, real.parent_path().string(), kWriteFile | kRemoveFile | kMakeReg);
}

/// Lets the process write in the folders of `files`, where temporary files are made and renamed, and anywhere below
/// `folders`, and gives up all else. Gives up nothing if the kernel can't do it or if one of them is missing.
void give_up_all_but(const std::vector<std::string>& files, const std::vector<std::string>& folders) {
  const long version = ::syscall(kCreateRuleset, nullptr, 0, kAskVersion);
  if (version < 1) return;
  Ruleset rights;
  if (version >= kVersionWithNetwork) rights.network = kBindAndConnect;
  const std::size_t size = version >= kVersionWithNetwork ? sizeof rights : sizeof rights.files;
  const FileDescriptor ruleset(static_cast<int>(::syscall(kCreateRuleset, &rights, size, 0)));
  if (!ruleset || !allow(ruleset.get(), "/dev/null", kWriteFile)) return;
  for (const std::string& file : files)
    if (!allow_file(ruleset.get(), file)) return;
  for (const std::string& folder : folders)
    if (!allow(ruleset.get(), folder, kWriteFile | kRemoveFile | kMakeReg | kMakeDir)) return;
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) ::syscall(kRestrictSelf, ruleset.get(), 0);
}

}  // namespace

void enter_sandbox(const Request& request) {
  // These ask drivers, compilers, git or servers.
  if (request.no_sandbox || request.has_command || !request.build.empty() || request.audit.preprocess || request.fix ||
      request.audit.debuginfod)
    return;
  std::vector<std::string> files, folders;
  for (const std::string& spec : request.formats) {  // each command has formats of its own
    const std::size_t equals = spec.find('=');
    if (equals == std::string::npos) continue;
    std::string path = spec.substr(equals + 1);
    if (path.find('%') < path.rfind('/') + 1) return;  // its folder hangs on what is audited
    files.push_back(std::move(path));
  }
  for (const std::string& file : {request.policy.write_baseline, request.facts})
    if (!file.empty()) files.push_back(file);
  for (const std::string& folder : {request.audit.cache, request.facts_folder}) {
    if (folder.empty()) continue;
    const FaultsCostNothing own;
    std::error_code error;
    std::filesystem::create_directories(folder, error);  // writing there says what is wrong
    folders.push_back(folder);
  }
  give_up_all_but(files, folders);
}

}  // namespace elfaudit
