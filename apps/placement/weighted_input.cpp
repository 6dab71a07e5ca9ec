#include "placement/weighted_input.hpp"

#include "cli/choice.hpp"
#include "input/columns.hpp"
#include "input/lightest.hpp"
#include "input/weight_position.hpp"
#include "placement/placed_loader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace spargo::apps {

namespace {

// --- Weights not from the file

template <index_type I, index_type O>
any_placed_weighted_graph with_made_weights(const context<host>& cpu, placed_graph<I, O> g,
                                            const weight_choice& choice) {
  const auto make = [&]<class Space>(const context<Space>& ctx, const csr_pattern_view<I, O, Space>& edges) {
    return choice.source == weight_source::random ? random_weights(ctx, edges, choice.seed)
                                                  : unit_weights(ctx, edges.nnz());
  };
  if constexpr (config::has_cuda) {
    if (g.is_on_device()) {
      auto weights = make(g.gpu(), g.device_view().out);
      g.gpu().synchronize();
      return placed_weighted_graph<std::int32_t, I, O>(std::move(g), std::move(weights));
    }
  }
  auto weights = make(cpu, g.out_view().out);
  return placed_weighted_graph<std::int32_t, I, O>(std::move(g), std::move(weights));
}

// --- Weights from the file

[[noreturn]] void refuse(const input_description& input, const std::string& what) {
  const std::string name = input.file.has_value() ? input.file->name() : input.path;
  throw error(error_code::invalid_data, source_position{name, 0, 0}, what);
}

[[noreturn]] void refuse_none(const input_description& input) {
  const std::string unused = unused_weights(input);
  refuse(input, unused.empty() ? "it has no weights (expected --weights unit or random)" : unused);
}

[[noreturn]] void refuse_complex(const input_description& input) {
  refuse(input, "its values are complex (expected real weights, or --weights unit)");
}

template <index_type I>
void check_weights(const input_description& input, const coo_input<double, I>& read, const vertex_names& names,
                   weight_signs signs) {
  const auto values = read.entries.values().view();
  const bool skew = read.triangle == symmetry_kind::skew_symmetric;  // the mirrored entry has the opposite sign
  const auto is_too_large = [&](double value) {
    return signs == weight_signs::nonnegative_finite && std::isinf(value);
  };
  const auto bad = std::find_if(values.begin(), values.end(), [&](double value) {
    if (signs == weight_signs::any) return std::isnan(value);
    return !(value >= 0) || (skew && value > 0) || is_too_large(value);
  });
  if (bad == values.end()) return;
  const std::int64_t k = bad - values.begin();
  std::string from = names.label(read.entries.row_indices()[k]);
  std::string to = names.label(read.entries.col_indices()[k]);
  const bool mirrored = *bad > 0 && !is_too_large(*bad);
  if (mirrored) std::swap(from, to);
  const char* const expected = signs == weight_signs::any                  ? "a number"
                               : signs == weight_signs::nonnegative_finite ? "a finite one of 0 or more"
                                                                           : "0 or more";
  throw error(
      error_code::invalid_data, weight_position(input, k, values.size()),
      fmt::format("the edge from {} to {} has weight {} (expected {})", from, to, mirrored ? -*bad : *bad, expected));
}

// Calls f(weights) with the narrowest number type that holds them.
template <class Space, class F>
decltype(auto) with_narrowest(const context<Space>& ctx, span<const double, Space> weights,
                              const weight_summary& summary, double smallest, F&& f) {
  if (!summary.whole) return f(weights);
  constexpr std::numeric_limits<std::int32_t> narrow;
  if (summary.largest > narrow.max() || smallest < narrow.min()) {
    const array<std::int64_t, Space> whole = integer_weights<std::int64_t>(ctx, weights);
    return f(whole.view());
  }
  const array<std::int32_t, Space> whole = integer_weights<std::int32_t>(ctx, weights);
  return f(whole.view());
}

weighted_graph_options weighted_options(const graph_options& options, duplicate_weights duplicates) {
  return {.direction = options.direction, .duplicates = duplicates, .loops = options.loops};
}

template <index_type I>
any_placed_weighted_graph build_on_host(const context<host>& cpu, coo_input<double, I>& read,
                                        const weighted_graph_options& options) {
  const direction_kind direction = options.direction;
  const busy building("building the graph");
  const bool skew = read.triangle == symmetry_kind::skew_symmetric;  // weights differ by direction
  if (read.triangle != symmetry_kind::general && (skew || direction == direction_kind::directed)) {
    read.entries = expand_symmetry<double, I>(cpu, std::as_const(read.entries).view(), read.triangle);
  }
  const coo_view<const double, I, host> view = std::as_const(read.entries).view();
  const coo_pattern_view<I, host>& pairs = view;
  const std::int64_t most = direction == direction_kind::directed ? view.nnz() : 2 * view.nnz();
  const weight_summary summary = summarize_weights(cpu, view.values);
  const double smallest = summary.negative_or_nan ? *std::min_element(view.values.begin(), view.values.end()) : 0;
  return with_offset<I>(most, [&]<class O>(type_tag<O>) {
    return with_narrowest(
        cpu, view.values, summary, smallest, [&]<class W>(span<const W, host> weights) -> any_placed_weighted_graph {
          return placed_weighted_graph<W, I, O>(build_weighted_graph<O, W, I, host>(cpu, pairs, weights, options));
        });
  });
}

// The entries of a snapshot as a list, with the lightest weight of each or their sum. The heaviest is not in it.
any_entries list_stored(const context<host>& cpu, const input_description& input, duplicate_weights duplicates) {
  if (input.field == matrix_market_field::complex) refuse_complex(input);
  input_cache none(cache_mode::off, input, value_kind::fp64);
  any_csr<double> stored = read_csr<double>(cpu, input, {}, none);
  return std::visit(
      [&]<class I, class O>(csr_input<double, I, O>& read) -> any_entries {
        coo_matrix<double, I, host> entries = to_coo(cpu, read.matrix);
        const std::string_view notes = input.mapped->notes();
        if (duplicates == duplicate_weights::max && has_lightest(notes)) {
          refuse(input,
                 "it has the sums and the lightest of repeated edges' weights (expected the file it was made from)");
        }
        if (duplicates == duplicate_weights::min) take_lightest(notes, entries.values().view());
        return coo_input<double, I>{std::move(entries), symmetry_kind::general, std::move(read.facts)};
      },
      stored);
}

// The entries of a weight cache; as pairs if the text has no weights.
any_entries list_kept(const context<host>& cpu, const snapshot& kept, input_facts facts, bool always_weighted) {
  if (facts.names.naming == vertex_naming::listed) facts.names.ids.assign(kept.ids().begin(), kept.ids().end());
  const auto list = [&]<class I, class O>(type_tag<I>, type_tag<O>) -> any_entries {
    coo_matrix<double, I, host> entries = to_coo(cpu, kept.template matrix<double, I, O>());
    if (facts.weighted || always_weighted) {
      return coo_input<double, I>{std::move(entries), symmetry_kind::general, std::move(facts)};
    }
    coo_matrix<pattern, I, host> pairs = {
        entries.rows(), entries.cols(), std::move(entries.row_indices()), std::move(entries.col_indices()), {}};
    return coo_input<pattern, I>{std::move(pairs), symmetry_kind::general, std::move(facts)};
  };
  const snapshot_header& header = kept.header();
  if (header.index_bytes == 8) return list(type_tag<std::int64_t>{}, type_tag<std::int64_t>{});
  if (header.offset_bytes == 8) return list(type_tag<std::int32_t>{}, type_tag<std::int64_t>{});
  return list(type_tag<std::int32_t>{}, type_tag<std::int32_t>{});
}

bool any_is_negative(const any_entries& entries) {
  return std::visit(
      []<class V, class I>(const coo_input<V, I>& held) {
        if constexpr (std::floating_point<V>) {
          const auto values = held.entries.values().view();
          return std::any_of(values.begin(), values.end(), [](V v) { return v < 0; });
        } else {
          return false;
        }
      },
      entries);
}

// Writes the cache: the matrix of the lightest weights, 1 if the text has none.
void keep_lightest(const context<host>& cpu, const input_description& input, const any_entries& listed,
                   input_cache& cache) {
  const auto keep = [&]<class I>(const coo_view<const double, I, host>& entries, const input_facts& facts) {
    with_offset<I>(entries.nnz(), [&]<class O>(type_tag<O>) {
      const auto g =
          build_weighted_graph<O>(cpu, entries, {.duplicates = duplicate_weights::min, .loops = self_loops::keep});
      cache.write(input, facts, [&](const std::string& path, const snapshot_options& options) {
        write_snapshot(cpu, path, matrix_of(g.view()), options);
      });
    });
  };
  std::visit(
      [&]<class V, class I>(const coo_input<V, I>& read) {
        const coo_view<const V, I, host> stored = read.entries.view();
        if constexpr (std::same_as<V, double>) {
          if (read.triangle == symmetry_kind::general) return keep(stored, read.facts);
          const coo_matrix<double, I, host> all = expand_symmetry<double, I>(cpu, stored, read.triangle);
          keep(all.view(), read.facts);
        } else if constexpr (is_pattern<V>) {
          const array<double, host> ones = convert_values<double, pattern>(cpu, {}, stored.nnz());
          const coo_pattern_view<I, host>& pairs = stored;
          keep(coo_view<const double, I, host>{pairs, ones.view()}, read.facts);
        }
      },
      listed);
}

class weighted_maker {
 public:
  using listed = any_entries;
  using made = any_placed_weighted_graph;

