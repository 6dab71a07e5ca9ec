// The inner loops over bands for any processor, with 16-byte vectors.
#include "core/instantiate.hpp"
#include "sparse/simd/band_rows.hpp"

namespace spargo::detail::spmv {

template <class V>
std::vector<band_loops<V>> usable_band_loops() {
  return {{[](const band_job<V>& job) { band_rows<V, 16>(job); }, "16-byte vectors"}};
}

#define INSTANTIATE(V) template std::vector<band_loops<V>> usable_band_loops<V>();
SPARGO_FOR_EACH_VALUE(INSTANTIATE)

}  // namespace spargo::detail::spmv
