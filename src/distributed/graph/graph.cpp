// Graphs distributed by vertices.
#include "core/backend.hpp"
#include "core/instantiate.hpp"
#include "distributed/graph/deal.hpp"
#include "distributed/graph/device_graph.hpp"
#include "graph/graph/build.hpp"

#include <spargo/distributed/graph.hpp>
#include <spargo/formats/convert.hpp>

#include <utility>

namespace spargo {

namespace {

template <class I, class Visit>
csr_matrix<pattern, I, std::int64_t, host> rows_of(const communicator& comm, const context<host>& ctx,
                                                   const partition& parts,
                                                   const detail::distributed::dealer<pattern, Visit>& dealer) {
  const auto entries = dealer.template deal<I>(parts, parts.size());
  return comm.agree_on([&] { return to_csr<std::int64_t>(ctx, entries.view()); });
}

}  // namespace

template <index_type I>
distributed_graph<I, host>::distributed_graph(const communicator& comm, const context<host>& ctx,
                                              const coo_pattern_view<std::int64_t, host>& share,
                                              const graph_options& options)
    : direction_(options.direction) {
  SPARGO_EXPECTS(share.rows == share.cols, fmt::format("graph: {} rows and {} columns", share.rows, share.cols));
  if (share.rows > std::numeric_limits<I>::max()) {
    throw agreed_error(error_code::unsupported,
                       fmt::format("graph: {} vertices do not fit {}-bit indices", share.rows, 8 * sizeof(I)));
  }
  const bool both = direction_ == direction_kind::undirected;
  const bool keeps_loops = options.loops == self_loops::keep;
  const auto from_out = [&](std::int64_t k, const auto& put) {
    const std::int64_t u = share.row_indices[k];
    const std::int64_t v = share.col_indices[k];
    if (u == v && !keeps_loops) return;
    put(u, v, pattern{});
    if (both && u != v) put(v, u, pattern{});
  };
  const detail::distributed::dealer<pattern, decltype(from_out)> out(comm, ctx, share.nnz(), share.rows, from_out);
  parts_ = out.balance();
  out_ = rows_of<I>(comm, ctx, parts_, out);
  if (!both && options.in_edges) {
    const auto from_in = [&](std::int64_t k, const auto& put) {
      const std::int64_t u = share.row_indices[k];
      const std::int64_t v = share.col_indices[k];
      if (u != v || keeps_loops) put(v, u, pattern{});
    };
    in_ = rows_of<I>(
        comm, ctx, parts_,
        detail::distributed::dealer<pattern, decltype(from_in)>(comm, ctx, share.nnz(), share.rows, from_in));
  }
  const std::int64_t loops =
      keeps_loops ? detail::count_loops(ctx, std::as_const(out_).view(), parts_.first(comm.rank())) : 0;
  edges_ = comm.all_reduce(out_.nnz() - loops, reduction::sum) / (both ? 2 : 1);
}

template <index_type I>
distributed_graph<I, device>::distributed_graph(const communicator& comm, const context<device>& ctx,
                                                const distributed_graph<I>& g, bool in_edges)
    : parts_(g.parts()), edges_(g.edges()), direction_(g.direction()) {
  if constexpr (detail::is_built<device>) {
    using detail::distributed::device_rows;
    const auto copied = [&](const csr_pattern_view<I, std::int64_t, host>& rows) -> device_rows<I> {
      if (rows.offsets.empty()) return {};
      return {to_device(ctx, rows.offsets), to_device(ctx, rows.indices), rows.nnz()};
    };
    const bool both = direction_ == direction_kind::undirected;
    take_rows(comm, [&] { return std::pair(copied(g.out()), !both && in_edges ? copied(g.in()) : device_rows<I>()); });
  } else {
    detail::no_device("graph");
  }
}

template <index_type I>
distributed_graph<I, device>::distributed_graph(const communicator& comm, const context<device>& ctx,
                                                std::string_view spec, const graph_options& options,
                                                std::int64_t scratch_bytes)
    : direction_(options.direction) {
  if constexpr (detail::is_built<device>) {
    auto made = detail::distributed::make_graph_on_device<I>(comm, ctx, spec, options, scratch_bytes);
    parts_ = std::move(made.parts);
    take_rows(comm, [&] { return std::pair(std::move(made.out), std::move(made.in)); });
    const std::int64_t loops = made.loops;
    edges_ = comm.all_reduce(out_.nnz() - loops, reduction::sum) / (direction_ == direction_kind::undirected ? 2 : 1);
  } else {
    detail::no_device("graph");
  }
}

template <index_type I>
template <class Make>
void distributed_graph<I, device>::take_rows(const communicator& comm, const Make& make) {
  comm.agree_on([&] {
    auto held = std::make_shared<std::invoke_result_t<Make>>(make());
    out_ = held->first.view(vertices());
    in_ = held->second.view(vertices());
    rows_ = std::move(held);
  });
}

#define INSTANTIATE(I)                       \
  template class distributed_graph<I, host>; \
  template class distributed_graph<I, device>;
SPARGO_FOR_EACH_INDEX(INSTANTIATE)

}  // namespace spargo