  explicit weighted_maker(const weight_choice& choice) : choice_(choice) {}

  // Description of the weights.
  [[nodiscard]] std::string weights() const {
    if (of_file_) return "file";
    return choice_.source == weight_source::random ? fmt::format("random:{}", choice_.seed) : "unit";
  }

  // The weight cache holds the lightest of several edges; the cache of products has their sums, but not their signs.
  input_cache cache(cache_mode mode, const input_description& input) {
    const bool wants_file = choice_.source == weight_source::automatic || choice_.source == weight_source::file;
    bare_ = !wants_file || (!is_graph_text(input.kind) && input.field == matrix_market_field::pattern) ||
            (choice_.source == weight_source::automatic && input.kind == input_kind::generator);
    if (bare_) return {mode, input, value_kind::pattern};
    input_cache weights_cache(mode, input, value_kind::fp64, "weights");
    if (choice_.duplicates != duplicate_weights::min) {
      weights_cache.refuse(fmt::format("it would hold the lightest of repeated edges (expected their {})",
                                       choice_.duplicates == duplicate_weights::max ? "heaviest" : "sum"));
    }
    return weights_cache;
  }
  [[nodiscard]] bool takes_weights() const { return !bare_; }

  any_entries read(const context<host>& cpu, const input_description& input, input_cache& cache,
                   const graph_flags& flags) const {
    progress_bar bar("reading " + input.path, flags.common.quiet);
    if (!bare_) {
      if (input.kind == input_kind::snapshot) return list_stored(cpu, input, choice_.duplicates);
      input_facts facts;
      if (std::optional<snapshot> kept = cache.open(cpu, facts)) {
        return list_kept(cpu, *kept, std::move(facts), !is_graph_text(input.kind));
      }
      any_entries entries = read_entries(cpu, input, bar.options());
      if (!cache.is_on()) return entries;
      std::visit([&](const auto& held) { check(input, entries, held.facts.names); }, entries);
      // Whoever opens the cache would refuse negative weights without their line.
      if (choice_.signs != weight_signs::nonnegative && any_is_negative(entries)) {
        cache.refuse("negative weights are not cached");
      } else {
        keep_lightest(cpu, input, entries, cache);
      }
      return entries;
    }
    any_coo<pattern> pairs = read_graph_entries(cpu, input, bar.options(), cache);
    return std::visit([](auto& held) -> any_entries { return std::move(held); }, pairs);
  }

