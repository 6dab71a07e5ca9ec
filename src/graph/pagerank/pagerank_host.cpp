// Host PageRank: a pull over in-edges of contributions (ranks divided by out-degrees). Over weights, contributions are
// the ranks, and each edge has the probability that a walk at its source follows it.
//
// Rows are partitioned into chunks of about equal edges, independent of the thread count. Each chunk sums its change
// and the rank of its dangling vertices; the chunks' sums are added in order. Jacobi reads the previous step's
// contributions and writes new ones, so its result does not depend on the schedule. Gauss-Seidel reads and writes one
// array. A dangling vertex stores its rank, since no vertex pulls from it. Gauss-Seidel's values are relative to a
// unit, so that scaling all of them is free; they are converted to ranks once, at the end. Cost of a step: an index and
// a gathered contribution per edge; per vertex one value read, one written, and two offsets. Where the tolerance
// allows, Gauss-Seidel in double precision gathers contributions of single precision, of which twice as many fit a
// cache. Source of Gauss-Seidel: the GAP Benchmark Suite (Beamer, Asanovic, Patterson, arXiv:1508.03619).
#include "core/instantiate.hpp"
#include "graph/pagerank/executor.hpp"
#include "graph/ranks/host_pull.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <concepts>
#include <limits>
#include <utility>

namespace spargo::detail::pagerank {

namespace {

using ranks::pull_tuning;

// Shared values are read and written whole: aligned, one instruction each. atomic_ref goes through integer registers: a
// sweep takes 1.3 to 1.6 times as long. Loads are plain, as operands of additions; volatile ones need registers and
// instructions of their own: 1.05 to 1.3 times as long. Stores must not become a copy of bytes.
template <class V>
void store_shared(V* to, V value) {
  *static_cast<volatile V*>(to) = value;
}

// Edges that all count the same.
template <class V, class I, class O>
struct equal_edges {
  csr_pattern_view<I, O, host> in;
  span<const O, host> out_offsets;

  [[nodiscard]] bool is_dangling(std::int64_t v) const { return out_offsets[v + 1] == out_offsets[v]; }
  // Rank divided by contribution.
  [[nodiscard]] double divisor(std::int64_t v) const {
    return is_dangling(v) ? 1.0 : static_cast<double>(out_offsets[v + 1] - out_offsets[v]);
  }
  [[nodiscard]] double incoming(const V* values, std::int64_t v) const { return ranks::pull_equal(in, values, v); }
  [[nodiscard]] static std::int64_t bytes() { return 0; }
};

template <class V, class I, class O>
struct weighted_edges {
  csr_pattern_view<I, O, host> in;
  array<V, host> probabilities;      // by in-edge
  array<std::uint8_t, host> dangle;  // by vertex: 1 without out-edges of a weight above 0

  [[nodiscard]] bool is_dangling(std::int64_t v) const { return dangle[v] != 0; }
  [[nodiscard]] static double divisor(std::int64_t) { return 1; }
  [[nodiscard]] double incoming(const V* values, std::int64_t v) const {
    return ranks::pull_weighted(in, probabilities.data(), values, v);
  }
  [[nodiscard]] std::int64_t bytes() const { return bytes_of(probabilities, dangle); }
};

// Divides each weight by the sum over its source's out-edges.
template <class V, class I, class O>
weighted_edges<V, I, O> normalize_weights(const context<host>& ctx, const weighted_graph_view<double, I, O, host>& g) {
  const std::int64_t n = g.vertices();
  weighted_edges<V, I, O> to{g.in, {ctx, g.in.nnz()}, {ctx, n}};
  array<double, host> sums(ctx, n);
  std::atomic<std::int64_t> refused{n};  // the smallest vertex that is
  parallel_for(ctx.threads(), n, grain::rows, [&](std::int64_t u) {
    double sum = 0;
    for (O e = g.out.offsets[u]; e < g.out.offsets[u + 1]; ++e) sum += g.out_weights[e];
    sums[u] = sum;
    to.dangle[u] = sum == 0 ? 1 : 0;
    if (!std::isfinite(sum)) lower_to(refused, u);
  });
  if (const std::int64_t u = refused.load(); u < n) refuse_weight_sum(u);
  parallel_for(ctx.threads(), n, grain::rows, [&](std::int64_t v) {
    for (O e = g.in.offsets[v]; e < g.in.offsets[v + 1]; ++e) {
      const double sum = sums[g.in.indices[e]];
      to.probabilities[e] = static_cast<V>(sum == 0 ? 0.0 : g.in_weights[e] / sum);
    }
  });
  return to;
}

struct chunk_outcome : step_outcome {
  double total = 0;  // sum of the ranks
};

template <class V, class Edges>
class host_executor final : public executor<V, host> {
 public:
  host_executor(const context<host>& ctx, Edges edges, std::int64_t vertices, const pagerank_options& options)
      : threads_(ctx.threads()),
        n_(vertices),
        options_(options),
        edges_(std::move(edges)),
        now_(ctx, n_),
        next_(ctx, in_place() ? 0 : n_),
        chunks_(ctx, edges_.in.offsets, n_, edges_.in.nnz()),
        outcomes_(ctx, chunks_.count()) {}

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
    return bytes_of(now_, next_, outcomes_) + chunks_.bytes() + edges_.bytes();
  }

