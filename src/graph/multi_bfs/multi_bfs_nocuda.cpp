// The device search of a library built without CUDA: a program for both backends links, and is told at run time. No
// device context can exist, so nothing past a constructor is ever reached.
#include "core/instantiate.hpp"
#include "graph/multi_bfs/common.hpp"
#include "primitives/backend.hpp"

namespace spargo {

template <index_type I, index_type O, class Space>
struct multi_bfs_plan<I, O, Space>::state {
  std::vector<multi_bfs_counts> counts;
};

template <index_type I, index_type O, class Space>
multi_bfs_plan<I, O, Space>::multi_bfs_plan(const context<Space>&, const graph_view<I, O, Space>&, std::int64_t,
                                            const multi_bfs_options&) {
  detail::no_device("multi_bfs");
}
template <index_type I, index_type O, class Space>
multi_bfs_plan<I, O, Space>::multi_bfs_plan(multi_bfs_plan&&) noexcept = default;
template <index_type I, index_type O, class Space>
multi_bfs_plan<I, O, Space>& multi_bfs_plan<I, O, Space>::operator=(multi_bfs_plan&&) noexcept = default;
template <index_type I, index_type O, class Space>
multi_bfs_plan<I, O, Space>::~multi_bfs_plan() = default;

template <index_type I, index_type O, class Space>
void multi_bfs_plan<I, O, Space>::run(span<const I, host>) {
  detail::no_device("multi_bfs");
}
template <index_type I, index_type O, class Space>
span<const std::int32_t, Space> multi_bfs_plan<I, O, Space>::levels() const noexcept {
  return {};
}
template <index_type I, index_type O, class Space>
const std::vector<multi_bfs_counts>& multi_bfs_plan<I, O, Space>::counts() const noexcept {
  return state_->counts;
}
template <index_type I, index_type O, class Space>
multi_bfs_algorithm multi_bfs_plan<I, O, Space>::algorithm() const noexcept {
  return multi_bfs_algorithm::one_word;
}
template <index_type I, index_type O, class Space>
std::int64_t multi_bfs_plan<I, O, Space>::workspace_bytes() const noexcept {
  return 0;
}

template <index_type I, index_type O, class Space>
multi_bfs_result<I, Space> multi_bfs(const context<Space>&, const graph_view<I, O, Space>&,
                                     std::type_identity_t<span<const I, host>>, const multi_bfs_options&) {
  detail::no_device("multi_bfs");
}

#define INSTANTIATE(I, O)                                       \
  template class multi_bfs_plan<I, O, device>;                  \
  template multi_bfs_result<I, device> multi_bfs<I, O, device>( \
      const context<device>&, const graph_view<I, O, device>&, span<const I, host>, const multi_bfs_options&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
