// Louvain and Leiden on the device: the levels of modularity_host.cpp, with the same bits. Included by a file for each
// type of index.
//
// Levels stay on the device until one is small enough to be moved in sequence; the host takes that one and all above
// it. Weights in fixed point, and the symmetric copy of a directed graph, are made by the host and copied. Qualities
// are sums of integers in 128 bits.
#pragma once

#include "graph/communities/cuda_contraction.cuh"
#include "graph/communities/cuda_moving.cuh"
#include "graph/communities/levels.hpp"

#include "core/bytes_of.hpp"
#include "primitives/element.hpp"

#include <spargo/primitives/reduce.hpp>

namespace spargo::detail::communities {

// Adds up the weight of the edges inside communities; loops count twice.
template <class I, class O>
struct sum_inside {
  level_graph<I, O> g;
  const I* community;
  count64* total;
  std::int64_t mine = 0;

  template <class Group>
  __device__ void operator()(Group, std::int64_t, std::int64_t v, std::int64_t begin, std::int64_t end) {
    const I own = community[v];
    for (std::int64_t e = begin + Group::rank(); e < end; e += Group::size) {
      const I u = g.neighbours[e];
      if (community[u] == own) mine += u == v ? 2 * g.weight(e) : g.weight(e);
    }
  }
  __device__ void finish() const {
    const auto all = static_cast<count64>(warp_sum(mine));
    if (lane_id() == 0 && all != 0) atomicAdd(total, all);
  }
};

// Degrees of vertices in a graph without weights.
template <class I, class O>
struct count_degree {
  level_graph<I, O> g;
  std::int64_t* degree;

  template <class Group>
  __device__ void operator()(Group, std::int64_t, std::int64_t v, std::int64_t begin, std::int64_t end) const {
    std::int64_t loops = 0;
    for (std::int64_t e = begin + Group::rank(); e < end; e += Group::size) loops += g.neighbours[e] == v ? 1 : 0;
    loops = Group::reduce(loops, plus{});
    if (Group::rank() == 0) add_to(degree + v, end - begin + loops);
  }
  __device__ void finish() const {}
};

struct wide_sum {
  int128 value;
};
struct add_wide {
  __device__ wide_sum operator()(const wide_sum& a, const wide_sum& b) const { return {a.value + b.value}; }
};

constexpr int square_blocks = 128;

// One sum per warp.
static __global__ void __launch_bounds__(block_threads)
    sum_products_kernel(std::int64_t n, const std::int64_t* a, const std::int64_t* b, wide_sum* sums) {
  wide_sum mine{0};
  for (std::int64_t c = global_thread(); c < n; c += grid_threads()) mine.value += static_cast<int128>(a[c]) * b[c];
  __syncwarp();
  mine = warp_reduce(mine, add_wide{});
  if (lane_id() == 0) sums[global_thread() / warp_size] = mine;
}

template <class I, class O>
class device_modularity_executor final : public executor<I, device> {
 public:
  // An undirected graph without weights, which is borrowed.
  device_modularity_executor(const context<device>& ctx, const csr_pattern_view<I, O, device>& edges,
                             const communities_options& options)
      : ctx_(ctx), n_(edges.rows), options_(options), lists_(ctx, n_), labels_(ctx, n_), degree_(ctx, n_) {
    level_ = {n_, edges.offsets.data(), edges.indices.data()};
    level_.entries_on_device = edges.nnz();
    list_rows();
    fill_zero<std::int64_t, device>(ctx, degree_.view());
    lists_.for_all(level_.offsets, count_degree<I, O>{level_, degree_.data()});
    start(direction_kind::undirected, 0);
  }
  device_modularity_executor(const context<device>& ctx, const level_source<I, O>& source, int exponent,
                             const communities_options& options)
      : ctx_(ctx), n_(source.level.nodes), options_(options), lists_(ctx, n_), labels_(ctx, n_) {
    const level_graph<I, O>& from = source.level;
    const std::int64_t entries = from.entries();
    offsets_ = to_device(ctx, span<const O, host>(from.offsets, n_ + 1));
    neighbours_ = to_device(ctx, span<const I, host>(from.neighbours, entries));
    if (from.weights != nullptr) weights_ = to_device(ctx, span<const std::int64_t, host>(from.weights, entries));
    degree_ = to_device(ctx, source.degree.view());
    in_degree_ = to_device(ctx, source.in_degree.view());
    level_ = {n_, offsets_.data(), neighbours_.data(), from.weights != nullptr ? weights_.data() : nullptr};
    level_.entries_on_device = entries;
    list_rows();
    start(in_degree_.empty() ? direction_kind::undirected : direction_kind::directed, exponent);
  }

