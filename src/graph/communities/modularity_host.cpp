// Louvain and Leiden on the host: levels of local moving, refinement (Leiden) and contraction.
#include "graph/communities/contraction.hpp"
#include "graph/communities/levels.hpp"
#include "graph/communities/refinement.hpp"

#include "core/bytes_of.hpp"
#include "core/instantiate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>

namespace spargo::detail::communities {

namespace {

// Names every node by the smallest node that it reaches over edges of positive weight inside its community.
template <class I, class O>
void split_disconnected(const context<host>& ctx, const level_graph<I, O>& g, span<I, host> community) {
  array<I, host> root(ctx, g.nodes);
  const auto parent = [&](I v) { return std::atomic_ref<I>(root[v]); };
  const auto find = [&](I v) {
    for (I up = parent(v).load(std::memory_order_relaxed); up != v;) {
      const I above = parent(up).load(std::memory_order_relaxed);
      if (above != up) parent(v).store(above, std::memory_order_relaxed);
      v = up;
      up = above;
    }
    return v;
  };
  parallel_for(ctx.threads(), g.nodes, grain::elements, [&](std::int64_t v) { root[v] = static_cast<I>(v); });
  parallel_for(ctx.threads(), g.nodes, grain::rows / 8, [&](std::int64_t v) {
    for (std::int64_t e = g.offsets[v]; e < g.offsets[v + 1]; ++e) {
      const I u = g.neighbours[e];
      if (u >= v || g.weight(e) == 0 || community[u] != community[v]) continue;
      for (;;) {
        I high = find(static_cast<I>(v));
        I low = find(u);
        if (high == low) break;
        if (high < low) std::swap(high, low);
        if (I expected = high; parent(high).compare_exchange_strong(expected, low, std::memory_order_relaxed)) break;
      }
    }
  });
  parallel_for(ctx.threads(), g.nodes, grain::rows, [&](std::int64_t v) { community[v] = find(static_cast<I>(v)); });
}

template <class I, class O>
class modularity_executor final : public executor<I, host> {
 public:
  modularity_executor(const context<host>& ctx, level_source<I, O> source, int exponent,
                      const communities_options& options)
      : ctx_(ctx), n_(source.level.nodes), options_(options), source_(std::move(source)), labels_(ctx, n_) {
    const bool directed = !source_.in_degree.empty();
    total_ = std::reduce(source_.degree.begin(), source_.degree.end(), std::int64_t{0});
    rule_ =
        make_gain_rule(options, directed ? direction_kind::directed : direction_kind::undirected, total_, n_, exponent);
    if (options.objective == communities_objective::cpm) {
      size_ = {ctx, n_};
      std::fill(size_.begin(), size_.end(), 1);
      source_.level.mass = size_.data();
    } else {
      source_.level.mass = source_.degree.data();
      if (directed) source_.level.in_mass = source_.in_degree.data();
    }
  }

  run_outcome run(span<const I, host> initial) override {
    parallel_for(ctx_.threads(), n_, grain::elements,
                 [&](std::int64_t v) { labels_[v] = initial.empty() ? static_cast<I>(v) : initial[v]; });
    for (std::int64_t v = 0; v < n_; ++v) {
      if (labels_[v] < 0 || labels_[v] >= n_) throw_bad_label(v, labels_[v], n_);
    }
    // A pass that finds nothing better keeps these, so Leiden's have to be connected.
    if (!initial.empty() && options_.method == communities_method::leiden) {
      split_disconnected<I, O>(ctx_, source_.level, labels_.view());
    }
    name_by_smallest<I>(ctx_, labels_.view());
    array<I, host> next(ctx_, n_);
    std::int64_t inside = weight_inside(labels_);
    std::int64_t found = 0;
    run_outcome outcome = take_passes(
        options_, iterations_of(options_, n_, source_.level.entries()), quality_of(labels_, inside),
        static_cast<double>(rule_.link) * static_cast<double>(total_),
        [&](std::uint64_t seed, std::int64_t& levels) {
          std::copy(labels_.begin(), labels_.end(), next.begin());
          improve_levels<I, O>(ctx_, source_.level, next.view(), rule_, options_, seed, levels);
        },
        [&] {
          found = weight_inside(next);
          return quality_of(next, found);
        },
        [&] {
          labels_.swap(next);
          inside = found;
        });
    for (std::int64_t v = 0; v < n_; ++v) outcome.count += labels_[v] == v ? 1 : 0;
    outcome.modularity = modularity_of(labels_, inside);
    return outcome;
  }

