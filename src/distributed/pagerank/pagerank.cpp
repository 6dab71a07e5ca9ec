// PageRank by Jacobi iteration on a distributed graph; after each step sums are reduced in rank order.
#include "core/backend.hpp"
#include "core/instantiate.hpp"
#include "distributed/graph/deal.hpp"
#include "distributed/pagerank/executor.hpp"
#include "distributed/products/executor.hpp"

namespace spargo {

template <index_type I, class Space>
struct distributed_pagerank_plan<I, Space>::state {
  communicator comm;
  pagerank_options options;
  double vertices;
  std::unique_ptr<detail::distributed::pagerank_executor<Space>> executor{};
  std::int64_t iterations = 0;
  double residual = 0;
};

template <index_type I, class Space>
distributed_pagerank_plan<I, Space>::distributed_pagerank_plan(const communicator& comm, const context<Space>& ctx,
                                                               const distributed_graph<I>& g,
                                                               const pagerank_options& options,
                                                               const exchange_options& links) {
  if constexpr (detail::is_built<Space>) {
    const auto in = g.in();
    if (in.offsets.empty() && g.vertices() > 0) {
      throw agreed_error(error_code::unsupported, "pagerank: a directed graph without in-edges");
    }
    if (options.algorithm == pagerank_algorithm::gauss_seidel) {
      throw agreed_error(error_code::unsupported, "pagerank: several ranks support algorithm jacobi only");
    }
    SPARGO_EXPECTS(options.damping >= 0 && options.damping < 1, fmt::format("pagerank: damping {}", options.damping));
    auto columns = comm.agree_on([&] {
      state_ = detail::new_state<state>(comm, options, static_cast<double>(g.vertices()));
      return detail::distributed::number_columns<I>(detail::distributed::host_of(comm, ctx), in.indices, g.parts(),
                                                    comm.rank());
    });
    state_->executor = detail::distributed::make_pagerank_executor(comm, ctx, g, std::move(columns), options, links);
  } else {
    detail::no_device("pagerank");
  }
}

template <index_type I, class Space>
void distributed_pagerank_plan<I, Space>::run() {
  using detail::distributed::step_sums;
  state& s = *state_;
  const pagerank_options& options = s.options;
  const auto of_all = [&](const step_sums& mine) {
    step_sums all;
    for (const step_sums& each : s.comm.all_gather(mine)) all.add(each, options.norm);
    return all;
  };
  s.iterations = 0;
  s.residual = 0;
  double dangling_rank = of_all(s.executor->start(1 / s.vertices)).dangling_rank;
  const std::int64_t most = options.iterations > 0 ? options.iterations : options.max_iterations;
  while (s.iterations < most) {
    const double dangling_share = options.dangling == pagerank_dangling::drop ? 0 : dangling_rank / s.vertices;
    const step_sums step =
        of_all(s.executor->step((1 - options.damping) / s.vertices + options.damping * dangling_share));
    dangling_rank = step.dangling_rank;
    s.residual = step.change;
    ++s.iterations;
    if (options.iterations == 0 && s.residual <= options.tolerance) break;
  }
  s.executor->end();
}

template <index_type I, class Space>
span<const double, Space> distributed_pagerank_plan<I, Space>::ranks() const noexcept {
  return state_->executor->ranks();
}
template <index_type I, class Space>
std::int64_t distributed_pagerank_plan<I, Space>::iterations() const noexcept {
  return state_->iterations;
}
template <index_type I, class Space>
double distributed_pagerank_plan<I, Space>::residual() const noexcept {
  return state_->residual;
}
template <index_type I, class Space>
bool distributed_pagerank_plan<I, Space>::converged() const noexcept {
  return state_->residual <= state_->options.tolerance;
}
template <index_type I, class Space>
std::string distributed_pagerank_plan<I, Space>::reason() const {
  return fmt::format("the algorithm for several ranks; vertices distributed over {} ranks by edges",
                     state_->comm.size());
}
template <index_type I, class Space>
std::string_view distributed_pagerank_plan<I, Space>::how() const noexcept {
  return state_->executor->how();
}

template <index_type I>
pagerank_result<double, host> distributed_pagerank(const communicator& comm, const context<host>& ctx,
                                                   const distributed_graph<I>& g, const pagerank_options& options) {
  distributed_pagerank_plan<I, host> plan(comm, ctx, g, options);
  plan.run();
  pagerank_result<double, host> result;
  comm.agree_on([&] { result.ranks = clone(ctx, plan.ranks()); });
  result.iterations = plan.iterations();
  result.residual = plan.residual();
  result.converged = plan.converged();
  result.algorithm = pagerank_algorithm::jacobi;
  return result;
}

#define INSTANTIATE(I)                                            \
  template class distributed_pagerank_plan<I, host>;              \
  template class distributed_pagerank_plan<I, device>;            \
  template pagerank_result<double, host> distributed_pagerank<I>( \
      const communicator&, const context<host>&, const distributed_graph<I>&, const pagerank_options&);
SPARGO_FOR_EACH_INDEX(INSTANTIATE)

}  // namespace spargo
