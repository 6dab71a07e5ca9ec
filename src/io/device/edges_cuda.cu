// Ids to vertices on the device: marks the ids that occur, sums the marks, and replaces every id by its sum.
//
// Invariant: vertices are numbered in ascending order of id, as on the host.
// Cost: O(edges + largest id); memory for as many numbers of the index type as the largest id.
#include "core/device/launch.cuh"
#include "core/instantiate.hpp"
#include "core/large_vector.hpp"
#include "io/device/text.hpp"
#include "primitives/element.hpp"

#include <spargo/primitives/scan.hpp>

#include <numeric>

namespace spargo::detail {

template <index_type I>
std::vector<std::int64_t> renumber_vertices(const context<device>& ctx, coo_matrix<double, I, device>& edges,
                                            std::int64_t largest) {
  array<I, device> numbers(ctx, largest + 1);  // vertex + 1 of each id
  I* const number = numbers.data();
  I* const sources = edges.row_indices().data();
  I* const targets = edges.col_indices().data();
  fill_zero(ctx, numbers.view());
  for_each(ctx, edges.nnz(), [=] __device__(std::int64_t k) {
    number[sources[k]] = 1;
    number[targets[k]] = 1;
  });
  inclusive_scan<I, device>(ctx, numbers.view(), numbers.view());
  const auto vertices = static_cast<std::int64_t>(element<I>(ctx, numbers.view(), largest));
  std::vector<std::int64_t> ids = large_vector<std::int64_t>(vertices);
  if (vertices == largest + 1) {
    std::iota(ids.begin(), ids.end(), 0);
    return ids;
  }
  array<std::int64_t, device> present(ctx, vertices);
  std::int64_t* const id = present.data();
  for_each(ctx, numbers.size(), [=] __device__(std::int64_t i) {
    if (number[i] != (i == 0 ? 0 : number[i - 1])) id[number[i] - 1] = i;
  });
  for_each(ctx, edges.nnz(), [=] __device__(std::int64_t k) {
    sources[k] = number[sources[k]] - 1;
    targets[k] = number[targets[k]] - 1;
  });
  copy<std::int64_t>(ctx, present.view(), span<std::int64_t, host>(ids.data(), vertices));
  ctx.synchronize();
  return ids;
}

#define INSTANTIATE(I)                                                                                         \
  template std::vector<std::int64_t> renumber_vertices(const context<device>&, coo_matrix<double, I, device>&, \
                                                       std::int64_t);
SPARGO_FOR_EACH_INDEX(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo::detail
