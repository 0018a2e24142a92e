// Is this AddressSanitizer's build? gcc has a macro for it, clang a feature.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define ELFAUDIT_SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ELFAUDIT_SANITIZED true
#endif
#endif
#ifndef ELFAUDIT_SANITIZED
#define ELFAUDIT_SANITIZED false
#endif

namespace elfaudit::test {

constexpr bool kSanitized = ELFAUDIT_SANITIZED;
constexpr const char* kTakesMinutes = "takes minutes under sanitizers; runs without";  ///< why a test is skipped there

}  // namespace elfaudit::test
