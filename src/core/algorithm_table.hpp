// One table per operation: its algorithms, their names, and the backends that have them. Printing, parsing, refusals,
// tests and benchmarks iterate over it; a new algorithm is a row here, a kernel and its dispatch.
#pragma once

#include <spargo/core/context.hpp>
#include <spargo/core/enum_names.hpp>
#include <spargo/core/error.hpp>
#include <spargo/core/plan_state.hpp>

#include <array>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spargo::detail {

template <class Algorithm, std::size_t Size>
using algorithm_table = std::array<enum_row<Algorithm>, Size>;

// False for a value outside the table.
template <class Space, class Algorithm, std::size_t Size>
[[nodiscard]] constexpr bool runs_on(const algorithm_table<Algorithm, Size>& table, Algorithm algorithm) noexcept {
  for (const auto& row : table) {
    if (row.value == algorithm) return std::same_as<Space, host> ? row.on_host : row.on_device;
  }
  return false;
}

// Throws invalid_argument for a number that is no enumerator, and unsupported for an algorithm that the space lacks,
// with the names of those that it has, without `automatic`. `kind`: what the table lists.
template <class Space, class Algorithm, std::size_t Size>
void expect_runs_on(const algorithm_table<Algorithm, Size>& table, std::string_view operation, Algorithm algorithm,
                    std::string_view kind = "algorithm") {
  if (runs_on<Space>(table, algorithm)) return;
  const std::string prefix = std::string(operation) + ": ";
  expect_named(operation, kind, algorithm);
  std::string known;
  for (const auto& row : table) {
    if (row.name == "automatic" || !runs_on<Space>(table, row.value)) continue;
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  if (known.empty()) {
    const char* const other = std::same_as<Space, host> ? "GPU" : "CPU";
    throw error(error_code::unsupported, prefix + "runs on the " + other + " only");
  }
  throw error(error_code::unsupported, prefix + std::string(kind) + " " + std::string(to_string(algorithm)) +
                                           " does not run on the " + (std::same_as<Space, host> ? "host" : "device") +
                                           " (expected one of " + known + ")");
}

// The algorithm that was asked for by name, nothing for `automatic`. Throws as expect_runs_on.
template <class Space, class Algorithm, std::size_t Size>
[[nodiscard]] std::optional<plan_choice<Algorithm>> choose_by_name(const algorithm_table<Algorithm, Size>& table,
                                                                   std::string_view operation, Algorithm asked) {
  expect_runs_on<Space>(table, operation, asked);
  if (asked == Algorithm::automatic) return {};
  return plan_choice<Algorithm>{asked, "asked for"};
}

template <class Space, class Algorithm, std::size_t Size>
[[nodiscard]] std::vector<Algorithm> algorithms_on(const algorithm_table<Algorithm, Size>& table) {
  std::vector<Algorithm> found;
  for (const auto& row : table) {
    if (std::same_as<Space, host> ? row.on_host : row.on_device) found.push_back(row.value);
  }
  return found;
}

}  // namespace spargo::detail