  void check(const input_description& input, const any_entries& read, const vertex_names& names) const {
    std::visit(
        [&]<class V, class I>(const coo_input<V, I>& held) {
          if constexpr (is_pattern<V>) {
            if (choice_.source == weight_source::file) refuse_none(input);
          } else if constexpr (complex_type<V>) {
            refuse_complex(input);
          } else {
            check_weights(input, held, names, choice_.signs);
          }
        },
        read);
  }

  any_placed_weighted_graph build(const context<host>& cpu, any_entries read, const graph_options& options) {
    return std::visit(
        [&]<class V, class I>(coo_input<V, I>& held) -> any_placed_weighted_graph {
          if constexpr (std::same_as<V, double>) {
            of_file_ = true;
            return build_on_host(cpu, held, weighted_options(options, choice_.duplicates));
          } else if constexpr (is_pattern<V>) {
            any_graph built = make_graph(cpu, std::move(held), options);
            return std::visit(
                [&]<class J, class O>(graph<J, O, host>& g) {
                  return with_made_weights(cpu, placed_graph<J, O>(std::move(g)), choice_);
                },
                built);
          } else {
            throw error(error_code::unsupported, "complex weights");  // rejected by `check`
          }
        },
        read);
  }

  template <index_type I>
  std::optional<any_placed_weighted_graph> build_on_device(const backend& where, device_pairs<I> read,
                                                           const graph_options& options) {
    const context<device>& gpu = *where.gpu;
    if (!read.weighted) {
      if (choice_.source == weight_source::file) return {};
      any_placed_graph bare = build_pattern_on_device(where, read.pairs, options);
      return std::visit([&](auto& g) { return with_made_weights(where.cpu, std::move(g), choice_); }, bare);
    }
    const busy building("building the graph");
    const span<const double, device> values = std::as_const(read.weights).view();
    const weight_summary summary = summarize_weights(gpu, values);
    if (summary.negative_or_nan) return {};
    of_file_ = true;
    return with_pairs(read.pairs, options.direction,
                      [&]<class O>(const coo_pattern_view<I, device>& pairs, type_tag<O>) {
                        return with_narrowest(gpu, values, summary, 0,
                                              [&]<class W>(span<const W, device> weights) -> any_placed_weighted_graph {
                                                auto built = build_weighted_graph<O, W, I, device>(
                                                    gpu, pairs, weights, weighted_options(options, choice_.duplicates));
                                                return placed_weighted_graph<W, I, O>(gpu, where.cpu, std::move(built));
                                              });
                      });
  }

