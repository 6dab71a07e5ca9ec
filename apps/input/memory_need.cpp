#include "input/memory_need.hpp"

#include "cli/report.hpp"
#include "input/extent.hpp"
#include "input/memory_limit.hpp"
#include "input/text_extent.hpp"

#include <spargo/core/error.hpp>
#include <spargo/io/generate.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string_view>

namespace spargo::apps {

namespace {

struct sample_tuning {
  // 32 reads take a millisecond from memory, and a third of a second if each needs a disk seek.
  static constexpr std::int64_t samples = 32;
  static constexpr std::int64_t bytes = 4096;
  static constexpr std::int64_t least_bytes = std::int64_t{1} << 20;  // smallest file that is sampled
};

constexpr std::int64_t of_int32 = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t deflate_ratio = 1032;  // maximum compression ratio of deflate (RFC 1951)

// Large counts stay below 2^62, so that small sums do not overflow.
constexpr std::int64_t most_bytes = std::int64_t{1} << 58;
std::int64_t bytes_of(std::int64_t count, std::int64_t each) {
  return each > 0 && count > most_bytes / each ? most_bytes : count * each;
}

// Bounds the entries of a file by its text size, whatever its header says.
struct text_size {
  std::int64_t bytes = 0;

  explicit text_size(const input_description& input) {
    std::error_code none;
    if (!input.can_be_read_again()) return;
    const auto size = std::filesystem::file_size(input.path, none);
    if (none) return;
    bytes = bytes_of(static_cast<std::int64_t>(size), is_compressed(input.path) ? deflate_ratio : 1);
  }
  [[nodiscard]] std::int64_t entries(std::int64_t declared, std::int64_t least_bytes) const {
    return bytes == 0 ? 0 : std::clamp<std::int64_t>(declared, 0, bytes / least_bytes + 1);
  }
};

// The numbers of the first line that begins with `start`, skipping comments.
struct size_line {
  std::int64_t vertices = 0;
  std::int64_t edges = 0;

  size_line(std::string_view head, std::string_view comment, std::string_view start) {
    while (!head.empty()) {
      std::string_view line = head.substr(0, head.find('\n'));
      head.remove_prefix(std::min(line.size() + 1, head.size()));
      line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
      if (line.empty() || line.starts_with(comment) || !line.starts_with(start)) continue;
      line.remove_prefix(std::min(line.find_first_of("0123456789"), line.size()));
      const char* const end = line.data() + line.size();
      const char* at = std::from_chars(line.data(), end, vertices).ptr;
      while (at != end && (*at == ' ' || *at == '\t')) ++at;
      std::from_chars(at, end, edges);
      return;
    }
  }
};

// For METIS and DIMACS, whose shortest edges are "2" twice and "e 1 2".
void size_text_graph(const input_description& input, const text_size& text, input_size& size) {
  const bool metis = input.kind == input_kind::metis;
  const size_line declared(input.file->head(), metis ? "%" : "c", metis ? "" : "p");
  size.listed = text.entries(declared.edges, metis ? 4 : 6);
  size.rows = metis ? text.entries(declared.vertices, 1) : declared.vertices;
  if (metis) size.off_diagonal = size.listed;  // it has no loops
  size.cols = size.rows;
}

struct line_count {
  std::int64_t edges = 0;
  std::int64_t loops = 0;
};

// Counts whole lines of some text with two numbers, after the letter of a DIMACS arc or edge.
line_count count_edges(std::string_view text) {
  line_count found;
  text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  for (std::size_t end = 0; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1)) {
    const char* at = text.data();
    const char* const last = at + end;
    const auto pass = [&](std::string_view what) {
      while (at != last && what.find(*at) != std::string_view::npos) ++at;
    };
    std::int64_t from = -1;
    std::int64_t to = -1;
    pass("ae \t");
    at = std::from_chars(at, last, from).ptr;
    pass(" \t,;");
    std::from_chars(at, last, to);
    if (from < 0 || to < 0) continue;
    ++found.edges;
    found.loops += from == to ? 1 : 0;
  }
  return found;
}

// Whether the file's values become the graph's weights.
bool is_weighted(const input_description& input) {
  using field = matrix_market_field;
  if (input.kind == input_kind::dimacs) return input.directed;
  return !is_graph_text(input.kind) && (input.field == field::real || input.field == field::integer);
}

std::int64_t offset_bytes(const input_size& size) {
  return (size.index_bytes == 4 && size.listed <= of_int32 ? 4 : 8) * (std::min(size.rows, most_bytes / 8) + 1);
}

std::int64_t places_of(const input_description& input, const input_size& size) {
  return input.kind == input_kind::snapshot ? size.listed : size.distinct;
}

}  // namespace

