// Weights of repeated edges in a snapshot: the matrix holds their sums, as products need them; the notes hold the
// lightest of each, as shortest paths need them, by entry of the matrix: {"lightest":[[entry,weight],...]}.
#pragma once

#include <spargo/formats/coo.hpp>
#include <spargo/formats/csr.hpp>

#include <string>
#include <string_view>

namespace spargo::apps {

// The lightest weight at each place of the expanded matrix of these entries, in its order.
template <index_type I, index_type O>
[[nodiscard]] array<double, host> lightest_weights(const context<host>& ctx,
                                                   const coo_view<const double, I, host>& entries);

// Notes for the matrix of these entries, expanded; empty if the lightest and the heaviest equal the sums, or the matrix
// is not square. Without places if only the heaviest differ.
template <index_type I, index_type O>
[[nodiscard]] std::string note_lightest(const context<host>& ctx, const coo_view<const double, I, host>& entries,
                                        const csr_view<const double, I, O, host>& matrix);

// Whether the notes have this form.
[[nodiscard]] bool has_lightest(std::string_view notes);

// Writes the lightest weights into the matrix's values. Other or empty notes change nothing.
void take_lightest(std::string_view notes, span<double, host> values);

}  // namespace spargo::apps
