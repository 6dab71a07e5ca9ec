// Whether a product takes a matrix as it is stored or transposed.
#pragma once

namespace spargo {

enum class transpose_kind { none, transpose };

}  // namespace spargo