  run_outcome run(span<const I, device> initial) override {
    set_labels(initial);
    array<I, device> next(ctx_, n_);
    partition_sums best = sums_of(labels_, level_.mass, level_.in_mass);
    partition_sums found;
    run_outcome outcome = take_passes(
        options_, iterations_of(options_, n_, level_.entries_on_device), quality(best),
        static_cast<double>(rule_.link) * static_cast<double>(total_),
        [&](std::uint64_t seed, std::int64_t& levels) {
          copy<I>(ctx_, std::as_const(labels_).view(), next.view());
          improve(next, seed, levels);
        },
        [&] {
          found = sums_of(next, level_.mass, level_.in_mass);
          return quality(found);
        },
        [&] {
          labels_.swap(next);
          best = found;
        });
    array<I, device> number(ctx_, n_);
    outcome.count = number_groups<I, O>(ctx_, level_, labels_.data(), labels_.data(), number).all();
    if (level_.mass != degree_.data()) {
      best = sums_of(labels_, degree_.data(), in_degree_.empty() ? nullptr : in_degree_.data());
    }
    outcome.modularity = modularity_of(best, total_, options_);
    return outcome;
  }

  [[nodiscard]] span<const I, device> labels() const noexcept override { return labels_.view(); }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return bytes_of(labels_, offsets_, neighbours_, weights_, degree_, in_degree_, size_) + lists_.bytes();
  }

  // Public, since they have device lambdas.
  void list_rows() { lists_.list_all(n_, level_.offsets); }

  // After the degrees.
  void start(direction_kind direction, int exponent) {
    total_ = n_ > 0 ? reduce_sum<std::int64_t, device>(ctx_, degree_.view()) : 0;
    rule_ = make_gain_rule(options_, direction, total_, n_, exponent);
    if (options_.objective == communities_objective::cpm) {
      size_ = {ctx_, n_};
      for_each(ctx_, n_, [to = size_.data()] __device__(std::int64_t v) { to[v] = 1; });
      level_.mass = size_.data();
    } else {
      level_.mass = degree_.data();
      if (!in_degree_.empty()) level_.in_mass = in_degree_.data();
    }
  }

  void set_labels(span<const I, device> initial) {
    if (initial.empty()) {
      for_each(ctx_, n_, [to = labels_.data()] __device__(std::int64_t v) { to[v] = static_cast<I>(v); });
      return;
    }
    const array<I, host> given = to_host(ctx_, initial);
    for (std::int64_t v = 0; v < n_; ++v) {
      if (given[v] < 0 || given[v] >= n_) throw_bad_label(v, given[v], n_);
    }
    copy<I>(ctx_, initial, labels_.view());
    // A pass that finds nothing better keeps these, so Leiden's have to be connected.
    if (options_.method == communities_method::leiden) split_disconnected<I, O>(ctx_, level_, labels_.data());
    name_by_smallest<I>(ctx_, n_, labels_.data());
  }