  [[nodiscard]] span<const I, host> labels() const noexcept override { return labels_.view(); }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    const auto symmetric = source_.symmetric.view();
    return bytes_of(labels_, source_.degree, source_.in_degree, source_.weights, size_, symmetric.out.offsets,
                    symmetric.out.indices, symmetric.out_weights);
  }

 private:
  // Twice the weight inside communities, loops included (directed: once).
  [[nodiscard]] std::int64_t weight_inside(const array<I, host>& labels) const {
    const level_graph<I, O>& g = source_.level;
    const std::int64_t twice = parallel_reduce(
        ctx_.threads(), n_, grain::rows / 8, std::int64_t{0},
        [&](std::int64_t first, std::int64_t last) {
          std::int64_t sum = 0;
          for (std::int64_t v = first; v < last; ++v) {
            const I own = labels[v];
            std::int64_t loops = 0;
            for (std::int64_t e = g.offsets[v]; e < g.offsets[v + 1]; ++e) {
              const I u = g.neighbours[e];
              sum += labels[u] == own ? g.weight(e) : 0;
              loops += u == v ? g.weight(e) : 0;
            }
            sum += loops;
          }
          return sum;
        },
        std::plus<>());
    return source_.in_degree.empty() ? twice : twice / 2;
  }
  // Sum over communities of the square of their mass (directed: of the product).
  [[nodiscard]] int128 sum_of_squares(const array<I, host>& labels, const std::int64_t* mass,
                                      const std::int64_t* in_mass) const {
    array<std::int64_t, host> of(ctx_, n_), in(ctx_, in_mass != nullptr ? n_ : 0);
    std::fill(of.begin(), of.end(), 0);
    std::fill(in.begin(), in.end(), 0);
    for (std::int64_t v = 0; v < n_; ++v) {
      of[labels[v]] += mass[v];
      if (in_mass != nullptr) in[labels[v]] += in_mass[v];
    }
    int128 sum = 0;
    for (std::int64_t v = 0; v < n_; ++v) sum += static_cast<int128>(of[v]) * (in_mass != nullptr ? in : of)[v];
    return sum;
  }
  [[nodiscard]] int128 quality_of(const array<I, host>& labels, std::int64_t inside) const {
    const level_graph<I, O>& g = source_.level;
    const bool ordered_pairs = !source_.in_degree.empty() && g.in_mass == nullptr;  // directed CPM
    return communities::quality_of({inside, sum_of_squares(labels, g.mass, g.in_mass)}, rule_, ordered_pairs);
  }
  [[nodiscard]] double modularity_of(const array<I, host>& labels, std::int64_t inside) const {
    const std::int64_t* const in = source_.in_degree.empty() ? nullptr : source_.in_degree.data();
    return communities::modularity_of({inside, sum_of_squares(labels, source_.degree.data(), in)}, total_, options_);
  }

  context<host> ctx_;
  std::int64_t n_;
  communities_options options_;
  level_source<I, O> source_;
  array<std::int64_t, host> size_;  // 1 for each vertex, for CPM
  std::int64_t total_ = 0;          // of all degrees
  gain_rule rule_;
  array<I, host> labels_;
};

}  // namespace

template <class I, class O>
void sort_rows(level_arrays<I, O>& level) {
  std::vector<std::pair<I, std::int64_t>> row;
  for (std::int64_t v = 0; v < level.mass.size(); ++v) {
    const std::int64_t first = level.offsets[v];
    const std::int64_t last = level.offsets[v + 1];
    row.clear();
    for (std::int64_t e = first; e < last; ++e) row.emplace_back(level.neighbours[e], level.weights[e]);
    std::sort(row.begin(), row.end());
    for (std::int64_t e = first; e < last; ++e) {
      std::tie(level.neighbours[e], level.weights[e]) = row[static_cast<std::size_t>(e - first)];
    }
  }
}

