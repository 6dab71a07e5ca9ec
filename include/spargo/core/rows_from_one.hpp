// How the library's messages count rows and columns.
#pragma once

#include <spargo/core/config.hpp>

namespace spargo {

// While an object lives, messages of solvers, preconditioners, triangular solves and `laplacian` in this process count
// rows and columns from 1, as Matrix Market files do. Otherwise they count from 0 and say so: "row 2 (from 0)". Objects
// may be nested; any thread.
class SPARGO_EXPORT rows_from_one {
 public:
  rows_from_one() noexcept;
  ~rows_from_one();
  rows_from_one(const rows_from_one&) = delete;
  rows_from_one& operator=(const rows_from_one&) = delete;
};

}  // namespace spargo
