// The parsed form of a generator spec.
#pragma once

#include <cstdint>
#include <string_view>

namespace spargo::detail {

enum class generator_kind {
  rmat,
  uniform,
  grid2d,
  grid3d,
  laplacian2d,
  laplacian3d,
  banded,
  powerlaw,
  path,
  star,
  complete
};

// Kinds with known places (entries.hpp), which devices generate.
[[nodiscard]] constexpr bool is_made_on_device(generator_kind kind) {
  return kind == generator_kind::rmat || kind == generator_kind::uniform;
}

struct generator_spec {
  generator_kind kind = generator_kind::path;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t entries = 0;
  bool symmetric = false;
  std::int64_t n = 1;  // grid dimensions, n slowest
  std::int64_t m = 1;
  std::int64_t k = 1;
  std::int64_t degree = 0;
  std::int64_t longest = 0;  // powerlaw
  int quarter_alpha = 4;     // powerlaw: alpha in quarters
  int scale = 0;             // rmat
  int points = 7;            // laplacian3d
  double a = 0.57;           // rmat
  double b = 0.19;
  double c = 0.19;
  std::uint64_t seed = 1;
};

// See generator_info.
[[nodiscard]] std::int64_t least_off_diagonal(const generator_spec& s);
[[nodiscard]] std::int64_t least_distinct(const generator_spec& s);

// Throws parse or unsupported, naming the key and the expectation.
[[nodiscard]] generator_spec parse_generator_spec(std::string_view text);

}  // namespace spargo::detail