 private:
  weight_choice choice_;
  bool bare_ = false;     // reads without weights
  bool of_file_ = false;  // the weights are from the file
};

}  // namespace

weight_choice parse_weights(const std::string& text) {
  weight_choice choice;
  if (text.empty()) return choice;
  choice.source = text == "file" ? weight_source::file : text == "unit" ? weight_source::unit : weight_source::random;
  if (choice.source == weight_source::random && !parse_random("--weights", text, choice.seed)) {
    throw usage_error(fmt::format("--weights: {} (expected file, unit or random[:SEED])", text));
  }
  return choice;
}

void add_weights_flag(flag_set app, std::string& weights, const char* help) {
  const auto option = app.add_option("--weights", weights, help)->check(suggests({"file", "unit", "random"}));
  option->type_name("WEIGHTS");
  if (!weights.empty()) option->capture_default_str();
}

placed_weighted_input load_weighted(const graph_flags& flags, const graph_work& work, const weight_choice& choice) {
  weighted_maker maker(choice);
  auto loaded = placed_loader<weighted_maker>(flags, work, maker).run();
  loaded.from.ignores_weights = false;
  return {std::move(loaded.where), std::move(loaded.from), std::move(loaded.g), maker.weights(), choice.source};
}

void report_weights(report& out, const placed_weighted_input& read, const std::string& type) {
  out.keys()["weights"] = read.weights;
  out.keys()["weight_type"] = type;
  const bool none = read.wanted == weight_source::automatic && read.weights == "unit";
  const std::string unused = none ? unused_weights(read.from.input) : std::string();
  if (!unused.empty()) out.warn(fmt::format("{}: {}; every edge counts 1", read.from.input.path, unused));
  out.row("weights", !unused.empty() ? "every edge counts 1; " + unused
                     : none          ? "the file has none: every edge counts 1"
                                     : read.weights);
}

}  // namespace spargo::apps