text_sample sample_text(const std::string& path) {
  std::error_code none;
  const auto size = std::filesystem::file_size(path, none);
  if (none || size < static_cast<std::uintmax_t>(sample_tuning::least_bytes)) return {};
  if (is_compressed(path)) return {};
  std::ifstream file(path, std::ios::binary);
  std::array<char, sample_tuning::bytes> text{};
  const std::int64_t last = static_cast<std::int64_t>(size) - sample_tuning::bytes;
  std::int64_t least = sample_tuning::bytes;
  double loops = 0;
  for (std::int64_t k = 0; k < sample_tuning::samples; ++k) {
    file.seekg(last / (sample_tuning::samples - 1) * k);
    if (!file.read(text.data(), text.size())) return {};
    const line_count found = count_edges({text.data(), text.size()});
    if (found.edges == 0) return {};
    least = std::min(least, found.edges);
    loops = std::max(loops, static_cast<double>(found.loops) / static_cast<double>(found.edges));
  }
  // Parts missed by all samples are smaller than the distance of two samples.
  const double share = std::max(0.0, 1 - 2 * loops - 2.0 / sample_tuning::samples);
  return {static_cast<std::int64_t>(size) / sample_tuning::bytes * least, share};
}

input_size least_size(const input_description& input) {
  input_size size;
  size.rows = input.rows;
  size.cols = input.cols;
  if (input.kind == input_kind::generator) {
    const generator_info info = describe_generator(input.path);
    size.listed = info.entries;
    size.off_diagonal = info.off_diagonal;
    size.distinct = info.distinct;
  } else if (input.kind == input_kind::snapshot) {  // verified: each place once
    size.listed = input.entries;
    size.off_diagonal = size.distinct = std::max<std::int64_t>(input.entries - input.rows, 0);
    size.index_bytes = input.mapped->header().index_bytes;
    return size;
  } else {
    const text_size text(input);
    if (text.bytes == 0) return {};
    if (input.kind == input_kind::matrix_market) size.listed = text.entries(input.entries, 2);
    if (input.kind == input_kind::metis || input.kind == input_kind::dimacs) size_text_graph(input, text, size);
    if (input.kind != input_kind::metis) {
      const text_sample sample = sample_text(input.path);
      if (input.kind == input_kind::edge_list) size.listed = sample.edges;
      size.off_diagonal = static_cast<std::int64_t>(sample.off_diagonal * static_cast<double>(size.listed));
    }
  }
  if (std::max(size.rows, size.cols) > of_int32) size.index_bytes = 8;
  if (input.kind != input_kind::edge_list) expect_reasonable_extent(input.path, size.rows, size.cols, size.listed);
  return size;
}

std::int64_t least_listed_bytes(const input_description& input, const input_size& size, bool reads_weights) {
  // METIS and DIMACS are read with weights, METIS lists each edge twice.
  const bool always = input.kind == input_kind::metis || input.kind == input_kind::dimacs;
  const bool weighted = always || (reads_weights && input.field != matrix_market_field::pattern);
  const std::int64_t times = input.kind == input_kind::metis ? 2 : 1;
  return bytes_of(size.listed, times * (2 * size.index_bytes + (weighted ? 8 : 0)));
}

std::int64_t least_graph_bytes(const input_description& input, const input_size& size, const graph_need& need) {
  const bool directed = need.direction == direction_kind::directed;
  const std::int64_t index = size.index_bytes;
  const std::int64_t offsets = offset_bytes(size);
  const std::int64_t pairs = bytes_of(size.listed, 2 * index);
  const std::int64_t edges = bytes_of(size.distinct, index);
  std::int64_t building = 0;
  if (need.reads_weights &&
      is_weighted(input)) {  // the canonical entries and their rows, with weights of at least 4 bytes
    building = least_listed_bytes(input, size, true) + bytes_of(size.off_diagonal, 3 * index + 8) + offsets;
  } else if (directed) {  // rows of all pairs beside the pairs; mirrored entries of a triangle first
    building = pairs + pairs / 2 + offsets;
    if (mirrored_as(input, input.symmetry) != symmetry_kind::general) building = std::max(building, 2 * pairs);
    if (need.in_edges) building = std::max(building, pairs + 2 * (edges + offsets));
  } else {  // mirrored pairs and their rows; then each edge once, as pairs, and both ways
    building = pairs + offsets + std::max(bytes_of(size.off_diagonal, 3 * index), 2 * edges);
  }
  const std::int64_t results = bytes_of(size.rows, need.results.fixed + need.results.indices * index);
  // The plan's results and a copy of them.
  const std::int64_t running =
      (edges + offsets) * (directed && need.in_edges ? 2 : 1) + bytes_of(size.distinct, need.edge_bytes) + 2 * results;
  return std::max({least_listed_bytes(input, size, need.reads_weights), building, running});
}

