// Matrix Market exchange format (Boisvert, Pozo, Remington, NISTIR 5935, 1996), read in full and written.
//
// Text or gzip (several members are one text), from a file, a pipe or standard input (`-`): see input.hpp.
// Errors carry file, line and column, and are the first in the file. Nothing is allocated on the word of a header.
// Reading is parallel and gives the same result, or the same error, for any thread count. A file that another process
// changes meanwhile is an error.
//
// Where the format leaves room, or files in use stray from it:
// - Banner words in any case; `double` is `real`; comments and blank lines anywhere after the banner; CRLF; tabs; a
//   last line without an end. One entry per line, nothing behind it; no line beyond 1 MiB but a comment.
// - Numbers may have a plus sign, Fortran's D for the exponent, or be inf or nan. A number beyond the range of V is an
//   error, one too small becomes 0. An integer file holds integers within 64 bits, one of SciPy's field
//   `unsigned-integer` up to 2^64 - 1.
// - A symmetric, skew-symmetric or hermitian file may store either triangle, though the format asks for the lower
//   one. A place given in both triangles would count twice and is an error; twice in one is a duplicate as elsewhere.
// - A skew-symmetric diagonal entry must be 0, a hermitian one real. Patterns are general or symmetric; only complex
//   matrices are hermitian; an array is no pattern and holds the lower triangle by columns if not general.
#pragma once

#include <spargo/formats/convert.hpp>
#include <spargo/formats/dense.hpp>
#include <spargo/io/input.hpp>
#include <spargo/io/options.hpp>

#include <string>

#include <spargo/core/macros_push.hpp>

namespace spargo {

enum class matrix_market_layout { coordinate, array };
enum class matrix_market_field { real, integer, complex, pattern };

struct SPARGO_EXPORT matrix_market_header {
  matrix_market_layout layout = matrix_market_layout::coordinate;
  matrix_market_field field = matrix_market_field::real;
  symmetry_kind symmetry = symmetry_kind::general;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t entries = 0;  // as declared (coordinate) or implied (array); not to be trusted
  bool is_unsigned = false;  // an integer field under SciPy's name for unsigned ones, unsigned-integer
};

// Reads banner and size line only; whoever reads a stream after that gets the entries all the same. Throws `io` or
// `parse`.
[[nodiscard]] SPARGO_EXPORT matrix_market_header read_matrix_market_header(const input_file& file);

// What was met on the way, for reports.
struct SPARGO_EXPORT matrix_market_summary {
  matrix_market_header header;
  std::int64_t stored = 0;            // entries in the file
  std::int64_t expanded = 0;          // entries with the mirrored ones
  std::int64_t rounded_integers = 0;  // integers past what V holds exactly, rounded to nearest
};

// All entries as written, symmetric halves expanded, duplicates kept, in file order (mirrors after).
// V and I are the caller's choice, double and 32 bits unless named: read_matrix_market<float>(ctx, path). A complex
// file needs a complex V (else `unsupported`); a pattern file gives ones; V = pattern checks and drops values. Numbers
// are correctly rounded to V's precision, once. I too small for the dimensions is `unsupported`. Throws `io` (file,
// gzip stream), `parse` (text) or `out_of_memory`. One pass over the text; peak memory is the result and some MiB (for
// gzip up to twice the result, where a file grows denser on the way). A .gz is inflated by one of the context's threads
// while the others parse.
template <entry_type V = double, index_type I = std::int32_t>
[[nodiscard]] SPARGO_EXPORT coo_matrix<V, I, host> read_matrix_market(const context<host>& ctx, const input_file& file,
                                                                      const read_options& options = {},
                                                                      matrix_market_summary* summary = nullptr);

// The same entries without the mirrored ones: of a matrix that is not general the triangle in the file. The shortest
// way to CSR: to_csr<O>(ctx, stored.view(), {.symmetry = summary.header.symmetry}).
template <entry_type V = double, index_type I = std::int32_t>
[[nodiscard]] SPARGO_EXPORT coo_matrix<V, I, host> read_matrix_market_stored(const context<host>& ctx,
                                                                             const input_file& file,
                                                                             const read_options& options = {},
                                                                             matrix_market_summary* summary = nullptr);

enum class matrix_market_numbers { of_the_type, integers };

// What the banner says of the entries.
struct SPARGO_EXPORT matrix_market_write_options {
  symmetry_kind symmetry = symmetry_kind::general;  // another one: the entries are a triangle of such a matrix
  // `integers`: real values that are integers of 64 bits make an integer file; 2^63, to which a reader rounds 2^63 - 1,
  // is written as that.
  matrix_market_numbers numbers = matrix_market_numbers::of_the_type;
  std::string comment = {};  // written behind the banner, a % before each of its lines
};

// Integers that are written as they are, though no matrix holds them.
template <class W>
concept matrix_market_integer = std::same_as<W, std::int64_t> || std::same_as<W, std::uint64_t>;

// Written whole or not at all: to a temporary name beside `path`, synced, then renamed. A name that ends in .gz
// is compressed; a pipe or device is written directly. Numbers are the shortest that read back to the same bits.
// Indices are 1-based, entries in the order given. Throws `io`, `invalid_argument` (sizes of the arrays differ, or a
// symmetry that such a matrix cannot have) or `invalid_data` (an index outside the matrix, a value that `integers` or
// the diagonal of the symmetry excludes).
template <entry_type V, index_type I>
SPARGO_EXPORT void write_matrix_market(const std::string& path, const coo_view<const V, I, host>& matrix,
                                       const matrix_market_write_options& options = {});

// The same of integers, exactly. The field of unsigned ones is SciPy's `unsigned-integer`.
template <matrix_market_integer W, index_type I>
SPARGO_EXPORT void write_matrix_market(const std::string& path, const coo_pattern_view<I, host>& places,
                                       span<const W, host> values, const matrix_market_write_options& options = {});

// Array layout, column by column as the format demands; of a symmetry the lower triangle, without looking at the other.
// V may be a matrix_market_integer; `numbers` must be of_the_type.
template <class V>
SPARGO_EXPORT void write_matrix_market(const std::string& path, const dense_view<const V, host>& matrix,
                                       const matrix_market_write_options& options = {});

// Either, of a matrix that owns its arrays, or whose values may change.
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
