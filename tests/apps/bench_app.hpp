// Tests of `spargo bench` skip where the benchmarks were not built.
#pragma once

#include "apps/run_app.hpp"

#define SPARGO_TEST_NEEDS_BENCH()                                       \
  do {                                                                  \
    if (!std::filesystem::exists(program_folder() + "/spargo-bench")) { \
      GTEST_SKIP() << "the benchmarks were not built";                  \
    }                                                                   \
  } while (false)
