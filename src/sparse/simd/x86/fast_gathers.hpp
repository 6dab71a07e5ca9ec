// Whether this processor has AVX-512 (F and VL), and whether its gathers are faster than single loads. They are from
// Intel's Sapphire Rapids on, which is recognised by its 16-bit floats. On earlier ones microcode against Downfall
// (CVE-2022-40982) slows gathers, and Zen 4 and 5 split them up.
#pragma once

#include <cpuid.h>

namespace spargo::detail::spmv {

inline bool has_avx512() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0;
}

inline bool has_fast_gathers() {
  constexpr unsigned fp16 = 1u << 23;  // bit of EDX in leaf 7; Clang 14 has no name for it
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return has_avx512() && __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (edx & fp16) != 0;
}

}  // namespace spargo::detail::spmv
