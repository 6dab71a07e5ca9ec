#include "commands/info/values.hpp"

#include <fmt/format.h>

#include <variant>

namespace spargo::apps {

value_summary summarize_entries(const any_entries& listed) {
  return std::visit(
      []<class V, class I>(const coo_input<V, I>& read) {
        const coo_view<const V, I, host> entries = read.entries.view();
        if (read.triangle == symmetry_kind::general) return summarize_values<V>(entries.values);
        value_summary facts;
        facts.any = !is_pattern<V>;
        if constexpr (!is_pattern<V>) {
          facts.bytes = sizeof(V);
          for (std::int64_t k = 0; k < entries.nnz(); ++k) {
            facts.count(entries.values[k], entries.row_indices[k] == entries.col_indices[k] ? 1 : 2);
          }
        }
        return facts;
      },
      listed);
}

void report_values(report& out, const value_summary& values, const std::optional<value_summary>& listed,
                   const std::string& unused, bool graph) {
  const char* const label = graph ? "weights" : "values";
  if (!values.any) return out.row(label, !unused.empty() ? "none; " + unused : graph ? "none" : "none (pattern)");
  out.keys()["explicit_zeros"] = values.zeros;
  out.keys()["not_finite"] = values.not_finite;
  const auto magnitudes = [](const value_summary& of) {
    return json{{"min", of.largest > 0 ? of.smallest : 0}, {"max", of.largest}};
  };
  out.keys()["magnitude"] = magnitudes(values);
  if (listed.has_value()) out.keys()["listed_magnitude"] = magnitudes(*listed);
  const auto range = [](const value_summary& of) {
    return of.largest > 0 ? fmt::format("magnitudes {:.4g} to {:.4g}, ", of.smallest, of.largest) : std::string();
  };
  const value_summary& shown = listed.has_value() ? *listed : values;
  const std::string summed = range(values) == range(shown) ? "" : "; duplicates summed: " + range(values);
  out.row(label,
          fmt::format("{}{}, {} not finite{}", range(shown), counted(shown.zeros, graph ? "zero" : "explicit zero"),
                      with_commas(shown.not_finite), summed.substr(0, std::max<std::size_t>(summed.size(), 2) - 2)));
}

}  // namespace spargo::apps