std::int64_t least_device_graph_bytes(const input_size& size, const graph_need& need) {
  const std::int64_t rows = bytes_of(size.distinct, size.index_bytes) + offset_bytes(size);
  return rows * (need.direction == direction_kind::directed && need.in_edges ? 2 : 1) +
         bytes_of(size.distinct, need.edge_bytes) +
         bytes_of(size.rows, need.results.fixed + need.results.indices * size.index_bytes);
}

std::int64_t least_matrix_bytes(const input_description& input, const input_size& size, std::int64_t value_bytes,
                                std::int64_t element_bytes) {
  const std::int64_t vectors = bytes_of(size.rows, element_bytes) + bytes_of(size.cols, element_bytes);
  if (input.kind == input_kind::snapshot) return vectors;  // memory-mapped
  const std::int64_t index = size.index_bytes;
  const std::int64_t offsets = offset_bytes(size);
  if (is_graph_text(input.kind)) {  // its weights are read even if absent
    return std::max(least_listed_bytes(input, size, true), bytes_of(size.listed, 3 * index) + offsets);
  }
  const std::int64_t mirrored = input.symmetry == symmetry_kind::general ? 0 : size.off_diagonal;
  const std::int64_t converting =
      bytes_of(size.listed, 3 * index + 2 * value_bytes) + bytes_of(mirrored, index + value_bytes) + offsets;
  const std::int64_t matrix = bytes_of(size.distinct, index + value_bytes) + offsets;
  return std::max(converting, matrix + vectors);
}

std::int64_t least_device_matrix_bytes(const input_description& input, const input_size& size,
                                       std::int64_t value_bytes) {
  return bytes_of(places_of(input, size), size.index_bytes + value_bytes) + offset_bytes(size) +
         bytes_of(size.rows, value_bytes) + bytes_of(size.cols, value_bytes);
}

std::int64_t least_share_bytes(const input_size& size, std::int64_t ranks, std::int64_t value_bytes) {
  return bytes_of(size.listed / ranks, 2 * std::int64_t{sizeof(std::int64_t)} + value_bytes);
}

std::int64_t least_rank_bytes(const input_size& size, std::int64_t ranks, const graph_need& need) {
  const std::int64_t share = least_share_bytes(size, ranks, need.edge_bytes);
  const bool both_ways = need.direction == direction_kind::undirected && !need.reads_weights;
  const std::int64_t entries = size.off_diagonal / ranks * (both_ways ? 2 : 1);
  const std::int64_t rows = bytes_of(entries, size.index_bytes + need.edge_bytes) + bytes_of(size.rows / ranks, 8);
  // Rows and columns to send, and received rows; in-edges are sent while the out-edges' rows exist.
  const std::int64_t dealing =
      share + bytes_of(entries, 3 * size.index_bytes + need.edge_bytes) + (need.in_edges ? rows : 0);
  const std::int64_t results = bytes_of(size.rows, need.results.fixed + need.results.indices * size.index_bytes);
  return std::max({share, dealing, rows * (need.in_edges ? 2 : 1) + results});
}

void expect_host_memory(const input_description& input, const input_size& size, std::int64_t least) {
  const std::int64_t available = host_memory().available();
  if (least <= available) return;
  const std::string rows = size.rows > 0 ? " and " + counted(size.rows, "row") : " or more";
  const int processes = host_memory().processes_on_host() * host_memory().hosts();
  const std::string per_process =
      processes == 1 ? std::string() : " to each process, " + host_memory().hosts_for(static_cast<double>(least));
  throw error(error_code::out_of_memory, source_position{input.path, 0, 0},
              fmt::format("it takes at least {} of host memory{}, for {}{}; {} are available{} (see --max-memory)",
                          format_bytes(static_cast<double>(least)),
                          processes == 1 ? "" : fmt::format(" in each of {} processes", processes),
                          counted(size.listed, "entry", "entries"), rows, format_bytes(static_cast<double>(available)),
                          per_process));
}

}  // namespace spargo::apps
