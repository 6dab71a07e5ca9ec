// Whether a product uses a matrix or its transpose.
#pragma once

namespace spargo {

enum class transpose_kind { none, transpose };

}  // namespace spargo
