#include "placement/placed_input.hpp"

#include "input/columns.hpp"
#include "input/extent.hpp"
#include "placement/placed_loader.hpp"

#include <spargo/io/device_read.hpp>
#include <spargo/io/edge_table.hpp>
#include <spargo/io/generate.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>

namespace spargo::apps {

namespace {

struct placement_tuning {
  // Pairs that the host has read are copied and built into a graph on the device from here on.
  static constexpr std::int64_t least_pairs = std::int64_t{1} << 20;
  // Bytes of device memory for each byte of text: the pairs, weights of 1 and the keys of a line of 8 bytes.
  static constexpr std::int64_t bytes_of_text = 6;
};

// What a pair costs one of 16 threads, two to a core of 2.1 GHz: R-MAT 22 read in 146 ms and built in 130.
struct cost_tuning {
  static constexpr double byte_ns = 4.5;    // of text
  static constexpr double build_ns = 62;    // with in-edges
  static constexpr double random_ns = 250;  // generated
};

std::int64_t file_bytes(const input_description& input) {
  std::error_code none;
  const auto bytes = std::filesystem::file_size(input.path, none);
  return none ? 0 : static_cast<std::int64_t>(bytes);
}

std::string reason_against_opening(const backend& where, const graph_work& work, std::int64_t entries,
                                   double entry_ns) {
  if (!work.runs_on_gpu) return "this algorithm runs on the CPU only";
  if (!config::has_cuda || !work.runs_on_cpu) return {};
  return apps::reason_against_opening(expected_work{entries, entry_ns + work.cpu_ns, where.cpu.threads()});
}

template <index_type I>
device_pairs<I> take_list(device_edge_list<I> list, bool with_weights) {
  device_pairs<I> read;
  read.facts.weighted = list.weighted;
  read.facts.first_vertex = list.first_vertex;
  read.facts.stored = read.facts.expanded = list.edges.nnz();
  read.facts.rounded_integers = list.rounded_integers;
  read.facts.parsed_on_device = list.parsed == device_read_algorithm::on_device;
  read.facts.names = names_of(list);
  coo_matrix<double, I, device>& edges = list.edges;
  read.weighted = with_weights && list.weighted;
  if (read.weighted) read.weights = std::move(edges.values());
  read.pairs = {edges.rows(), edges.cols(), std::move(edges.row_indices()), std::move(edges.col_indices()), {}};
  return read;
}

template <index_type I>
device_pairs<I> generate_pairs(const backend& where, const input_description& input) {
  const busy generating("generating " + input.path);
  device_pairs<I> made;
  made.pairs = generate<pattern, I>(*where.gpu, where.cpu, input.path);
  const std::int64_t pairs = made.pairs.nnz();
  expect_reasonable_extent(input.path, input.rows, input.cols, pairs);
  made.facts.stored = made.facts.expanded = pairs;
  made.facts.parsed_on_device = describe_generator(input.path).on_device;
  made.facts.names = {vertex_naming::from_zero, {}, static_cast<std::int64_t>(made.pairs.rows())};
  I first = -1;
  if (pairs > 0) copy<I>(*where.gpu, made.pairs.row_indices().view().subspan(0, 1), span<I, host>(&first, 1));
  where.gpu->synchronize();
  made.facts.first_vertex = static_cast<std::int64_t>(first);
  return made;
}

// A graph without weights.
struct bare_maker {
  using listed = any_coo<pattern>;
  using made = any_placed_graph;

