// Distributed BFS on the host with ranks in a grid: each rank communicates only within its row and column.
//
// Of R rows and C columns, rank r is in row r / C and column r % C. It stores the edges from vertices of its column's
// ranks to vertices of its row's ranks, by source and by destination. Each level begins in the column: all its ranks
// exchange their frontiers, as ids if these are shorter, else as bits. Push: edges lead to vertices of the row, and
// each reached vertex is sent to its owner, at most once per level and rank. Pull: the unvisited vertices of a rank
// circulate through its row. Each rank looks for reached neighbours in its column and passes on what is still
// unvisited, so a found vertex is not searched again. At the end the owners receive the parents. In a push parents are
// the smallest neighbours one level nearer; in a pull the smallest in the first column that has any, from the owner's
// leftwards. Both are the same on every run with the same number of ranks.
//
// Cost of a level besides its edges: n (1 / C + 1 / R) / 8 bytes received in a pull and in a large push (n / 8 with one
// row of ranks), two indices per vertex found, R + C messages, and C steps in a pull. Memory: two copies of 1 / (R C)
// of all edges, four times n (1 / C + 1 / R) bits.
// Source: Buluc, Madduri, Parallel breadth-first search on distributed memory systems, SC 2011; Beamer, Buluc,
// Asanovic, Patterson, Distributed memory breadth-first search revisited: enabling bottom-up search, MTAAP 2013.
#include "core/id_bitmap.hpp"
#include "core/instantiate.hpp"
#include "distributed/bfs/bfs_host.hpp"
#include "distributed/exchange/block_owners.hpp"

#include <fmt/format.h>

#include <array>

namespace spargo::detail::distributed {

namespace {

// The first word of each rank's vertices and the total; each rank begins at a new word.
std::vector<std::int64_t> words_of(const std::vector<int>& ranks, const partition& parts) {
  std::vector<std::int64_t> words{0};
  for (const int r : ranks) words.push_back(words.back() + div_up(parts.count(r), 64));
  return words;
}

partition vertices_in(std::vector<std::int64_t> words) {
  for (std::int64_t& each : words) each *= 64;
  return {std::move(words)};
}

// The vertices of one row or column of ranks.
struct line_of_ranks {
  communicator comm;
  std::vector<int> ranks;
  std::vector<std::int64_t> words;  // member k has [words[k], words[k + 1])
  block_owners members;             // looked up by vertex

  // Over the ranks that pass the same color. Collective.
  line_of_ranks(const communicator& all, int color, const partition& parts)
      : comm(all.split(color)),
        ranks(comm.all_gather(all.rank())),
        words(words_of(ranks, parts)),
        members(vertices_in(words)) {}
  [[nodiscard]] int size() const { return comm.size(); }
  [[nodiscard]] int me() const { return comm.rank(); }
  [[nodiscard]] std::int64_t all_words() const { return words.back(); }
  [[nodiscard]] std::int64_t word(int member) const { return words[static_cast<std::size_t>(member)]; }
  [[nodiscard]] std::int64_t size_of(int member) const { return word(member + 1) - word(member); }
};

// Edges grouped by one end; only nonempty rows are stored.
template <class I>
struct listed_rows {
  id_bitmap<I> rows;
  array<std::int64_t, host> offsets;  // of the nonempty rows
  array<I, host> indices;

