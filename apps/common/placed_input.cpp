#include "common/placed_input.hpp"

#include "common/extent.hpp"
#include "common/parse.hpp"
#include "common/progress.hpp"

#include <spargo/io/device_read.hpp>
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

// --- On the device

// The device's memory that may be used.
std::int64_t memory_of(const context<device>& gpu, const graph_flags& flags) {
  const std::int64_t free_bytes = gpu.memory().free_bytes;
  return flags.device_bytes() > 0 ? std::min(free_bytes, flags.device_bytes()) : free_bytes;
}

// For pairs and the graph that is built from them (see build_graph).
std::int64_t building_bytes(std::int64_t vertices, std::int64_t pairs, std::int64_t index_bytes) {
  return pairs * (2 * index_bytes + (index_bytes == 4 ? 24 : 32)) + 3 * 8 * (vertices + 1);
}

std::int64_t file_bytes(const input_description& input) {
  std::error_code none;
  const auto bytes = std::filesystem::file_size(input.path, none);
  return none ? 0 : static_cast<std::int64_t>(bytes);
}

// Why the host reads or generates it. Empty: the device does.
std::string why_not_there(const graph_flags& flags, const input_description& input, const input_cache& cache) {
  if (flags.parse == "cpu") return "as asked for";
  if (cache.is_on()) return "caches are read and written on the CPU";
  if (input.kind == input_kind::generator) return {};
  if (input.kind != input_kind::edge_list) return fmt::format("a file of the kind {} is read on the CPU", input.format);
  if (!input.can_be_read_again() || input.path.starts_with("/dev/") || input.path.starts_with("/proc/")) {
    return "a stream is read on the CPU";
  }
  if (flags.parse == "gpu") return {};
  if (suggest_device_read(input.path) == device_read_algorithm::on_device) return {};
  return "small and compressed files are read on the CPU";
}

// Of what the device reads or makes; from the first lines.
std::int64_t likely_entries(const input_description& input) {
  if (input.kind == input_kind::generator) return describe_generator(input.path).entries;
  const std::string_view head = input.file->head();
  const auto lines = static_cast<double>(std::count(head.begin(), head.end(), '\n') + 1);
  return static_cast<std::int64_t>(lines / static_cast<double>(head.size() + 1) *
                                   static_cast<double>(file_bytes(input)));
}

// That an entry costs a thread of the host until the graph is there.
double entry_ns(const input_description& input) {
  if (input.kind == input_kind::generator) return cost_tuning::random_ns + cost_tuning::build_ns;
  const auto bytes = static_cast<double>(file_bytes(input));
  return bytes / static_cast<double>(std::max<std::int64_t>(likely_entries(input), 1)) * cost_tuning::byte_ns +
         cost_tuning::build_ns;
}

constexpr const char* no_memory = "the GPU's memory does not suffice";

// Pairs on the device, and what reading told.
template <index_type I>
struct pairs_there {
  coo_matrix<pattern, I, device> pairs;
  input_facts facts;
};
using any_pairs_there = std::variant<pairs_there<std::int32_t>, pairs_there<std::int64_t>>;

template <index_type I>
pairs_there<I> without_weights(device_edge_list<I> list) {
  pairs_there<I> read;
  read.facts.weighted = list.weighted;
  read.facts.first_vertex = list.first_vertex;
  read.facts.stored = read.facts.expanded = list.edges.nnz();
  read.facts.parsed_on_device = list.parsed == device_read_algorithm::on_device;
  read.facts.names = {vertex_naming::listed, std::move(list.ids), static_cast<std::int64_t>(list.edges.rows())};
  coo_matrix<double, I, device>& edges = list.edges;
  read.pairs = {edges.rows(), edges.cols(), std::move(edges.row_indices()), std::move(edges.col_indices()), {}};
  return read;
}

