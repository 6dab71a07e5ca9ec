// Names of orders and algorithms.
#include "graph/greedy/order.hpp"
#include "graph/greedy/ordered_host.hpp"

namespace spargo {

namespace detail::greedy {

inline constexpr std::array<enum_row<greedy_order>, 5> orders{{
    {greedy_order::automatic, "automatic"},
    {greedy_order::largest_first, "largest-first", true, true, "largest_first"},
    {greedy_order::smallest_last, "smallest-last", true, true, "smallest_last"},
    {greedy_order::smallest_first, "smallest-first", true, true, "smallest_first"},
    {greedy_order::random, "random"},
}};

greedy_order choose_order(std::string_view operation, greedy_order asked, greedy_order usual) {
  expect_named(operation, "order", asked);
  return asked == greedy_order::automatic ? usual : asked;
}

// Sorting takes two pairs of key and vertex; peeling, before it, a degree, a round and four lists.
std::int64_t host_bytes(const graph_shape& s, greedy_order order) {
  const std::int64_t pairs = 2 * (8 + s.index_bytes);
  const std::int64_t peeling = order == greedy_order::smallest_last ? 8 + 5 * s.index_bytes : 0;
  return s.vertices * (pairs + peeling) + (s.threads > 1 ? s.threads * host_tuning::waiting * s.index_bytes : 0);
}
std::int64_t device_bytes(const graph_shape& s, greedy_order order) {
  const std::int64_t pairs = 2 * (8 + 4) + s.index_bytes;
  const std::int64_t peeling = order == greedy_order::smallest_last ? 8 + 5 * s.index_bytes : 0;
  return s.vertices * (pairs + peeling) + (std::int64_t{1} << 20);
}

}  // namespace detail::greedy

template <>
enum_table<greedy_order> enum_rows() noexcept {
  return detail::greedy::orders;
}
template <>
enum_table<greedy_algorithm> enum_rows() noexcept {
  return detail::greedy::algorithms;
}

}  // namespace spargo
