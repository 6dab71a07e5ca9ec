// convert IN OUT: between Matrix Market, edge lists and snapshots; OUT's name says which.
#include "common/cache.hpp"
#include "common/cli.hpp"
#include "common/device_choice.hpp"
#include "common/input.hpp"
#include "common/memory_limit.hpp"
#include "common/progress.hpp"
#include "common/report.hpp"
#include "common/timing.hpp"

#include <spargo/io/edge_list.hpp>
#include <spargo/io/matrix_market.hpp>
#include <spargo/io/snapshot.hpp>
#include <spargo/io/stream.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace spargo::apps {

namespace {

struct convert_flags {
  common_flags common;
  std::string from;
  std::string to;
  cache_mode cache = cache_mode::off;
};

enum class target_kind { matrix_market, edge_list, snapshot };

struct target {
  target_kind kind = target_kind::matrix_market;
  std::string format;
  std::string suffix;  // without .gz
};

target recognise_target(const std::string& path) {
  std::filesystem::path name = std::filesystem::path(path).filename();
  const bool compressed = name.extension() == ".gz";
  if (compressed) name = name.stem();
  const std::string suffix = name.extension().string();
  if (suffix == ".mtx" || suffix == ".mm") return {target_kind::matrix_market, "Matrix Market", suffix};
  if (suffix == ".spg") {
    if (compressed) throw usage_error(fmt::format("{}: a snapshot is mapped, not compressed (expected .spg)", path));
    return {target_kind::snapshot, "snapshot", suffix};
  }
  for (const std::string_view known : {".el", ".wel", ".txt", ".csv", ".tsv", ".edges", ".snap"}) {
    if (suffix == known) return {target_kind::edge_list, "edge list", suffix};
  }
  throw usage_error(fmt::format(
      "{}: the name does not say which format to write (expected .mtx, .spg, or .el, .wel, .txt, .csv, .tsv, .edges or "
      ".snap; .gz after any but .spg)",
      path));
}

struct written {
  std::int64_t rows = 0, cols = 0, entries = 0;
  bool values = false;
  bool streamed = false;
};

[[noreturn]] void refuse(const std::string& path, const std::string& message) {
  throw error(error_code::unsupported, source_position{path, 0, 0}, message);
}

void warn_of_rounding(report& out, const convert_flags& flags, std::int64_t integers) {
  if (integers == 0) return;
  out.warn(fmt::format("{}: {} integers exceed what float64 holds exactly, rounded to nearest", flags.from, integers));
}

void warn_of_isolated(report& out, const convert_flags& flags, std::int64_t isolated) {
  out.warn(fmt::format("{}: {} vertices have no edge and do not appear in an edge list", flags.to, isolated));
}

void warn_of_weights(report& out, const convert_flags& flags) {
  out.warn(fmt::format("{}: an .el file has no weights, they are left out (.wel keeps them)", flags.to));
}

// Vertices that an edge list cannot show: those without any entry.
template <class I>
std::int64_t count_isolated(const coo_pattern_view<I, host>& entries) {
  std::vector<char> seen(static_cast<std::size_t>(std::max(entries.rows, entries.cols)));
  for (std::int64_t k = 0; k < entries.nnz(); ++k) {
    seen[static_cast<std::size_t>(entries.row_indices[k])] = 1;
    seen[static_cast<std::size_t>(entries.col_indices[k])] = 1;
  }
  return std::count(seen.begin(), seen.end(), 0);
}

// Ids that a Matrix Market file cannot show: rows are numbered from 1.
bool loses_ids(const vertex_names& names) {
  if (names.naming != vertex_naming::listed) return false;
  for (std::int64_t v = 0; v < names.vertices; ++v) {
    if (names.id(v) != v + 1) return true;
  }
  return false;
}

template <entry_type V, index_type I>
written write_edges(const context<host>& ctx, const convert_flags& flags, const target& to, report& out,
                    const coo_view<const V, I, host>& entries, const input_facts& facts) {
  if constexpr (complex_type<V>) {
    refuse(flags.from, "complex values do not fit an edge list (expected real values or none)");
  } else {
    if (entries.rows != entries.cols) {
      refuse(flags.from, fmt::format("a {} x {} matrix is no graph (expected a square one for an edge list)",
                                     entries.rows, entries.cols));
    }
    const std::int64_t isolated = count_isolated<I>(entries);
    if (isolated > 0) warn_of_isolated(out, flags, isolated);
    const std::vector<std::int64_t> ids = facts.names.all();
    const bool weighted = !is_pattern<V> && to.suffix != ".el";
    if (to.suffix == ".wel" && is_pattern<V>) {
      const array<double, host> ones = convert_values<double, V>(ctx, entries.values, entries.nnz());
      write_edge_list<double, I>(
          flags.to, {{entries.rows, entries.cols, entries.row_indices, entries.col_indices}, ones.view()}, ids);
    } else if (weighted || is_pattern<V>) {
      write_edge_list<V, I>(flags.to, entries, ids);
    } else {
      warn_of_weights(out, flags);
      write_edge_list<pattern, I>(flags.to,
                                  {{entries.rows, entries.cols, entries.row_indices, entries.col_indices}, {}}, ids);
    }
    return {entries.rows, entries.cols, entries.nnz(), weighted || to.suffix == ".wel"};
  }
}

template <entry_type V, index_type I>
written write_matrix(const convert_flags& flags, report& out, const coo_view<const V, I, host>& entries,
                     const input_facts& facts) {
  if (loses_ids(facts.names)) {
    out.warn(fmt::format("{}: ids become row numbers from 1, in ascending order of id (.spg keeps the ids)", flags.to));
  }
  write_matrix_market<V, I>(flags.to, entries);
  return {entries.rows, entries.cols, entries.nnz(), !is_pattern<V>};
}

template <entry_type V, index_type I, index_type O>
written write_csr(const context<host>& ctx, const convert_flags& flags, const target& to, report& out,
                  const input_description& input, const csr_input<V, I, O>& read) {
  const auto& matrix = read.matrix;
  warn_of_rounding(out, flags, read.facts.rounded_integers);
  if (to.kind != target_kind::snapshot) {
    const coo_matrix<V, I, host> entries = to_coo<V, I, O, host>(ctx, matrix);
    if (to.kind == target_kind::matrix_market) return write_matrix<V, I>(flags, out, entries.view(), read.facts);
    return write_edges<V, I>(ctx, flags, to, out, entries.view(), read.facts);
  }
  snapshot_options options;
  options.symmetry = input.symmetry;
  options.directed = input.directed;
  // Rows from 1 need no ids: that is how a snapshot without them is read.
  const bool named = read.facts.names.naming != vertex_naming::rows_from_one && matrix.rows == matrix.cols;
  const std::vector<std::int64_t> ids = named ? read.facts.names.all() : std::vector<std::int64_t>{};
  options.ids = ids;
  write_snapshot<V, I, O>(ctx, flags.to, matrix, options);
  return {matrix.rows, matrix.cols, matrix.nnz(), !is_pattern<V>};
}

written convert_in_memory(const context<host>& ctx, const convert_flags& flags, const target& to, report& out,
                          const input_description& input) {
  progress_bar bar("reading " + input.path, flags.common.quiet);
  if (input.kind == input_kind::edge_list && to.kind == target_kind::edge_list) {  // in its order, duplicates and all
    return with_edges(ctx, input, bar.options(), [&]<class V, class I>(coo_input<V, I>& read) {
      return write_edges<V, I>(ctx, flags, to, out, std::as_const(read.entries).view(), read.facts);
    });
  }
  return with_cached_matrix(ctx, input, bar.options(), flags.cache,
                            [&]<class V, class I, class O>(csr_input<V, I, O>& read, const input_cache& cache) {
                              report_cache(out, cache);
                              return write_csr<V, I, O>(ctx, flags, to, out, input, read);
                            });
}

// Rewrites the text in bounded memory where that gives what memory for the whole would have given; none where not.
std::optional<written> convert_streamed(const context<host>& ctx, const convert_flags& flags, const target& to,
                                        report& out, const input_description& input) {
  const bool edges = to.kind == target_kind::edge_list;
  const bool listed = input.kind == input_kind::edge_list && edges;
  const bool matrix = input.kind == input_kind::matrix_market && input.format == "Matrix Market coordinate" &&
                      input.symmetry == symmetry_kind::general && to.kind != target_kind::snapshot &&
                      (!edges || (input.rows == input.cols && input.field != matrix_market_field::complex));
  std::error_code failure;
  if ((!listed && !matrix) || !std::filesystem::is_regular_file(flags.from, failure)) return std::nullopt;
  progress_bar bar("rewriting " + input.path, flags.common.quiet);
  stream_options options;
  options.to = edges ? text_format::edge_list : text_format::matrix_market;
  if (to.suffix == ".el") options.weights = edge_weights::left_out;
  if (to.suffix == ".wel") options.weights = edge_weights::ones_if_none;
  options.reading = bar.options();
  stream_result result;
  if (listed) {
    result = stream_edge_list(ctx, flags.from, flags.to, options);
  } else {
    const std::optional<stream_result> rewritten = stream_matrix_market(ctx, flags.from, flags.to, options);
    if (!rewritten.has_value()) return std::nullopt;
    result = *rewritten;
  }
  warn_of_rounding(out, flags, result.rounded_integers);
  if (result.isolated > 0) warn_of_isolated(out, flags, result.isolated);
  if (edges && result.weighted && to.suffix == ".el") warn_of_weights(out, flags);
  const bool values = edges ? to.suffix == ".wel" || (result.weighted && to.suffix != ".el") : result.weighted;
  return written{result.rows, result.cols, result.entries, values, true};
}

// In memory if it fits: what does not is streamed, if that is possible.
written convert(const context<host>& ctx, const convert_flags& flags, const target& to, report& out,
                const input_description& input) {
  std::error_code failure;
  const auto bytes = std::filesystem::file_size(flags.from, failure);
  if (!failure && bytes / 2 > static_cast<std::uintmax_t>(host_memory().limit())) {  // no array is much smaller
    if (const auto result = convert_streamed(ctx, flags, to, out, input)) return *result;
  }
  try {
    return convert_in_memory(ctx, flags, to, out, input);
  } catch (const error& e) {
    if (e.code() != error_code::out_of_memory) throw;
    if (const auto result = convert_streamed(ctx, flags, to, out, input)) return *result;
    throw;
  }
}

exit_status run(const convert_flags& flags) {
  const target to = recognise_target(flags.to);
  const stopwatch watch;
  const backend where = choose_cpu(flags.common.device, flags.common.threads);
  const context<host>& ctx = where.cpu;
  report out("convert", flags.common);
  report_backend(out, flags.common.device, where);
  const input_description input = describe_input(ctx, flags.from);
  out.keys()["cache"] = to_string(cache_outcome::off);
  const written result = convert(ctx, flags, to, out, input);

  std::error_code ignored;
  const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(flags.to, ignored));
  json& keys = out.keys();
  keys["file"] = flags.from;
  keys["from"] = input.format;
  keys["output"] = flags.to;
  keys["to"] = to.format;
  keys["rows"] = result.rows < 0 ? json() : json(result.rows);
  keys["cols"] = result.cols < 0 ? json() : json(result.cols);
  keys["entries"] = result.entries;
  keys["values"] = result.values;
  keys["streamed"] = result.streamed;
  keys["bytes"] = bytes;
  keys["total_ms"] = watch.milliseconds();
  out.title(fmt::format("convert {}", flags.from));
  out.row("read", input.format);
  out.row("written", fmt::format("{} ({}, {})", flags.to, to.format, format_bytes(static_cast<double>(bytes))));
  const std::string size = result.rows < 0 ? std::string("vertices not counted")
                                           : fmt::format("{} x {}", with_commas(result.rows), with_commas(result.cols));
  out.row("matrix",
          fmt::format("{}, {} entries{}{}", size, with_commas(result.entries), result.values ? "" : ", no values",
                      result.streamed ? "; too large for memory, rewritten line by line" : ""));
  out.row("time", format_milliseconds(watch.milliseconds()));
  out.print();
  return exit_status::success;
}

}  // namespace

}  // namespace spargo::apps

