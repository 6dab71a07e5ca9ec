#include "common/weighted_input.hpp"

#include "common/lightest.hpp"
#include "common/progress.hpp"
#include "common/random.hpp"
#include "common/weight_position.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace spargo::apps {

namespace {

// --- Weights that the file does not tell

template <class Weight>
any_weighted_graph attach(const context<host>& cpu, any_graph bare, Weight&& weight) {
  return std::visit(
      [&]<class I, class O>(graph<I, O, host>& g) -> any_weighted_graph {
        const auto out = g.view().out;
        array<std::int32_t, host> weights(cpu, out.nnz());
        for (std::int64_t u = 0; u < out.rows; ++u) {
          for (O e = out.offsets[u]; e < out.offsets[u + 1]; ++e) weights[e] = weight(u, std::int64_t{out.indices[e]});
        }
        const std::int64_t edges = g.edges();
        return weighted_graph<std::int32_t, I, O, host>(std::move(g), std::move(weights), {}, edges);
      },
      bare);
}

any_weighted_graph with_made_weights(const context<host>& cpu, any_graph bare, const weight_choice& choice) {
  if (choice.source != weight_source::random) {
    return attach(cpu, std::move(bare), [](std::int64_t, std::int64_t) { return 1; });
  }
  return attach(cpu, std::move(bare), [&](std::int64_t u, std::int64_t v) { return random_weight(choice.seed, u, v); });
}

// --- Weights of the file

[[noreturn]] void refuse(const input_description& input, const std::string& what) {
  const std::string name = input.file.has_value() ? input.file->name() : input.path;
  throw error(error_code::invalid_data, source_position{name, 0, 0}, what);
}

[[noreturn]] void refuse_complex(const input_description& input) {
  refuse(input, "its values are complex (expected weights of 0 or more, or --weights unit)");
}

template <index_type I>
void check_weights(const input_description& input, const coo_input<double, I>& read) {
  const auto values = read.entries.values().view();
  const bool skew = read.triangle == symmetry_kind::skew_symmetric;  // the mirrored entry has the other sign
  const auto bad =
      std::find_if(values.begin(), values.end(), [&](double value) { return !(value >= 0) || (skew && value > 0); });
  if (bad == values.end()) return;
  const std::int64_t k = bad - values.begin();
  const vertex_names& names = read.facts.names;
  std::int64_t from = names.id(read.entries.row_indices()[k]);
  std::int64_t to = names.id(read.entries.col_indices()[k]);
  if (*bad > 0) std::swap(from, to);
  throw error(
      error_code::invalid_data, weight_position(input, k, values.size()),
      fmt::format("the edge from {} to {} has weight {} (expected 0 or more)", from, to, *bad > 0 ? -*bad : *bad));
}

enum class number_type { int32, int64, fp64 };

number_type narrowest(span<const double, host> values) {
  constexpr double most = 0x1p53;  // from here on doubles leave out integers
  double largest = 0;
  for (const double value : values) {
    if (value >= most || value != std::floor(value)) return number_type::fp64;
    largest = std::max(largest, value);
  }
  return largest <= std::numeric_limits<std::int32_t>::max() ? number_type::int32 : number_type::int64;
}

template <class W, index_type I>
any_weighted_graph build_with(const context<host>& cpu, const coo_matrix<double, I, host>& entries,
                              direction_kind direction) {
  const std::int64_t most = direction == direction_kind::directed ? entries.nnz() : 2 * entries.nnz();
  const coo_view<const double, I, host> view = entries.view();
  const coo_pattern_view<I, host>& pairs = view;
  return with_offset<I>(most, [&]<class O>(type_tag<O>) -> any_weighted_graph {
    const weighted_graph_options options{.direction = direction, .duplicates = duplicate_weights::min};
    if constexpr (std::same_as<W, double>) {
      return build_weighted_graph<O, W, I, host>(cpu, pairs, view.values, options);
    } else {
      const array<W, host> weights = integer_weights<W>(cpu, view.values);
      return build_weighted_graph<O, W, I, host>(cpu, pairs, weights.view(), options);
    }
  });
}

template <index_type I>
any_weighted_graph build_from(const context<host>& cpu, coo_input<double, I>& read, direction_kind direction) {
  const busy building("building the graph");
  if (direction == direction_kind::directed && read.triangle != symmetry_kind::general) {
    read.entries = expand_symmetry<double, I>(cpu, std::as_const(read.entries).view(), read.triangle);
  }
  switch (narrowest(std::as_const(read.entries).values().view())) {
    case number_type::int32:
      return build_with<std::int32_t>(cpu, read.entries, direction);
    case number_type::int64:
      return build_with<std::int64_t>(cpu, read.entries, direction);
    case number_type::fp64:
      break;
  }
  return build_with<double>(cpu, read.entries, direction);
}

// The entries of a snapshot, listed again, with the lightest weight of each.
any_entries list_stored(const context<host>& cpu, const input_description& input) {
  if (input.field == matrix_market_field::complex) refuse_complex(input);
  input_cache none(cache_mode::off, input, value_kind::fp64);
  any_csr<double> stored = read_csr<double>(cpu, input, {}, none);
  return std::visit(
      [&]<class I, class O>(csr_input<double, I, O>& read) -> any_entries {
        coo_matrix<double, I, host> entries = to_coo(cpu, read.matrix);
        take_lightest(input.mapped->notes(), entries.values().view());
        return coo_input<double, I>{std::move(entries), symmetry_kind::general, std::move(read.facts)};
      },
      stored);
}

any_entries read_listed(const context<host>& cpu, const input_description& input, const graph_flags& flags) {
  progress_bar bar("reading " + input.path, flags.common.quiet);
  return input.kind == input_kind::snapshot ? list_stored(cpu, input) : read_entries(cpu, input, bar.options());
}

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

std::int32_t random_weight(std::uint64_t seed, std::int64_t u, std::int64_t v) {
  const auto low = static_cast<std::uint64_t>(std::min(u, v));
  const auto high = static_cast<std::uint64_t>(std::max(u, v));
  return 1 + static_cast<std::int32_t>(random_bits(random_bits(seed, low), high) % 255);
}

loaded_weighted_graph load_weighted_graph(const context<host>& cpu, const graph_flags& flags,
                                          const weight_choice& choice) {
  const stopwatch loading;
  input_description input = describe_input(cpu, flags.file);
  expect_square(input);
  const direction_kind direction = is_directed(flags, input) ? direction_kind::directed : direction_kind::undirected;
  const bool wants_file = choice.source == weight_source::automatic || choice.source == weight_source::file;
  const bool bare = !wants_file || (!is_graph_text(input.kind) && input.field == matrix_market_field::pattern) ||
                    (choice.source == weight_source::automatic && input.kind == input_kind::generator);
  // A cache holds the sums of duplicates, of which paths need the lightest.
  input_cache cache(bare ? flags.cache : cache_mode::off, input, value_kind::pattern);
  any_entries read = [&]() -> any_entries {
    if (!bare) return read_listed(cpu, input, flags);
    progress_bar bar("reading " + input.path, flags.common.quiet);
    any_coo<pattern> pairs = read_graph_entries(cpu, input, bar.options(), cache);
    return std::visit([](auto& listed) -> any_entries { return std::move(listed); }, pairs);
  }();
  const double load_ms = loading.milliseconds();
  const stopwatch building;
  input_facts facts;
  std::string weights = choice.source == weight_source::random ? fmt::format("random:{}", choice.seed) : "unit";
  any_weighted_graph g = std::visit(
      [&]<class V, class I>(coo_input<V, I>& listed) -> any_weighted_graph {
        if constexpr (is_pattern<V>) {
          if (choice.source == weight_source::file)
            refuse(input, "it has no weights (expected --weights unit or random)");
          facts = std::move(listed.facts);
          return with_made_weights(cpu, make_graph(cpu, std::move(listed), {.direction = direction}), choice);
        } else if constexpr (complex_type<V>) {
          refuse_complex(input);
        } else {
          check_weights(input, listed);
          any_weighted_graph built = build_from(cpu, listed, direction);
          weights = "file";
          facts = std::move(listed.facts);
          return built;
        }
      },
      read);
  return {{std::move(input), std::move(cache), std::move(facts), load_ms, building.milliseconds(), false},
          std::move(g),
          std::move(weights)};
}

}  // namespace spargo::apps
