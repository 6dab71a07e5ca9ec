// Breadth-first search over vertices that are shared out.
//
// Each rank has a bitmap of all vertices. Of its own ones it says what is visited; of others' ones, when a level is
// pushed, what this rank has sent before, and when one is pulled, what was visited before the level: every rank's words
// are gathered in between. A push sends a vertex and its parent to the owner, once a level and rank at most; frontiers
// ascend, so that the first parent a rank finds is its smallest, and the owner takes the least of all ranks'. A pull
// stops at the first visited neighbour, which is the smallest of the last level: an unvisited vertex has none in
// earlier ones. The directions are those of direction.hpp, from sums over ranks, hence the same everywhere.
//
// Cost of a level besides its edges: pushed, three small collectives and 2 indices for what is sent; pulled, two and n
// / 8 bytes to each rank.
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "graph/bfs/host_levels.hpp"

#include <spargo/dist/graph.hpp>

#include <fmt/format.h>

namespace spargo {

template <index_type I>
struct distributed_bfs_plan<I>::state {
  using words = array<std::uint64_t, host>;
  static constexpr std::int64_t chunk = detail::bfs::host_pull_tuning::chunk_words;

  communicator comm;
  context<host> ctx;
  const distributed_graph<I>& g;
  bfs_direction allowed;
  csr_pattern_view<I, std::int64_t, host> out;
  csr_pattern_view<I, std::int64_t, host> in;
  std::int64_t n;
  std::int64_t first;       // own vertex, and word
  std::int64_t first_word;  // of own words
  std::int64_t own_words;
  std::vector<std::int64_t> word_offsets;  // of all ranks
  words visited;                           // of all vertices
  words start;                             // own words before a search: vertices without edges, and those past the last
  words fresh;                             // own words, of the level that is being found
  words before;                            // own words after the search before this one
  array<std::int32_t, host> levels;
  array<I, host> parents;
  array<I, host> frontier;  // own vertices, by their numbers here
  std::int64_t frontier_size = 0;
  std::vector<std::vector<I>> boxes;  // [rank] vertex, parent, vertex, ...
  std::vector<I> packed;
  std::int64_t source = -1;
  bool gathered = false;  // `visited` is that of all ranks
  std::int64_t reached = 0;
  std::vector<std::int64_t> sizes;
  std::int64_t pulled = 0;

  state(const communicator& ranks, const context<host>& on, const distributed_graph<I>& graph, bfs_direction direction)
      : comm(ranks),
        ctx(on),
        g(graph),
        allowed(direction),
        out(graph.out()),
        in(graph.in()),
        n(graph.vertices()),
        first(graph.parts().first(ranks.rank())),
        first_word(first / 64),
        own_words(div_up(static_cast<std::int64_t>(out.rows), 64)),  // none of an empty part, which begins anywhere
        visited(on, div_up(n, 64)),
        start(on, own_words),
        fresh(on, own_words),
        before(on, own_words),
        levels(on, out.rows),
        parents(on, out.rows),
        frontier(on, out.rows),
        boxes(static_cast<std::size_t>(ranks.size())) {
    for (const std::int64_t at : graph.parts().offsets) word_offsets.push_back(div_up(at, 64));
    for (std::int64_t w = 0; w < own_words; ++w) {
      std::uint64_t bits = 0;
      for (std::int64_t b = 0; b < 64; ++b) {
        const std::int64_t v = w * 64 + b;
        const bool isolated = v >= out.rows || (!in.offsets.empty() && out.offsets[v] == out.offsets[v + 1] &&
                                                in.offsets[v] == in.offsets[v + 1]);
        bits |= std::uint64_t{isolated} << b;
      }
      before[w] = start[w] = bits;
    }
    for (std::int64_t v = 0; v < out.rows; ++v) forget(v);
  }

  [[nodiscard]] std::uint64_t* own() { return visited.data() + first_word; }
  void forget(std::int64_t v) {
    levels[v] = -1;
    parents[v] = -1;
  }

  void gather() {
    if (!gathered) comm.gather_in_place<std::uint64_t>(visited, word_offsets);
    gathered = true;
  }

  // --- Push
  // ------------------------------------------------------------------------------------------------------------

  // An edge into a vertex of this rank; each vertex is listed once.
  void offer(I v, I parent, std::int32_t level) {
    if (!detail::test_and_set_bit(own(), v)) {
      levels[v] = level;
      parents[v] = parent;
      frontier[frontier_size++] = v;
    } else if (levels[v] == level) {
      parents[v] = std::min(parents[v], parent);
    }
  }

