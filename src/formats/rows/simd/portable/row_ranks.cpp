#include "formats/rows/simd/row_ranks.hpp"

namespace spargo::detail::convert {

rank_row best_rank_row() { return rank_anywhere; }

}  // namespace spargo::detail::convert