int main(int argc, char** argv) {
  using namespace spargo::apps;
  CLI::App app(
      "Converts among Matrix Market, edge lists and the binary snapshot; duplicates are summed, symmetric halves\n"
      "expanded, and the file is written whole or not at all. What does not fit into memory is rewritten line by line\n"
      "where that gives the same: an edge list as an edge list, and a general coordinate Matrix Market file whose\n"
      "entries are sorted by row and column; not what is symmetric or goes to a snapshot.",
      "convert");
  convert_flags flags;
  app.add_option("IN", flags.from, "any of them (recognised from its content, .gz too), or gen:NAME:key=value,...")
      ->required();
  app.add_option(
         "OUT", flags.to,
         "by its name: .mtx; .spg; .el (no weights), .wel, .txt, .csv, .tsv, .edges, .snap; .gz after any but .spg")
      ->required();
  add_cache_flag(app, flags.cache);
  add_common_flags(app, flags.common, app_kind::reads,
                   "Examples:\n"
                   "  convert soc-Slashdot0902.txt.gz slashdot.spg\n"
                   "  convert matrix.mtx edges.wel.gz\n"
                   "  convert gen:rmat:scale=18,degree=16 rmat18.spg\n");
  return run_app(app, argc, argv, [&] { return run(flags); });
}
