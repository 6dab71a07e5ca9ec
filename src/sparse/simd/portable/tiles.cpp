// The inner loops over tiles for any processor.
#include "core/instantiate.hpp"
#include "sparse/simd/tile_rows.hpp"

namespace spargo::detail::spmv {

template <class V>
std::vector<tile_loops<V>> usable_tile_loops() {
  return {{[](const tile_job<V>& job) { add_tile<plain_segment<V>>(job); }, "portable"}};
}

#define INSTANTIATE(V) template std::vector<tile_loops<V>> usable_tile_loops<V>();
SPARGO_FOR_EACH_VALUE(INSTANTIATE)

}  // namespace spargo::detail::spmv
