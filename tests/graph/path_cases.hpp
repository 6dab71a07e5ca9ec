// Types of the tests of path searches on the host, and the context that they use.
#pragma once

#include "graph/sssp_support.hpp"
#include "support/message.hpp"
#include "support/rounds.hpp"

#include <gtest/gtest.h>

namespace spargo::test {

inline const context<host>& cpu() {
  static const context<host> ctx({.threads = 3});
  return ctx;
}

template <class W, class I, class O>
struct path_case {
  using weight = W;
  using index = I;
  using offset = O;
};
using path_cases =
    testing::Types<path_case<std::int32_t, std::int32_t, std::int64_t>,
                   path_case<std::int64_t, std::int64_t, std::int64_t>, path_case<float, std::int32_t, std::int32_t>,
                   path_case<double, std::int32_t, std::int64_t>>;

}  // namespace spargo::test
