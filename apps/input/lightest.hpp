// Weights of edges that are listed more than once, in a snapshot: its matrix has their sums, as products want them, and
// its notes the lightest of each, which paths take, by place in the matrix: {"lightest":[[entry,weight],...]}.
#pragma once

#include <spargo/formats/coo.hpp>
#include <spargo/formats/csr.hpp>

#include <string>
#include <string_view>

namespace spargo::apps {

// Of the matrix made of these entries, expanded, in its order: the lightest weight of each place.
template <index_type I, index_type O>
[[nodiscard]] array<double, host> lightest_weights(const context<host>& ctx,
                                                   const coo_view<const double, I, host>& entries);

// For a matrix made of these entries, expanded: the notes; empty where no lightest weight differs from the sum, or the
// matrix is no graph.
template <index_type I, index_type O>
[[nodiscard]] std::string note_lightest(const context<host>& ctx, const coo_view<const double, I, host>& entries,
                                        const csr_view<const double, I, O, host>& matrix);

// Whether notes are such.
[[nodiscard]] bool has_lightest(std::string_view notes);

// Puts the lightest weights into the values of the matrix. Other notes, and none, change nothing.
void take_lightest(std::string_view notes, span<double, host> values);

}  // namespace spargo::apps
