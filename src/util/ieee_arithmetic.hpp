#pragma once

#include <cfenv>
#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace baton::core {

/// While it lives, this thread's arithmetic rounds to nearest and keeps subnormal numbers, whatever the program has set
/// (-ffast-math of any of its libraries, fesetround): results do not depend on who calls. On processors other than
/// x86-64 and AArch64 only the rounding is set. The masks and flags of floating-point exceptions stay the program's.
class IeeeArithmetic {
public:
    IeeeArithmetic() : found_(mode()) {
        if (found_ != as_default) set_mode(as_default);
        keep_order();
    }
    ~IeeeArithmetic() {
        keep_order();
        if (found_ != as_default) set_mode(found_);
    }
    IeeeArithmetic(const IeeeArithmetic &) = delete;
    IeeeArithmetic &operator=(const IeeeArithmetic &) = delete;

private:
    /// Compilers do not know that arithmetic depends on the mode. But operands come from memory and results go there.
    static void keep_order() { asm volatile("" ::: "memory"); }

#if defined(__x86_64__)
    using Mode = std::uint32_t;
    static constexpr Mode as_default = 0;
    static constexpr Mode mode_bits = 0xE040;  // of MXCSR: flush to zero, two of rounding, denormals are zeros
    static Mode mode() { return _mm_getcsr() & mode_bits; }
    static void set_mode(Mode mode) { _mm_setcsr((_mm_getcsr() & ~mode_bits) | mode); }
#elif defined(__aarch64__)
    using Mode = std::uint64_t;
    static constexpr Mode as_default = 0;
    static constexpr Mode mode_bits = 0x3C80007;  // of FPCR: DN, FZ, two of rounding, FZ16, and NEP, AH, FIZ
    static Mode control() {
        Mode value;
        asm volatile("mrs %0, fpcr" : "=r"(value));
        return value;
    }
    static Mode mode() { return control() & mode_bits; }
    static void set_mode(Mode mode) { asm volatile("msr fpcr, %0" ::"r"((control() & ~mode_bits) | mode)); }
#else
    using Mode = int;
    static constexpr Mode as_default = FE_TONEAREST;
    static Mode mode() { return std::fegetround(); }
    static void set_mode(Mode mode) { std::fesetround(mode); }
#endif

    const Mode found_;
};

}  // namespace baton::core
