// The device search of a library built without CUDA: a program for both backends links, and is told at run time. No
// device context can exist, so nothing past a constructor is ever reached.
#include "core/instantiate.hpp"
#include "graph/bfs/common.hpp"
#include "primitives/backend.hpp"

namespace spargo {

template <index_type I, index_type O, class Space>
struct bfs_plan<I, O, Space>::state {
  std::string reason;
};

template <index_type I, index_type O, class Space>
bfs_plan<I, O, Space>::bfs_plan(const context<Space>&, const graph_view<I, O, Space>&, const bfs_options&) {
  detail::no_device("bfs");
}
template <index_type I, index_type O, class Space>
bfs_plan<I, O, Space>::bfs_plan(bfs_plan&&) noexcept = default;
template <index_type I, index_type O, class Space>
bfs_plan<I, O, Space>& bfs_plan<I, O, Space>::operator=(bfs_plan&&) noexcept = default;
template <index_type I, index_type O, class Space>
bfs_plan<I, O, Space>::~bfs_plan() = default;

template <index_type I, index_type O, class Space>
void bfs_plan<I, O, Space>::run(I) {
  detail::no_device("bfs");
}
template <index_type I, index_type O, class Space>
span<const std::int32_t, Space> bfs_plan<I, O, Space>::levels() const noexcept {
  return {};
}
template <index_type I, index_type O, class Space>
span<const I, Space> bfs_plan<I, O, Space>::parents() const noexcept {
  return {};
}
template <index_type I, index_type O, class Space>
std::int64_t bfs_plan<I, O, Space>::reached() const noexcept {
  return 0;
}
template <index_type I, index_type O, class Space>
span<const std::int64_t, host> bfs_plan<I, O, Space>::level_sizes() const noexcept {
  return {};
}
template <index_type I, index_type O, class Space>
bfs_algorithm bfs_plan<I, O, Space>::algorithm() const noexcept {
  return bfs_algorithm::direction_optimizing;
}
template <index_type I, index_type O, class Space>
const std::string& bfs_plan<I, O, Space>::reason() const noexcept {
  return state_->reason;
}
template <index_type I, index_type O, class Space>
std::int64_t bfs_plan<I, O, Space>::workspace_bytes() const noexcept {
  return 0;
}

template <index_type I, index_type O, class Space>
bfs_result<I, Space> bfs(const context<Space>&, const graph_view<I, O, Space>&, std::int64_t, const bfs_options&) {
  detail::no_device("bfs");
}

#define INSTANTIATE(I, O)                                                                                   \
  template class bfs_plan<I, O, device>;                                                                    \
  template bfs_result<I, device> bfs<I, O, device>(const context<device>&, const graph_view<I, O, device>&, \
                                                   std::int64_t, const bfs_options&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo
