// What an app tells: rows of text for people, keys of JSON for programs, collected side by side and printed once.
#pragma once

#include "common/cli.hpp"
#include "common/timing.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <vector>

namespace spargo::apps {

using json = nlohmann::ordered_json;

class report {
 public:
  report(std::string app, const common_flags& flags) : app_(std::move(app)), flags_(flags) { keys_["app"] = app_; }

  // JSON keys, in the order of first use. A number that is not finite becomes null.
  [[nodiscard]] json& keys() { return keys_; }

  void title(std::string text) { title_ = std::move(text); }
  void row(std::string label, std::string text) { rows_.emplace_back(std::move(label), std::move(text)); }
  void blank() { rows_.emplace_back(); }

  // At once, on standard error, unless --quiet.
  void warn(const std::string& message) const;

  // Text to standard output and JSON where --json says. Throws `error` (io) when that cannot be written.
  void print() const;

 private:
  std::string app_;
  const common_flags& flags_;
  std::string title_;
  std::vector<std::pair<std::string, std::string>> rows_;
  json keys_;
};

[[nodiscard]] json to_json(const time_summary& times);

// For people: 12,345,678; 1.23 ms; 45.6 MB.
[[nodiscard]] std::string with_commas(std::int64_t value);
[[nodiscard]] std::string format_milliseconds(double value);
[[nodiscard]] std::string format_times(const time_summary& times);
[[nodiscard]] std::string format_bytes(double bytes);

}  // namespace spargo::apps
