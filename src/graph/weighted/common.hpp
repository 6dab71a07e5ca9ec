// How a weighted graph is built, and what the host and the device each contribute.
//
// Pairs become the entries of a matrix, of an undirected graph those above the diagonal, and go through the conversion
// of COO with duplicates kept: it is stable, so equal pairs lie side by side in the order of the input. Each run of
// them is folded into one entry. Only then is an undirected graph mirrored: both halves have the same weights to the
// bit. The conversions move values without looking at them, so that integers travel as floating-point numbers of the
// same bits and need no conversions of their own.
#pragma once

#include "graph/graph/build.hpp"

#include <spargo/formats/csr.hpp>
#include <spargo/graph/weighted_graph.hpp>

namespace spargo::detail {

template <class W>
struct weight_fold {
  duplicate_weights rule;

  // `earlier` comes before `later` in the input.
  [[nodiscard]] SPARGO_HD W operator()(W earlier, W later) const {
    if (rule == duplicate_weights::first) return earlier;
    if (rule == duplicate_weights::min) return later < earlier ? later : earlier;
    if constexpr (std::integral<W>) {
      return static_cast<W>(static_cast<std::make_unsigned_t<W>>(earlier) +
                            static_cast<std::make_unsigned_t<W>>(later));
    } else {
      return earlier + later;
    }
  }
  // Whether W does not hold the sum that was to be `result`.
  [[nodiscard]] SPARGO_HD bool overflows(W earlier, W later, W result) const {
    if constexpr (std::integral<W>) {
      return rule == duplicate_weights::sum && ((earlier ^ result) & (later ^ result)) < 0;
    } else {
      return false;
    }
  }
};

// One entry for each run of equal columns in a row. Throws invalid_data for a sum that W does not hold. Synchronises.
template <class W, class I, class Space>
[[nodiscard]] csr_matrix<weight_carrier<W>, I, std::int64_t, Space> fold_duplicates(
    const context<Space>& ctx, csr_matrix<weight_carrier<W>, I, std::int64_t, Space> entries, duplicate_weights rule);

[[noreturn]] void throw_weight_overflow(std::int64_t from, std::int64_t to, std::size_t bytes);

}  // namespace spargo::detail
