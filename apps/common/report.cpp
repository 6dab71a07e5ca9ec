#include "common/report.hpp"

#include <spargo/io/output.hpp>

#include <fmt/format.h>

#include <cmath>
#include <cstdio>

namespace spargo::apps {

namespace {

// One key a line, its value on that line: short, and greppable. Invalid UTF-8 (a file's name) is replaced.
std::string to_text(const json& keys) {
  std::string text = "{";
  const char* separator = "\n  ";
  for (const auto& [key, value] : keys.items()) {
    text += separator + json(key).dump() + ": " + value.dump(-1, ' ', false, json::error_handler_t::replace);
    separator = ",\n  ";
  }
  return text + "\n}\n";
}

void put(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

}  // namespace

void report::warn(const std::string& message) const {
  if (!flags_.quiet) print_error(app_, "warning: " + message);
}

void report::print() const {
  const bool json_to_stdout = flags_.json == "-";
  if (json_to_stdout) {
    put(to_text(keys_));
  } else if (!flags_.quiet) {
    std::size_t width = 0;
    for (const auto& [label, text] : rows_) width = std::max(width, label.size());
    put(title_ + "\n");
    for (const auto& [label, text] : rows_) {
      put(label.empty() && text.empty() ? std::string("\n") : fmt::format("  {:<{}}  {}\n", label, width, text));
    }
  }
  if (!flags_.json.empty() && !json_to_stdout) {
    output_file file(flags_.json);
    file.write(to_text(keys_));
    file.commit();
  }
}

json to_json(const time_summary& times) {
  return {{"min", times.min}, {"median", times.median}, {"max", times.max}, {"runs", times.runs}};
}

std::string with_commas(std::int64_t value) {
  std::string digits = std::to_string(value);
  const std::size_t first = value < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string format_milliseconds(double value) {
  if (value >= 1e3) return fmt::format("{:.3g} s", value * 1e-3);
  if (value >= 1.0) return fmt::format("{:.4g} ms", value);
  return fmt::format("{:.4g} us", value * 1e3);
}

std::string format_times(const time_summary& times) {
  return fmt::format("{} median of {} ({} to {})", format_milliseconds(times.median), times.runs,
                     format_milliseconds(times.min), format_milliseconds(times.max));
}

std::string format_bytes(double bytes) {
  constexpr const char* units[] = {"bytes", "KB", "MB", "GB", "TB", "PB", "EB"};
  std::size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < std::size(units)) {
    bytes /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} bytes", bytes) : fmt::format("{:.3g} {}", bytes, units[unit]);
}

}  // namespace spargo::apps