 private:
  [[nodiscard]] bool in_place() const { return options_.algorithm == pagerank_algorithm::gauss_seidel; }

  // body(chunk, first row, last row)
  template <class Body>
  void for_each_chunk(Body&& body) {
    chunks_.for_each(threads_, body);
  }

  [[nodiscard]] chunk_outcome sum_outcomes() const {
    chunk_outcome all;
    for (const chunk_outcome& one : outcomes_) {
      all.add(one, options_.norm);
      all.total += one.total;
    }
    return all;
  }

  // Sum of the values, checked; 0 if empty.
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

  // Returns the rank of the dangling vertices.
  [[nodiscard]] double start(span<const V, host> guess, double guess_sum) {
    for_each_chunk([&](std::int64_t c, std::int64_t first, std::int64_t last) {
      chunk_outcome mine;
      for (std::int64_t v = first; v < last; ++v) {
        const double rank = guess.empty() ? 1.0 / static_cast<double>(n_) : guess[v] / guess_sum;
        now_[v] = static_cast<V>(rank / edges_.divisor(v));
        if (edges_.is_dangling(v)) mine.dangling += now_[v];
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

  // Unlike a step of Jacobi, a sweep of Gauss-Seidel does not preserve the sum of the ranks and would converge to it
  // slowly. The true sum follows from the dangling rank; all ranks are scaled to it. Returns the new unit.
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
    V fresh[pull_tuning::batch];
    for (std::int64_t begin = first; begin < last; begin += pull_tuning::batch) {
      const std::int64_t end = std::min(begin + pull_tuning::batch, last);
      for (std::int64_t v = begin; v < end; ++v) {
        const double held = edges_.divisor(v);
        const double share = 1 / held;
        const double preference = terms.per_preference == 0 ? 0.0 : terms.per_preference * personalization[v];
        const double incoming = edges_.incoming(from, v);
        const V value = static_cast<V>((terms.constant + preference) * share + d * share * incoming);
        const double rank = value * held;
        mine.add({std::abs(static_cast<double>(value) - from[v]) * held, edges_.is_dangling(v) ? rank : 0.0},
                 options_.norm);
        mine.total += rank;
        fresh[v - begin] = value;
      }
      for (std::int64_t v = begin; v < end; ++v) store_shared(to + v, fresh[v - begin]);
    }
    return mine;
  }

  void finish(double unit) {
    V* const to = in_place() ? now_.data() : next_.data();
    for_each_chunk([&](std::int64_t, std::int64_t first, std::int64_t last) {
      for (std::int64_t v = first; v < last; ++v) to[v] = static_cast<V>(now_[v] * edges_.divisor(v) * unit);
    });
  }

  int threads_;
  std::int64_t n_;
  pagerank_options options_;
  Edges edges_;
  array<V, host> now_;   // contributions; at the end of Gauss-Seidel, ranks
  array<V, host> next_;  // next step's contributions, at the end ranks; unused by Gauss-Seidel
  ranks::row_chunks chunks_;
  array<chunk_outcome, host> outcomes_;  // [chunk]
};

// Steps of an executor in single precision, and its ranks as doubles.
class single_precision final : public executor<double, host> {
 public:
  single_precision(const context<host>& ctx, std::unique_ptr<executor<float, host>> steps, std::int64_t vertices)
      : threads_(ctx.threads()), steps_(std::move(steps)), ranks_(ctx, vertices), given_(ctx, 2 * vertices) {}

  run_outcome run(span<const double, host> personalization, span<const double, host> guess) override {
    const auto narrow = [&](const char* name, span<const double, host> values, std::int64_t at) {
      const span<float, host> to = given_.view().subspan(at, values.size());
      narrow_values(name, values, to);
      return span<const float, host>(to);
    };
    const auto preferences = narrow("personalization", personalization, 0);
    const run_outcome outcome = steps_->run(preferences, narrow("guess", guess, ranks_.size()));
    const span<const float, host> from = steps_->ranks();
    parallel_for(threads_, ranks_.size(), grain::elements, [&](std::int64_t v) { ranks_[v] = from[v]; });
    return outcome;
  }

  [[nodiscard]] span<const double, host> ranks() const noexcept override { return ranks_.view(); }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return bytes_of(ranks_, given_) + steps_->workspace_bytes();
  }
  [[nodiscard]] std::string reason() const override { return "shares in single precision, as the tolerance allows"; }

 private:
  // Divides the values by their sum, so that they fit a float.
  void narrow_values(const char* name, span<const double, host> values, span<float, host> to) {
    if (values.empty()) return;
    double sum = 0;
    bool negative = false;
    for (const double value : values) {
      negative = negative || value < 0;
      sum += value;
    }
    check_sum(name, sum, negative);
    parallel_for(threads_, values.size(), grain::elements,
                 [&](std::int64_t v) { to[v] = static_cast<float>(values[v] / sum); });
  }

  int threads_;
  std::unique_ptr<executor<float, host>> steps_;
  array<double, host> ranks_;
  array<float, host> given_;  // personalization and guess
};

}  // namespace

template <class V, class I, class O>
std::unique_ptr<executor<V, host>> make_executor(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                 const pagerank_options& options) {
  using edges = equal_edges<V, I, O>;
  if constexpr (std::same_as<V, double>) {
    if (has_narrow_shares(options, g.vertices(), sizeof(V))) {
      return std::make_unique<single_precision>(ctx, make_executor<float>(ctx, g, options), g.vertices());
    }
  }
  return std::make_unique<host_executor<V, edges>>(ctx, edges{g.in, g.out.offsets}, g.vertices(), options);
}
template <class V, class I, class O>
std::unique_ptr<executor<V, host>> make_executor(const context<host>& ctx,
                                                 const weighted_graph_view<double, I, O, host>& g,
                                                 const pagerank_options& options) {
  using edges = weighted_edges<V, I, O>;
  if constexpr (std::same_as<V, double>) {
    if (has_narrow_shares(options, g.vertices(), sizeof(V))) {
      return std::make_unique<single_precision>(ctx, make_executor<float>(ctx, g, options), g.vertices());
    }
  }
  return std::make_unique<host_executor<V, edges>>(ctx, normalize_weights<V>(ctx, g), g.vertices(), options);
}

#define INSTANTIATE_V(V, I, O)                                                       \
  template std::unique_ptr<executor<V, host>> make_executor<V, I, O>(                \
      const context<host>&, const graph_view<I, O, host>&, const pagerank_options&); \
  template std::unique_ptr<executor<V, host>> make_executor<V, I, O>(                \
      const context<host>&, const weighted_graph_view<double, I, O, host>&, const pagerank_options&);
#define INSTANTIATE(I, O)    \
  INSTANTIATE_V(float, I, O) \
  INSTANTIATE_V(double, I, O)
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::pagerank
