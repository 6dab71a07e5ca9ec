// A graph oriented for counting: every edge is stored at its end of higher rank (lower degree), as the rank of the
// other end; so a list has at most sqrt(2 edges) entries.
//
// Canonical rows (ascending, without loops), as this library builds them, are copied in order: hubs to the front,
// others to the back. Other rows, and those of directed graphs, which merge two rows, are sorted and deduplicated. The
// hubs' bitmap rows are built on the way.
#pragma once

#include "graph/triangles/host_order.hpp"
#include "graph/triangles/simd/loops.hpp"

#include <spargo/core/interruption.hpp>

#include <cmath>
#include <type_traits>

namespace spargo::detail::triangles {

struct host_tuning {
  // A rank is a hub while its degree times this exceeds the rank: then a bitmap row costs less than a list. Sapphire
  // Rapids, one thread, R-MAT 18 and 20, ms of counting with 64: 110, 800; 256: 119, 720; 1024: 143, -.
  static constexpr std::int64_t hub_density = 256;
  static constexpr std::int64_t symmetric_hubs = std::int64_t{1} << 14;  // maximum; untuned: 32 MiB of rows
  static constexpr std::int64_t part_units = std::int64_t{1} << 14;      // vertices plus entries; untuned: some 100 us
};

enum class list_order { hubs_first, ascending };  // `ascending` only for rows that are not canonical
enum class hub_rows { none, lower, symmetric };   // bitmap rows of hubs: none; lower ranks only; all hubs

template <class I, class O>
class oriented_graph {
 public:
  using key = std::make_unsigned_t<I>;

  oriented_graph(const context<host>& ctx, const neighbour_rows<I, O>& rows, const row_survey& survey,
                 triangles_output output, list_order order, const count_loops<I>& loops)
      : threads_(ctx.threads()), rows_(rows), canonical_(survey.canonical), loops_(loops), ranking_(ctx, rows) {
    const std::int64_t n = rows.vertices();
    rank_ = {ctx, n};
    lists_ = {ctx, n + 1};
    ends_ = {ctx, rows.entries()};
    const bool mutual = rows.directed() && output == triangles_output::links;
    if (mutual) mutual_ = {ctx, rows.entries()};
    if (output != triangles_output::total) degrees_ = {ctx, n};
    if (order == list_order::ascending) return;
    // degree * (rank + 1) is at most the number of entries, so no rank beyond the root is a hub.
    const auto root = static_cast<std::int64_t>(
        std::sqrt(static_cast<double>(host_tuning::hub_density) * static_cast<double>(rows.entries())));
    most_hubs_ = std::min({n, root + 1, hub_matrix::most_hubs});
    const std::int64_t blocks = div_up(most_hubs_, hub_matrix::block);
    if (output == triangles_output::total) {
      bits_ = hub_rows::lower;
      hub_bits_ = {ctx, hub_matrix::block * (blocks * (blocks + 1) / 2) * hub_matrix::block_words};
    } else {
      bits_ = hub_rows::symmetric;
      most_hubs_ = std::min(most_hubs_, host_tuning::symmetric_hubs);
      hubs_matrix_.row_blocks = mutual_hubs_.row_blocks = div_up(most_hubs_, hub_matrix::block);
      hub_bits_ = {ctx, most_hubs_ * hubs_matrix_.row_blocks * hub_matrix::block_words};
      if (mutual) mutual_bits_ = {ctx, hub_bits_.size()};
    }
    hubs_matrix_.bits = hub_bits_.data();
    mutual_hubs_.bits = mutual_bits_.data();
  }

  // Ranks and orients. O(entries), plus sorting of rows that are not canonical.
  void build() {
    const std::int64_t n = rows_.vertices();
    if (n == 0) return;
    ranking_.run(rank_.data(), lists_.data());
    hubs_ = first_where(std::int64_t{0}, std::int64_t{most_hubs_}, [&](std::int64_t r) {
      return (lists_[r + 1].first - lists_[r].first) * host_tuning::hub_density <= r;
    });
    const parts units = chunks_of(n + rows_.entries(), host_tuning::part_units);
    const auto first_vertex = [&](std::int64_t unit) {
      return first_where(std::int64_t{0}, std::int64_t{n},
                         [&](std::int64_t v) { return v + rows_.entries_before(v) >= unit; });
    };
    parallel_parts(threads_, units.count, [&](std::int64_t p) {
      interruption::look();
      const std::int64_t last = first_vertex(units.last(p));
      for (std::int64_t v = first_vertex(units.first(p)); v < last; ++v) fill(v);
    });
  }

  [[nodiscard]] std::int64_t vertices() const { return rows_.vertices(); }
  [[nodiscard]] std::int64_t slots() const { return rows_.entries(); }
  [[nodiscard]] const I* rank() const { return rank_.data(); }
  [[nodiscard]] const out_list<I>* lists() const { return lists_.data(); }
  [[nodiscard]] const key* ends() const { return ends_.data(); }
  [[nodiscard]] const std::uint8_t* mutual() const { return mutual_.data(); }  // [slot], if links are wanted
  [[nodiscard]] span<const I, host> degrees() const { return degrees_.view(); }
  [[nodiscard]] const hub_matrix& hubs() const { return hubs_matrix_; }
  [[nodiscard]] const hub_matrix& mutual_hubs() const { return mutual_hubs_; }  // if links are wanted