  // One pass over all levels, from the communities in `labels`.
  void improve(array<I, device>& labels, std::uint64_t seed, std::int64_t& level) {
    rule_.narrow ? improve_in<narrow_numbers>(labels, seed, level) : improve_in<wide_numbers>(labels, seed, level);
  }
  template <class Numbers>
  void improve_in(array<I, device>& labels, std::uint64_t seed, std::int64_t& level) {
    const bool refines = options_.method == communities_method::leiden;
    level_graph<I, O> g = level_;
    device_level<I, O> owned;
    array<I, device> node_of(ctx_, n_);  // [vertex] its node of this level, or finished_node of its name
    array<I, device> name(ctx_, n_);     // [node] its smallest vertex
    array<I, device> community = clone(ctx_, std::as_const(labels).view());
    for_each(ctx_, n_, [of = node_of.data(), name = name.data()] __device__(std::int64_t v) {
      of[v] = name[v] = static_cast<I>(v);
    });
    pass_progress progress;
    for (;; ++level) {
      if (moving_tuning::is_small(g.nodes, g.entries_on_device)) {
        finish_on_host(g, community, seed, level);
        break;
      }
      const std::uint64_t key = level_key(seed, level);
      move_nodes<Numbers, I, O>(ctx_, g, rule_, key, community.data(), progress);
      name_by_smallest<I>(ctx_, g.nodes, community.data());
      bool is_last = progress.is_done() || level == options_.max_levels;
      array<I, device> group, number;
      group_count count;
      if (!is_last) {
        group = clone(ctx_, std::as_const(community).view());
        number = {ctx_, g.nodes};
        if (refines) {
          refine_groups<Numbers, I, O>(ctx_, g, rule_, mixed_bits(key, 1), community.data(), group.data());
          name_by_smallest<I>(ctx_, g.nodes, group.data());
        }
        count = number_groups<I, O>(ctx_, g, community.data(), group.data(), number);
        is_last = count.all() == g.nodes;
      }
      if (is_last) {
        if (refines) split_disconnected<I, O>(ctx_, g, community.data());
        break;
      }
      device_level<I, O> next = contract_level<Numbers, I, O>(ctx_, g, number.data(), count.groups);
      array<I, device> coarse(ctx_, count.groups), next_name(ctx_, count.groups);
      for_each(ctx_, g.nodes,
               [to = coarse.data(), to_name = next_name.data(), number = number.data(), group = group.data(),
                name = name.data(), community = community.data()] __device__(std::int64_t v) {
                 const I node = number[v];
                 if (group[v] != v || node < 0) return;
                 to[node] = number[community[v]];
                 to_name[node] = name[v];
               });
      for_each(ctx_, n_, [of = node_of.data(), name = name.data(), number = number.data()] __device__(std::int64_t v) {
        const I node = of[v];
        if (node >= 0) of[v] = number[node] >= 0 ? number[node] : finished_node(name[node]);
      });
      owned = std::move(next);
      g = owned.view();
      community = std::move(coarse);
      name = std::move(next_name);
    }
    for_each(ctx_, n_,
             [to = labels.data(), of = node_of.data(), name = name.data(), community = community.data()] __device__(
                 std::int64_t v) { to[v] = of[v] >= 0 ? name[community[of[v]]] : finished_node(of[v]); });
    name_by_smallest<I>(ctx_, n_, labels.data());
  }

  // The level and all above it.
  void finish_on_host(const level_graph<I, O>& g, array<I, device>& community, std::uint64_t seed,
                      std::int64_t& level) {
    const auto fetch = [&]<class T>(const T* from, std::int64_t size) {
      return from != nullptr ? to_host(ctx_, span<const T, device>(from, size)) : array<T, host>();
    };
    level_arrays<I, O> own;
    own.offsets = fetch(g.offsets, g.nodes + 1);
    own.neighbours = fetch(g.neighbours, g.entries_on_device);
    own.weights = fetch(g.weights, g.entries_on_device);
    own.mass = fetch(g.mass, g.nodes);
    own.in_mass = fetch(g.in_mass, g.nodes);
    if (g.offsets != level_.offsets) sort_rows(own);
    level_graph<I, O> on_host = own.view();
    if (g.weights == nullptr) on_host.weights = nullptr;
    array<I, host> labels = to_host(ctx_, std::as_const(community).view());
    improve_levels<I, O>(host_, on_host, labels.view(), rule_, options_, seed, level);
    copy<I>(ctx_, std::as_const(labels).view(), community.view());
    ctx_.synchronize();
  }

