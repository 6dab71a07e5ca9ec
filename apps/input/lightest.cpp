#include "input/lightest.hpp"

#include "cli/report.hpp"

#include <spargo/graph/weighted_graph.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace spargo::apps {

namespace {

constexpr std::string_view beginning = "{\"lightest\":";

template <index_type I, index_type O>
array<double, host> merged_weights(const context<host>& ctx, const coo_view<const double, I, host>& entries,
                                   duplicate_weights rule) {
  auto g = build_weighted_graph<O>(ctx, entries, {.duplicates = rule, .loops = self_loops::keep});
  return std::move(g).take_apart().out_weights;
}

}  // namespace

template <index_type I, index_type O>
array<double, host> lightest_weights(const context<host>& ctx, const coo_view<const double, I, host>& entries) {
  return merged_weights<I, O>(ctx, entries, duplicate_weights::min);
}

template <index_type I, index_type O>
std::string note_lightest(const context<host>& ctx, const coo_view<const double, I, host>& entries,
                          const csr_view<const double, I, O, host>& matrix) {
  if (entries.rows != entries.cols) return {};
  const array<double, host> weights = lightest_weights<I, O>(ctx, entries);
  json places = json::array();
  for (std::int64_t e = 0; e < weights.size(); ++e) {
    // non-finite weights make the sum non-finite, too
    if (weights[e] != matrix.values[e] && std::isfinite(weights[e])) places.push_back({e, weights[e]});
  }
  if (places.empty()) {
    const array<double, host> heaviest = merged_weights<I, O>(ctx, entries, duplicate_weights::max);
    if (std::equal(weights.begin(), weights.end(), heaviest.begin())) return {};
  }
  return dump_json(json{{"lightest", std::move(places)}});
}

bool has_lightest(std::string_view notes) { return notes.starts_with(beginning); }

void take_lightest(std::string_view notes, span<double, host> values) {
  if (!has_lightest(notes)) return;
  const json said = parsed_or_discarded(notes);
  if (!said.is_object()) return;
  for (const auto& [entry, weight] : said.at("lightest").get<std::vector<std::pair<std::int64_t, double>>>()) {
    if (entry >= 0 && entry < values.size()) values[entry] = weight;
  }
}

#define INSTANTIATE(I, O)                                                                                            \
  template array<double, host> lightest_weights<I, O>(const context<host>&, const coo_view<const double, I, host>&); \
  template std::string note_lightest<I, O>(const context<host>&, const coo_view<const double, I, host>&,             \
                                           const csr_view<const double, I, O, host>&);
INSTANTIATE(std::int32_t, std::int32_t)
INSTANTIATE(std::int32_t, std::int64_t)
INSTANTIATE(std::int64_t, std::int64_t)

}  // namespace spargo::apps
