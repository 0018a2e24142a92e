// A table: which macros the standard headers may define.

#include "locate/source/include_search.hpp"
#include "support/strings.hpp"
#include "target/machine_traits.hpp"

namespace elfaudit::source {
namespace {

constexpr std::string_view kHeaders =
    "algorithm any aio.h alloca.h array arpa/inet.h assert.h atomic barrier bit bitset byteswap.h cassert ccomplex "
    "cctype cerrno cfenv cfloat charconv chrono cinttypes ciso646 climits clocale cmath codecvt compare complex "
    "complex.h concepts condition_variable coroutine csetjmp csignal cstdalign cstdarg cstdbool cstddef cstdint "
    "cstdio cstdlib cstring ctgmath ctime ctype.h cuchar cwchar cwctype deque dirent.h dlfcn.h elf.h endian.h "
    "errno.h exception execution execinfo.h expected fcntl.h features.h fenv.h filesystem float.h fnmatch.h format "
    "forward_list fstream functional future getopt.h glob.h grp.h ifaddrs.h immintrin.h initializer_list inttypes.h "
    "iomanip ios iosfwd iostream iso646.h istream iterator langinfo.h latch libgen.h limits limits.h link.h list "
    "locale locale.h malloc.h map math.h memory memory_resource memory.h mutex net/if.h netdb.h netinet/in.h "
    "netinet/tcp.h new numbers numeric optional ostream poll.h pthread.h pwd.h queue random ranges ratio regex "
    "sched.h scoped_allocator semaphore semaphore.h set setjmp.h shared_mutex signal.h source_location span spawn.h "
    "sstream stack stdalign.h stdarg.h stdatomic.h stdbool.h stddef.h stdexcept stdint.h stdio.h stdlib.h "
    "stdnoreturn.h stop_token streambuf string string.h string_view strings.h strstream syncstream syslog.h "
    "system_error termios.h tgmath.h thread threads.h time.h tuple type_traits typeindex typeinfo uchar.h unistd.h "
    "unordered_map unordered_set utility utime.h valarray variant vector version wchar.h wctype.h wait.h wordexp.h "
    "x86intrin.h xmmintrin.h emmintrin.h cpuid.h unwind.h cxxabi.h values.h obstack.h stdc-predef.h";

}  // namespace

bool is_standard_header(std::string_view name) {
  if (starts_with_any(name, {"sys/", "bits/", "asm/", "linux/", "gnu/", "ext/", "experimental/", "netinet/"}))
    return true;
  return has_word(kHeaders, name);
}

bool is_standard_macro(std::string_view name) {
  // EINVAL, WNOHANG
  if ((name.starts_with('E') || name.starts_with('W')) && name.find('_') == std::string_view::npos) return true;
  constexpr std::string_view kStarts =
      "_GLIBCXX __GLIBC _LIBCPP __USE_ _POSIX _XOPEN _BSD _ISOC _LARGEFILE _DEFAULT_SOURCE __STDC_ __cpp_lib_ "
      "__WORDSIZE __BYTE_ORDER __LITTLE_ENDIAN __BIG_ENDIAN __FLOAT_WORD _SC_ _PC_ _CS_ _LP64 __SIZEOF_ __have_ "
      "__need_ _PTHREAD PTHREAD_ _FORTIFY __ASSERT __timer __NFDBITS SIG SA_ O_ S_I F_ AT_ MAP_ PROT_ MADV_ CLOCK_ "
      "RTLD_ AF_ PF_ SOCK_ SO_ IPPROTO_ TCP_ INET INT UINT LONG_ ULONG_ LLONG_ ULLONG_ SHRT_ USHRT_ CHAR_ SCHAR_ "
      "UCHAR_ SIZE_MAX SSIZE_MAX PTRDIFF_ WCHAR_ WINT_ PRI SCN FLT_ DBL_ LDBL_ FP_ FE_ M_ HUGE_ NAN PATH_MAX "
      "NAME_MAX IOV_MAX BUFSIZ SEEK_ L_tmpnam TMP_MAX RAND_MAX MB_ LC_ NULL BYTE_ORDER LITTLE_ENDIAN BIG_ENDIAN "
      "PDP_ENDIAN ATOMIC_ TIME_UTC va_ offsetof assert errno std alloca bool true false complex thread_local "
      "noreturn static_assert minor major makedev SYS_ __NR_ PAGE_ NSIG _NSIG FD_ CPU_ __CPU_ LINUX_VERSION "
      "KERNEL_VERSION";
  return any_word(kStarts, [&](std::string_view start) { return name.starts_with(start); });
}

}  // namespace elfaudit::source
