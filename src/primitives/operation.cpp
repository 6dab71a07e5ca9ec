#include <spargo/primitives/operation.hpp>

namespace spargo {

std::string_view to_string(operation op) noexcept {
  switch (op) {
    case operation::sum:
      return "sum";
    case operation::product:
      return "product";
    case operation::min:
      return "min";
    case operation::max:
      return "max";
    case operation::bit_and:
      return "bit_and";
    case operation::bit_or:
      return "bit_or";
  }
  return "unknown";
}

}  // namespace spargo
