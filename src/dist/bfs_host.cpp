// Searches over vertices that are shared out, on the host.
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
#include "dist/bfs_executor.hpp"
#include "graph/bfs/host_levels.hpp"

namespace spargo::detail::dist {

namespace {

template <class I>
struct host_search final : stepped_bfs<I, host> {
  using words = array<std::uint64_t, host>;
  static constexpr std::int64_t chunk = detail::bfs::host_pull_tuning::chunk_words;

  using stepped_bfs<I, host>::comm_;
  context<host> ctx;
  const distributed_graph<I>& g;
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

  host_search(const communicator& ranks, const context<host>& on, const distributed_graph<I>& graph,
              const bfs_task& all)
      : stepped_bfs<I, host>(ranks, all),
        ctx(on),
        g(graph),
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
    if (!gathered) comm_.template gather_in_place<std::uint64_t>(visited, word_offsets);
    gathered = true;
  }

  // --- Push ---

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

  void push(std::int32_t level) override {
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
    if (comm_.size() > 1) deliver(level);
    gathered = comm_.size() == 1;
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
    const array<I, host> edges = comm_.template all_to_all<I>(ctx, packed, counts, received);
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

  // --- Pull ---

  void pull(std::int32_t level) override {
    gather();
    detail::parallel_parts(ctx.threads(), div_up(own_words, chunk),
                           [&](std::int64_t p) { pull_words(p * chunk, std::min((p + 1) * chunk, own_words), level); });
    for (std::int64_t w = 0; w < own_words; ++w) own()[w] |= fresh[w];
    gathered = comm_.size() == 1;
    gather();
    list_fresh();
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

  // --- The search ---

  [[nodiscard]] level_sums sum_level() override {
    level_sums mine{frontier_size, 0};
    for (std::int64_t k = 0; k < frontier_size; ++k)
      mine.edges += out.offsets[frontier[k] + 1] - out.offsets[frontier[k]];
    return mine;
  }

  void begin(std::int64_t from) override {
    if (source >= 0) forget(source);  // one without edges is in no bitmap
    source = -1;
    std::fill(visited.data(), visited.end(), std::uint64_t{0});
    std::copy(start.data(), start.end(), own());
    gathered = comm_.size() == 1;
    frontier_size = 0;
    if (g.parts().owner(from) != comm_.rank()) return;
    source = from - first;
    levels[source] = 0;
    parents[source] = static_cast<I>(from);
    frontier[frontier_size++] = static_cast<I>(source);
    (void)detail::test_and_set_bit(own(), source);
  }

  void end() override {
    for (std::int64_t w = 0; w < own_words; ++w) {  // what only the search before had reached
      for (std::uint64_t rest = before[w] & ~own()[w]; rest != 0; rest &= rest - 1)
        forget(w * 64 + std::countr_zero(rest));
      before[w] = own()[w];
    }
  }
  [[nodiscard]] span<const std::int32_t, host> found_levels() const noexcept override { return levels.view(); }
  [[nodiscard]] span<const I, host> found_parents() const noexcept override { return parents.view(); }
  [[nodiscard]] std::string_view how() const noexcept override { return "host memory"; }
};

}  // namespace

template <class I>
std::unique_ptr<bfs_executor<I, host>> make_bfs_executor(const communicator& comm, const context<host>& ctx,
                                                         const distributed_graph<I>& g, const bfs_task& task,
                                                         const exchange_options&) {
  return comm.agree_on([&] { return std::make_unique<host_search<I>>(comm, ctx, g, task); });
}

#define INSTANTIATE(I)                                                                                            \
  template std::unique_ptr<bfs_executor<I, host>> make_bfs_executor(const communicator&, const context<host>&,    \
                                                                    const distributed_graph<I>&, const bfs_task&, \
                                                                    const exchange_options&);
SPARGO_FOR_EACH_INDEX(INSTANTIATE)

}  // namespace spargo::detail::dist
