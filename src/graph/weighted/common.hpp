// How a weighted graph is built, and the steps implemented per backend.
//
// Pairs become the entries of a matrix (of an undirected graph: its upper triangle) and are converted from COO with
// duplicates kept. The conversion is stable, so equal pairs become adjacent in input order; each run of them is folded
// into one entry. Only then is an undirected graph mirrored: both halves have bitwise equal weights. Conversions only
// move values, so integers travel as floating-point numbers of the same bits, without instantiations of their own.
#pragma once

#include "graph/graph/build.hpp"

#include <spargo/formats/csr.hpp>
#include <spargo/graph/weighted_graph.hpp>

namespace spargo::detail {

template <class W>
struct weight_fold {
  duplicate_weights rule;

  // `earlier` precedes `later` in the input.
  [[nodiscard]] SPARGO_HD W operator()(W earlier, W later) const {
    if (rule == duplicate_weights::first) return earlier;
    if (rule == duplicate_weights::min) return later < earlier ? later : earlier;
    if (rule == duplicate_weights::max) return earlier < later ? later : earlier;
    if constexpr (std::integral<W>) {
      return static_cast<W>(static_cast<std::make_unsigned_t<W>>(earlier) +
                            static_cast<std::make_unsigned_t<W>>(later));
    } else {
      return earlier + later;
    }
  }
  // Whether the sum `result` overflowed W.
  [[nodiscard]] SPARGO_HD bool overflows(W earlier, W later, W result) const {
    if constexpr (std::integral<W>) {
      return rule == duplicate_weights::sum && ((earlier ^ result) & (later ^ result)) < 0;
    } else {
      return false;
    }
  }
};

// Merges each run of equal columns in a row into one entry. Throws invalid_data if a sum overflows W. Synchronizes.
template <class W, class I, class Space>
[[nodiscard]] csr_matrix<weight_carrier<W>, I, std::int64_t, Space> fold_duplicates(
    const context<Space>& ctx, csr_matrix<weight_carrier<W>, I, std::int64_t, Space> entries, duplicate_weights rule);

[[noreturn]] void throw_weight_overflow(std::int64_t from, std::int64_t to, std::size_t bytes);

}  // namespace spargo::detail
