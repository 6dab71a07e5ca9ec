// Matrix Market exchange format (Boisvert, Pozo, Remington, NISTIR 5935, 1996), read in full and written.
//
// Text or gzip (several members form one text), from a file, a pipe or standard input (`-`): see input.hpp. Errors have
// file, line and column; the first in the file is reported. Declared sizes are never trusted for allocation. Reading is
// parallel with the same result, or error, for any thread count. A file modified meanwhile is an error.
//
// Where the format leaves room, or files in use deviate from it:
// - Banner words in any case; `double` means `real`; comments and blank lines anywhere after the banner; CRLF; tabs; a
//   last line without a line end. One entry per line, nothing after it; lines of at most 1 MiB except comments.
// - Numbers may have a plus sign, Fortran's D as exponent, or be inf or nan. A number beyond the range of V is an
//   error; one that underflows becomes 0. An integer file holds 64-bit integers, SciPy's field `unsigned-integer` up to
//   2^64 - 1.
// - A symmetric, skew-symmetric or hermitian file may store either triangle, although the format prescribes the lower
//   one. A place listed in both triangles would count twice and is an error; twice in one triangle it is a duplicate.
// - A skew-symmetric diagonal entry must be 0, a hermitian one real. Patterns are general or symmetric; only complex
//   matrices are hermitian; an array has values, and unless general holds the lower triangle by columns.
#pragma once

#include <spargo/core/enum_names.hpp>
#include <spargo/formats/convert.hpp>
#include <spargo/formats/dense.hpp>
#include <spargo/io/input.hpp>
#include <spargo/io/options.hpp>

#include <string>

#include <spargo/core/macros_push.hpp>

namespace spargo {

enum class matrix_market_layout { coordinate, array };

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<matrix_market_layout> enum_rows() noexcept;
enum class matrix_market_field { real, integer, complex, pattern };

template <>
[[nodiscard]] SPARGO_EXPORT enum_table<matrix_market_field> enum_rows() noexcept;

struct SPARGO_EXPORT matrix_market_header {
  matrix_market_layout layout = matrix_market_layout::coordinate;
  matrix_market_field field = matrix_market_field::real;
  symmetry_kind symmetry = symmetry_kind::general;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t entries = 0;  // declared (coordinate) or implied (array); not verified
  bool is_unsigned = false;  // SciPy's field unsigned-integer
};

// Reads banner and size line only; a stream can still be read afterwards. Throws `io` or `parse`.
[[nodiscard]] SPARGO_EXPORT matrix_market_header read_matrix_market_header(const input_file& file);

// Facts collected while reading, for reports.
struct SPARGO_EXPORT matrix_market_summary {
  matrix_market_header header;
  std::int64_t stored = 0;            // entries in the file
  std::int64_t expanded = 0;          // including mirrored entries
  std::int64_t rounded_integers = 0;  // integers that V cannot represent exactly, rounded to nearest
};

// All entries as written, symmetric halves expanded, duplicates kept, in file order (mirrored entries last).
// V and I are chosen by the caller, double and 32 bits by default: read_matrix_market<float>(ctx, path). A complex file
// needs a complex V (else `unsupported`); a pattern file gives ones; V = pattern checks and drops values. Numbers are
// correctly rounded to V's precision, once. Throws `unsupported` if the dimensions do not fit I, `io` (file, gzip
// stream), `parse` (text) or `out_of_memory`. One pass over the text; peak memory is the result and some MiB (for gzip
// up to twice the result, if a file becomes denser towards its end). One of the context's threads inflates a .gz while
// the others parse.
template <entry_type V = double, index_type I = std::int32_t>
[[nodiscard]] SPARGO_EXPORT coo_matrix<V, I, host> read_matrix_market(const context<host>& ctx, const input_file& file,
                                                                      const read_options& options = {},
                                                                      matrix_market_summary* summary = nullptr);

// The entries without the mirrored ones: for a matrix that is not general, the stored triangle. The shortest way to
// CSR: to_csr<O>(ctx, stored.view(), {.symmetry = summary.header.symmetry}).
template <entry_type V = double, index_type I = std::int32_t>
[[nodiscard]] SPARGO_EXPORT coo_matrix<V, I, host> read_matrix_market_stored(const context<host>& ctx,
                                                                             const input_file& file,
                                                                             const read_options& options = {},
                                                                             matrix_market_summary* summary = nullptr);

enum class matrix_market_numbers { of_the_type, integers };

// What the banner of a written file says.
struct SPARGO_EXPORT matrix_market_write_options {
  symmetry_kind symmetry = symmetry_kind::general;  // not general: the entries are a triangle
  // `integers`: 64-bit integers in real values make an integer file; 2^63 (a rounded 2^63 - 1) is written as 2^63 - 1.
  matrix_market_numbers numbers = matrix_market_numbers::of_the_type;
  std::string comment = {};  // after the banner, each line after a %
};

// Integers that are written exactly, although no matrix has such values.
template <class W>
concept matrix_market_integer = std::same_as<W, std::int64_t> || std::same_as<W, std::uint64_t>;

// The file appears complete or not at all: written to a temporary name beside `path`, synced, renamed. Compressed if
// the name ends in .gz; a pipe or device is written directly. Numbers are the shortest that read back to the same bits;
// indices are 1-based, entries in the given order. Throws `io`, `invalid_argument` (array sizes differ, or an
// impossible symmetry) or `invalid_data` (an index outside the matrix, or a value that `integers` or the diagonal
// excludes).
template <entry_type V, index_type I>
SPARGO_EXPORT void write_matrix_market(const std::string& path, const coo_view<const V, I, host>& matrix,
                                       const matrix_market_write_options& options = {});

// The same for integers, exactly. Unsigned ones get SciPy's field `unsigned-integer`.
template <matrix_market_integer W, index_type I>
SPARGO_EXPORT void write_matrix_market(const std::string& path, const coo_pattern_view<I, host>& places,
                                       span<const W, host> values, const matrix_market_write_options& options = {});

// Array layout, by columns; of a symmetry the lower triangle. V: also integers; `numbers` must be of_the_type.
template <class V>
SPARGO_EXPORT void write_matrix_market(const std::string& path, const dense_view<const V, host>& matrix,
                                       const matrix_market_write_options& options = {});

// Either, for a matrix that owns its arrays or has mutable values.
template <detail::viewable Matrix>
void write_matrix_market(const std::string& path, const Matrix& matrix) {
  write_matrix_market(path, detail::view_of(matrix));
}
template <detail::viewable Matrix>
void write_matrix_market(const std::string& path, const Matrix& matrix, const matrix_market_write_options& options) {
  write_matrix_market(path, detail::view_of(matrix), options);
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
