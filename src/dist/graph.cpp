// Graphs shared out by vertices.
#include "core/instantiate.hpp"
#include "dist/deal.hpp"

#include <spargo/dist/graph.hpp>
#include <spargo/formats/convert.hpp>

namespace spargo {

namespace {

template <class I, class Visit>
csr_matrix<pattern, I, std::int64_t, host> rows_of(const communicator& comm, const context<host>& ctx,
                                                   const partition& parts,
                                                   const detail::dist::dealer<pattern, Visit>& dealer) {
  const auto entries = dealer.template deal<I>(parts, parts.size());
  return comm.agree_on([&] { return to_csr<std::int64_t>(ctx, entries.view()); });
}

}  // namespace

template <index_type I>
distributed_graph<I>::distributed_graph(const communicator& comm, const context<host>& ctx,
                                        const coo_pattern_view<std::int64_t, host>& share, const graph_options& options)
    : direction_(options.direction) {
  SPARGO_EXPECTS(share.rows == share.cols, fmt::format("graph: {} rows and {} columns", share.rows, share.cols));
  if (share.rows > std::numeric_limits<I>::max()) {
    throw agreed_error(error_code::unsupported,
                       fmt::format("graph: {} vertices do not fit {}-bit indices", share.rows, 8 * sizeof(I)));
  }
  const bool both = direction_ == direction_kind::undirected;
  const auto from_out = [&](std::int64_t k, const auto& put) {
    const std::int64_t u = share.row_indices[k];
    const std::int64_t v = share.col_indices[k];
    if (u == v) return;
    put(u, v, pattern{});
    if (both) put(v, u, pattern{});
  };
  const detail::dist::dealer<pattern, decltype(from_out)> out(comm, ctx, share.nnz(), share.rows, from_out);
  parts_ = out.balance();
  out_ = rows_of<I>(comm, ctx, parts_, out);
  if (!both && options.in_edges) {
    const auto from_in = [&](std::int64_t k, const auto& put) {
      if (share.row_indices[k] != share.col_indices[k]) put(share.col_indices[k], share.row_indices[k], pattern{});
    };
    in_ = rows_of<I>(comm, ctx, parts_,
                     detail::dist::dealer<pattern, decltype(from_in)>(comm, ctx, share.nnz(), share.rows, from_in));
  }
  edges_ = comm.all_reduce(out_.nnz(), reduction::sum) / (both ? 2 : 1);
}

#define INSTANTIATE(I) template class distributed_graph<I>;
SPARGO_FOR_EACH_INDEX(INSTANTIATE)

}  // namespace spargo