  void push(std::int32_t level) {
    // What is found is put behind what is read: the frontier's vertices were visited before, so there is room.
    const std::int64_t size = frontier_size;
    std::vector<I>& now = packed;
    now.assign(frontier.data(), frontier.data() + size);
    frontier_size = 0;
    for (std::vector<I>& box : boxes) box.clear();
    const std::int64_t rows = out.rows;
    for (std::int64_t k = 0; k < size; ++k) {
      if (k + 8 < size) __builtin_prefetch(out.indices.data() + out.offsets[now[static_cast<std::size_t>(k) + 8]]);
      const I u = now[static_cast<std::size_t>(k)];
      const I id = static_cast<I>(first + u);
      for (std::int64_t e = out.offsets[u]; e < out.offsets[u + 1]; ++e) {
        const I v = out.indices[e];
        const std::int64_t here = v - first;
        if (here >= 0 && here < rows) {
          offer(static_cast<I>(here), id, level);
        } else if (!detail::test_and_set_bit(visited.data(), v)) {
          std::vector<I>& box = boxes[static_cast<std::size_t>(g.parts().owner(v))];
          box.push_back(v);
          box.push_back(id);
        }
      }
    }
    if (comm.size() > 1) deliver(level);
    gathered = comm.size() == 1;
    sort_frontier();
  }

  void deliver(std::int32_t level) {
    packed.clear();
    std::vector<std::int64_t> counts;
    for (const std::vector<I>& box : boxes) {
      counts.push_back(std::ssize(box));
      packed.insert(packed.end(), box.begin(), box.end());
    }
    std::vector<std::int64_t> received;
    const array<I, host> edges = comm.all_to_all<I>(ctx, packed, counts, received);
    for (std::int64_t k = 0; k < edges.size(); k += 2) offer(static_cast<I>(edges[k] - first), edges[k + 1], level);
  }

  void sort_frontier() {
    if (frontier_size < own_words / 4) {
      std::sort(frontier.data(), frontier.data() + frontier_size);
      return;
    }
    fill_zero(ctx, fresh.view());
    for (std::int64_t k = 0; k < frontier_size; ++k) (void)detail::test_and_set_bit(fresh.data(), frontier[k]);
    list_fresh();
  }
  void list_fresh() {
    frontier_size = detail::bfs::list_bits(
        0, own_words, [&](std::int64_t w) { return fresh[w]; }, frontier.data());
  }

  // --- Pull
  // ------------------------------------------------------------------------------------------------------------

  void pull(std::int32_t level) {
    gather();
    detail::parallel_parts(ctx.threads(), div_up(own_words, chunk),
                           [&](std::int64_t p) { pull_words(p * chunk, std::min((p + 1) * chunk, own_words), level); });
    for (std::int64_t w = 0; w < own_words; ++w) own()[w] |= fresh[w];
    gathered = comm.size() == 1;
    gather();
    list_fresh();
    ++pulled;
  }

  void pull_words(std::int64_t from, std::int64_t to, std::int32_t level) {
    detail::bfs::host_chunk<I> list;
    const std::int64_t size = detail::bfs::list_bits(
        from, to, [&](std::int64_t w) { return ~own()[w]; }, list.data());
    std::fill(fresh.data() + from, fresh.data() + to, std::uint64_t{0});
    const std::int64_t* const offsets = in.offsets.data();
    const I* const indices = in.indices.data();
    constexpr std::int64_t ahead = detail::bfs::host_pull_tuning::ahead;
    for (std::int64_t j = 0; j < size; ++j) {
      if (j + ahead < size) __builtin_prefetch(indices + offsets[list[static_cast<std::size_t>(j + ahead)]]);
      const I v = list[static_cast<std::size_t>(j)];
      for (std::int64_t e = offsets[v]; e < offsets[v + 1]; ++e) {
        if (!detail::test_bit(visited.data(), indices[e])) continue;
        levels[v] = level;
        parents[v] = indices[e];
        fresh[v >> 6] |= std::uint64_t{1} << (v & 63);
        break;
      }
    }
  }

  // --- The search
  // ------------------------------------------------------------------------------------------------------

