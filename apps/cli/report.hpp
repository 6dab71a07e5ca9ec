// What an app tells: rows of text for people, keys of JSON for programs, collected side by side and printed once.
#pragma once

#include "cli/cli.hpp"
#include "cli/text.hpp"
#include "cli/timing.hpp"
#include "input/input.hpp"
#include "input/memory_limit.hpp"

#include <spargo/core/span.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <vector>

namespace spargo::apps {

// Binary values are JSON already, see `list_of`; --max-memory counts them.
using json = nlohmann::basic_json<nlohmann::ordered_map, std::vector, std::string, bool, std::int64_t, std::uint64_t,
                                  double, std::allocator, nlohmann::adl_serializer,
                                  std::vector<std::uint8_t, counted_allocator<std::uint8_t>>>;

class report {
 public:
  report(const std::string& command, const common_flags& flags);

  // JSON keys, in the order of first use. A number that is not finite becomes null.
  [[nodiscard]] json& keys() { return keys_; }

  // Whether anybody will see them.
  [[nodiscard]] bool writes_json() const { return !flags_.json.empty(); }

  void title(std::string text) { title_ = std::move(text); }
  void row(std::string label, std::string text) { rows_.emplace_back(std::move(label), std::move(text)); }
  void blank() { rows_.emplace_back(); }

  // At once, on standard error, unless --quiet.
  void warn(const std::string& message) const;

  // Text to standard output, unless an output goes there, and JSON where --json says. Throws `error` (io) when that
  // cannot be written.
  void print() const;

 private:
  const common_flags& flags_;
  std::string title_;
  std::vector<std::pair<std::string, std::string>> rows_;
  json keys_ = json::object();  // a null one that becomes an object without memory is destroyed as one
};

[[nodiscard]] json to_json(const time_summary& times);

// A vertex as a key holds it: a number, or the string that is its name.
[[nodiscard]] json to_json(const vertex_names& names, std::int64_t vertex);

// An array that may have millions of numbers, as its text: some 2 bytes each where a tree of values takes 16, and as
// many again when it is destroyed.
[[nodiscard]] json list_of(span<const std::int64_t, host> numbers);

// For people.
[[nodiscard]] std::string format_times(const time_summary& times);

}  // namespace spargo::apps
