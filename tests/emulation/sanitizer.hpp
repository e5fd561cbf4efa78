#pragma once

/// What emulated blocks tell the sanitizers. BATON_ASAN and BATON_TSAN say that this is compiled for them: GCC defines
/// macros for it, clang has features.
#if defined(__SANITIZE_ADDRESS__)
#define BATON_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define BATON_TSAN 1
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BATON_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define BATON_TSAN 1
#endif
#endif

/// A function that ThreadSanitizer does not see. With the first attribute alone, clang still notes the call on the
/// fiber's list of calls, and a call that never returns is never taken off. With the second alone, the function lies
/// within functions that are seen.
#if defined(__clang__)
#define BATON_UNSEEN __attribute__((no_sanitize("thread"), disable_sanitizer_instrumentation))
#else
#define BATON_UNSEEN __attribute__((no_sanitize("thread")))
#endif