  struct level_sums {
    std::int64_t size = 0;
    std::int64_t edges = 0;
  };
  [[nodiscard]] level_sums sum_level() const {
    level_sums all;
    level_sums mine{frontier_size, 0};
    for (std::int64_t k = 0; k < frontier_size; ++k)
      mine.edges += out.offsets[frontier[k] + 1] - out.offsets[frontier[k]];
    for (const level_sums& each : comm.all_gather(mine)) {
      all.size += each.size;
      all.edges += each.edges;
    }
    return all;
  }

  void begin(std::int64_t from) {
    if (source >= 0) forget(source);  // one without edges is in no bitmap
    source = -1;
    std::fill(visited.data(), visited.end(), std::uint64_t{0});
    std::copy(start.data(), start.end(), own());
    gathered = comm.size() == 1;
    sizes.clear();
    reached = pulled = frontier_size = 0;
    if (g.parts().owner(from) != comm.rank()) return;
    source = from - first;
    levels[source] = 0;
    parents[source] = static_cast<I>(from);
    frontier[frontier_size++] = static_cast<I>(source);
    (void)detail::test_and_set_bit(own(), source);
  }

  void search(std::int64_t from) {
    begin(from);
    const auto entries = g.edges() * (g.direction() == direction_kind::undirected ? 2 : 1);
    const detail::bfs::direction_rule rule = detail::bfs::host_pull_rule::of(n, entries);
    bfs_direction direction = bfs_direction::push;
    std::int64_t unexplored = entries;
    std::int64_t previous = 0;
    for (level_sums now = sum_level(); now.size > 0; now = sum_level()) {
      sizes.push_back(now.size);
      reached += now.size;
      direction = allowed != bfs_direction::automatic
                      ? allowed
                      : detail::bfs::next_direction(direction, {n, previous, now.size, now.edges, unexplored}, rule);
      unexplored -= now.edges;
      previous = now.size;
      const auto level = static_cast<std::int32_t>(sizes.size());
      direction == bfs_direction::pull ? pull(level) : push(level);
    }
    for (std::int64_t w = 0; w < own_words; ++w) {  // what only the search before had reached
      for (std::uint64_t rest = before[w] & ~own()[w]; rest != 0; rest &= rest - 1)
        forget(w * 64 + std::countr_zero(rest));
      before[w] = own()[w];
    }
  }
};

template <index_type I>
distributed_bfs_plan<I>::distributed_bfs_plan(const communicator& comm, const context<host>& ctx,
                                              const distributed_graph<I>& g, bfs_direction direction) {
  const bool can_pull = g.direction() == direction_kind::undirected || !g.in().offsets.empty();
  if (direction == bfs_direction::pull && !can_pull) {
    throw agreed_error(error_code::unsupported, "bfs: direction pull on a directed graph without in-edges");
  }
  if (!can_pull) direction = bfs_direction::push;
  state_ = comm.agree_on([&] { return std::make_unique<state>(comm, ctx, g, direction); });
}
template <index_type I>
distributed_bfs_plan<I>::distributed_bfs_plan(distributed_bfs_plan&&) noexcept = default;
template <index_type I>
distributed_bfs_plan<I>& distributed_bfs_plan<I>::operator=(distributed_bfs_plan&&) noexcept = default;
template <index_type I>
distributed_bfs_plan<I>::~distributed_bfs_plan() = default;

template <index_type I>
void distributed_bfs_plan<I>::run(std::int64_t source) {
  SPARGO_EXPECTS(source >= 0 && source < state_->n,
                 fmt::format("bfs: source {} is not one of {} vertices", source, state_->n));
  state_->search(source);
}
template <index_type I>
span<const std::int32_t, host> distributed_bfs_plan<I>::levels() const noexcept {
  return std::as_const(state_->levels).view();
}
template <index_type I>
span<const I, host> distributed_bfs_plan<I>::parents() const noexcept {
  return std::as_const(state_->parents).view();
}
template <index_type I>
std::int64_t distributed_bfs_plan<I>::reached() const noexcept {
  return state_->reached;
}
template <index_type I>
span<const std::int64_t, host> distributed_bfs_plan<I>::level_sizes() const noexcept {
  return state_->sizes;
}
template <index_type I>
std::int64_t distributed_bfs_plan<I>::pulled_levels() const noexcept {
  return state_->pulled;
}

#define INSTANTIATE(I) template class distributed_bfs_plan<I>;
SPARGO_FOR_EACH_INDEX(INSTANTIATE)

}  // namespace spargo