  [[nodiscard]] std::int64_t bytes() const {
    return (rank_.size() + degrees_.size() + ends_.size()) * std::int64_t{sizeof(I)} + mutual_.size() +
           lists_.size() * std::int64_t{sizeof(out_list<I>)} +
           (hub_bits_.size() + mutual_bits_.size()) * std::int64_t{sizeof(std::uint64_t)} + ranking_.bytes();
  }

 private:
  void fill(std::int64_t v) {
    const auto r = static_cast<key>(rank_[v]);
    out_list<I>& list = lists_[r];
    if (is_hub(r)) clear_row(r);
    if (canonical_) {
      take_canonical(v, r, list);
    } else {
      take_sorted(v, r, list);
    }
    const key* const ends = ends_.data() + list.first;
    if (bits_ == hub_rows::lower && is_hub(r)) {
      for (I k = 0; k < list.size; ++k) hubs_matrix_.set(r, ends[k]);
    }
  }

  void take_canonical(std::int64_t v, key r, out_list<I>& list) {
    const I* const row = rows_.out.indices.data() + rows_.out.offsets[v];
    const auto degree = static_cast<std::int64_t>(rows_.out.offsets[v + 1] - rows_.out.offsets[v]);
    const kept_ends<I> kept =
        loops_.keep(row, degree, rank_.data(), r, static_cast<key>(hubs_), ends_.data() + list.first);
    list.hubs = kept.hubs;
    list.size = kept.size;
    if (!degrees_.empty()) degrees_[v] = static_cast<I>(degree);
    if (bits_ != hub_rows::symmetric || !is_hub(r)) return;
    for (std::int64_t k = 0; k < degree; ++k) {
      if (rank_[row[k]] < hubs_) hubs_matrix_.set(static_cast<std::int64_t>(r), rank_[row[k]]);
    }
  }

  // Sorts ranks with their side (out or in) in the lowest bit.
  void take_sorted(std::int64_t v, key r, out_list<I>& list) {
    key* const begin = ends_.data() + list.first;
    key* end = begin;
    const auto append = [&](const csr_pattern_view<I, O, host>& part, key side) {
      for (O e = part.offsets[v]; e < part.offsets[v + 1]; ++e) {
        if (part.indices[e] != v) *end++ = static_cast<key>(rank_[part.indices[e]]) * 2 + side;
      }
    };
    append(rows_.out, 0);
    if (rows_.directed()) append(rows_.in, 1);
    std::sort(begin, end);
    std::int64_t degree = 0;
    list.hubs = list.size = 0;
    for (const key* at = begin; at != end; ++degree) {
      const key other = *at / 2;
      bool both = false;
      for (const key side = *at & 1; at != end && *at / 2 == other; ++at) both = both || (*at & 1) != side;
      if (bits_ == hub_rows::symmetric && is_hub(r) && is_hub(other)) {
        hubs_matrix_.set(r, other);
        if (both && !mutual_bits_.empty()) mutual_hubs_.set(r, other);
      }
      if (other >= r) continue;
      if (!mutual_.empty()) mutual_[list.first + list.size] = both ? 1 : 0;
      begin[list.size++] = other;
      if (is_hub(other)) ++list.hubs;
    }
    if (!degrees_.empty()) degrees_[v] = static_cast<I>(degree);
  }

  [[nodiscard]] bool is_hub(key r) const { return r < static_cast<key>(hubs_); }

  // Clears the bits that may be set or read.
  void clear_row(key r) {
    const auto hub = static_cast<std::int64_t>(r);
    const std::int64_t blocks = div_up(bits_ == hub_rows::lower ? hub + 1 : hubs_, hub_matrix::block);
    std::fill_n(hubs_matrix_.row(hub), blocks * hub_matrix::block_words, std::uint64_t{0});
    if (!mutual_bits_.empty()) std::fill_n(mutual_hubs_.row(hub), blocks * hub_matrix::block_words, std::uint64_t{0});
  }

  int threads_;
  neighbour_rows<I, O> rows_;
  bool canonical_;
  count_loops<I> loops_;
  degree_order<I, O> ranking_;
  hub_rows bits_ = hub_rows::none;
  std::int64_t hubs_ = 0;
  std::int64_t most_hubs_ = 0;
  hub_matrix hubs_matrix_;
  hub_matrix mutual_hubs_;
  array<I, host> rank_;               // [vertex]
  array<out_list<I>, host> lists_;    // [rank]
  array<key, host> ends_;             // [slot] ranks
  array<std::uint8_t, host> mutual_;  // [slot] the edge goes both ways
  array<I, host> degrees_;            // [vertex]
  array<std::uint64_t, host> hub_bits_;
  array<std::uint64_t, host> mutual_bits_;
};

}  // namespace spargo::detail::triangles
