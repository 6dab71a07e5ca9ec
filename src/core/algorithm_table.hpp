// One table per operation: its algorithms, their names, and the backends that have them. Printing, parsing, refusals,
// tests and benchmarks iterate over it; a new algorithm is a row here, a kernel and its dispatch.
#pragma once

#include <spargo/core/context.hpp>
#include <spargo/core/error.hpp>
#include <spargo/core/plan_state.hpp>

#include <array>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spargo::detail {

template <class Algorithm>
struct algorithm_row {
  Algorithm algorithm;
  std::string_view name;
  bool on_host;
  bool on_device;
};

template <class Algorithm, std::size_t Size>
using algorithm_table = std::array<algorithm_row<Algorithm>, Size>;

// "unknown" for a value outside the table.
template <class Algorithm, std::size_t Size>
[[nodiscard]] constexpr std::string_view name_in(const algorithm_table<Algorithm, Size>& table,
                                                 Algorithm algorithm) noexcept {
  for (const auto& row : table) {
    if (row.algorithm == algorithm) return row.name;
  }
  return "unknown";
}

template <class Algorithm, std::size_t Size>
[[nodiscard]] constexpr bool is_in(const algorithm_table<Algorithm, Size>& table, Algorithm algorithm) noexcept {
  for (const auto& row : table) {
    if (row.algorithm == algorithm) return true;
  }
  return false;
}

// False for a value outside the table.
template <class Space, class Algorithm, std::size_t Size>
[[nodiscard]] constexpr bool runs_on(const algorithm_table<Algorithm, Size>& table, Algorithm algorithm) noexcept {
  for (const auto& row : table) {
    if (row.algorithm == algorithm) return std::same_as<Space, host> ? row.on_host : row.on_device;
  }
  return false;
}

// Throws invalid_argument for a number that is no enumerator, and unsupported for an algorithm that the space lacks,
// with the names of those that it has. `kind`: what the table lists.
template <class Space, class Algorithm, std::size_t Size>
void expect_runs_on(const algorithm_table<Algorithm, Size>& table, std::string_view operation, Algorithm algorithm,
                    std::string_view kind = "algorithm") {
  if (runs_on<Space>(table, algorithm)) return;
  const std::string prefix = std::string(operation) + ": ";
  SPARGO_EXPECTS(is_in(table, algorithm),
                 prefix + "no " + std::string(kind) + " has the number " + std::to_string(static_cast<int>(algorithm)));
  std::string known;
  for (const auto& row : table) {
    if (runs_on<Space>(table, row.algorithm)) known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  throw error(error_code::unsupported, prefix + std::string(kind) + " " + std::string(name_in(table, algorithm)) +
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
    if (std::same_as<Space, host> ? row.on_host : row.on_device) found.push_back(row.algorithm);
  }
  return found;
}

// Throws invalid_argument, listing the names.
template <class Algorithm, std::size_t Size>
[[nodiscard]] Algorithm parse_in(const algorithm_table<Algorithm, Size>& table, std::string_view operation,
                                 std::string_view name) {
  std::string known;
  for (const auto& row : table) {
    if (row.name == name) return row.algorithm;
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  throw_invalid_argument(std::string(operation) + ": unknown algorithm '" + std::string(name) + "' (expected one of " +
                         known + ")");
}

}  // namespace spargo::detail
