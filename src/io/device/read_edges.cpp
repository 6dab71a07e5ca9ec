// Edge lists into device memory.
//
// Idea: as for Matrix Market files (device_read.cpp). The host parses the lines up to the first edge, which shows
// whether edges have weights, and estimates the number of edges from the lines after it. If there turn out to be more,
// the text is parsed again, with the number then known.
// Invariant: every line from the first edge on holds an edge, otherwise the host reads the file.
// Cost: one pass over the text, two if lines become much shorter; renumbering is O(edges + largest id).
#include "core/backend.hpp"
#include "core/instantiate.hpp"
#include "core/rethrow.hpp"
#include "io/device/tuning.hpp"
#include "io/edge_list/header.hpp"
#include "io/edge_list/line.hpp"
#include "primitives/element.hpp"

#include <new>
#include <optional>

namespace spargo {

namespace detail {

namespace {

struct edge_tuning {
  static constexpr std::int64_t head_bytes = std::int64_t{1} << 20;  // searched for the first edge
  static constexpr double spare = 1.02;           // capacity, relative to the estimated number of edges
  static constexpr std::int64_t ids_an_edge = 8;  // largest id per edge for numbering on the device
  static constexpr std::int64_t ids_anyway = 1 << 16;
};

struct edge_file {
  opened_file file;
  edge_list_header header;
  text_range text;  // starts at the first edge
  bool weighted = false;
  std::int64_t likely_edges = 0;
};

bool begins_with_banner(std::string_view text) {
  constexpr std::string_view banner = "%%matrixmarket";
  return text.size() >= banner.size() && std::equal(banner.begin(), banner.end(), text.begin(), [](char b, char c) {
           return (c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) == b;
         });
}

// None if the host must read the file.
template <class I>
std::optional<edge_file> open_edges(const std::string& path, const device_read_options& options) {
  edge_file edges;
  edges.header = read_edge_list_header(path, options.columns, options.ids);
  if (!edge_text::is_plain(edges.header) || edges.header.delimiter == 0) return {};
  edges.file = open_for_reading(path);
  edges.text = without_blank_end(edges.file, path, 0);
  const std::int64_t size = edges.text.last;
  const std::int64_t looked_at = std::min(size, edge_tuning::head_bytes);
  std::string head(static_cast<std::size_t>(looked_at), '\0');
  read_at(edges.file.handle, path, head.data(), looked_at, 0);
  if (looked_at == size && !edges.text.ended) head += '\n';
  if (begins_with_banner(head)) return {};
  edge_text::edge_part<I> part;
  part.header = &edges.header;
  part.delimiter = edges.header.delimiter;
  bool named = edges.header.names.empty();  // whether the header line has been skipped
  for (std::size_t line = 0;;) {
    const std::size_t newline = head.find('\n', line);
    if (newline == std::string::npos) return {};
    edge_text::edge_fields edge;
    try {
      const char* const p = skip_blanks(head.data() + line);
      if (!named && !edge_text::ends_line(p) && !edge_text::is_comment(p)) {
        named = true;
      } else if (edge_text::read_any_edge(head.data() + line, part, edge)) {
        edges.text.first = static_cast<std::int64_t>(line);
        edges.weighted = part.weighted;
        break;
      }
    } catch (const bad_line&) {
      return {};
    }
    line = newline + 1;
  }
  const std::string_view sample = std::string_view(head).substr(static_cast<std::size_t>(edges.text.first));
  const double share = static_cast<double>(size - edges.text.first) / static_cast<double>(sample.size());
  const double lines = static_cast<double>(count_newlines(sample) + 1);
  edges.likely_edges = static_cast<std::int64_t>(lines * (share > 1 ? share * edge_tuning::spare : 1));
  return edges;
}

template <class I>
bool patch_unusual(const context<device>& ctx, const std::string& path, const edge_file& edges,
                   device_text_outcome& outcome, const device_entry_sink<double, I>& to) {
  if (outcome.unusual.empty()) return true;
  edge_text::edge_part<I> part;
  part.header = &edges.header;
  part.delimiter = edges.header.delimiter;
  part.weighted = edges.weighted;
  std::vector<patched_entry<double, I>> entries;
  for (const unusual_line& unusual : outcome.unusual) {
    const std::string line = line_at(edges.file, path, unusual.offset);
    part.first_column = line.data();  // marks that there was a first edge
    edge_text::edge_fields edge;
    try {
      if (!edge_text::read_any_edge(line.data(), part, edge)) return false;
    } catch (const bad_line&) {
      return false;
    }
    const std::int64_t larger = std::max(edge.source, edge.target);
    if (larger > std::numeric_limits<I>::max()) return false;
    if (static_cast<std::int64_t>(line.size()) - 1 > input_tuning{}.max_line_bytes) return false;
    outcome.largest = std::max(outcome.largest, larger);
    outcome.rounded += edge.rounded ? 1 : 0;
    entries.push_back(
        {unusual.entry, static_cast<I>(edge.source), static_cast<I>(edge.target), edges.weighted ? edge.weight : 1.0});
  }
  patch_entries(ctx, entries, to);
  return true;
}

// Parses the edges, a second time if there was too little room.
template <class I>
device_text_outcome parse_edges(const context<device>& ctx, const context<host>& reading, const std::string& path,
                                const edge_file& edges, const device_read_options& options,
                                const device_read_tuning& tuning, coo_matrix<double, I, device>& parsed) {
  for (std::int64_t room = edges.likely_edges;;) {
    parsed = {};
    parsed = coo_matrix<double, I, device>(ctx, 0, 0, room);
    const device_entry_sink<double, I> to{parsed.row_indices().data(), parsed.col_indices().data(),
                                          parsed.values().data(), room};
    const device_text::edge_line line{std::numeric_limits<I>::max(), edges.weighted, edges.header.delimiter,
                                      edge_text::further_fields(edges.header, edges.header.delimiter)};
    device_text_parser<device_text::edge_line, double, I> parser(ctx, line, to, tuning);
    parse_chunks(reading, edges.file.handle, path, edges.text, tuning, parser, report_to(options, edges.file.size));
    device_text_outcome outcome = parser.finish();
    if (outcome.lines <= room || outcome.lost || outcome.unusual_count > tuning.most_unusual) return outcome;
    room = outcome.lines;
  }
}

// None if the host must read the file.
template <class I>
std::optional<device_edge_list<I>> parse_on_device(const context<device>& ctx, const context<host>& reading,
                                                   const std::string& path, const device_read_options& options,
                                                   const device_read_tuning& tuning) {
  const std::optional<edge_file> edges = open_edges<I>(path, options);
  if (!edges.has_value()) return {};
  device_edge_list<I> list;
  device_text_outcome outcome = parse_edges(ctx, reading, path, *edges, options, tuning, list.edges);
  if (outcome.lost || outcome.unusual_count > tuning.most_unusual) return {};
  array<I, device>& sources = list.edges.row_indices();
  array<I, device>& targets = list.edges.col_indices();
  array<double, device>& weights = list.edges.values();
  if (!patch_unusual<I>(ctx, path, *edges, outcome, {sources.data(), targets.data(), weights.data(), sources.size()})) {
    return {};
  }
  if (outcome.largest / edge_tuning::ids_an_edge > outcome.lines + edge_tuning::ids_anyway) return {};
  sources.truncate(outcome.lines);
  targets.truncate(outcome.lines);
  weights.truncate(outcome.lines);
  list.ids = renumber_vertices(ctx, list.edges, outcome.largest);
  const auto vertices = static_cast<std::int64_t>(list.ids.size());
  if (vertices > std::numeric_limits<I>::max()) return {};
  const auto size = static_cast<I>(vertices);
  list.edges = coo_matrix<double, I, device>(size, size, std::move(sources), std::move(targets), std::move(weights));
  list.weighted = edges->weighted;
  list.rounded_integers = outcome.rounded;
  list.header = edges->header;
  list.first_vertex = static_cast<std::int64_t>(element<I>(ctx, list.edges.row_indices().view(), 0));
  list.parsed = device_read_algorithm::on_device;
  return list;
}

}  // namespace

template <index_type I>
device_edge_list<I> read_edge_list_with(const context<device>& ctx, const context<host>& reading,
                                        const std::string& path, const device_read_options& options,
                                        const device_read_tuning& tuning) {
  if constexpr (is_built<device>) {
    if (suits_device(path, options, tuning)) {
      if (auto parsed = parse_on_device<I>(ctx, reading, path, options, tuning)) return std::move(*parsed);
    }
    edge_list<I> read = read_edge_list<I>(reading, path, {options, options.columns, options.ids});
    device_edge_list<I> list;
    list.edges = to_device<double, I>(ctx, read.edges.view());
    list.weighted = read.weighted;
    list.rounded_integers = read.rounded_integers;
    list.header = std::move(read.header);
    list.ids = std::move(read.ids);
    list.names = std::move(read.names);
    list.first_vertex = read.first_vertex;
    return list;
  } else {
    no_device("read_edge_list");
  }
}

}  // namespace detail

template <index_type I>
device_edge_list<I> read_edge_list(const context<device>& ctx, const context<host>& reading, const std::string& path,
                                   const device_read_options& options) {
  try {
    return detail::read_edge_list_with<I>(ctx, reading, path, options, {});
  } catch (const std::bad_alloc&) {
    detail::throw_out_of_memory(path, "host memory ran out while the file was read");
  }
}

#define INSTANTIATE(I)                                                                                          \
  template device_edge_list<I> detail::read_edge_list_with(const context<device>&, const context<host>&,        \
                                                           const std::string&, const device_read_options&,      \
                                                           const device_read_tuning&);                          \
  template device_edge_list<I> read_edge_list(const context<device>&, const context<host>&, const std::string&, \
                                              const device_read_options&);
SPARGO_FOR_EACH_INDEX(INSTANTIATE)
#undef INSTANTIATE

}  // namespace spargo
