// Where no hint is known that a thread only waits: nothing.
#include "graph/bfs_host_narrow.hpp"

namespace spargo::detail {

void pause_thread() noexcept {}

}  // namespace spargo::detail
