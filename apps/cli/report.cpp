#include "cli/report.hpp"

#include "cli/help.hpp"
#include "cli/progress.hpp"
#include "cli/provenance.hpp"
#include "cli/report_page.hpp"
#include "input/memory_limit.hpp"

#include <spargo/core/config.hpp>
#include <spargo/io/output.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <string_view>
#include <utility>

namespace spargo::apps {

namespace {

// Writes in chunks: the whole text may be as large as the remaining memory.
void write_value(output_file& file, const json& value) {
  if (value.is_binary()) {
    const auto& text = value.get_binary();
    file.write({reinterpret_cast<const char*>(text.data()), text.size()});
  } else if (value.is_array() && !value.empty()) {
    const char* separator = "[";
    for (const json& element : value) {
      file.write(std::exchange(separator, ","));
      write_value(file, element);
    }
    file.write("]");
  } else if (value.is_object() && !value.empty()) {
    const char* separator = "{";
    for (const auto& [key, element] : value.items()) {
      file.write(std::exchange(separator, ","));
      file.write(json_text(json(key)) + ":");
      write_value(file, element);
    }
    file.write("}");
  } else {
    file.write(json_text(value));
  }
}

// One key per line with its value: compact, and greppable. Provenance and the peak memory of arrays come last, the
// latter unless the keys hold an estimate of it.
void write_json(const std::string& path, const json& keys) {
  output_file file(path);
  const char* separator = "{\n  ";
  const auto write_all = [&](const json& some) {
    for (const auto& [key, value] : some.items()) {
      file.write(std::exchange(separator, ",\n  "));
      file.write(json_text(json(key)) + ": ");
      write_value(file, value);
    }
  };
  write_all(keys);
  write_all({{"version", SPARGO_VERSION_STRING},
             {"date", utc_time()},
             {"command_line", command_line()},
             {"cpu", processor_name()}});
  if (!keys.contains("host_memory_bytes")) write_all({{"host_memory_bytes", host_memory().most_used()}});
  file.write("\n}\n");
  file.commit();
}

// Wraps `text` to the terminal's width, indented after the first line; unchanged without a terminal.
void put_wrapped(std::string before, const std::string& text, std::size_t indent, std::size_t columns) {
  constexpr std::size_t least = 24;  // columns of text
  if (columns == 0 || before.size() + text.size() <= columns) return write_output(before + text + "\n");
  const std::size_t used = before.size();
  append_wrapped(before, text, indent + least <= columns ? indent : 4, used, columns);
  write_output(before);
}

}  // namespace

std::string json_text(const json& value) {
  const json text = value.is_string() ? json(printable_utf8(value.get_ref<const std::string&>())) : value;
  return text.dump(-1, ' ', false, json::error_handler_t::replace);
}

json parse_json(std::string_view text) { return json::parse(text); }
json parsed_or_discarded(std::string_view text) { return json::parse(text, nullptr, false); }
std::string dump_json(const json& value) { return value.dump(); }

report::report(const std::string& command, const common_flags& flags) : flags_(flags) { keys_["app"] = command; }

void report::warn(const std::string& message) {
  if (writes_page()) warnings_.push_back(message);
  if (!flags_.quiet) print_error(flags_.called, "warning: " + message);
}

void report::print() const {
  if (!flags_.quiet && !flags_.stdout_taken) {
    std::size_t width = 0;
    for (const auto& [label, text] : rows_) width = std::max(width, label.size());
    const std::size_t columns =
        ::isatty(STDOUT_FILENO) == 1 ? static_cast<std::size_t>(terminal_width(STDOUT_FILENO)) : 0;
    put_wrapped({}, title_, 2, columns);
    for (const auto& [label, text] : rows_) {
      if (label.empty() && text.empty()) {
        write_output("\n");
      } else {
        put_wrapped(fmt::format("  {:<{}}  ", label, width), text, width + 4, columns);
      }
    }
  }
  if (!flags_.json.empty()) {
    const busy writing("writing " + flags_.json);
    write_json(flags_.json, keys_);
  }
  if (!writes_page()) return;
  output_file file(flags_.report);
  file.write(html_of(page_of({title_, rows_, warnings_, keys_, figures_})));
  file.commit();
}

json list_of(span<const std::int64_t, host> numbers) {
  std::size_t bytes = 2;
  for (const std::int64_t number : numbers) bytes += fmt::format_int(number).size() + 1;
  json::binary_t::container_type text;
  text.reserve(bytes);
  char separator = '[';
  for (const std::int64_t number : numbers) {
    const fmt::format_int digits(number);
    text.push_back(static_cast<std::uint8_t>(std::exchange(separator, ',')));
    text.insert(text.end(), digits.data(), digits.data() + digits.size());
  }
  if (numbers.empty()) text.push_back('[');
  text.push_back(']');
  return json::binary(std::move(text));
}

json to_json(const vertex_names& names, std::int64_t vertex) {
  return names.are_integers() ? json(names.id(vertex)) : json(names.label(vertex));
}

void warn_of_rounding(report& out, const std::string& source, std::int64_t integers) {
  if (integers == 0) return;
  out.warn(fmt::format("{}: {} what float64 holds exactly, rounded to nearest", source,
                       counted(integers, "integer exceeds", "integers exceed")));
}

json to_json(const time_summary& times) {
  return {{"min", times.min}, {"median", times.median}, {"max", times.max}, {"runs", times.runs}};
}

std::string format_times(const time_summary& times) {
  if (times.runs == 1) return format_milliseconds(times.median) + ", one run";
  return fmt::format("{} median of {} ({} to {})", format_milliseconds(times.median), times.runs,
                     format_milliseconds(times.min), format_milliseconds(times.max));
}

}  // namespace spargo::apps
