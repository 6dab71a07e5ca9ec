// SuiteSparse:GraphBLAS, as its benchmarks use it: matrices by rows, errors as exceptions.
#pragma once

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wconversion"
#include <cstdint>
extern "C" {  // its header has no extern "C"
#include <GraphBLAS.h>
}
#pragma GCC diagnostic pop

#include <stdexcept>
#include <string>

namespace spargo::bench {

inline void expect_done(GrB_Info info) {
  if (info != GrB_SUCCESS) throw std::runtime_error("GraphBLAS: error " + std::to_string(info));
}

inline void start_graphblas(int threads) {
  static const bool done = [] {
    expect_done(GrB_init(GrB_NONBLOCKING));
    expect_done(GxB_Global_Option_set(GxB_FORMAT, GxB_BY_ROW));
    return true;
  }();
  (void)done;
  expect_done(GxB_Global_Option_set(GxB_GLOBAL_NTHREADS, threads));
}

}  // namespace spargo::bench
