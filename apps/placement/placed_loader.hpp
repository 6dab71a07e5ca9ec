// Loads an input as a graph, with or without weights, on the backend that will search it.
//
// Idea: as in placed_input.hpp. The loader decides where each step runs; a Maker does the steps that depend on weights:
//   listed, made                             the entries on the host, and the graph: variants
//   cache(mode, input)                       for the entries on the host
//   takes_weights()                          whether the device keeps the weights it reads
//   read(cpu, input, cache, flags)           on the host
//   check(input, listed, names)              checks the entries on the host
//   build(cpu, listed, options)              on the host
//   build_on_device(where, pairs, options)       on the device; none: the host must read the input and report the error
#pragma once

#include "cli/progress.hpp"
#include "input/attribute_table.hpp"
#include "input/columns.hpp"
#include "input/memory_limit.hpp"
#include "input/parse.hpp"
#include "placement/placed_input.hpp"

#include <optional>
#include <utility>
#include <variant>

namespace spargo::apps {

// Edges on the device, with weights and facts.
template <index_type I>
struct device_pairs {
  coo_matrix<pattern, I, device> pairs;
  bool weighted = false;  // else the file has no weights, or they are not wanted
  array<double, device> weights;
  input_facts facts;
};
using any_device_pairs = std::variant<device_pairs<std::int32_t>, device_pairs<std::int64_t>>;

constexpr const char* no_gpu_memory = "the GPU's memory does not suffice";

// Estimated number of entries; for text from the first lines.
[[nodiscard]] std::int64_t likely_entries(const input_description& input);
// Nanoseconds per entry to read and build on one host thread.
[[nodiscard]] double entry_ns(const input_description& input);
// Usable device memory.
[[nodiscard]] std::int64_t usable_memory(const context<device>& gpu, const graph_flags& flags);
// Memory of pairs and of the graph built from them (see build_graph).
[[nodiscard]] std::int64_t building_bytes(std::int64_t vertices, std::int64_t pairs, std::int64_t index_bytes,
                                          bool weighted);
// The same for an input that the device reads or makes, from its size.
[[nodiscard]] std::int64_t loading_bytes(const input_description& input, bool weighted);
// Why the host reads or generates the input; empty: the device does.
[[nodiscard]] std::string reason_against_device(const graph_flags& flags, const input_description& input,
                                                const input_cache& cache);
// Under `auto`: why no GPU is opened, for an input that it would read or make, or for entries that the host has read;
// empty: one is opened.
[[nodiscard]] std::string reason_against_opening(const backend& where, const graph_work& work,
                                                 const input_description& input);
[[nodiscard]] std::string reason_against_opening(const backend& where, const graph_work& work, std::int64_t entries);
// Whether so few pairs stay on the host.
[[nodiscard]] bool is_small(std::int64_t pairs);
[[nodiscard]] any_device_pairs read_on_device(const backend& where, const graph_flags& flags,
                                              const input_description& input, const read_options& options,
                                              bool with_weights);

// The graph of pairs without weights.
template <index_type I>
[[nodiscard]] any_placed_graph build_pattern_on_device(const backend& where,
                                                       const coo_matrix<pattern, I, device>& pairs,
                                                       const graph_options& options);

// f(view of the pairs, type_tag<O>) with the offsets that their graph needs.
template <index_type I, class F>
decltype(auto) with_pairs(const coo_matrix<pattern, I, device>& pairs, direction_kind direction, F&& f) {
  const std::int64_t most = direction == direction_kind::directed ? pairs.nnz() : 2 * pairs.nnz();
  return with_offset<I>(most, [&]<class O>(type_tag<O> tag) {
    const coo_view<const pattern, I, device> view = pairs.view();
    const coo_pattern_view<I, device>& edges = view;
    return f(edges, tag);
  });
}

template <class Maker>
class placed_loader {
 public:
  using listed = typename Maker::listed;
  using made = typename Maker::made;

  struct result {
    backend where;
    loaded_input from;
    made g;
  };

