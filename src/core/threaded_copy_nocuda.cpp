#include "core/backend.hpp"

#include <spargo/core/threaded_copy.hpp>

namespace spargo::detail {

void copy_to_host_by_threads(const context<device>&, const context<host>&, const void*, void*, std::size_t) {
  no_device("copy");
}
void copy_to_device_by_threads(const context<device>&, const context<host>&, const void*, void*, std::size_t) {
  no_device("copy");
}

}  // namespace spargo::detail
