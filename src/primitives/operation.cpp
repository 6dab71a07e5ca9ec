#include <spargo/primitives/operation.hpp>

namespace spargo {

template <>
enum_table<operation> enum_rows() noexcept {
  static constexpr std::array<enum_row<operation>, 6> rows{{
      {operation::sum, "sum"},
      {operation::product, "product"},
      {operation::min, "min"},
      {operation::max, "max"},
      {operation::bit_and, "bit_and"},
      {operation::bit_or, "bit_or"},
  }};
  return rows;
}

}  // namespace spargo
