// Distributed BFS on the host with one row of ranks: every rank receives from all others.
//
// The bitmap (bfs_host.hpp) covers all vertices. While levels are pushed, another rank's bits mark vertices that this
// rank has sent; in a pulled level they mark vertices visited before the level, for which every rank's words are
// gathered. A push sends (vertex, parent) to the owner, at most once per level and rank. A pull stops at the first
// visited neighbour, which is the smallest of the last level: an unvisited vertex has none in earlier levels.
//
// Cost of a level besides its edges: pushed, three small collectives and 2 indices per vertex sent; pulled, two and n /
// 8 bytes to each rank. With many ranks these dominate; then ranks form a grid (grid_host.cpp).
#include "distributed/bfs/bfs_host.hpp"
#include "core/instantiate.hpp"

namespace spargo::detail::distributed {

namespace {

// Up to this many ranks form one row, as do all ranks of one host: there bytes cost less than the grid's extra work, a
// factor of 1.7 (R-MAT 20, results/ranks_cpu2.txt). By the model of apps/bench/scaling.py the grid is faster from 16
// hosts on over 10 Gbit/s, from 25 on over 100.
constexpr int most_in_a_row = 16;

// The largest divisor of the ranks up to their square root; 1: one row.
int rows_of_grid(const communicator& comm) {
  if (comm.size() <= most_in_a_row || comm.local_size() == comm.size()) return 1;
  int rows = 1;
  for (int r = 2; r * r <= comm.size(); ++r) {
    if (comm.size() % r == 0) rows = r;
  }
  return rows;
}

template <class I>
class row_search final : public host_vertices<I> {
  using base = host_vertices<I>;
  using base::comm_, base::ctx, base::g, base::out, base::first, base::own_words, base::marks, base::fresh, base::own,
      base::levels, base::parents, base::frontier, base::frontier_size, base::packed, base::chunk;

 public:
  row_search(const communicator& ranks, const context<host>& on, const distributed_graph<I>& graph, const bfs_task& all)
      : base(ranks, on, graph, all, div_up(graph.vertices(), 64), graph.parts().first(ranks.rank()) / 64),
        in(graph.in()),
        boxes(static_cast<std::size_t>(ranks.size())) {
    for (const std::int64_t each : graph.parts().offsets) word_offsets.push_back(div_up(each, 64));
  }

 private:
  void gather() {
    if (!gathered) comm_.template gather_in_place<std::uint64_t>(marks, word_offsets);
    gathered = true;
  }

  void push(std::int32_t level) override {
    // Found vertices are appended to the array that is read: frontier vertices are visited already, so there is room.
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
        const std::int64_t local = v - first;
        if (local >= 0 && local < rows) {
          base::offer(static_cast<I>(local), id, level);
        } else if (!detail::test_and_set_bit(marks.data(), v)) {
          const int owner = g.parts().owner(v);
          std::vector<I>& box = boxes[static_cast<std::size_t>(owner)];
          box.push_back(static_cast<I>(v - g.parts().first(owner)));
          box.push_back(id);
        }
      }
    }
    if (comm_.size() > 1) base::offer_all(base::deliver(comm_, boxes), level);
    gathered = comm_.size() == 1;
    base::sort_frontier();
  }

  void pull(std::int32_t level) override {
    gather();
    detail::parallel_parts(ctx.threads(), div_up(own_words, chunk),
                           [&](std::int64_t p) { pull_words(p * chunk, std::min((p + 1) * chunk, own_words), level); });
    for (std::int64_t w = 0; w < own_words; ++w) own()[w] |= fresh[w];
    gathered = comm_.size() == 1;
    gather();
    base::list_fresh();
  }

  void pull_words(std::int64_t from, std::int64_t to, std::int32_t level) {
    detail::bfs::host_chunk<I> list;
    const std::int64_t size = detail::bfs::list_bits(
        from, to, [&](std::int64_t w) { return ~own()[w]; }, list.data());
    std::fill(fresh.data() + from, fresh.data() + to, std::uint64_t{0});
    find_reached_neighbours(list.data(), list.data(), size, marks.data(), in.offsets.data(), in.indices.data(),
                            [&](I v, I parent) {
                              levels[v] = level;
                              parents[v] = parent;
                              fresh[v >> 6] |= std::uint64_t{1} << (v & 63);
                            });
  }

  void begin(std::int64_t from) override {
    base::begin(from);
    gathered = comm_.size() == 1;
  }
  [[nodiscard]] std::string_view how() const noexcept override { return "host memory"; }

  csr_pattern_view<I, std::int64_t, host> in;
  std::vector<std::int64_t> word_offsets;  // of all ranks
  std::vector<std::vector<I>> boxes;       // [rank] see deliver
  bool gathered = false;                   // `marks` holds the visited vertices of all ranks
};

}  // namespace

template <class I>
std::unique_ptr<bfs_executor<I, host>> make_bfs_executor(const communicator& comm, const context<host>& ctx,
                                                         const distributed_graph<I>& g, const bfs_task& task,
                                                         const exchange_options&) {
  const int rows = task.parents == bfs_parents::smallest ? 1 : rows_of_grid(comm);
  if (rows > 1) return make_grid_bfs(comm, ctx, g, task, rows);
  return comm.agree_on([&] { return std::make_unique<row_search<I>>(comm, ctx, g, task); });
}

#define INSTANTIATE(I)                                                                                            \
  template std::unique_ptr<bfs_executor<I, host>> make_bfs_executor(const communicator&, const context<host>&,    \
                                                                    const distributed_graph<I>&, const bfs_task&, \
                                                                    const exchange_options&);
SPARGO_FOR_EACH_INDEX(INSTANTIATE)

}  // namespace spargo::detail::distributed
