// The device builder of a library built without CUDA.
#include "core/instantiate.hpp"
#include "graph/graph_common.hpp"
#include "primitives/backend.hpp"

namespace spargo {

template <index_type O, index_type I, class Space>
graph<I, O, Space> build_graph(const context<Space>&, const coo_pattern_view<I, Space>&, const graph_options&) {
  detail::no_device("build_graph");
}

#define INSTANTIATE(I, O)                                                                                            \
  template graph<I, O, device> build_graph<O, I, device>(const context<device>&, const coo_pattern_view<I, device>&, \
                                                         const graph_options&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
