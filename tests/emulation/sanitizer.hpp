#pragma once

/// What emulated blocks tell the sanitizers. BATON_ASAN and BATON_TSAN: this is compiled for them, of which GCC defines
/// macros and clang has features.
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

/// A function that ThreadSanitizer does not see. By the first attribute alone clang still notes that it is called, on
/// the fiber's list of calls, from which one that never returns is never taken; by the second alone it lies within
/// functions that are seen.
#if defined(__clang__)
#define BATON_UNSEEN __attribute__((no_sanitize("thread"), disable_sanitizer_instrumentation))
#else
#define BATON_UNSEEN __attribute__((no_sanitize("thread")))
#endif
