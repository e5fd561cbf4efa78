#pragma once

// Functions that a kernel and the host path both call. Under nvcc they are compiled for both sides; for a plain C++
// compiler the mark disappears, so the same headers serve a build without CUDA.
#if defined(__CUDACC__)
#define BATON_HD __host__ __device__
#define BATON_NOINLINE __noinline__
#else
#define BATON_HD
#define BATON_NOINLINE [[gnu::noinline]]
#endif

// Stands before loops over arrays that a kernel must keep in registers. Host compilers neither need nor know it.
#if defined(__CUDA_ARCH__)
#define BATON_UNROLL _Pragma("unroll")
#else
#define BATON_UNROLL
#endif
