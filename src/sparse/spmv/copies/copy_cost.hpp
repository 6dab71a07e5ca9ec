// How many products a copy must serve before it pays off.
#pragma once

#include <cstdint>
#include <string>

namespace spargo::detail::spmv {

enum class copy_kind {
  compressed,      // device
  blocked,         // device
  binned,          // device
  repeated_bands,  // host: bands whose rows also repeat their values
  bands,           // host
  tiles,           // host
  transposed,      // host: of a transposed product
};

// The extra time of a plan with a copy, divided by the time saved per product.
[[nodiscard]] std::int64_t pays_from(copy_kind kind, std::int64_t value_bytes);

// Empty if `products` are enough (0: many), else the reason.
[[nodiscard]] std::string reason_against_copy(copy_kind kind, std::int64_t value_bytes, std::int64_t products);

}  // namespace spargo::detail::spmv
