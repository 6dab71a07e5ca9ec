// How many products a copy of a matrix must serve before it has paid for its making.
#pragma once

#include <cstdint>
#include <string>

namespace spargo::detail::spmv {

enum class copy_kind {
  compressed,      // device
  blocked,         // device
  binned,          // device
  repeated_bands,  // host: bands whose rows repeat their values, too
  bands,           // host
  tiles,           // host
};

// The plan's time beyond that of a plan for CSR as it stands, over what a product saves.
[[nodiscard]] std::int64_t pays_from(copy_kind kind, std::int64_t value_bytes);

// Empty where `products` are enough (0: many), else why not.
[[nodiscard]] std::string why_too_few(copy_kind kind, std::int64_t value_bytes, std::int64_t products);

}  // namespace spargo::detail::spmv