  [[nodiscard]] std::pair<std::int64_t, std::int64_t> operator()(I row) const {
    const std::int64_t k = rows.rank(row);
    return {offsets[k], offsets[k + 1]};
  }
};

// Where an edge is stored: the member of a line, and that member's index for the other end.
template <class I>
struct edge_place {
  int member;
  I index;
};

// Collects the edges of all members' rows that are stored on this rank; rows are numbered along the line. `place`:
// other end -> edge_place. Collective over all ranks. O(edges), one thread.
template <class I, class Place>
listed_rows<I> deal_rows(const communicator& all, const line_of_ranks& line, const context<host>& ctx,
                         const csr_pattern_view<I, std::int64_t, host>& own, const Place& place) {
  struct head {  // header of a row
    I row, size;
  };
  const auto members = static_cast<std::size_t>(line.size());
  const std::int64_t base = 64 * line.word(line.me());
  std::vector<std::int64_t> head_counts(members);
  std::vector<std::int64_t> counts(members);
  array<head, host> heads;
  array<I, host> indices;
  // Calls put(member, index, whether it begins a row there, row).
  const auto each = [&](const auto& put) {
    std::vector<std::int64_t> last(members, -1);
    for (std::int64_t v = 0; v < own.rows; ++v) {
      for (std::int64_t e = own.offsets[v]; e < own.offsets[v + 1]; ++e) {
        const edge_place<I> to = place(own.indices[e]);
        const auto m = static_cast<std::size_t>(to.member);
        put(m, to.index, std::exchange(last[m], v) != v, static_cast<I>(base + v));
      }
    }
  };
  all.agree_on([&] {
    each([&](std::size_t m, I, bool first, I) {
      head_counts[m] += std::int64_t{first};
      ++counts[m];
    });
    std::vector<std::int64_t> next_head = communicator::offsets_of(head_counts);
    std::vector<std::int64_t> next = communicator::offsets_of(counts);
    heads = {ctx, next_head.back()};
    indices = {ctx, next.back()};
    each([&](std::size_t m, I index, bool first, I row) {
      if (first) heads[next_head[m]++] = {row, 0};
      ++heads[next_head[m] - 1].size;
      indices[next[m]++] = index;
    });
  });
  std::vector<std::int64_t> received;
  listed_rows<I> made;
  heads = line.comm.all_to_all<head>(ctx, heads.view(), head_counts, received);
  made.indices = line.comm.all_to_all<I>(ctx, indices.view(), counts, received);
  all.agree_on([&] {  // rows ascend from member to member
    made.rows.grow(ctx, 64 * line.all_words());
    made.offsets = {ctx, heads.size() + 1};
    made.offsets[0] = 0;
    for (std::int64_t h = 0; h < heads.size(); ++h) {
      made.rows.mark(&heads[h].row, 1);
      made.offsets[h + 1] = made.offsets[h] + heads[h].size;
    }
    (void)made.rows.finish(ctx);
  });
  return made;
}

template <class I>
class grid_search final : public host_vertices<I> {
  using base = host_vertices<I>;
  using base::ctx, base::g, base::out, base::own_words, base::marks, base::fresh, base::own, base::levels,
      base::parents, base::frontier, base::frontier_size, base::chunk;
  using typename base::words;

 public:
  grid_search(const communicator& ranks, const context<host>& on, const distributed_graph<I>& graph,
              const bfs_task& all, line_of_ranks row, line_of_ranks column)
      : base(ranks, on, graph, all, row.all_words(), row.word(row.me())),
        row_(std::move(row)),
        column_(std::move(column)),
        reached_(on, column_.all_words()),
        frontier_bits_(on, column_.all_words()),
        ids_(on, column_.all_words() * std::int64_t{sizeof(std::uint64_t) / sizeof(I)}),
        boxes_(static_cast<std::size_t>(row_.size())),
        found_(static_cast<std::size_t>(on.threads())),
        how_(fmt::format("host memory, in a grid of {} x {} ranks", column_.size(), row_.size())) {
    std::int64_t longest = 0;
    for (int k = 0; k < row_.size(); ++k) longest = std::max(longest, row_.size_of(k));
    for (words& each : passing_) each = {on, longest};
  }

  // Collective, before the first search.
  void take_edges() {
    const partition& parts = g.parts();
    const int columns = row_.size();
    const block_owners owners = this->comm_.agree_on([&] { return block_owners(parts); });
    std::vector<std::int64_t> in_row;     // [rank] offset from its own numbers to those of the row
    std::vector<std::int64_t> in_column;  // the same for the column
    for (int r = 0; r < parts.parts(); ++r) {
      const auto after = [&](const std::vector<std::int64_t>& bases, int rank) {
        return bases[static_cast<std::size_t>(rank)] + 64 * div_up(parts.count(rank), 64);
      };
      in_row.push_back(r % columns == 0 ? 0 : after(in_row, r - 1));
      in_column.push_back(r < columns ? 0 : after(in_column, r - columns));
    }
    const auto named = [&](const std::vector<std::int64_t>& bases, int owner, I vertex) {
      return static_cast<I>(bases[static_cast<std::size_t>(owner)] + vertex - parts.first(owner));
    };
    if (this->task_.allowed != bfs_direction::pull) {
      by_source_ = deal_rows<I>(this->comm_, column_, ctx, out, [&](I v) {
        const int owner = owners.of(v);
        return edge_place<I>{owner / columns, named(in_row, owner, v)};
      });
    }
    if (this->task_.allowed == bfs_direction::push) return;
    by_destination_ = deal_rows<I>(this->comm_, row_, ctx, g.in(), [&](I u) {
      const int owner = owners.of(u);
      return edge_place<I>{owner % columns, named(in_column, owner, u)};
    });
    const int me = row_.me();
    const auto passed = [&](int to, int step) {  // words searched in that step
      words& buffer = passing_[static_cast<std::size_t>(step % 2)];
      return detail::message{(to + columns) % columns, reinterpret_cast<char*>(buffer.data()),
                             row_.size_of((me + step) % columns) * std::int64_t{sizeof(std::uint64_t)}};
    };
    for (int s = 0; s < columns && columns > 1; ++s) {  // at the end a rank's own words return to it
      hand_on_.push_back(row_.comm.connect({passed(me - 1, s)}, {passed(me + 1, s + 1)}));
    }
  }

