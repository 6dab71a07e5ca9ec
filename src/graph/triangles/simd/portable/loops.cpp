// The loops for processors with a single instruction set.
#include "core/instantiate.hpp"
#include "graph/triangles/simd/count_ranks.hpp"

namespace spargo::detail::triangles {

namespace {

template <class I>
std::int64_t total(const count_job<I>& job, std::int64_t first, std::int64_t last) {
  return total_of_ranks<plain_lookups<I>>(job, first, last);
}
template <class I>
std::int64_t per_vertex(const count_job<I>& job, std::int64_t first, std::int64_t last) {
  return counts_of_ranks<plain_lookups<I>>(job, first, last);
}
template <class I>
std::int64_t links(const count_job<I>& job, std::int64_t first, std::int64_t last) {
  return links_of_ranks<plain_lookups<I>>(job, first, last);
}

}  // namespace

template <class I>
std::vector<count_loops<I>> usable_count_loops() {
  return {{plain_lookups<I>::keep, plain_lookups<I>::marked, total<I>, per_vertex<I>, links<I>, "portable"}};
}

#define INSTANTIATE(I) template std::vector<count_loops<I>> usable_count_loops<I>();
SPARGO_FOR_EACH_INDEX(INSTANTIATE)

}  // namespace spargo::detail::triangles
