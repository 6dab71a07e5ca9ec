// A vector from a file: a Matrix Market column or row, dense or sparse, or one number per line.
#pragma once

#include <spargo/core/array.hpp>
#include <spargo/core/context.hpp>
#include <spargo/core/types.hpp>

#include <cstdint>
#include <string>

namespace spargo::apps {

// What the vector is, for messages: "--x is 3 x 1 (expected 4 x 1, the matrix's columns)".
struct vector_use {
  std::string name;     // --x
  std::string side;     // the matrix's rows or columns
  bool finite = false;  // infinite elements and NaN are errors
};

// Lines of numbers may be followed by blanks; empty lines and those that begin with # or % are skipped. The file may be
// compressed; a list of numbers must be a regular file. Throws `error` with file, line and column: `parse` for a line
// that is not a number, `invalid_data` if there are not `size` of them, or for one that is not finite where all must
// be.
template <value_type V>
[[nodiscard]] array<V, host> read_vector(const context<host>& ctx, const std::string& path, std::int64_t size,
                                         const vector_use& use);

}  // namespace spargo::apps
