// Betweenness centrality on the host: the executor of both algorithms.
//
// by_level processes batches of a few sources; all threads run the forward and the backward pass, level by level
// (host_forward.hpp, host_backward.hpp). by_source has a workspace per thread, each processing one source at a time
// (host_single.hpp); source k adds to row k % rows of a fixed number of sums, and the rows are added in order at the
// end. So results do not depend on the number of threads.
//
// Cost: by_level about two passes over the edges per batch, with an index and a byte per edge and 8 gathered bytes per
// lane for edges on a shortest path; by_source one pass per source, with an index and 4 gathered bytes per edge, and
// streams of some 60 bytes per vertex and 8 per edge of a shortest path.
#include "core/parallel.hpp"
#include "graph/betweenness/executor.hpp"
#include "graph/betweenness/host_backward.hpp"
#include "graph/betweenness/host_forward.hpp"
#include "graph/betweenness/host_single.hpp"

#include "core/instantiate.hpp"

#include <spargo/core/interruption.hpp>
#include <spargo/formats/convert.hpp>

#include <atomic>
#include <vector>

namespace spargo::detail::betweenness {

namespace {

struct executor_tuning {
  static constexpr int lanes = 4;
  // Rows of sums for by_source: the maximum number of busy threads. Fewer for large graphs, where a row is megabytes.
  static constexpr std::int64_t most_rows = 16;
  static constexpr std::int64_t least_rows = 4;
  static constexpr std::int64_t large = std::int64_t{1} << 20;  // vertices: 8 MB per row
};

template <class I, class O>
class host_executor final : public executor<I, host> {
 public:
  using search = host_search<I, O, executor_tuning::lanes>;

  host_executor(const context<host>& ctx, const graph_view<I, O, host>& g, const betweenness_options& options)
      : threads_(ctx.threads()),
        n_(g.vertices()),
        undirected_(g.direction == direction_kind::undirected),
        by_source_(options.algorithm == betweenness_algorithm::by_source),
        options_(options),
        values_(ctx, n_),
        edges_(ctx, options.edges == betweenness_edges::counted ? std::int64_t{g.out.nnz()} : 0),
        row_count_(n_ < executor_tuning::large ? executor_tuning::most_rows : executor_tuning::least_rows),
        rows_(ctx, by_source_ ? (row_count_ - 1) * n_ : 0) {
    csr_pattern_view<I, O, host> in = g.has_in_edges() ? g.in : g.out;
    if (!undirected_ && !g.has_in_edges() && n_ > 0) {
      transposed_ = transpose(ctx, csr_view<const pattern, I, O, host>{{g.out}, {}});
      in = transposed_.view();
    }
    if (by_source_) {
      const auto most = std::min<std::int64_t>(threads_, row_count_);
      for (std::int64_t k = 0; k < most; ++k) singles_.emplace_back(ctx, g.out);
    } else {
      searches_.emplace_back(ctx, g.out, in, threads_);
    }
  }

  void run(span<const I, host> sources) override {
    const std::int64_t count = sources.empty() ? n_ : sources.size();
    const std::int64_t batches = div_up(count, std::int64_t{executor_tuning::lanes});
    fill(edges_, 0);
    if (by_source_) {
      const std::int64_t rows = std::min(row_count_, count);
      std::atomic<std::int64_t> begun = 0;
      on_threads(static_cast<int>(singles_.size()), rows, [&](part_taker& mine) {
        for (std::int64_t row; mine.take(row);) {
          double* const sums = row == 0 ? values_.data() : rows_.data() + (row - 1) * n_;
          std::fill_n(sums, n_, 0.0);
          for (std::int64_t k = row; k < count; k += row_count_) {
            interruption::look({begun++, count});
            singles_[static_cast<std::size_t>(mine.slot())].add(sources.empty() ? static_cast<I>(k) : sources[k], own(),
                                                                sums);
          }
        }
      });
      add_rows(rows);
    } else {
      fill(values_, 0);
      for (std::int64_t b = 0; b < batches; ++b) {
        interruption::look({b * executor_tuning::lanes, count});
        run_batch(searches_.front(), sources, b, values_.data());
      }
    }
    interruption::look({count, count});
    scale(sources, static_cast<double>(count));
  }

  void clear() override {
    fill(values_, 0);
    fill(edges_, 0);
  }

  [[nodiscard]] span<const double, host> values() const noexcept override { return values_.view(); }
  [[nodiscard]] span<const double, host> edges() const noexcept override { return edges_.view(); }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    std::int64_t bytes = (values_.size() + edges_.size() + rows_.size()) * std::int64_t{sizeof(double)} +
                         transposed_.offsets().size() * std::int64_t{sizeof(O)} +
                         transposed_.nnz() * std::int64_t{sizeof(I)};
    for (const search& s : searches_) bytes += s.bytes();
    for (const auto& s : singles_) bytes += s.bytes();
    return bytes;
  }

