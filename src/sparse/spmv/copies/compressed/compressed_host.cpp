// Chooses the host's compressed copy: bands if they hold nearly all entries, else tiles.
#include "sparse/spmv/copies/compressed/compressed_host.hpp"

#include "core/instantiate.hpp"
#include "sparse/spmv/copies/copy_cost.hpp"

#include <utility>

namespace spargo::detail::spmv {

template <class V, class I, class O>
copy_attempt<V> compress(const context<host>& ctx, const csr_view<const V, I, O, host>& matrix, copy_demand demand,
                         std::int64_t products) {
  auto bands = compress_bands<V, I, O>(ctx, matrix, copy_demand::if_it_pays, products);
  if (bands.executor != nullptr) return bands;
  std::string too_few = reason_against_copy(copy_kind::tiles, sizeof(V), products);
  if (!too_few.empty()) return {nullptr, bands.reason + "; in tiles " + too_few};
  auto tiles = compress_tiles<V, I, O>(ctx, matrix, demand);
  if (tiles.executor == nullptr) tiles.reason = bands.reason + ", and " + tiles.reason;
  return tiles;
}

#define INSTANTIATE(V, I, O)                                                                                 \
  template copy_attempt<V> compress(const context<host>&, const csr_view<const V, I, O, host>&, copy_demand, \
                                    std::int64_t);
SPARGO_FOR_EACH_VALUE_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::spmv