template <class I, class O>
void improve_levels(const context<host>& ctx, level_graph<I, O> g, span<I, host> labels, const gain_rule& rule,
                    const communities_options& options, std::uint64_t seed, std::int64_t& level) {
  const std::int64_t n = g.nodes;
  level_arrays<I, O> owned;
  array<I, host> node_of(ctx, n);  // [node of the first level] its node of this one, or finished_node of its name
  array<I, host> name(ctx, n);     // [node] its smallest node of the first level
  array<I, host> community(ctx, n);
  parallel_for(ctx.threads(), n, grain::elements, [&](std::int64_t v) {
    node_of[v] = name[v] = static_cast<I>(v);
    community[v] = labels[v];
  });
  weight_tables<I> tables(static_cast<std::size_t>(ctx.threads()));
  pass_progress progress;
  for (;; ++level) {
    const std::uint64_t key = level_key(seed, level);
    local_moving<I, O>(ctx, g, rule, key, tables).run(community.view(), progress);
    name_by_smallest<I>(ctx, community.view());
    const bool refines = options.method == communities_method::leiden;
    bool is_last = progress.is_done() || level == options.max_levels;
    array<I, host> group(ctx, is_last ? 0 : g.nodes), number(ctx, group.size());
    group_count count;
    if (!is_last) {
      std::copy(community.begin(), community.end(), group.begin());
      if (refines) {
        refinement<I, O>(ctx, g, rule, mixed_bits(key, 1), tables).run(community.view(), group.view());
        name_by_smallest<I>(ctx, group.view());
      }
      count = number_groups<I, O>(ctx, g, std::as_const(community).view(), std::as_const(group).view(), number.view());
      is_last = count.all() == g.nodes;
    }
    if (is_last) {
      if (refines) split_disconnected<I, O>(ctx, g, community.view());
      parallel_for(ctx.threads(), n, grain::elements, [&](std::int64_t v) {
        labels[v] = node_of[v] >= 0 ? name[community[node_of[v]]] : finished_node(node_of[v]);
      });
      return name_by_smallest<I>(ctx, labels);
    }
    level_arrays<I, O> next = contract<I, O>(ctx, g, std::as_const(number).view(), count.groups, tables);
    array<I, host> coarse(ctx, count.groups), next_name(ctx, count.groups);
    parallel_for(ctx.threads(), g.nodes, grain::elements, [&](std::int64_t v) {
      if (group[v] != v || number[v] < 0) return;
      coarse[number[v]] = number[community[v]];
      next_name[number[v]] = name[v];
    });
    parallel_for(ctx.threads(), n, grain::elements, [&](std::int64_t v) {
      const I node = node_of[v];
      if (node >= 0) node_of[v] = number[node] >= 0 ? number[node] : finished_node(name[node]);
    });
    owned = std::move(next);
    g = owned.view();
    community = std::move(coarse);
    name = std::move(next_name);
  }
}

template <class I, class O>
level_source<I, O> undirected_source(const context<host>& ctx, const graph_view<I, O, host>& g, fixed_weights weights) {
  level_source<I, O> source{{},
                            std::move(weights.values),
                            {g.vertices(), g.out.offsets.data(), g.out.indices.data()},
                            {ctx, g.vertices()},
                            {}};
  if (!source.weights.empty()) source.level.weights = source.weights.data();
  parallel_for(ctx.threads(), g.vertices(), grain::rows, [&](std::int64_t v) {
    std::int64_t sum = 0;
    for (std::int64_t e = g.out.offsets[v]; e < g.out.offsets[v + 1]; ++e)
      sum += source.level.weight(e) * (g.out.indices[e] == v ? 2 : 1);
    source.degree[v] = sum;
  });
  return source;
}