 private:
  // Contribution of a path to its last vertex.
  [[nodiscard]] double own() const { return options_.endpoints == betweenness_endpoints::included ? 1 : 0; }

  void fill(array<double, host>& to, double value) {
    parallel_for(threads_, to.size(), grain::elements, [&](std::int64_t i) { to[i] = value; });
  }

  void run_batch(search& s, span<const I, host> sources, std::int64_t batch, double* values) {
    constexpr std::int64_t lanes = executor_tuning::lanes;
    std::array<I, static_cast<std::size_t>(lanes)> some{};
    std::int64_t count = 0;
    const std::int64_t end = sources.empty() ? n_ : sources.size();
    for (std::int64_t k = batch * lanes; k < std::min(end, (batch + 1) * lanes); ++k) {
      some[static_cast<std::size_t>(count++)] = sources.empty() ? static_cast<I>(k) : sources[k];
    }
    const span<const I, host> chosen(some.data(), count);
    const std::int64_t levels = host_forward<I, O, lanes>(s).run(chosen);
    if (own() > 0) count_ends(s, chosen, levels, values);
    host_backward<I, O, lanes>(s, own(), values, edges_.empty() ? nullptr : edges_.data()).run(levels);
  }

  // A source is an endpoint of the paths to all vertices it reaches.
  void count_ends(search& s, span<const I, host> sources, std::int64_t levels, double* values) {
    std::array<std::int64_t, static_cast<std::size_t>(executor_tuning::lanes)> reached{};
    for (std::int64_t j = s.begin(1); j < s.begin(levels); ++j) {
      for_each_lane(s.lanes()[j], [&](int k) { ++reached[static_cast<std::size_t>(k)]; });
    }
    for (std::int64_t k = 0; k < sources.size(); ++k) {
      values[sources[k]] += static_cast<double>(reached[static_cast<std::size_t>(k)]);
    }
  }

  // The first row is the values themselves.
  void add_rows(std::int64_t count) {
    parallel_for(threads_, n_, grain::rows, [&](std::int64_t v) {
      for (std::int64_t row = 1; row < count; ++row) values_[v] += rows_[(row - 1) * n_ + v];
    });
  }

  void scale(span<const I, host> sources, double count) {
    const bool all = sources.empty();
    const scale_rule rule{static_cast<double>(n_), count, all && undirected_, options_};
    multiply(values_, rule.factor(all ? 1 : 0));
    multiply(edges_, rule.edge_factor());
    if (!all && rule.by_pairs() && !rule.with_endpoints()) scale_sources(sources, rule);
    if (options_.normalization != betweenness_normalization::by_maximum) return;
    for (array<double, host>* some : {&values_, &edges_}) divide_by_largest(*some);
  }

  void divide_by_largest(array<double, host>& some) {
    if (some.empty()) return;
    const double largest = *std::max_element(some.begin(), some.end());
    if (largest > 0) parallel_for(threads_, some.size(), grain::elements, [&](std::int64_t k) { some[k] /= largest; });
  }

  void multiply(array<double, host>& some, double factor) {
    if (factor == 1) return;
    parallel_for(threads_, some.size(), grain::elements, [&](std::int64_t k) { some[k] *= factor; });
  }

  // The values of sources have been scaled like those of other vertices.
  void scale_sources(span<const I, host> sources, const scale_rule& rule) {
    double* const times = by_source_ ? rows_.data() : searches_.front().factors(0);
    const std::int64_t stride = by_source_ ? 1 : executor_tuning::lanes;
    for (const I v : sources) times[v * stride] = 0;
    for (const I v : sources) times[v * stride] += 1;
    const double usual = rule.factor(0);
    for (const I v : sources) {
      if (times[v * stride] == 0) continue;  // a repeated source
      if (usual > 0) values_[v] *= rule.factor(times[v * stride]) / usual;
      times[v * stride] = 0;
    }
  }

  int threads_;
  std::int64_t n_;
  bool undirected_;
  bool by_source_;
  betweenness_options options_;
  csr_matrix<pattern, I, O, host> transposed_;
  std::vector<search> searches_;            // by_level: one
  std::vector<host_single<I, O>> singles_;  // by_source: [thread]
  array<double, host> values_;
  array<double, host> edges_;  // [out-edge], if requested
  std::int64_t row_count_;
  array<double, host> rows_;  // [(row - 1) * vertices + vertex]
};

}  // namespace

template <class I, class O>
std::unique_ptr<executor<I, host>> make_executor(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                 const betweenness_options& options) {
  return std::make_unique<host_executor<I, O>>(ctx, g, options);
}

#define INSTANTIATE(I, O)                                                                                        \
  template std::unique_ptr<executor<I, host>> make_executor(const context<host>&, const graph_view<I, O, host>&, \
                                                            const betweenness_options&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::betweenness
