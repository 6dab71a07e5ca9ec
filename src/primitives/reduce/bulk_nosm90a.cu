// A build without code for compute capability 9.0.
#include "core/instantiate.hpp"
#include "primitives/reduce/bulk.hpp"

namespace spargo::detail::reduce {

bool has_bulk_tiles(const context<device>&) { return false; }

template <class T>
void run_by_bulk_tiles(const context<device>&, source_kind, operation, const operands<T>&, T*, std::int64_t) {
  throw error(error_code::unsupported, "reduce: built without code for compute capability 9.0");
}

#define INSTANTIATE(T) \
  template void run_by_bulk_tiles(const context<device>&, source_kind, operation, const operands<T>&, T*, std::int64_t);
SPARGO_FOR_EACH_SCALAR(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo::detail::reduce