 private:
  // Exchanges the frontiers of the column.
  void expand() {
    const std::vector<std::int64_t> offsets = communicator::offsets_of(column_.comm.all_gather(frontier_size));
    const std::int64_t first_word = column_.word(column_.me());
    as_ids_ = offsets.back() <= ids_.size();
    if (as_ids_) {
      I* const mine = ids_.data() + offsets[static_cast<std::size_t>(column_.me())];
      for (std::int64_t k = 0; k < frontier_size; ++k) mine[k] = static_cast<I>(64 * first_word + frontier[k]);
      column_.comm.template gather_in_place<I>(ids_.view(), offsets);
      size_ = offsets.back();
      for (std::int64_t k = 0; k < size_; ++k) (void)detail::test_and_set_bit(reached_.data(), ids_[k]);
      return;
    }
    std::fill_n(frontier_bits_.data() + first_word, own_words, std::uint64_t{0});
    for (std::int64_t k = 0; k < frontier_size; ++k) {
      (void)detail::test_and_set_bit(frontier_bits_.data() + first_word, frontier[k]);
    }
    column_.comm.template gather_in_place<std::uint64_t>(frontier_bits_.view(), column_.words);
    for (std::int64_t w = 0; w < frontier_bits_.size(); ++w) reached_[w] |= frontier_bits_[w];
  }

  [[nodiscard]] I id_of(I vertex, int member) const {
    return static_cast<I>(g.parts().first(column_.ranks[static_cast<std::size_t>(member)]) + vertex -
                          64 * column_.word(member));
  }

  // Calls body(vertex, id) for the frontiers of the column, ascending.
  template <class Body>
  void each_source(const Body& body) const {
    int member = 0;
    const auto visit = [&](I s) {
      while (s >= 64 * column_.word(member + 1)) ++member;
      body(s, id_of(s, member));
    };
    for (std::int64_t k = 0; as_ids_ && k < size_; ++k) visit(ids_[k]);
    for (std::int64_t w = 0; !as_ids_ && w < frontier_bits_.size(); ++w) {
      for (std::uint64_t rest = frontier_bits_[w]; rest != 0; rest &= rest - 1) {
        visit(static_cast<I>(64 * w + std::countr_zero(rest)));
      }
    }
  }

  void push(std::int32_t level) override {
    expand();
    frontier_size = 0;
    for (std::vector<I>& box : boxes_) box.clear();
    const std::int64_t base_here = 64 * row_.word(row_.me());
    each_source([&](I s, I id) {
      if (!by_source_.rows.contains(s)) return;
      const auto [from, to] = by_source_(s);
      for (std::int64_t e = from; e < to; ++e) {
        const I v = by_source_.indices[e];
        const std::int64_t local = v - base_here;
        if (local >= 0 && local < out.rows) {
          base::offer(static_cast<I>(local), id, level);
        } else if (!detail::test_and_set_bit(marks.data(), v)) {
          const int owner = row_.members.of(v);
          std::vector<I>& box = boxes_[static_cast<std::size_t>(owner)];
          box.push_back(static_cast<I>(v - 64 * row_.word(owner)));
          box.push_back(id);
        }
      }
    });
    base::offer_all(base::deliver(row_.comm, boxes_), level);
    base::sort_frontier();
  }

  void pull(std::int32_t level) override {
    expand();
    for (std::vector<I>& box : boxes_) box.clear();
    std::copy_n(own(), own_words, passing_[0].data());
    const int columns = row_.size();
    for (int s = 0; s < columns; ++s) {
      find_parents((row_.me() + s) % columns, passing_[static_cast<std::size_t>(s % 2)].data());
      if (columns == 1) break;
      hand_on_[static_cast<std::size_t>(s)]->start();
      hand_on_[static_cast<std::size_t>(s)]->finish();
    }
    const words& back = passing_[hand_on_.size() % 2];
    for (std::int64_t w = 0; w < own_words; ++w) fresh[w] = back[w] & ~own()[w];
    std::copy_n(back.data(), own_words, own());
    const array<I, host> edges = base::deliver(row_.comm, boxes_);
    detail::parallel_for(ctx.threads(), edges.size() / 2, detail::grain::rows, [&](std::int64_t k) {
      levels[edges[2 * k]] = level;
      parents[edges[2 * k]] = edges[2 * k + 1];
    });
    base::list_fresh();
  }

