// PageRank's steps on the host: a pull over in-edges as on one rank, with the ghosts' contributions exchanged each
// step. Sums are formed over fixed chunks of vertices, independent of the threads.
#include "core/instantiate.hpp"
#include "core/parallel.hpp"
#include "distributed/pagerank/executor.hpp"
#include "sparse/simd/fetch.hpp"

#include <cmath>
#include <optional>

namespace spargo::detail::distributed {

namespace {

// Four partial sums hide the latency of additions.
double sum_row(const double* contributions, const std::int32_t* indices, std::int64_t count) {
  constexpr std::int64_t ahead = 512;  // prefetch distance in indices, as on one rank
  double sums[4] = {};
  std::int64_t e = 0;
  for (; e + 4 <= count; e += 4) {
    spmv::fetch(indices + e, ahead);
    for (int k = 0; k < 4; ++k) sums[k] += contributions[indices[e + k]];
  }
  for (; e < count; ++e) sums[0] += contributions[indices[e]];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

template <class I>
class host_pagerank final : public pagerank_executor<host> {
 public:
  host_pagerank(const communicator& comm, const context<host>& ctx, const distributed_graph<I>& g,
                local_columns&& columns, const pagerank_options& options)
      : ctx_(ctx), in_(g.in()), out_(g.out()), columns_(std::move(columns)), options_(options) {
    comm.agree_on([&] {
      ranks_ = {ctx, out_.rows};
      contributions_ = {ctx, columns_.size()};
      sums_.resize(static_cast<std::size_t>(shares_.count));
    });
    halo_.emplace(comm, ctx, g.parts(), columns_.ghosts, sizeof(double));
  }

  step_sums start(double rank) override {
    std::fill(ranks_.begin(), ranks_.end(), rank);
    return for_shares([&](std::int64_t v, step_sums& mine) {
      if (degree(v) == 0) mine.dangling_rank += ranks_[v];
    });
  }
  step_sums step(double constant) override {
    const std::int64_t rows = out_.rows;
    parallel_for(ctx_.threads(), rows, grain::rows,
                 [&](std::int64_t v) { contributions_[v] = degree(v) == 0 ? 0 : ranks_[v] / degree(v); });
    halo_->start(span<const double, host>(contributions_.view().subspan(0, rows)));
    halo_->finish(contributions_.view().subspan(rows, std::ssize(columns_.ghosts)));
    return for_shares([&](std::int64_t v, step_sums& mine) {
      const double sum =
          sum_row(contributions_.data(), columns_.indices.data() + in_.offsets[v], in_.offsets[v + 1] - in_.offsets[v]);
      const double rank = constant + options_.damping * sum;
      mine.add({std::abs(rank - ranks_[v]), degree(v) == 0 ? rank : 0}, options_.norm);
      ranks_[v] = rank;
    });
  }
  [[nodiscard]] span<const double, host> ranks() const noexcept override { return ranks_.view(); }
  [[nodiscard]] std::string_view how() const noexcept override { return halo_->how(); }

 private:
  [[nodiscard]] double degree(std::int64_t v) const {
    return static_cast<double>(out_.offsets[v + 1] - out_.offsets[v]);
  }
  template <class Body>
  step_sums for_shares(const Body& body) {
    parallel_parts(ctx_.threads(), shares_.count, [&](std::int64_t s) {
      step_sums mine;
      for (std::int64_t v = shares_.first(s); v < shares_.last(s); ++v) body(v, mine);
      sums_[static_cast<std::size_t>(s)] = mine;
    });
    step_sums all;
    for (const step_sums& each : sums_) all.add(each, options_.norm);
    return all;
  }

  context<host> ctx_;
  csr_pattern_view<I, std::int64_t, host> in_;
  csr_pattern_view<I, std::int64_t, host> out_;
  local_columns columns_;
  pagerank_options options_;
  parts shares_ = chunks_of(out_.rows, grain::rows);
  array<double, host> ranks_;
  array<double, host> contributions_;  // including ghosts
  std::vector<step_sums> sums_;
  std::optional<exchange<host>> halo_;
};

}  // namespace

template <class I>
std::unique_ptr<pagerank_executor<host>> make_pagerank_executor(const communicator& comm, const context<host>& ctx,
                                                                const distributed_graph<I>& g, local_columns columns,
                                                                const pagerank_options& options,
                                                                const exchange_options&) {
  return std::make_unique<host_pagerank<I>>(comm, ctx, g, std::move(columns), options);
}

#define INSTANTIATE(I)                                                                                                \
  template std::unique_ptr<pagerank_executor<host>> make_pagerank_executor(                                           \
      const communicator&, const context<host>&, const distributed_graph<I>&, local_columns, const pagerank_options&, \
      const exchange_options&);
SPARGO_FOR_EACH_INDEX(INSTANTIATE)

}  // namespace spargo::detail::distributed
