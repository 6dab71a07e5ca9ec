// Types of typed suites on the host.
#pragma once

#include "graph/placed_graph.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace spargo::test {

using host_graph_cases =
    testing::Types<graph_case<std::int32_t, std::int32_t, host>, graph_case<std::int32_t, std::int64_t, host>,
                   graph_case<std::int64_t, std::int64_t, host>>;

}  // namespace spargo::test