  // Looks for neighbours of a member's vertices whose bits are clear.
  void find_parents(int member, std::uint64_t* visited) {
    const std::int64_t size = row_.size_of(member);
    detail::on_threads(ctx.threads(), div_up(size, chunk), [&](detail::part_taker& mine) {
      std::vector<I>& found = found_[static_cast<std::size_t>(mine.slot())];
      for (std::int64_t part; mine.take(part);) {
        find_parents_in(member, part * chunk, std::min((part + 1) * chunk, size), visited, found);
      }
    });
    std::vector<I>& box = boxes_[static_cast<std::size_t>(member)];
    for (std::vector<I>& each : found_) {
      box.insert(box.end(), each.begin(), each.end());
      each.clear();
    }
  }

  // The same for words [from, to) of the member.
  void find_parents_in(int member, std::int64_t from, std::int64_t to, std::uint64_t* visited,
                       std::vector<I>& found) const {
    detail::bfs::host_chunk<I> list;
    std::array<std::int64_t, std::tuple_size_v<detail::bfs::host_chunk<I>>> rows;
    std::size_t size = 0;
    for (std::int64_t w = from; w < to; ++w) {
      const auto& listed = by_destination_.rows.at(row_.word(member) + w);
      for (std::uint64_t rest = ~visited[w] & listed.word; rest != 0; rest &= rest - 1) {
        const int bit = std::countr_zero(rest);
        list[size] = static_cast<I>(w * 64 + bit);
        rows[size++] = listed.before + count_bits(listed.word & ((std::uint64_t{1} << bit) - 1));
      }
    }
    find_reached_neighbours(list.data(), rows.data(), static_cast<std::int64_t>(size), reached_.data(),
                            by_destination_.offsets.data(), by_destination_.indices.data(), [&](I v, I neighbour) {
                              visited[v >> 6] |= std::uint64_t{1} << (v & 63);
                              found.push_back(v);
                              found.push_back(id_of(neighbour, column_.members.of(neighbour)));
                            });
  }

  void begin(std::int64_t from) override {
    base::begin(from);
    std::fill(reached_.data(), reached_.end(), std::uint64_t{0});
  }
  [[nodiscard]] std::string_view how() const noexcept override { return how_; }

  line_of_ranks row_;
  line_of_ranks column_;
  listed_rows<I> by_source_;       // from column vertices to row vertices
  listed_rows<I> by_destination_;  // into row vertices from column vertices
  words reached_;                  // column vertices reached before the current level
  words frontier_bits_;            // frontier of the column as bits, if not as ids
  array<I, host> ids_;             // frontier as ids; at most the size of the bits
  bool as_ids_ = true;
  std::int64_t size_ = 0;                                  // number of ids
  std::array<words, 2> passing_;                           // double buffer: visited vertices of a member of the row
  std::vector<std::unique_ptr<detail::channel>> hand_on_;  // [step of a pull]
  std::vector<std::vector<I>> boxes_;                      // [member of the row] see deliver
  std::vector<std::vector<I>> found_;                      // [thread] (vertex, parent) pairs for one member
  std::string how_;
};

}  // namespace

template <class I>
std::unique_ptr<bfs_executor<I, host>> make_grid_bfs(const communicator& comm, const context<host>& ctx,
                                                     const distributed_graph<I>& g, const bfs_task& task, int rows) {
  const int columns = comm.size() / rows;
  line_of_ranks row(comm, comm.rank() / columns, g.parts());
  line_of_ranks column(comm, comm.rank() % columns, g.parts());
  auto made = comm.agree_on(
      [&] { return std::make_unique<grid_search<I>>(comm, ctx, g, task, std::move(row), std::move(column)); });
  made->take_edges();
  return made;
}

#define INSTANTIATE(I)                                                                                     \
  template std::unique_ptr<bfs_executor<I, host>> make_grid_bfs(const communicator&, const context<host>&, \
                                                                const distributed_graph<I>&, const bfs_task&, int);
SPARGO_FOR_EACH_INDEX(INSTANTIATE)

}  // namespace spargo::detail::distributed
