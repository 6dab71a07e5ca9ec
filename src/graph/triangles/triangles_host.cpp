// Triangles on the host: the executors. One merges canonical rows as stored (host_rows.hpp). The other ranks and
// orients the graph (host_oriented.hpp), counts the triangles of each rank (simd/count_ranks.hpp or host_merge.hpp),
// and maps the counts back to vertices.
//
// Counts per vertex: low ranks, which most triangles have, are counted per thread, the others in a shared array. Both
// are integer sums, hence deterministic.
#include "core/instantiate.hpp"
#include "graph/triangles/executor.hpp"
#include "graph/triangles/host_merge.hpp"
#include "graph/triangles/host_oriented.hpp"
#include "graph/triangles/host_rows.hpp"
#include "graph/triangles/simd/loops.hpp"

#include <spargo/core/interruption.hpp>
#include <spargo/formats/convert.hpp>

namespace spargo::detail::triangles {

namespace {

struct count_tuning {
  static constexpr std::int64_t own_limit = std::int64_t{1} << 15;   // ranks counted per thread; untuned: 256 KiB
  static constexpr std::int64_t part_slots = std::int64_t{1} << 12;  // list slots; untuned: some 100 us on R-MAT
};

template <class I, class O>
class oriented_executor final : public executor<I, host> {
  using word = std::uint64_t;

 public:
  oriented_executor(const context<host>& ctx, const graph_view<I, O, host>& g, const triangles_options& options,
                    const row_survey& survey, const count_loops<I>& loops)
      : threads_(ctx.threads()),
        options_(options),
        loops_(loops),
        mutual_(g.direction == direction_kind::directed && options.output == triangles_output::links),
        transposed_(g.direction == direction_kind::undirected || g.has_in_edges() || g.vertices() == 0
                        ? csr_matrix<pattern, I, O, host>()
                        : transpose(ctx, csr_view<const pattern, I, O, host>{{g.out}, {}})),
        graph_(ctx, rows_of(g), survey, options.output,
               options.algorithm == triangles_algorithm::merge ? list_order::ascending : list_order::hubs_first,
               loops) {
    const std::int64_t n = g.vertices();
    totals_ = {ctx, threads_};
    if (options.algorithm == triangles_algorithm::bitmap) {
      marks_ = {ctx, threads_ * mark_words() * (mutual_ ? 2 : 1)};
      std::fill(marks_.begin(), marks_.end(), word{0});
    }
    if (options.output == triangles_output::total) return;
    own_limit_ = options.algorithm == triangles_algorithm::bitmap ? std::min(n, count_tuning::own_limit) : 0;
    own_counts_ = {ctx, threads_ * own_limit_ * (mutual_ ? 2 : 1)};
    counts_ = {ctx, n};
    per_vertex_ = {ctx, n};
    if (options.output == triangles_output::links) links_ = {ctx, n};
    if (mutual_) rank_links_ = {ctx, n};
  }

  void run() override {
    total_ = 0;
    if (graph_.vertices() == 0) return;
    graph_.build();
    clear();
    count();
    for (const std::int64_t some : totals_) total_ += some;
    if (options_.output != triangles_output::total) collect();
  }

  [[nodiscard]] std::int64_t total() const override { return total_; }
  [[nodiscard]] span<const std::int64_t, host> per_vertex() const noexcept override { return per_vertex_.view(); }
  [[nodiscard]] span<const std::int64_t, host> links() const noexcept override { return links_.view(); }
  [[nodiscard]] span<const I, host> degrees() const noexcept override { return graph_.degrees(); }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    const std::int64_t numbers = marks_.size() + totals_.size() + own_counts_.size() + counts_.size() +
                                 rank_links_.size() + per_vertex_.size() + links_.size();
    return graph_.bytes() + numbers * std::int64_t{sizeof(std::int64_t)} +
           transposed_.offsets().size() * std::int64_t{sizeof(O)} + transposed_.nnz() * std::int64_t{sizeof(I)};
  }

