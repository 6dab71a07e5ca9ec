// Device products with a matrix whose entries are all 1, from a copy without values, as PageRank has.
#pragma once

#include "graph/ranks/power.hpp"

#include <memory>
#include <string>

namespace spargo::detail::ranks {

struct pattern_product {
  std::unique_ptr<matrix_product<device>> product;  // null: refused
  std::string reason;                               // how the pattern is stored, or why there is no copy
};

// O(rows + nnz) and sorts; synchronizes the stream. The copy does not borrow the rows.
template <class I, class O>
[[nodiscard]] pattern_product copy_pattern(const context<device>& ctx, const csr_pattern_view<I, O, device>& rows);

}  // namespace spargo::detail::ranks
