// The types that the library is compiled for. An operation's source file ends with, for example,
//   #define INSTANTIATE(V, I, O) template void f<V, I, O, host>(...);
//   SPARGO_FOR_EACH_ENTRY_INDEX_OFFSET(INSTANTIATE)
#pragma once

#include <spargo/core/types.hpp>

// For primitives, without and with integers.
#define SPARGO_FOR_EACH_REAL(M) \
  M(float)                      \
  M(double)

#define SPARGO_FOR_EACH_SCALAR(M) \
  M(std::int32_t)                 \
  M(std::int64_t)                 \
  SPARGO_FOR_EACH_REAL(M)

#define SPARGO_FOR_EACH_REAL_SPACE(M) \
  M(float, ::spargo::host)            \
  M(float, ::spargo::device)          \
  M(double, ::spargo::host)           \
  M(double, ::spargo::device)

#define SPARGO_FOR_EACH_SCALAR_SPACE(M) \
  M(std::int32_t, ::spargo::host)       \
  M(std::int32_t, ::spargo::device)     \
  M(std::int64_t, ::spargo::host)       \
  M(std::int64_t, ::spargo::device)     \
  SPARGO_FOR_EACH_REAL_SPACE(M)

#define SPARGO_FOR_EACH_INDEX_OFFSET(M) \
  M(std::int32_t, std::int32_t)         \
  M(std::int32_t, std::int64_t)         \
  M(std::int64_t, std::int64_t)

#define SPARGO_FOR_EACH_INDEX(M) \
  M(std::int32_t)                \
  M(std::int64_t)

// Weights of edges: M(W, ...) with each of them and further arguments.
#define SPARGO_FOR_EACH_WEIGHT(M, ...) \
  M(std::int32_t, __VA_ARGS__)         \
  M(std::int64_t, __VA_ARGS__)         \
  M(float, __VA_ARGS__)                \
  M(double, __VA_ARGS__)

#define SPARGO_FOR_EACH_WEIGHT_INDEX(M)   \
  SPARGO_FOR_EACH_WEIGHT(M, std::int32_t) \
  SPARGO_FOR_EACH_WEIGHT(M, std::int64_t)

#define SPARGO_FOR_EACH_WEIGHT_INDEX_OFFSET(M)          \
  SPARGO_FOR_EACH_WEIGHT(M, std::int32_t, std::int32_t) \
  SPARGO_FOR_EACH_WEIGHT(M, std::int32_t, std::int64_t) \
  SPARGO_FOR_EACH_WEIGHT(M, std::int64_t, std::int64_t)

// The index types, offset types and spaces that plans of graphs are instantiated for.
#define SPARGO_FOR_EACH_GRAPH(M)                  \
  M(std::int32_t, std::int32_t, ::spargo::host)   \
  M(std::int32_t, std::int32_t, ::spargo::device) \
  M(std::int32_t, std::int64_t, ::spargo::host)   \
  M(std::int32_t, std::int64_t, ::spargo::device) \
  M(std::int64_t, std::int64_t, ::spargo::host)   \
  M(std::int64_t, std::int64_t, ::spargo::device)

#define SPARGO_FOR_EACH_WEIGHTED_GRAPH(M)                                 \
  SPARGO_FOR_EACH_WEIGHT(M, std::int32_t, std::int32_t, ::spargo::host)   \
  SPARGO_FOR_EACH_WEIGHT(M, std::int32_t, std::int32_t, ::spargo::device) \
  SPARGO_FOR_EACH_WEIGHT(M, std::int32_t, std::int64_t, ::spargo::host)   \
  SPARGO_FOR_EACH_WEIGHT(M, std::int32_t, std::int64_t, ::spargo::device) \
  SPARGO_FOR_EACH_WEIGHT(M, std::int64_t, std::int64_t, ::spargo::host)   \
  SPARGO_FOR_EACH_WEIGHT(M, std::int64_t, std::int64_t, ::spargo::device)

#define SPARGO_FOR_EACH_VALUE(M) \
  M(float)                       \
  M(double)                      \
  M(std::complex<float>)         \
  M(std::complex<double>)

#define SPARGO_FOR_EACH_ENTRY(M) \
  SPARGO_FOR_EACH_VALUE(M)       \
  M(::spargo::pattern)

#define SPARGO_FOR_EACH_VALUE_INDEX(M)  \
  M(float, std::int32_t)                \
  M(float, std::int64_t)                \
  M(double, std::int32_t)               \
  M(double, std::int64_t)               \
  M(std::complex<float>, std::int32_t)  \
  M(std::complex<float>, std::int64_t)  \
  M(std::complex<double>, std::int32_t) \
  M(std::complex<double>, std::int64_t)

#define SPARGO_FOR_EACH_ENTRY_INDEX(M) \
  SPARGO_FOR_EACH_VALUE_INDEX(M)       \
  M(::spargo::pattern, std::int32_t)   \
  M(::spargo::pattern, std::int64_t)

#define SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(M)         \
  M(float, std::int32_t, std::int32_t)                \
  M(float, std::int32_t, std::int64_t)                \
  M(float, std::int64_t, std::int64_t)                \
  M(double, std::int32_t, std::int32_t)               \
  M(double, std::int32_t, std::int64_t)               \
  M(double, std::int64_t, std::int64_t)               \
  M(std::complex<float>, std::int32_t, std::int32_t)  \
  M(std::complex<float>, std::int32_t, std::int64_t)  \
  M(std::complex<float>, std::int64_t, std::int64_t)  \
  M(std::complex<double>, std::int32_t, std::int32_t) \
  M(std::complex<double>, std::int32_t, std::int64_t) \
  M(std::complex<double>, std::int64_t, std::int64_t)

#define SPARGO_FOR_EACH_ENTRY_INDEX_OFFSET(M)      \
  SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(M)            \
  M(::spargo::pattern, std::int32_t, std::int32_t) \
  M(::spargo::pattern, std::int32_t, std::int64_t) \
  M(::spargo::pattern, std::int64_t, std::int64_t)