  placed_loader(const graph_flags& flags, const graph_work& work, Maker& maker)
      : flags_(flags), work_(work), maker_(maker), where_(choose_cpu("cpu", flags.common.threads)) {}

  result run() {
    const bool asks = flags_.common.device != "auto" || flags_.parse == "gpu";
    if (asks) open();
    expect_gpu_for(flags_.parse, where_.gpu);
    input_description input = describe_input(where_.cpu, flags_.file, flags_.common.columns, ids_of(flags_.common));
    expect_square(input);
    input_cache cache = maker_.cache(flags_.cache, input);
    options_.direction = is_directed(flags_, input) ? direction_kind::directed : direction_kind::undirected;
    size_ = least_size(input);
    const std::string reason = reason_against_device(flags_, input, cache);
    if (!asks && reason.empty()) open_unless(reason_against_opening(where_, work_, input));
    if (has_gpu() && !cache.is_on()) {
      settle_memory(where_, flags_.common.device, least_device_graph_bytes(size_, need()), flags_.device_bytes(),
                    work_.runs_on_cpu);
    }
    std::optional<made> g;
    if (has_gpu()) {
      why_ = reason;
      if (why_.empty()) g = load_on_device(input);
    }
    if (!g.has_value()) g = load_on_host(input, cache);
    const bool weighted = has_weights(input, facts_);
    join_attributes(flags_.attributes, facts_.names);
    loaded_input from{std::move(input), std::move(cache), std::move(facts_), load_ms_, build_ms_, weighted};
    from.open_ms = open_ms_;
    from.built_on_device = std::visit([](const auto& held) { return held.is_on_device(); }, *g);
    from.reason_for_host = std::move(why_);
    return {std::move(where_), std::move(from), std::move(*g)};
  }

 private:
  // A GPU in use that can do what is asked for.
  [[nodiscard]] bool has_gpu() const { return where_.gpu.has_value() && work_.runs_on_gpu; }

  [[nodiscard]] graph_options options() const {
    const bool wanted =
        work_.wanted == in_edges::build || (work_.wanted == in_edges::build_for_cpu && !where_.gpu.has_value());
    return {.direction = options_.direction,
            .in_edges = wanted && options_.direction == direction_kind::directed,
            .loops = work_.loops};
  }

  [[nodiscard]] graph_need need() const {
    return {options_.direction, maker_.takes_weights(), options().in_edges, work_.edge_bytes, work_.results};
  }

  // Before the host reads. If a GPU may build the graph, only the entries need host memory.
  void expect_memory_on_host(const input_description& input) const {
    std::int64_t least = least_graph_bytes(input, size_, need());
    const bool may_open = flags_.common.device == "auto" && !opened_ && work_.runs_on_gpu;
    if (least > host_memory().available() && (has_gpu() || (may_open && query_devices().usable()))) {
      least = least_listed_bytes(input, size_, maker_.takes_weights());
    }
    expect_host_memory(input, size_, least);
  }

  void open() {
    const stopwatch opening;
    where_ = choose_backend(flags_.common.device, flags_.common.threads);
    open_ms_ = opening.milliseconds();
    opened_ = true;
  }

  // Opens it anew, which frees the memory in its pool.
  void open_again() {
    where_.gpu.reset();
    where_ = choose_backend(flags_.common.device, flags_.common.threads);
  }

  void open_unless(std::string reason) {
    where_.reason = std::move(reason);
    if (where_.reason.empty()) open();
  }

  // None if the host must do it.
  std::optional<made> load_on_device(const input_description& input) {
    if constexpr (config::has_cuda) {
      why_ = loading_bytes(input, maker_.takes_weights()) > usable_memory(*where_.gpu, flags_) ? no_gpu_memory : "";
      if (!why_.empty()) return {};
      try {
        const stopwatch loading;
        progress_bar bar("reading " + input.path, flags_.common.quiet);
        any_device_pairs read = read_on_device(where_, flags_, input, bar.options(), maker_.takes_weights());
        load_ms_ = loading.milliseconds();
        return std::visit([&](auto& pairs) { return build_on_device(input, pairs); }, read);
      } catch (const error& e) {
        if (e.code() != error_code::out_of_memory && e.code() != error_code::unsupported) throw;
        why_ = e.code() == error_code::out_of_memory ? no_gpu_memory : "it has 2^31 vertices or more";
        facts_ = {};
        open_again();
      }
    }
    return {};
  }