 private:
  [[nodiscard]] neighbour_rows<I, O> rows_of(const graph_view<I, O, host>& g) const {
    if (g.direction == direction_kind::undirected) return {g.out, {}};
    return {g.out, g.has_in_edges() ? g.in : transposed_.view()};
  }
  // In full blocks, like the hubs' rows.
  [[nodiscard]] std::int64_t mark_words() const {
    return div_up(graph_.vertices(), hub_matrix::block) * hub_matrix::block_words;
  }

  void clear() {
    std::fill(totals_.begin(), totals_.end(), std::int64_t{0});
    std::fill(own_counts_.begin(), own_counts_.end(), std::int64_t{0});
    for (array<std::int64_t, host>* shared : {&counts_, &rank_links_}) {
      parallel_for(threads_, shared->size(), grain::elements, [&](std::int64_t r) { (*shared)[r] = 0; });
    }
  }

  [[nodiscard]] count_job<I> job_of(int slot) {
    count_job<I> job;
    job.vertices = graph_.vertices();
    job.lists = graph_.lists();
    job.ends = graph_.ends();
    job.mutual = graph_.mutual();
    job.hubs = graph_.hubs();
    job.mutual_hubs = graph_.mutual_hubs();
    const std::int64_t copies = mutual_ ? 2 : 1;
    if (!marks_.empty()) {
      job.marks = marks_.data() + slot * copies * mark_words();
      job.mutual_marks = job.marks + mark_words();
    }
    job.own_limit = own_limit_;
    job.own_counts = own_counts_.data() + slot * copies * own_limit_;
    job.own_links = job.own_counts + own_limit_;
    job.counts = counts_.data();
    job.links = rank_links_.data();
    return job;
  }

  void count() {
    const auto loop = mutual_ ? loops_.links : counts_.empty() ? loops_.total : loops_.per_vertex;
    const bool merges = options_.algorithm == triangles_algorithm::merge;
    const parts shares = chunks_of(graph_.slots(), count_tuning::part_slots);
    const out_list<I>* const lists = graph_.lists();
    const auto first_rank = [&](std::int64_t slot) {
      return first_where(std::int64_t{0}, std::int64_t{graph_.vertices()},
                         [&](std::int64_t r) { return lists[r].first >= slot; });
    };
    on_threads(threads_, shares.count, [&](part_taker& mine) {
      const count_job<I> job = job_of(mine.slot());
      const merged_ranks<I> merged(job, options_.output);
      std::int64_t total = 0;
      for (std::int64_t p; mine.take(p);) {
        interruption::look();
        const std::int64_t first = first_rank(shares.first(p));
        const std::int64_t last = first_rank(shares.last(p));
        total += merges ? merged.count(first, last) : loop(job, first, last);
      }
      totals_[mine.slot()] += total;
    });
  }

  // Maps counts from ranks to vertices.
  void collect() {
    const I* const rank = graph_.rank();
    const std::int64_t stride = own_limit_ * (mutual_ ? 2 : 1);
    const auto sum = [&](const array<std::int64_t, host>& shared, std::int64_t r, std::int64_t offset) {
      std::int64_t count = shared[r];
      if (r < own_limit_) {
        for (int t = 0; t < threads_; ++t) count += own_counts_[t * stride + offset + r];
      }
      return count;
    };
    parallel_for(threads_, graph_.vertices(), grain::rows, [&](std::int64_t v) {
      per_vertex_[v] = sum(counts_, rank[v], 0);
      if (!links_.empty()) links_[v] = mutual_ ? sum(rank_links_, rank[v], own_limit_) : 2 * per_vertex_[v];
    });
  }

