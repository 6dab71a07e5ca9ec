// Where no hint is known that a thread only waits: nothing.
#include "core/parallel.hpp"

namespace spargo::detail {

void pause_thread() noexcept {}

}  // namespace spargo::detail