  static input_cache cache(cache_mode mode, const input_description& input) {
    return {mode, input, value_kind::pattern};
  }
  static bool takes_weights() { return false; }
  static any_coo<pattern> read(const context<host>& cpu, const input_description& input, input_cache& cache,
                               const graph_flags& flags) {
    progress_bar bar("reading " + input.path, flags.common.quiet);
    return read_graph_entries(cpu, input, bar.options(), cache);
  }
  static void check(const input_description&, const any_coo<pattern>&, const vertex_names&) {}
  static any_placed_graph build(const context<host>& cpu, any_coo<pattern> read, const graph_options& options) {
    any_graph built = make_graph(cpu, std::move(read), options);
    return std::visit(
        []<class I, class O>(graph<I, O, host>& g) -> any_placed_graph { return placed_graph<I, O>(std::move(g)); },
        built);
  }
  template <index_type I>
  static std::optional<any_placed_graph> build_on_device(const backend& where, device_pairs<I> read,
                                                         const graph_options& options) {
    return build_pattern_on_device(where, read.pairs, options);
  }
};

}  // namespace

std::int64_t likely_entries(const input_description& input) {
  if (input.kind == input_kind::generator) return describe_generator(input.path).entries;
  const std::string_view head = input.file->head();
  const auto lines = static_cast<double>(std::count(head.begin(), head.end(), '\n') + 1);
  return static_cast<std::int64_t>(lines / static_cast<double>(head.size() + 1) *
                                   static_cast<double>(file_bytes(input)));
}

double entry_ns(const input_description& input) {
  if (input.kind == input_kind::generator) return cost_tuning::random_ns + cost_tuning::build_ns;
  const auto bytes = static_cast<double>(file_bytes(input));
  return bytes / static_cast<double>(std::max<std::int64_t>(likely_entries(input), 1)) * cost_tuning::byte_ns +
         cost_tuning::build_ns;
}

std::int64_t usable_memory(const context<device>& gpu, const graph_flags& flags) {
  const std::int64_t free_bytes = gpu.memory().free_bytes;
  return flags.device_bytes() > 0 ? std::min(free_bytes, flags.device_bytes()) : free_bytes;
}

std::int64_t building_bytes(std::int64_t vertices, std::int64_t pairs, std::int64_t index_bytes, bool weighted) {
  // Weights: as they are read and as integers, with the proper pairs' and the folded ones' copies.
  const std::int64_t of_pair = 2 * index_bytes + (index_bytes == 4 ? 24 : 32) + (weighted ? 48 : 0);
  return pairs * of_pair + 3 * 8 * (vertices + 1);
}

std::int64_t loading_bytes(const input_description& input, bool weighted) {
  if (input.kind != input_kind::generator)
    return (placement_tuning::bytes_of_text + (weighted ? 4 : 0)) * file_bytes(input);
  const std::int64_t index_bytes = input.rows > std::numeric_limits<std::int32_t>::max() ? 8 : 4;
  return building_bytes(input.rows, likely_entries(input), index_bytes, weighted);
}

std::string reason_against_device(const graph_flags& flags, const input_description& input, const input_cache& cache) {
  if (flags.parse == "cpu") return "as asked for";
  if (cache.is_on()) return "caches are read and written on the CPU";
  if (input.kind == input_kind::generator) return {};
  if (input.kind != input_kind::edge_list) return fmt::format("a file of the kind {} is read on the CPU", input.format);
  if (!input.can_be_read_again() || input.path.starts_with("/dev/") || input.path.starts_with("/proc/")) {
    return "a stream is read on the CPU";
  }
  if (is_directed(flags, input) && !input.directed) return "the reverse edges are added on the CPU";
  if (input.columns.ids == id_kind::names) return "names of vertices are parsed by the CPU";
  if (input.columns.separator != 0) return "columns in another order are read on the CPU";
  if (flags.parse == "gpu") return {};
  if (suggest_device_read(input.path) == device_read_algorithm::on_device) return {};
  return "small and compressed files are read on the CPU";
}

std::string reason_against_opening(const backend& where, const graph_work& work, const input_description& input) {
  return reason_against_opening(where, work, likely_entries(input), entry_ns(input));
}
std::string reason_against_opening(const backend& where, const graph_work& work, std::int64_t entries) {
  return reason_against_opening(where, work, entries, cost_tuning::build_ns);
}

bool is_small(std::int64_t pairs) { return pairs < placement_tuning::least_pairs; }

any_device_pairs read_on_device(const backend& where, const graph_flags& flags, const input_description& input,
                                const read_options& options, bool with_weights) {
  if (input.kind == input_kind::generator) {
    if (input.rows > std::numeric_limits<std::int32_t>::max()) return generate_pairs<std::int64_t>(where, input);
    return generate_pairs<std::int32_t>(where, input);
  }
  const auto parsing = flags.parse == "gpu" ? device_read_algorithm::on_device : device_read_algorithm::automatic;
  const device_read_options how{options, parsing, input.wanted_columns, input.wanted_ids};
  auto read = take_list(read_edge_list<std::int32_t>(*where.gpu, where.cpu, input.path, how), with_weights);
  read.facts.warnings = warnings_of(scan_padded_id(where.cpu, *input.file, input.columns));
  return read;
}

template <index_type I>
any_placed_graph build_pattern_on_device(const backend& where, const coo_matrix<pattern, I, device>& pairs,
                                         const graph_options& options) {
  return with_pairs(pairs, options.direction,
                    [&]<class O>(const coo_pattern_view<I, device>& edges, type_tag<O>) -> any_placed_graph {
                      const busy at_work("building the graph");
                      graph<I, O, device> built = build_graph<O, I>(*where.gpu, edges, options);
                      where.gpu->synchronize();
                      return placed_graph<I, O>(*where.gpu, where.cpu, std::move(built));
                    });
}
template any_placed_graph build_pattern_on_device(const backend&, const coo_matrix<pattern, std::int32_t, device>&,
                                                  const graph_options&);
template any_placed_graph build_pattern_on_device(const backend&, const coo_matrix<pattern, std::int64_t, device>&,
                                                  const graph_options&);

void add_placement_flags(flag_set app, graph_flags& flags) { add_parse_flag(app, flags.parse); }

placed_input load_placed(const graph_flags& flags, const graph_work& work) {
  bare_maker maker;
  auto loaded = placed_loader<bare_maker>(flags, work, maker).run();
  return {std::move(loaded.where), std::move(loaded.from), std::move(loaded.g)};
}

}  // namespace spargo::apps