  int threads_;
  triangles_options options_;
  count_loops<I> loops_;
  bool mutual_;  // an edge between neighbours may count once or twice
  csr_matrix<pattern, I, O, host> transposed_;
  oriented_graph<I, O> graph_;
  array<word, host> marks_;           // [thread slot][word]
  array<std::int64_t, host> totals_;  // [thread slot]
  std::int64_t own_limit_ = 0;
  array<std::int64_t, host> own_counts_;  // [thread slot][rank below own_limit], counts then links
  array<std::int64_t, host> counts_;      // [rank]
  array<std::int64_t, host> rank_links_;
  array<std::int64_t, host> per_vertex_;  // [vertex]
  array<std::int64_t, host> links_;
  std::int64_t total_ = 0;
};

// For undirected graphs with canonical rows.
template <class I, class O>
class row_executor final : public executor<I, host> {
 public:
  row_executor(const context<host>& ctx, const graph_view<I, O, host>& g, triangles_output output)
      : threads_(ctx.threads()), counter_(ctx, g.out) {
    if (output == triangles_output::total) return;
    per_vertex_ = {ctx, g.vertices()};
    degrees_ = {ctx, g.vertices()};
    if (output == triangles_output::links) links_ = {ctx, g.vertices()};
    parallel_for(threads_, degrees_.size(), grain::elements,
                 [&](std::int64_t v) { degrees_[v] = static_cast<I>(g.out.offsets[v + 1] - g.out.offsets[v]); });
  }

  void run() override {
    parallel_for(threads_, per_vertex_.size(), grain::elements, [&](std::int64_t v) { per_vertex_[v] = 0; });
    total_ = counter_.run(per_vertex_.data());
    parallel_for(threads_, links_.size(), grain::elements, [&](std::int64_t v) { links_[v] = 2 * per_vertex_[v]; });
  }

  [[nodiscard]] std::int64_t total() const override { return total_; }
  [[nodiscard]] span<const std::int64_t, host> per_vertex() const noexcept override { return per_vertex_.view(); }
  [[nodiscard]] span<const std::int64_t, host> links() const noexcept override { return links_.view(); }
  [[nodiscard]] span<const I, host> degrees() const noexcept override { return degrees_.view(); }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return (per_vertex_.size() + links_.size()) * std::int64_t{sizeof(std::int64_t)} +
           degrees_.size() * std::int64_t{sizeof(I)};
  }

 private:
  int threads_;
  row_counter<I, O> counter_;
  array<std::int64_t, host> per_vertex_;
  array<std::int64_t, host> links_;
  array<I, host> degrees_;
  std::int64_t total_ = 0;
};

}  // namespace

template <class I, class O>
row_survey survey_rows(const context<host>& ctx, const graph_view<I, O, host>& g) {
  return g.direction == direction_kind::undirected ? survey_undirected(ctx.threads(), g.out) : row_survey{};
}

template <class I, class O>
std::unique_ptr<executor<I, host>> make_executor(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                 const triangles_options& options, const row_survey& survey,
                                                 const count_loops<I>* loops) {
  static const count_loops<I> best = usable_count_loops<I>().back();
  if (options.algorithm == triangles_algorithm::merge && survey.canonical) {
    return std::make_unique<row_executor<I, O>>(ctx, g, options.output);
  }
  return std::make_unique<oriented_executor<I, O>>(ctx, g, options, survey, loops != nullptr ? *loops : best);
}

template <class I>
void find_coefficients(const context<host>& ctx, span<const std::int64_t, host> counts, span<const I, host> degrees,
                       double links_of_one, span<double, host> coefficients) {
  parallel_for(ctx.threads(), counts.size(), grain::elements, [&](std::int64_t v) {
    const auto d = static_cast<double>(degrees[v]);
    coefficients[v] = d < 2 ? 0 : links_of_one * static_cast<double>(counts[v]) / (d * (d - 1));
  });
}

#define INSTANTIATE(I, O)                                                                                        \
  template row_survey survey_rows(const context<host>&, const graph_view<I, O, host>&);                          \
  template std::unique_ptr<executor<I, host>> make_executor(const context<host>&, const graph_view<I, O, host>&, \
                                                            const triangles_options&, const row_survey&,         \
                                                            const count_loops<I>*);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)
#define INSTANTIATE_INDEX(I)                                                                                    \
  template void find_coefficients<I>(const context<host>&, span<const std::int64_t, host>, span<const I, host>, \
                                     double, span<double, host>);
SPARGO_FOR_EACH_INDEX(INSTANTIATE_INDEX)

}  // namespace spargo::detail::triangles