  template <index_type I>
  std::optional<made> build_on_device(const input_description& input, device_pairs<I>& pairs) {
    facts_ = std::move(pairs.facts);
    if (!facts_.parsed_on_device) {
      why_ = input.kind == input_kind::generator ? "made by the CPU"
             : !facts_.names.are_integers()      ? "names of vertices are parsed by the CPU"
                                                 : "it is compressed, or not every line is plainly an edge";
    }
    const stopwatch building;
    std::optional<made> g = maker_.build_on_device(where_, std::move(pairs), options());
    build_ms_ = building.milliseconds();
    if (!g.has_value()) facts_ = {};
    return g;
  }

  // Reads on the host; builds there, or on the device from a copy of the pairs.
  made load_on_host(const input_description& input, input_cache& cache) {
    if (!cache.is_on()) expect_memory_on_host(input);
    const stopwatch loading;
    listed read = maker_.read(where_.cpu, input, cache, flags_);
    load_ms_ = loading.milliseconds();
    facts_ = std::visit([](auto& held) { return std::move(held.facts); }, read);
    maker_.check(input, read, facts_.names);
    if (options_.direction == direction_kind::directed) {
      std::visit([&](auto& held) { held.triangle = mirrored_as(input, held.triangle); }, read);
    }
    if (flags_.common.device == "auto" && !opened_) {
      const auto entries = std::visit([](const auto& held) { return std::int64_t{held.entries.nnz()}; }, read);
      open_unless(reason_against_opening(where_, work_, entries));
    }
    const stopwatch building;
    std::optional<made> g;
    if (has_gpu()) g = std::visit([&](auto& held) { return copy_and_build(held); }, read);
    if (!g.has_value()) g = maker_.build(where_.cpu, std::move(read), options());
    build_ms_ = building.milliseconds();
    return std::move(*g);
  }

  // None if there are too few pairs, or they do not fit.
  template <entry_type V, index_type I>
  std::optional<made> copy_and_build(coo_input<V, I>& read) {
    if constexpr (config::has_cuda && !complex_type<V>) {
      coo_matrix<V, I, host>& entries = read.entries;
      const std::int64_t pairs = 2 * entries.nnz();  // of a triangle
      if (is_small(entries.nnz()) && flags_.parse != "gpu") return {};
      if (building_bytes(entries.rows(), pairs, sizeof(I), !is_pattern<V>) > usable_memory(*where_.gpu, flags_)) {
        return {};
      }
      if (options_.direction == direction_kind::directed && read.triangle != symmetry_kind::general) {
        entries = expand_symmetry<V, I>(where_.cpu, std::as_const(entries).view(), read.triangle);
        read.triangle = symmetry_kind::general;
      }
      try {
        const context<device>& gpu = *where_.gpu;
        const auto to_gpu = [&]<class T>(span<T, host> from) { return to_device_by_threads(gpu, from, where_.cpu); };
        device_pairs<I> copied;
        copied.pairs = {entries.rows(),
                        entries.cols(),
                        to_gpu(entries.row_indices().view()),
                        to_gpu(entries.col_indices().view()),
                        {}};
        if constexpr (!is_pattern<V>) {
          copied.weighted = true;
          copied.weights = to_gpu(entries.values().view());
        }
        return maker_.build_on_device(where_, std::move(copied), options());
      } catch (const error& e) {
        if (e.code() != error_code::out_of_memory) throw;
      }
      open_again();
    }
    return {};
  }

  const graph_flags& flags_;
  const graph_work& work_;
  Maker& maker_;
  backend where_;
  bool opened_ = false;
  double open_ms_ = 0;
  graph_options options_;
  input_size size_;
  input_facts facts_;
  double load_ms_ = 0;
  double build_ms_ = 0;
  std::string why_;
};

}  // namespace spargo::apps
