#include "input/text_extent.hpp"

#include <spargo/core/error.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace spargo::apps {

namespace {

constexpr std::int64_t most_bytes_read = std::int64_t{64} << 20;
constexpr std::int64_t short_element_bytes = 16;  // <node id="1"/>

class distinct_sketch {
 public:
  void add(std::string_view text, std::uint64_t salt) {
    std::uint64_t hash = std::hash<std::string_view>()(text) ^ salt;
    hash *= 0x9e3779b97f4a7c15U;
    hash ^= hash >> 32;
    hash *= 0xd6e8feb86659fd93U;
    std::uint8_t& longest = registers_[hash >> (64 - bits)];
    longest = std::max(longest, static_cast<std::uint8_t>(std::countl_zero((hash << bits) | 1) + 1));
  }
  [[nodiscard]] double count() const {
    double sum = 0;
    double empty = 0;
    for (const std::uint8_t longest : registers_) {
      sum += std::ldexp(1.0, -longest);
      empty += longest == 0 ? 1 : 0;
    }
    const double raw = 0.7213 / (1 + 1.079 / size) * size * size / sum;
    return raw <= 2.5 * size && empty > 0 ? size * std::log(size / empty) : raw;
  }

 private:
  static constexpr int bits = 14;
  static constexpr double size = 1 << bits;
  std::vector<std::uint8_t> registers_ = std::vector<std::uint8_t>(std::size_t{1} << bits);
};

// Field `column` of a line, from 0; empty: none. `separator` 0: blanks, tabs, commas and semicolons.
std::string_view field(std::string_view line, int column, char separator) {
  const bool runs = separator == 0 || separator == ' ';
  const auto separates = [=](char c) {
    return c == separator || (runs && (c == ' ' || c == '\t')) || (separator == 0 && (c == ',' || c == ';'));
  };
  for (;; --column) {
    std::size_t first = 0;
    while (runs && first < line.size() && separates(line[first])) ++first;
    std::size_t end = first;
    while (end < line.size() && !separates(line[end])) ++end;
    if (column == 0) return line.substr(first, end - first);
    if (end == line.size()) return {};
    line.remove_prefix(end + 1);
  }
}

// Occurrences of `word` as an element or a key: after '<', ':' or a blank, and before one of a few characters.
std::int64_t count_word(std::string_view line, std::string_view word) {
  std::int64_t found = 0;
  for (std::size_t at = 0; (at = line.find(word, at)) != std::string_view::npos;) {
    const char before = at == 0 ? ' ' : line[at - 1];
    at += word.size();
    const char after = at == line.size() ? ' ' : line[at];
    if (std::string_view(" \t<:[]").find(before) != std::string_view::npos &&
        std::string_view(" \t[>/").find(after) != std::string_view::npos) {
      ++found;
    }
  }
  return found;
}

// Of a compressed file: what its end says, modulo 2^32, or a usual ratio if there are several parts.
std::int64_t likely_text_bytes(const std::string& path, std::int64_t bytes) {
  if (!is_compressed(path)) return bytes;
  std::ifstream file(path, std::ios::binary);
  std::array<unsigned char, 4> last{};
  file.seekg(-4, std::ios::end);
  if (!file.read(reinterpret_cast<char*>(last.data()), last.size())) return 4 * bytes;
  std::int64_t size = 0;
  for (std::size_t k = last.size(); k-- > 0;) size = size * 256 + last[k];
  return std::max(size, 4 * bytes);
}

}  // namespace

bool is_compressed(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 2> magic{};
  file.read(magic.data(), magic.size());
  return file && magic[0] == '\x1f' && magic[1] == '\x8b';
}

text_extent measure_text(const input_description& input) {
  text_extent found;
  std::error_code none;
  const auto size = std::filesystem::file_size(input.path, none);
  if (none || !input.can_be_read_again()) return found;
  found.compressed = is_compressed(input.path);
  const bool document = input.kind == input_kind::document;
  const edge_list_header& columns = input.columns;
  const std::uint64_t of_targets = columns.left_ids >= 0 || input.wanted_columns.starts_with("bip:") ? 1 : 0;
  distinct_sketch ends;  // of edges
  std::int64_t seen = 0;
  int header_lines = columns.lines();
  bool ended = false;
  try {
    input_lines lines(*input.file);
    for (std::string line; seen < most_bytes_read;) {
      if (!lines.next(line)) {
        ended = true;
        break;
      }
      seen += std::ssize(line) + 1;
      if (document) {
        found.edges += count_word(line, "edge");
        found.vertices += count_word(line, "node");
        continue;
      }
      const std::string_view source = field(line, columns.source, columns.separator);
      if (source.empty() || source[0] == '#' || source[0] == '%' || header_lines-- > 0) continue;
      const std::string_view target = field(line, columns.target, columns.separator);
      ++found.edges;
      found.name_bytes += std::ssize(source) + std::ssize(target);
      ends.add(source, 0);
      ends.add(target, of_targets);
    }
  } catch (const error&) {  // a line of over 1 MiB, as some documents have; of what is no text the reader complains
  }
  found.bytes = ended ? seen : likely_text_bytes(input.path, static_cast<std::int64_t>(size));
  if (!document) found.vertices = static_cast<std::int64_t>(1.05 * ends.count()) + 1;
  if (!ended && found.edges == 0) {
    found.edges = found.vertices = found.bytes / short_element_bytes;
  } else if (!ended) {
    const double rest = static_cast<double>(found.bytes) / static_cast<double>(seen);
    for (std::int64_t* each : {&found.edges, &found.vertices, &found.name_bytes}) {
      *each = static_cast<std::int64_t>(static_cast<double>(*each) * rest);
    }
  }
  if (document) {
    found.name_bytes = found.bytes;
  } else {
    found.vertices = std::min(found.vertices, 2 * found.edges);
  }
  return found;
}

}  // namespace spargo::apps
