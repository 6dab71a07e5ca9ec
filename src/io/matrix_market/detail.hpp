// Internals of the Matrix Market reader: the header, and the reader with its tuning exposed to tests.
#pragma once

#include "io/text/blocks.hpp"

#include <spargo/io/matrix_market.hpp>

namespace spargo::detail {

struct matrix_market_tuning {
  input_tuning input;
  // Size of a part for one thread: text and entries together stay within a core's L2 cache.
  std::int64_t part_bytes = std::int64_t{128} << 10;
  std::int64_t mirror_share = std::int64_t{1} << 15;  // minimum mirrored entries per thread: some 20 us
};

// For a matrix stored as a triangle: the listed entries only, or also the mirrored entries after them.
enum class triangles { stored, both };

// Reads banner, comments and size line; the source's next block begins after them. Throws `error` (parse).
[[nodiscard]] matrix_market_header parse_matrix_market_header(text_source& source);

// Opens `file` with its header read; a stream may already be past it.
[[nodiscard]] std::unique_ptr<text_source> open_matrix_market(const context<host>& ctx, const input_file& file,
                                                              const read_options& options, const input_tuning& tuning,
                                                              matrix_market_header& header);

// Entries in array layout for these dimensions; -1 if more than 2^63-1.
[[nodiscard]] std::int64_t array_entries(std::int64_t rows, std::int64_t cols, symmetry_kind symmetry) noexcept;

[[nodiscard]] std::string_view field_name(const matrix_market_header& header) noexcept;

// Like the public function.
template <entry_type V, index_type I>
[[nodiscard]] coo_matrix<V, I, host> read_entries(const context<host>& ctx, const input_file& file,
                                                  const read_options& options, const matrix_market_tuning& tuning,
                                                  triangles wanted, matrix_market_summary& summary);

// Facts about a range of a file besides its entries.
struct range_summary {
  std::int64_t rounded_integers = 0;
  std::int64_t diagonal = 0;  // entries on the diagonal
  bool below = false;         // some entry is below the diagonal
  bool above = false;
};

// Reads the coordinates in `tuning.input.range`, whole lines after the header, which was read before. The caller, who
// has all ranges, checks their number and triangle. V: pattern, double, complex<double>.
template <entry_type V>
[[nodiscard]] coo_matrix<V, std::int64_t, host> read_entries_in(const context<host>& ctx, const input_file& file,
                                                                const read_options& options,
                                                                const matrix_market_tuning& tuning,
                                                                matrix_market_header header, range_summary& summary);

// An invalid line; thrown by parsers of parts, which do not know its position in the file.
struct bad_line {
  const char* where = nullptr;
  std::string message;
};

// Skips a comment; returns the beginning of the next line. Throws `bad_line` for a NUL byte among its first `looked_at`
// bytes; the rest of a long comment may not be in memory.
[[nodiscard]] const char* skip_comment(const char* p, const char* end, std::int64_t looked_at);

// Expects blanks up to the end of the line that began at `line`, and its length in limits; returns the next line.
[[nodiscard]] const char* finish_line(const char* p, const char* line, std::int64_t max_line_bytes);

}  // namespace spargo::detail
