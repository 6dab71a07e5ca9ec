// PageRank on the host: a pull over in-edges, with ranks divided by out-degrees beforehand.
//
// The rows are cut into chunks of about as many edges each, whatever the number of threads; a chunk sums what its step
// changed and what its dangling vertices hold, and these sums are added chunk by chunk. Jacobi reads the contributions
// of the step before and writes others, so its result does not depend on who does which chunk when. Gauss-Seidel has
// one array of contributions and reads from it whatever is there. Invariant: contributions[v] = ranks[v] /
// out-degree(v), 0 for a dangling vertex. Cost of a step: an index and a gathered contribution an edge, five values a
// vertex. Source of Gauss-Seidel: the GAP Benchmark Suite (Beamer, Asanovic, Patterson, arXiv:1508.03619).
#include "core/parallel.hpp"
#include "graph/pagerank/executor.hpp"

#include "core/instantiate.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

namespace spargo::detail::pagerank {

namespace {

struct tuning {
  static constexpr std::int64_t chunk = 1 << 15;  // edges and vertices: some 50 us of gathering
};

// The sum is formed in double and by four, so that neither hubs nor the latency of an addition cost much.
template <class O, class Contribution>
double sum_row(O first, O last, Contribution contribution) {
  double sums[4] = {};
  O e = first;
  for (; e + 4 <= last; e += 4) {
    for (int k = 0; k < 4; ++k) sums[k] += contribution(e + k);
  }
  for (; e < last; ++e) sums[0] += contribution(e);
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
        ranks_(ctx, n_),
        inverses_(ctx, n_),
        now_(ctx, n_),
        next_(ctx, in_place() ? 0 : n_) {
    cut(ctx);
    outcomes_ = {ctx, chunks()};
    for_each_chunk([&](std::int64_t, std::int64_t first, std::int64_t last) {
      for (std::int64_t v = first; v < last; ++v) {
        const auto degree = g.out.offsets[v + 1] - g.out.offsets[v];
        inverses_[v] = degree == 0 ? V{0} : V{1} / static_cast<V>(degree);
      }
    });
  }

  run_outcome run(span<const V, host> personalization, span<const V, host> guess) override {
    const step_rule rule{static_cast<double>(n_), options_.damping, sum_of("personalization", personalization),
                         options_.dangling};
    double held = start(guess, sum_of("guess", guess));
    run_outcome outcome;
    while (outcome.iterations < most_iterations(options_)) {
      chunk_outcome step = take_step(personalization, rule.terms(held));
      if (in_place()) balance(step);
      held = step.dangling;
      outcome.residual = step.change;
      ++outcome.iterations;
      if (options_.iterations == 0 && outcome.residual <= options_.tolerance) break;
    }
    return outcome;
  }

  [[nodiscard]] span<const V, host> ranks() const noexcept override { return ranks_.view(); }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    const std::int64_t values = ranks_.size() + inverses_.size() + now_.size() + next_.size();
    return values * std::int64_t{sizeof(V)} + rows_.size() * std::int64_t{sizeof(std::int64_t)} +
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

  // Returns what the dangling vertices hold.
  [[nodiscard]] double start(span<const V, host> guess, double guess_sum) {
    for_each_chunk([&](std::int64_t c, std::int64_t first, std::int64_t last) {
      chunk_outcome mine;
      for (std::int64_t v = first; v < last; ++v) {
        const double rank = guess.empty() ? 1.0 / static_cast<double>(n_) : guess[v] / guess_sum;
        ranks_[v] = static_cast<V>(rank);
        now_[v] = ranks_[v] * inverses_[v];
        if (inverses_[v] == 0) mine.dangling += ranks_[v];
      }
      outcomes_[c] = mine;
    });
    return sum_outcomes().dangling;
  }

  [[nodiscard]] chunk_outcome take_step(span<const V, host> personalization, const step_terms& terms) {
    if (in_place()) {
      // Other threads write what one reads: the value before or after, never half of one.
      const auto read = [&](O e) { return std::atomic_ref<V>(now_[in_.indices[e]]).load(std::memory_order_relaxed); };
      const auto write = [&](std::int64_t v, V value) {
        std::atomic_ref<V>(now_[v]).store(value, std::memory_order_relaxed);
      };
      pull_chunks(personalization, terms, read, write);
    } else {
      const V* const from = now_.data();
      V* const to = next_.data();
      pull_chunks(
          personalization, terms, [&, from](O e) { return from[in_.indices[e]]; },
          [to](std::int64_t v, V value) { to[v] = value; });
      now_.swap(next_);
    }
    return sum_outcomes();
  }

  // A sweep of Gauss-Seidel, unlike a step of Jacobi, does not keep the sum of the ranks, and would be slow to find it
  // again. The sum of true ranks follows from what the dangling ones hold; all are scaled to it.
  void balance(chunk_outcome& step) {
    const double d = options_.damping;
    const double lost = options_.dangling == pagerank_dangling::drop ? d * step.dangling : 0;
    const double scale = (1 - d) / ((1 - d) * step.total + lost);
    for_each_chunk([&](std::int64_t, std::int64_t first, std::int64_t last) {
      for (std::int64_t v = first; v < last; ++v) {
        ranks_[v] = static_cast<V>(ranks_[v] * scale);
        now_[v] = static_cast<V>(now_[v] * scale);
      }
    });
    step.dangling *= scale;
    step.change += std::abs(1 - scale) * step.total;
  }

  template <class Read, class Write>
  void pull_chunks(span<const V, host> personalization, const step_terms& terms, Read read, Write write) {
    for_each_chunk([&](std::int64_t c, std::int64_t first, std::int64_t last) {
      chunk_outcome mine;
      for (std::int64_t v = first; v < last; ++v) {
        const double preference = terms.per_preference == 0 ? 0.0 : terms.per_preference * personalization[v];
        const double incoming = sum_row(in_.offsets[v], in_.offsets[v + 1], read);
        const V rank = static_cast<V>(terms.constant + preference + options_.damping * incoming);
        const bool dangles = inverses_[v] == 0;
        mine.add({std::abs(static_cast<double>(rank) - ranks_[v]), dangles ? rank : 0.0}, options_.norm);
        mine.total += rank;
        ranks_[v] = rank;
        if (!dangles) write(v, rank * inverses_[v]);
      }
      outcomes_[c] = mine;
    });
  }

  int threads_;
  std::int64_t n_;
  pagerank_options options_;
  csr_pattern_view<I, O, host> in_;
  array<V, host> ranks_;
  array<V, host> inverses_;  // of out-degrees; 0 where that is 0
  array<V, host> now_;       // contributions
  array<V, host> next_;      // of the step under way; Gauss-Seidel has none
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
