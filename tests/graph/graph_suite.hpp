// Typed suites of graph algorithms: their types, and a fixture for each of them.
#pragma once

#include "core/parallel.hpp"
#include "graph/placed_graph.hpp"
#include "support/suite_types.hpp"
#include "support/suites.hpp"

#include <cstdint>

namespace spargo::test {

using graph_cases =
    suite_types<graph_case<std::int32_t, std::int32_t, host>, graph_case<std::int32_t, std::int64_t, host>,
                graph_case<std::int64_t, std::int64_t, host>, graph_case<std::int32_t, std::int32_t, device>,
                graph_case<std::int32_t, std::int64_t, device>, graph_case<std::int64_t, std::int64_t, device>>;

template <class W, class I, class O, class Space>
struct weighted_case : graph_case<I, O, Space> {
  using weight = W;
};

template <class Case>
class graph_suite : public space_suite<typename Case::space> {
 protected:
  // Fewer on a device.
  static std::uint64_t rounds(std::uint64_t all) { return rounds_on<typename Case::space>(all); }
};

// The same with as many threads as a context asks for, on a machine of any size.
template <class Case>
class threaded_graph_suite : public graph_suite<Case> {
 protected:
  void SetUp() override {
    graph_suite<Case>::SetUp();
    detail::assume_processors(8);
  }
  void TearDown() override { detail::assume_processors(0); }
};

}  // namespace spargo::test
