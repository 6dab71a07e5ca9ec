// Synthetic matrices and graphs: seeded, and identical on every machine and for every thread count.
//
// A spec is `gen:NAME:key=value,key=value` and is accepted wherever an app takes a file:
//   gen:rmat:scale=S,degree=D[,seed=N][,a=,b=,c=]   Graph500 Kronecker: 2^S vertices, D * 2^S edges, permuted
//   gen:uniform:rows=R[,cols=C],degree=D[,seed=N]   each row D columns drawn uniformly (duplicates possible)
//   gen:grid2d:n=N[,m=M]         4-neighbour grid graph, both directions listed
//   gen:grid3d:n=N[,m=M,k=K]     6-neighbour grid graph
//   gen:laplacian2d:n=N[,m=M]    5-point Laplacian, N x M grid: 4 on the diagonal, -1 beside it
//   gen:laplacian3d:n=N[,m=M,k=K][,points=7|27]   7- or 27-point Laplacian
//   gen:banded:rows=R,degree=D[,seed=N]           D (odd) consecutive diagonals around the main one
//   gen:powerlaw:rows=R,degree=D[,max=M][,alpha=A][,seed=N]   R * D entries in all, columns uniform; row lengths
//                              fall as rank^-A (A in quarters, default 1) from M (default rows/8, at most 2^20)
//   gen:path:n=N   gen:star:n=N   gen:complete:n=N   (graphs, both directions listed)
// Random values are uniform in [-1, 1) from a counter-based generator keyed by seed and position.
#pragma once

#include <spargo/formats/coo.hpp>

#include <string>
#include <string_view>

#include <spargo/core/macros_push.hpp>

namespace spargo {

// Whether an app's FILE argument is a generator spec.
[[nodiscard]] SPARGO_EXPORT bool is_generator_spec(std::string_view name);

struct SPARGO_EXPORT generator_info {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t entries = 0;  // exactly as many as `generate` returns
  bool symmetric = false;    // the pattern is symmetric, so it may be used as an undirected graph
  bool on_device = false;    // a device can generate the entries
  // Lower bounds that hold except with probability below 10^-30; exact for kinds that are not random.
  std::int64_t off_diagonal = 0;  // entries
  std::int64_t distinct = 0;      // distinct places among them
};

// Parses a spec and returns the size of its result. Throws `parse`, naming the key and the expectation.
[[nodiscard]] SPARGO_EXPORT generator_info describe_generator(std::string_view spec);

// The entries, duplicates not summed. Sizes are checked before anything is allocated.
template <entry_type V = double, index_type I = std::int32_t>
[[nodiscard]] SPARGO_EXPORT coo_matrix<V, I, host> generate(const context<host>& ctx, std::string_view spec);

// The same bits on the device. R-MAT and uniform are made there, others by `making` and copied (synchronises).
template <entry_type V = double, index_type I = std::int32_t>
[[nodiscard]] SPARGO_EXPORT coo_matrix<V, I, device> generate(const context<device>& ctx, const context<host>& making,
                                                              std::string_view spec);

// Part `part`, from 0, of `count`: concatenated they equal the result of `generate`.
template <entry_type V = double, index_type I = std::int32_t>
[[nodiscard]] SPARGO_EXPORT coo_matrix<V, I, host> generate_part(const context<host>& ctx, std::string_view spec,
                                                                 std::int64_t part, std::int64_t count);

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