  [[nodiscard]] int128 quality(const partition_sums& sums) const {
    const bool ordered_pairs = !in_degree_.empty() && level_.in_mass == nullptr;  // directed CPM
    return quality_of(sums, rule_, ordered_pairs);
  }
  // in_mass: null, or what masses are multiplied by.
  [[nodiscard]] partition_sums sums_of(const array<I, device>& labels, const std::int64_t* mass,
                                       const std::int64_t* in_mass) {
    if (n_ == 0) return {};
    array<std::int64_t, device> of(ctx_, n_), in(ctx_, in_mass != nullptr ? n_ : 0);
    array<count64, device> inside(ctx_, 1);
    fill_zero<std::int64_t, device>(ctx_, of.view());
    fill_zero<std::int64_t, device>(ctx_, in.view());
    fill_zero<count64, device>(ctx_, inside.view());
    sum_by_label(ctx_, n_, labels.data(), mass, of.data());
    if (in_mass != nullptr) sum_by_label(ctx_, n_, labels.data(), in_mass, in.data());
    lists_.for_all(level_.offsets, sum_inside<I, O>{level_, labels.data(), inside.data()});
    array<wide_sum, device> sums(ctx_, square_blocks * (block_threads / warp_size));
    {
      const device_guard guard(ctx_);
      launch_kernel(ctx_, {square_blocks, block_threads}, sum_products_kernel, n_, of.data(),
                    in_mass != nullptr ? in.data() : of.data(), sums.data());
    }
    partition_sums found;
    for (const wide_sum& sum : to_host(ctx_, std::as_const(sums).view())) found.squares += sum.value;
    found.inside = static_cast<std::int64_t>(element<count64>(ctx_, std::as_const(inside).view(), 0));
    if (!in_degree_.empty()) found.inside /= 2;
    return found;
  }

 private:
  context<device> ctx_;
  context<host> host_;
  std::int64_t n_;
  communities_options options_;
  row_lists<I, O> lists_;  // of the graph
  array<I, device> labels_;
  array<O, device> offsets_;  // empty if the graph is borrowed
  array<I, device> neighbours_;
  array<std::int64_t, device> weights_;
  array<std::int64_t, device> degree_;     // directed: out-degree
  array<std::int64_t, device> in_degree_;  // of a directed graph
  array<std::int64_t, device> size_;       // 1 for each vertex, for CPM
  level_graph<I, O> level_;
  std::int64_t total_ = 0;  // of all degrees
  gain_rule rule_;
};

template <class I, class O>
std::unique_ptr<executor<I, device>> make_modularity_executor(const context<device>& ctx,
                                                              const graph_view<I, O, device>& g,
                                                              const communities_options& options) {
  if (g.direction == direction_kind::undirected) {
    return std::make_unique<device_modularity_executor<I, O>>(ctx, g.out, options);
  }
  const graph<I, O, host> here = to_host(ctx, g);
  const context<host> cpu;
  return std::make_unique<device_modularity_executor<I, std::int64_t>>(ctx, directed_source<I, O>(cpu, here.view(), {}),
                                                                       0, options);
}

template <class I, class O>
std::unique_ptr<executor<I, device>> make_modularity_executor(const context<device>& ctx,
                                                              const graph_view<I, O, host>& g, fixed_weights weights,
                                                              const communities_options& options) {
  const context<host> cpu;
  const int exponent = weights.exponent;
  if (g.direction == direction_kind::undirected) {
    return std::make_unique<device_modularity_executor<I, O>>(ctx, undirected_source<I, O>(cpu, g, std::move(weights)),
                                                              exponent, options);
  }
  return std::make_unique<device_modularity_executor<I, std::int64_t>>(
      ctx, directed_source<I, O>(cpu, g, std::move(weights)), exponent, options);
}

#define SPARGO_INSTANTIATE_MODULARITY(I, O)                                                 \
  template std::unique_ptr<executor<I, device>> make_modularity_executor(                   \
      const context<device>&, const graph_view<I, O, device>&, const communities_options&); \
  template std::unique_ptr<executor<I, device>> make_modularity_executor(                   \
      const context<device>&, const graph_view<I, O, host>&, fixed_weights, const communities_options&);

}  // namespace spargo::detail::communities
