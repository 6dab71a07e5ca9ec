// PageRank on the host: a pull over in-edges of contributions, ranks divided by out-degrees beforehand.
//
// The rows are cut into chunks of about as many edges each, whatever the number of threads; a chunk sums what its step
// changed and what its dangling vertices hold, and these sums are added chunk by chunk. Jacobi reads the contributions
// of the step before and writes others, so its result does not depend on who does which chunk when. Gauss-Seidel has
// one array of contributions and reads from it whatever is there. A dangling vertex, of which nobody reads, holds its
// rank. Gauss-Seidel's values count in a unit of their own, so that scaling them all costs nothing; ranks are made of
// them once, at the end. Cost of a step: an index and a gathered contribution an edge, a value read, one written and
// two offsets a vertex. Source of Gauss-Seidel: the GAP Benchmark Suite (Beamer, Asanovic, Patterson,
// arXiv:1508.03619).
#include "core/parallel.hpp"
#include "graph/pagerank/executor.hpp"
#include "sparse/simd/fetch.hpp"

#include "core/instantiate.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

namespace spargo::detail::pagerank {

namespace {

struct tuning {
  static constexpr std::int64_t chunk = 1 << 15;  // edges and vertices: some 50 us of gathering
  // Rows whose values are written together, so that a row need not wait for the one before it, which is its neighbour
  // in a grid. Zen 5, one thread, grid 2000 x 2000, ms a sweep: 25; with 16: 15.5.
  static constexpr std::int64_t batch = 16;
  // Indices fetched ahead: where gathers miss the L2 cache, the processor does not keep up with those alone. Zen 5, one
  // thread, a sum of every row of a uniform graph of 2^20 vertices, fp64, ms: 36; with 128: 29, 512: 21, 1024: 21.
  static constexpr std::int64_t ahead = 512;
};

// Values that other threads write or read now come and go whole, as they were before or after: they are aligned, and an
// instruction each. Through atomic_ref they would take the way of integer registers, and a sweep 1.3 to 1.6 times as
// long. Loads are plain ones, operands of additions: volatile ones take registers and instructions of their own, and a
// sweep 1.05 to 1.3 times as long. Stores must not become a copy of bytes.
template <class V>
void store_shared(V* to, V value) {
  *static_cast<volatile V*>(to) = value;
}

// The sum is formed in double and by four, so that neither hubs nor the latency of an addition cost much.
template <class V, class I, class O>
double sum_row(const V* values, const I* indices, O first, O last) {
  double sums[4] = {};
  O e = first;
  for (; e + 4 <= last; e += 4) {
    spmv::fetch(indices + e, tuning::ahead);
    for (int k = 0; k < 4; ++k) sums[k] += values[indices[e + k]];
  }
  for (; e < last; ++e) sums[0] += values[indices[e]];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

struct chunk_outcome : step_outcome {
  double total = 0;  // of the ranks
};

template <class V, class I, class O>
class host_executor final : public executor<V, host> {
 public:
  host_executor(const context<host>& ctx, const graph_view<I, O, host>& g, const pagerank_options& options)
      : threads_(ctx.threads()),
        n_(g.vertices()),
        options_(options),
        in_(g.in),
        out_offsets_(g.out.offsets),
        now_(ctx, n_),
        next_(ctx, in_place() ? 0 : n_) {
    cut(ctx);
    outcomes_ = {ctx, chunks()};
  }

  run_outcome run(span<const V, host> personalization, span<const V, host> guess) override {
    const step_rule rule{static_cast<double>(n_), options_.damping, sum_of("personalization", personalization),
                         options_.dangling};
    double held = start(guess, sum_of("guess", guess));
    double unit = 1;
    run_outcome outcome;
    while (outcome.iterations < most_iterations(options_)) {
      chunk_outcome step = take_step(personalization, rule.terms(held), unit);
      if (in_place()) unit = balance(step, unit);
      held = step.dangling;
      outcome.residual = step.change;
      ++outcome.iterations;
      if (options_.iterations == 0 && outcome.residual <= options_.tolerance) break;
    }
    finish(unit);
    return outcome;
  }

  [[nodiscard]] span<const V, host> ranks() const noexcept override { return in_place() ? now_.view() : next_.view(); }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return (now_.size() + next_.size()) * std::int64_t{sizeof(V)} + rows_.size() * std::int64_t{sizeof(std::int64_t)} +
           outcomes_.size() * std::int64_t{sizeof(chunk_outcome)};
  }

 private:
  [[nodiscard]] bool in_place() const { return options_.algorithm == pagerank_algorithm::gauss_seidel; }
  [[nodiscard]] std::int64_t chunks() const { return rows_.size() - 1; }

  // Chunk c has rows_[c] to rows_[c + 1]: those that start in its share of edges and vertices.
  void cut(const context<host>& ctx) {
    const std::int64_t work = n_ + in_.nnz();
    rows_ = {ctx, div_up(work, tuning::chunk) + 1};
    for (std::int64_t c = 0; c < rows_.size(); ++c) {
      std::int64_t first = 0;
      for (std::int64_t size = n_; size > 0;) {  // the first row that starts at c * chunk or after
        const std::int64_t half = size / 2;
        const bool before = in_.offsets[first + half] + first + half < c * tuning::chunk;
        first += before ? half + 1 : 0;
        size = before ? size - half - 1 : half;
      }
      rows_[c] = first;
    }
  }

  // body(chunk, first row, last row)
  template <class Body>
  void for_each_chunk(Body&& body) {
    const int threads = useful_threads(threads_, n_ + in_.nnz(), tuning::chunk);
    parallel_parts(threads, chunks(), [&](std::int64_t c) { body(c, rows_[c], rows_[c + 1]); });
  }

  [[nodiscard]] chunk_outcome sum_outcomes() const {
    chunk_outcome all;
    for (const chunk_outcome& one : outcomes_) {
      all.add(one, options_.norm);
      all.total += one.total;
    }
    return all;
  }

  // Checked; 0 of an empty one.
  [[nodiscard]] double sum_of(const char* name, span<const V, host> values) {
    if (values.empty()) return 0;
    std::atomic<bool> negative{false};
    for_each_chunk([&](std::int64_t c, std::int64_t first, std::int64_t last) {
      double sum = 0;
      for (std::int64_t v = first; v < last; ++v) {
        if (values[v] < 0) negative.store(true, std::memory_order_relaxed);
        sum += values[v];
      }
      outcomes_[c] = {{}, sum};
    });
    const double sum = sum_outcomes().total;
    check_sum(name, sum, negative.load());
    return sum;
  }

  [[nodiscard]] O degree(std::int64_t v) const { return out_offsets_[v + 1] - out_offsets_[v]; }
  // Ranks over contributions.
  [[nodiscard]] static double divisor(O degree) { return degree == 0 ? 1.0 : static_cast<double>(degree); }

  // Returns what the dangling vertices hold.
  [[nodiscard]] double start(span<const V, host> guess, double guess_sum) {
    for_each_chunk([&](std::int64_t c, std::int64_t first, std::int64_t last) {
      chunk_outcome mine;
      for (std::int64_t v = first; v < last; ++v) {
        const double rank = guess.empty() ? 1.0 / static_cast<double>(n_) : guess[v] / guess_sum;
        now_[v] = static_cast<V>(rank / divisor(degree(v)));
        if (degree(v) == 0) mine.dangling += now_[v];
      }
      outcomes_[c] = mine;
    });
    return sum_outcomes().dangling;
  }

  [[nodiscard]] chunk_outcome take_step(span<const V, host> personalization, const step_terms& terms, double unit) {
    V* const to = in_place() ? now_.data() : next_.data();
    const step_terms scaled{terms.constant / unit, terms.per_preference / unit};
    for_each_chunk([&](std::int64_t c, std::int64_t first, std::int64_t last) {
      outcomes_[c] = pull(personalization, scaled, now_.data(), to, first, last);
    });
    if (!in_place()) now_.swap(next_);
    chunk_outcome all = sum_outcomes();
    all.change *= unit;
    all.dangling *= unit;
    all.total *= unit;
    return all;
  }

  // A sweep of Gauss-Seidel, unlike a step of Jacobi, does not keep the sum of the ranks, and would be slow to find it
  // again. The sum of true ranks follows from what the dangling ones hold; all are scaled to it. Returns the new unit.
  [[nodiscard]] double balance(chunk_outcome& step, double unit) const {
    const double d = options_.damping;
    const double lost = options_.dangling == pagerank_dangling::drop ? d * step.dangling : 0;
    const double scale = (1 - d) / ((1 - d) * step.total + lost);
    step.dangling *= scale;
    step.change += std::abs(1 - scale) * step.total;
    return unit * scale;
  }

  [[nodiscard]] chunk_outcome pull(span<const V, host> personalization, const step_terms& terms, const V* from, V* to,
                                   std::int64_t first, std::int64_t last) const {
    const double d = options_.damping;
    chunk_outcome mine;
    V fresh[tuning::batch];
    for (std::int64_t begin = first; begin < last; begin += tuning::batch) {
      const std::int64_t end = std::min(begin + tuning::batch, last);
      for (std::int64_t v = begin; v < end; ++v) {
        const double held = divisor(degree(v));
        const double share = 1 / held;
        const double preference = terms.per_preference == 0 ? 0.0 : terms.per_preference * personalization[v];
        const double incoming = sum_row(from, in_.indices.data(), in_.offsets[v], in_.offsets[v + 1]);
        const V value = static_cast<V>((terms.constant + preference) * share + d * share * incoming);
        const double rank = value * held;
        mine.add({std::abs(static_cast<double>(value) - from[v]) * held, degree(v) == 0 ? rank : 0.0}, options_.norm);
        mine.total += rank;
        fresh[v - begin] = value;
      }
      for (std::int64_t v = begin; v < end; ++v) store_shared(to + v, fresh[v - begin]);
    }
    return mine;
  }

  // Contributions become ranks.
  void finish(double unit) {
    V* const to = in_place() ? now_.data() : next_.data();
    for_each_chunk([&](std::int64_t, std::int64_t first, std::int64_t last) {
      for (std::int64_t v = first; v < last; ++v) to[v] = static_cast<V>(now_[v] * divisor(degree(v)) * unit);
    });
  }

  int threads_;
  std::int64_t n_;
  pagerank_options options_;
  csr_pattern_view<I, O, host> in_;
  span<const O, host> out_offsets_;
  array<V, host> now_;   // contributions; Gauss-Seidel's ranks in the end
  array<V, host> next_;  // of the step under way, ranks in the end; Gauss-Seidel has none
  array<std::int64_t, host> rows_;
  array<chunk_outcome, host> outcomes_;  // [chunk]
};

}  // namespace

template <class V, class I, class O>
std::unique_ptr<executor<V, host>> make_executor(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                 const pagerank_options& options) {
  return std::make_unique<host_executor<V, I, O>>(ctx, g, options);
}

#define INSTANTIATE_V(V, I, O)                                        \
  template std::unique_ptr<executor<V, host>> make_executor<V, I, O>( \
      const context<host>&, const graph_view<I, O, host>&, const pagerank_options&);
#define INSTANTIATE(I, O)    \
  INSTANTIATE_V(float, I, O) \
  INSTANTIATE_V(double, I, O)
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::pagerank
