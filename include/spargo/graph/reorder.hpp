// Orders of the rows of a square matrix, or the vertices of a graph, for locality and small bandwidth.
//
// order[k] is the old row that becomes row k, as in `relabel`. Deterministic: the same for any number of threads, and
// on a device. There orders and envelopes are for fewer than 2^32 - 1 rows, else they throw unsupported.
#pragma once

#include <spargo/core/enum_names.hpp>
#include <spargo/graph/graph.hpp>

#include <cstdint>

#include <spargo/core/macros_push.hpp>

namespace spargo {

enum class reorder_method {
  rcm,     // reverse Cuthill-McKee: small bandwidth; for matrices of meshes and roads
  degree,  // by descending degree, ties by number: the most used rows are adjacent
  rabbit,  // communities within communities are adjacent; for social networks and web graphs
  random,  // a random permutation, as a baseline
};

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<reorder_method> enum_rows() noexcept;

// Reverse Cuthill-McKee order of an undirected graph (of a matrix: the graph of A + A^T). Each component starts from a
// pseudo-peripheral vertex (George and Liu, ACM TOMS 5, 1979) or from its vertex of least degree, whichever gives the
// smaller bandwidth; components by their least degree, ties by number. Within a level vertices are in order of
// (position of the parent, degree, number). O(edges log(largest degree)) for each of some four searches. Large levels
// use all threads. Throws invalid_argument for a directed graph. Cuthill, McKee, ACM 1969.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT array<I, host> reverse_cuthill_mckee(const context<host>& ctx,
                                                                 const graph_view<I, O, host>& g);
// All components are searched at once, level by level: a path, with one vertex per level, leaves a device idle.
// Synchronizes; memory about 100 bytes per vertex.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT array<I, device> reverse_cuthill_mckee(const context<device>& ctx,
                                                                   const graph_view<I, O, device>& g);

// All vertices by descending out-degree, ties by number. O(vertices log(vertices)). Asynchronous on a device.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT array<I, host> degree_order(const context<host>& ctx, const graph_view<I, O, host>& g);
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT array<I, device> degree_order(const context<device>& ctx,
                                                          const graph_view<I, O, device>& g);

// Rabbit order of an undirected graph: vertices by ascending degree, ties by larger number first, merge into the
// adjacent community of largest modularity gain, ties by number; the order is a depth-first traversal of the merges,
// from roots by number. Self-loops count for degrees only. Sequential, so the same for any number of threads; near
// O(edges); memory 48 to 72 bytes a vertex and at most 16 an entry. Throws invalid_argument for a directed graph. On
// the host only: a merge depends on the merges before it. Arai et al., IPDPS 2016.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT array<I, host> rabbit_order(const context<host>& ctx, const graph_view<I, O, host>& g);

// A random permutation of 0 .. size - 1: the same on every machine (splitmix64, Fisher and Yates). O(size).
template <index_type I>
[[nodiscard]] SPARGO_EXPORT array<I, host> random_order(const context<host>& ctx, std::int64_t size,
                                                        std::uint64_t seed = 0);
// Computed by the host, since each exchange follows the one before, and copied. Synchronizes.
template <index_type I>
[[nodiscard]] SPARGO_EXPORT array<I, device> random_order(const context<device>& ctx, std::int64_t size,
                                                          std::uint64_t seed = 0);

// Of a square matrix with A and A^T together.
struct SPARGO_EXPORT matrix_envelope {
  std::int64_t bandwidth = 0;  // max |i - j| over the entries
  std::int64_t profile = 0;    // sum over rows i of i - (the least j <= i with an entry in (i, j) or (j, i))
};

// With an order: of the permuted matrix, which is not built. Throws invalid_argument for a matrix that is not
// square or an order that is no permutation. O(nnz + rows). Synchronizes on a device.
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT matrix_envelope envelope(const context<host>& ctx,
                                                     const csr_pattern_view<I, O, host>& matrix,
                                                     std::type_identity_t<span<const I, host>> order = {});
template <index_type I, index_type O>
[[nodiscard]] SPARGO_EXPORT matrix_envelope envelope(const context<device>& ctx,
                                                     const csr_pattern_view<I, O, device>& matrix,
                                                     std::type_identity_t<span<const I, device>> order = {});

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
