#include "placement/search_driver.hpp"

#include "cli/choice.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace spargo::apps {

void add_source_flags(flag_set app, search_flags& flags) {
  app.add_option(
         "--source", flags.source,
         "an id or a name as the file writes it; first (the first vertex named in the file, the default); max-degree; "
         "random[:SEED] (one with out-edges)")
      ->check(suggests({"first", "max-degree", "random"}))
      ->type_name("SOURCE");
  app.add_option(
         "--sources", flags.sources,
         "K random sources with out-edges, distinct while there are enough; seed them with --source random:SEED")
      ->check(positive_count())
      ->type_name("K");
}

void check_search_flags(const search_flags& flags) {
  check_source_flags({flags.source, flags.sources});
  if (flags.sources > 1 && !flags.output.empty()) {
    throw usage_error("--output holds one search (expected no --sources above 1 with it)");
  }
}

std::int64_t find_target(const std::string& text, const vertex_names& names) {
  return text.empty() ? -1 : expect_vertex(names, "--target", text);
}

void report_path(report& out, json& search, const vertex_names& names, std::int64_t target,
                 const std::vector<std::int64_t>& path) {
  constexpr std::size_t shown = 12;
  search["target"] = to_json(names, target);
  search["path"] = nullptr;
  if (path.empty()) return out.row("path", fmt::format("none: {} is not reached", names.label(target)));
  json labels = json::array();
  std::string text;
  for (const std::int64_t v : path) {
    labels.push_back(to_json(names, v));
    if (labels.size() <= shown || labels.size() == path.size()) {
      text += text.empty() ? "" : " ";
      names.append_label(v, text);
    }
    if (labels.size() == shown && path.size() > shown + 1) text += " ...";
  }
  out.row("path", fmt::format("{} ({})", text, counted(std::ssize(path) - 1, "edge")));
  search["path"] = std::move(labels);
}

std::string describe_verdict(const verdict& fault, const char* how_checked) {
  if (!fault.has_value()) return "not validated";
  return is_wrong(fault) ? "WRONG: " + *fault : how_checked;
}

void report_searches(report& out, const search_tally& tally) {
  std::vector<double> medians;
  for (const time_summary& search : tally.times) medians.push_back(search.median);
  time_summary all = summarize(std::move(medians));
  all.runs = 0;
  for (const time_summary& search : tally.times) {
    all.min = std::min(all.min, search.min);
    all.max = std::max(all.max, search.max);
    all.runs += search.runs;
  }
  out.keys()["time_ms"] = to_json(all);
  out.keys()["valid"] = tally.fault.has_value() ? json(tally.fault->empty()) : json();
}

void note_search(search_tally& tally, const found_search& found, const vertex_names& names) {
  tally.times.push_back(found.times);
  tally.rates.push_back(found.mteps);
  if (!is_wrong(found.fault) || is_wrong(tally.fault)) return;
  tally.fault = fmt::format("source {}: {}", names.label(found.source), *found.fault);
}

}  // namespace spargo::apps