template <class I, class O>
level_source<I, std::int64_t> directed_source(const context<host>& ctx, const graph_view<I, O, host>& g,
                                              fixed_weights weights) {
  if (weights.values.empty()) {
    weights.values = {ctx, g.out.nnz()};
    std::fill(weights.values.begin(), weights.values.end(), 1);
  }
  level_source<I, std::int64_t> source;
  source.degree = {ctx, g.vertices()};
  source.in_degree = {ctx, g.vertices()};
  std::fill(source.in_degree.begin(), source.in_degree.end(), 0);
  parallel_for(ctx.threads(), g.vertices(), grain::rows, [&](std::int64_t v) {
    std::int64_t sum = 0;
    for (std::int64_t e = g.out.offsets[v]; e < g.out.offsets[v + 1]; ++e) {
      sum += weights.values[e];
      std::atomic_ref<std::int64_t>(source.in_degree[g.out.indices[e]])
          .fetch_add(weights.values[e], std::memory_order_relaxed);
    }
    source.degree[v] = sum;
  });
  const auto pairs = to_coo(ctx, csr_view<const pattern, I, O, host>{g.out, {}});
  source.symmetric = build_weighted_graph<std::int64_t, std::int64_t, I, host>(
      ctx, pairs.view(), std::as_const(weights.values).view(),
      {.direction = direction_kind::undirected, .duplicates = duplicate_weights::sum, .loops = self_loops::keep});
  const auto view = source.symmetric.view();
  source.level = {g.vertices(), view.out.offsets.data(), view.out.indices.data(), view.out_weights.data()};
  return source;
}

namespace {
int bits_of(int128 value) {
  int bits = 0;
  for (; value > 0; value /= 2) ++bits;
  return bits;
}
}  // namespace

gain_rule make_gain_rule(const communities_options& options, direction_kind direction, std::int64_t total,
                         std::int64_t vertices, int exponent) {
  // Above `most` every vertex is alone: the penalty of any two vertices exceeds the weight between them.
  const bool modularity = options.objective == communities_objective::modularity;
  const bool directed = direction == direction_kind::directed;
  const double most = 2 * static_cast<double>(std::max<std::int64_t>(total, 1));
  const double factor =
      std::min(modularity ? options.resolution : std::ldexp(options.resolution, exponent) * (directed ? 2 : 1), most);
  const std::int64_t largest = std::max<std::int64_t>(modularity ? total : vertices, 1);
  const auto mass_bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(largest)));
  const int integer_bits = std::max(0, std::ilogb(std::max(factor, 0.5)) + 1);
  const int penalty_bits = std::min(62, 125 - 2 * mass_bits);
  const int fraction_bits = std::min(modularity ? 24 : 40, penalty_bits - integer_bits);
  if (fraction_bits < 0) {
    throw_invalid_argument(
        fmt::format("communities: resolution {} is too large for these weights", options.resolution));
  }
  gain_rule rule{static_cast<int128>(modularity ? largest : 1) << fraction_bits,
                 std::llround(std::ldexp(factor, fraction_bits))};
  // The common power of two says nothing.
  while (rule.link % 2 == 0 && rule.penalty % 2 == 0 && rule.penalty > 0) {
    rule.link /= 2;
    rule.penalty /= 2;
  }
  const int bits = std::max(bits_of(rule.link) + bits_of(total), bits_of(rule.penalty) + 2 * mass_bits);
  rule.unit = std::max(0, bits - 61);
  rule.narrow = !directed && total < std::int64_t{1} << 31 && vertices < std::int64_t{1} << 31 && bits <= 61;
  return rule;
}

template <class I, class O>
std::unique_ptr<executor<I, host>> make_modularity_executor(const context<host>& ctx, const graph_view<I, O, host>& g,
                                                            fixed_weights weights, const communities_options& options) {
  const int exponent = weights.exponent;
  if (g.direction == direction_kind::directed) {
    return std::make_unique<modularity_executor<I, std::int64_t>>(ctx, directed_source(ctx, g, std::move(weights)),
                                                                  exponent, options);
  }
  return std::make_unique<modularity_executor<I, O>>(ctx, undirected_source(ctx, g, std::move(weights)), exponent,
                                                     options);
}

#define INSTANTIATE(I, O)                                                                                            \
  template std::unique_ptr<executor<I, host>> make_modularity_executor(                                              \
      const context<host>&, const graph_view<I, O, host>&, fixed_weights, const communities_options&);               \
  template level_source<I, O> undirected_source(const context<host>&, const graph_view<I, O, host>&, fixed_weights); \
  template level_source<I, std::int64_t> directed_source(const context<host>&, const graph_view<I, O, host>&,        \
                                                         fixed_weights);                                             \
  template void sort_rows(level_arrays<I, O>&);                                                                      \
  template void improve_levels(const context<host>&, level_graph<I, O>, span<I, host>, const gain_rule&,             \
                               const communities_options&, std::uint64_t, std::int64_t&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::communities
