#include "core/parallel.hpp"

namespace spargo::detail {

void pause_thread() noexcept {}

}  // namespace spargo::detail
