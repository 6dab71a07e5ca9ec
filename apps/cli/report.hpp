// A command's report: rows of text for people and JSON keys for programs, collected together and printed once.
#pragma once

#include "cli/cli.hpp"
#include "cli/text.hpp"
#include "cli/timing.hpp"
#include "input/input.hpp"
#include "input/memory_limit.hpp"

#include <spargo/core/span.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spargo::apps {

// Binary values hold JSON text, see `list_of`; --max-memory counts them.
using json = nlohmann::basic_json<nlohmann::ordered_map, std::vector, std::string, bool, std::int64_t, std::uint64_t,
                                  double, std::allocator, nlohmann::adl_serializer,
                                  std::vector<std::uint8_t, counted_allocator<std::uint8_t>>>;

class report {
 public:
  report(const std::string& command, const common_flags& flags);

  // JSON keys, in order of first use. Non-finite numbers become null.
  [[nodiscard]] json& keys() { return keys_; }

  // Drawn in --report, and nowhere else; in the shapes of keys (report_page.hpp).
  [[nodiscard]] json& figures() { return figures_; }
  [[nodiscard]] bool writes_page() const { return !flags_.report.empty(); }

  // Whether long keys are needed: by --json, or by --report, which draws them.
  [[nodiscard]] bool writes_json() const { return !flags_.json.empty() || writes_page(); }

  void title(std::string text) { title_ = std::move(text); }
  void row(std::string label, std::string text) { rows_.emplace_back(std::move(label), std::move(text)); }
  void blank() { rows_.emplace_back(); }

  // Prints at once on standard error, unless --quiet.
  void warn(const std::string& message);

  // Prints text to standard output, unless an output goes there, --json and --report. Throws `error` (io) on failure.
  void print() const;

 private:
  const common_flags& flags_;
  std::string title_;
  std::vector<std::pair<std::string, std::string>> rows_;
  std::vector<std::string> warnings_;  // for --report
  json figures_ = json::object();
  json keys_ = json::object();  // null would be destroyed as null if it became an object without memory
};

// Warns of integers in `source` that double does not hold. None: nothing.
void warn_of_rounding(report& out, const std::string& source, std::int64_t integers);

// JSON text of a value. In a string, bytes that are not UTF-8 become \xNN, and the backslash of a literal \xNN becomes
// \x5c, so that different strings stay different.
[[nodiscard]] std::string json_text(const json& value);

// json::parse and json::dump, compiled once. parse_json throws json::parse_error; parsed_or_discarded: is_discarded().
[[nodiscard]] json parse_json(std::string_view text);
[[nodiscard]] json parsed_or_discarded(std::string_view text);
[[nodiscard]] std::string dump_json(const json& value);

[[nodiscard]] json to_json(const time_summary& times);

// A vertex as a JSON value: a number, or a string if vertices have names.
[[nodiscard]] json to_json(const vertex_names& names, std::int64_t vertex);

// JSON text of a long array: some 2 bytes per number, where a tree of values takes 16 and as many to destroy.
[[nodiscard]] json list_of(span<const std::int64_t, host> numbers);

// For people.
[[nodiscard]] std::string format_times(const time_summary& times);

}  // namespace spargo::apps