template <index_type I>
pairs_there<I> generate_pairs(const backend& where, const input_description& input) {
  const busy generating("generating " + input.path);
  pairs_there<I> made;
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

any_pairs_there read_there(const backend& where, const graph_flags& flags, const input_description& input,
                           const read_options& options) {
  if (input.kind == input_kind::generator) {
    if (input.rows > std::numeric_limits<std::int32_t>::max()) return generate_pairs<std::int64_t>(where, input);
    return generate_pairs<std::int32_t>(where, input);
  }
  const auto parsing = flags.parse == "gpu" ? device_read_algorithm::on_device : device_read_algorithm::automatic;
  return without_weights(read_edge_list<std::int32_t>(*where.gpu, where.cpu, input.path, {options, parsing}));
}

template <index_type I>
any_placed_graph build_there(const backend& where, coo_matrix<pattern, I, device> pairs, const graph_options& options) {
  const std::int64_t most = options.direction == direction_kind::directed ? pairs.nnz() : 2 * pairs.nnz();
  return with_offset<I>(most, [&]<class O>(type_tag<O>) -> any_placed_graph {
    const busy at_work("building the graph");
    const coo_view<const pattern, I, device> view = std::as_const(pairs).view();
    const coo_pattern_view<I, device>& edges = view;
    graph<I, O, device> built = build_graph<O, I>(*where.gpu, edges, options);
    where.gpu->synchronize();
    return placed_graph<I, O>(*where.gpu, where.cpu, std::move(built));
  });
}

// --- Loading

class loader {
 public:
  loader(const graph_flags& flags, const graph_work& work)
      : flags_(flags), work_(work), where_(choose_cpu("cpu", flags.common.threads)) {}

  placed_input run() {
    const bool asks = flags_.common.device != "auto" || flags_.parse == "gpu";
    if (asks) open();
    expect_gpu_for(flags_.parse, where_.gpu);
    input_description input = describe_input(where_.cpu, flags_.file);
    expect_square(input);
    input_cache cache(flags_.cache, input, value_kind::pattern);
    const bool directed = is_directed(flags_, input);
    options_ = {.direction = directed ? direction_kind::directed : direction_kind::undirected,
                .in_edges = directed && work_.wanted == in_edges::build};
    const std::string why_not = why_not_there(flags_, input, cache);
    if (!asks && why_not.empty()) open_if_it_pays(likely_entries(input), entry_ns(input));
    std::optional<any_placed_graph> g;
    if (has_gpu()) {
      why_ = why_not;
      if (why_.empty()) g = load_there(input);
    }
    if (!g.has_value()) g = load_here(input, cache);
    const bool weighted = has_weights(input, facts_);
    loaded_input from{std::move(input), std::move(cache), std::move(facts_), load_ms_, build_ms_, weighted};
    from.open_ms = open_ms_;
    from.built_on_device = std::visit([](const auto& held) { return held.is_on_device(); }, *g);
    from.why_on_host = std::move(why_);
    return {std::move(where_), std::move(from), std::move(*g)};
  }

 private:
  // A GPU in use that can do what is asked for.
  [[nodiscard]] bool has_gpu() const { return where_.gpu.has_value() && work_.runs_on_gpu; }

  void open() {
    const stopwatch opening;
    where_ = choose_backend(flags_.common.device, flags_.common.threads);
    open_ms_ = opening.milliseconds();
    opened_ = true;
  }

  // Without what its pool has kept of memory that did not suffice.
  void open_again() {
    where_.gpu.reset();
    where_ = choose_backend(flags_.common.device, flags_.common.threads);
  }

  // Under `auto`, with what an entry costs a thread until the graph is there.
  void open_if_it_pays(std::int64_t entries, double entry_ns) {
    where_.reason = !work_.runs_on_gpu ? "the algorithm asked for is the CPU's alone" : "";
    if (config::has_cuda && work_.runs_on_cpu && where_.reason.empty()) {
      where_.reason = reason_against_opening({entries, entry_ns + work_.cpu_ns, where_.cpu.threads()});
    }
    if (where_.reason.empty()) open();
  }

  // None where the host must do it.
  std::optional<any_placed_graph> load_there(const input_description& input) {
    if constexpr (config::has_cuda) {
      const std::int64_t index_bytes = input.rows > std::numeric_limits<std::int32_t>::max() ? 8 : 4;
      const std::int64_t needed = input.kind == input_kind::generator
                                      ? building_bytes(input.rows, likely_entries(input), index_bytes)
                                      : placement_tuning::bytes_of_text * file_bytes(input);
      why_ = needed > memory_of(*where_.gpu, flags_) ? no_memory : "";
      if (!why_.empty()) return {};
      try {
        const stopwatch loading;
        progress_bar bar("reading " + input.path, flags_.common.quiet);
        any_pairs_there read = read_there(where_, flags_, input, bar.options());
        load_ms_ = loading.milliseconds();
        return std::visit(
            [&](auto& pairs) {
              facts_ = std::move(pairs.facts);
              if (!facts_.parsed_on_device)
                why_ = input.kind == input_kind::generator ? "made by the CPU"
                                                           : "it is compressed, or not every line is plainly an edge";
              const stopwatch building;
              any_placed_graph g = build_there(where_, std::move(pairs.pairs), options_);
              build_ms_ = building.milliseconds();
              return g;
            },
            read);
      } catch (const error& e) {
        if (e.code() != error_code::out_of_memory && e.code() != error_code::unsupported) throw;
        why_ = e.code() == error_code::out_of_memory ? no_memory : "it has 2^31 vertices or more";
        facts_ = {};
        open_again();
      }
    }
    return {};
  }

  // Read by the host; built there, or on the device from a copy of the pairs.
  any_placed_graph load_here(const input_description& input, input_cache& cache) {
    const stopwatch loading;
    any_coo<pattern> read = [&] {
      progress_bar bar("reading " + input.path, flags_.common.quiet);
      return read_graph_entries(where_.cpu, input, bar.options(), cache);
    }();
    load_ms_ = loading.milliseconds();
    facts_ = std::visit([](auto& listed) { return std::move(listed.facts); }, read);
    if (flags_.common.device == "auto" && !opened_) {
      open_if_it_pays(std::visit([](const auto& listed) { return listed.entries.nnz(); }, read), cost_tuning::build_ns);
    }
    const stopwatch building;
    std::optional<any_placed_graph> g;
    if (has_gpu()) g = copy_and_build(read);
    if (!g.has_value()) {
      any_graph built = make_graph(where_.cpu, std::move(read), options_);
      g = std::visit([]<class I, class O>(
                         graph<I, O, host>& held) -> any_placed_graph { return placed_graph<I, O>(std::move(held)); },
                     built);
    }
    build_ms_ = building.milliseconds();
    return std::move(*g);
  }

  // None where they are few or do not fit.
  std::optional<any_placed_graph> copy_and_build(any_coo<pattern>& read) {
    if constexpr (config::has_cuda) {
      return std::visit(
          [&]<class I>(coo_input<pattern, I>& input) -> std::optional<any_placed_graph> {
            coo_matrix<pattern, I, host>& entries = input.entries;
            const std::int64_t pairs = 2 * entries.nnz();  // of a triangle
            if (entries.nnz() < placement_tuning::least_pairs && flags_.parse != "gpu") return {};
            if (building_bytes(entries.rows(), pairs, sizeof(I)) > memory_of(*where_.gpu, flags_)) return {};
            if (options_.direction == direction_kind::directed && input.triangle != symmetry_kind::general) {
              entries = expand_symmetry<pattern, I>(where_.cpu, std::as_const(entries).view(), input.triangle);
              input.triangle = symmetry_kind::general;
            }
            try {
              const context<device>& gpu = *where_.gpu;
              coo_matrix<pattern, I, device> there(
                  entries.rows(), entries.cols(), to_device_by_threads(gpu, entries.row_indices().view(), where_.cpu),
                  to_device_by_threads(gpu, entries.col_indices().view(), where_.cpu), {});
              return build_there(where_, std::move(there), options_);
            } catch (const error& e) {
              if (e.code() != error_code::out_of_memory) throw;
            }
            open_again();
            return {};
          },
          read);
    }
    return {};
  }

  const graph_flags& flags_;
  const graph_work& work_;
  backend where_;
  bool opened_ = false;
  double open_ms_ = 0;
  graph_options options_;
  input_facts facts_;
  double load_ms_ = 0;
  double build_ms_ = 0;
  std::string why_;
};

}  // namespace

void add_placement_flags(CLI::App& app, graph_flags& flags) { add_parse_flag(app, flags.parse); }

placed_input load_placed(const graph_flags& flags, const graph_work& work) { return loader(flags, work).run(); }

}  // namespace spargo::apps
