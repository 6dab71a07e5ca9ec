// Betweenness centrality on the device: the executor. Batches of four sources, each with a forward and a backward pass;
// launches cover runs of listed levels (cuda_kernel.cuh) or single dense ones (cuda_dense.cuh). Forward, the host waits
// after each launch; backward, it does not.
//
// Cost: a listed level reads the rows of its pairs, a pulled one the rows of vertices that lack a lane; backward, each
// row once per level of its vertex; a byte of state per edge, and a sector per edge on a shortest path. The graph alone
// determines the order of sums. Source: Brandes, 2001; backward steps without atomics after Madduri, Ediger, Jiang,
// Bader, Chavarria-Miranda, IPDPS 2009; direction: Beamer, Asanovic, Patterson, SC 2012.
#include "core/bytes_of.hpp"
#include "core/device/cooperative.cuh"
#include "core/device/launch.cuh"
#include "core/device/plan_memory.hpp"
#include "core/device/shared_limit.cuh"
#include "core/instantiate.hpp"
#include "graph/betweenness/cuda_kernel.cuh"
#include "graph/betweenness/cuda_rows.cuh"
#include "graph/betweenness/executor.hpp"

#include <spargo/core/interruption.hpp>
#include <spargo/formats/convert.hpp>

#include <algorithm>
#include <vector>

namespace spargo::detail::betweenness {

namespace {

__global__ void find_largest_kernel(const double* values, std::int64_t size, double* largest) {
  double mine = 0;
  for (std::int64_t k = global_thread(); k < size; k += grid_threads()) mine = fmax(mine, values[k]);
  mine = warp_reduce(mine, maximum{});
  if (lane_id() == 0) {
    atomicMax(reinterpret_cast<count64*>(largest), static_cast<count64>(__double_as_longlong(mine)));
  }
}

// Vertices of rank `with_edges` and above have no edges and add nothing.
template <class I>
void add_lanes(const context<device>& ctx, const double* lanes, const I* rank, std::int64_t with_edges,
               span<double, device> values) {
  for_each(ctx, values.size(), [lanes, rank, with_edges, to = values.data()] __device__(std::int64_t v) {
    const std::int64_t r = rank_of(rank, v);
    if (r >= with_edges) return;
    const double2* const four = reinterpret_cast<const double2*>(lanes) + 2 * r;
    to[v] += (four[0].x + four[0].y) + (four[1].x + four[1].y);
  });
}

void multiply(const context<device>& ctx, span<double, device> values, double factor) {
  if (factor == 1) return;
  for_each(ctx, values.size(), [to = values.data(), factor] __device__(std::int64_t k) { to[k] *= factor; });
}

// `largest`: scratch for one value.
void divide_by_largest(const context<device>& ctx, span<double, device> values, double* largest) {
  fill_zero(ctx, span<double, device>(largest, 1));
  launch_kernel(ctx, grid_stride(ctx, values.size()), find_largest_kernel, values.data(), values.size(), largest);
  for_each(ctx, values.size(), [to = values.data(), largest] __device__(std::int64_t k) {
    if (*largest > 0) to[k] /= *largest;
  });
}

template <class I, class O>
class device_executor final : public executor<I, device> {
 public:
  static constexpr std::int64_t lanes = cuda_tuning::lanes;

  device_executor(const context<device>& ctx, const graph_view<I, O, device>& g, const betweenness_options& options)
      : ctx_(ctx), n_(g.vertices()), undirected_(g.direction == direction_kind::undirected), options_(options) {
    const device_guard guard(ctx_);
    if (n_ > std::int64_t{1} << 30) {  // limit of pairs and levels
      throw error(error_code::unsupported, "betweenness: the device takes up to 2^30 vertices");
    }
    values_ = {ctx_, n_};
    if (counts_edges()) edges_ = {ctx_, std::int64_t{g.out.nnz()}};
    if (n_ == 0) return;
    csr_pattern_view<I, O, device> in = g.has_in_edges() ? g.in : g.out;
    if (!undirected_ && !g.has_in_edges()) {
      transposed_ = transpose(ctx_, csr_view<const pattern, I, O, device>{{g.out}, {}});
      in = transposed_.view();
    }
    if (undirected_) in = g.out;
    allocate(g.out, in);
    forward_ = {ctx_, forward_kernel<I, O>, cuda_tuning::block, "betweenness"};
    backward_ = {ctx_, backward_kernel<I, O>, cuda_tuning::block, "betweenness"};
  }

  void run(span<const I, host> sources) override {
    const device_guard guard(ctx_);
    const std::int64_t count = sources.empty() ? n_ : sources.size();
    clear();
    for (std::int64_t first = 0; first < count; first += lanes) {
      interruption::look({first, count});
      search_.source_count = static_cast<int>(std::min(lanes, count - first));
      for (std::int64_t k = 0; k < search_.source_count; ++k) {
        search_.sources[k] = sources.empty() ? static_cast<I>(first + k) : sources[first + k];
      }
      run_batch();
      ctx_.synchronize();
    }
    interruption::look({count, count});
    scale(sources, static_cast<double>(count));
    ctx_.synchronize();
  }

  void clear() override {
    fill_zero(ctx_, values_.view());
    if (!edges_.empty()) fill_zero(ctx_, edges_.view());
  }

  [[nodiscard]] span<const double, device> values() const noexcept override { return values_.view(); }
  [[nodiscard]] span<const double, device> edges() const noexcept override { return edges_.view(); }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return memory_.bytes() + out_.bytes() + in_.bytes() +
           bytes_of(values_, edges_, rank_, transposed_.offsets(), transposed_.indices());
  }

 private:
  [[nodiscard]] bool counts_edges() const { return options_.edges == betweenness_edges::counted; }

  void allocate(const csr_pattern_view<I, O, device>& out, const csr_pattern_view<I, O, device>& in) {
    const row_facts out_facts = measure(ctx_, out);
    const row_facts in_facts = undirected_ ? out_facts : measure(ctx_, in);
    const auto longest = static_cast<double>(std::max(out_facts.longest, in_facts.longest));
    std::int64_t with_edges = n_;
    const double average = static_cast<double>(out.nnz()) / static_cast<double>(n_);
    if (longest > std::max<double>(cuda_tuning::chunk, cuda_tuning::skewed * average)) {
      const array<std::uint32_t, device> order =
          by_degree(ctx_, out, in, out_facts.longest + in_facts.longest, with_edges);
      rank_ = ranks_of<I>(ctx_, order);
      out_ = {ctx_, out, out_facts, order, rank_};
      if (!undirected_) in_ = {ctx_, in, in_facts, order, rank_};
      ctx_.synchronize();
    } else {
      out_ = {ctx_, out, out_facts};
      if (!undirected_) in_ = {ctx_, in, in_facts};
    }
    const std::int64_t chunks = static_cast<std::int64_t>(std::max(out_facts.chunks, in_facts.chunks));
    const std::int64_t pairs = n_ * lanes;
    edges_of_graph_ = {out.offsets.data(), out.indices.data(), nullptr, 0};
    search_.out = out_.edges();
    search_.in = undirected_ ? search_.out : in_.edges();
    search_.rank = rank_.data();
    search_.mirrored = undirected_;
    search_.n = with_edges;
    search_.edges = out.nnz();
    search_.growth = static_cast<double>(in_facts.longest);
    search_.states = memory_.take<unsigned char>(state_bytes());
    search_.bytes = memory_.take<unsigned>(n_);
    search_.numbers = memory_.take<double>(pairs);
    search_.quotients = memory_.take<double>(pairs);
    search_.dependencies = counts_edges() ? memory_.take<double>(pairs) : search_.numbers;
    search_.exponents = memory_.take<std::int32_t>(pairs);
    search_.levels = memory_.take<std::int32_t>(pairs);
    search_.list = memory_.take<entry_of<I>>(pairs);
    search_.begins = memory_.take<std::int64_t>(n_ + 2);
    search_.partial = memory_.take<double>(chunks * lanes);
    search_.partial_exponents = memory_.take<std::int32_t>(chunks * lanes);
    search_.arrived = memory_.take<unsigned>(chunks * lanes);
    search_.control = memory_.take<control_block>(1);
    search_.values = values_.data();
    search_.own = options_.endpoints == betweenness_endpoints::included ? 1 : 0;
    search_.keeps_levels = counts_edges();
    if (chunks > 0) clear(search_.arrived, chunks * lanes);
    // Narrow levels read these for all neighbours, before they know which count.
    clear(search_.quotients, pairs);
    clear(search_.exponents, pairs);
    dense_levels_.reserve(64);
  }

  [[nodiscard]] std::int64_t state_bytes() const { return div_up(n_, std::int64_t{4}) * 4; }
  template <class T>
  void clear(T* values, std::int64_t size) const {
    fill_zero(ctx_, span<T, device>(values, size));
  }

  template <dense_step Step>
  void launch_dense(const dense_task& t) {
    const std::int64_t chunks = dense_chunk_blocks(Step == dense_step::pull ? search_.in : search_.out, t);
    launch_kernel(ctx_, {chunks + dense_row_blocks(search_), cuda_tuning::dense_block}, dense_kernel<Step, I, O>,
                  search_, t, static_cast<unsigned>(chunks));
  }
  // With a shared-memory table of the first vertices' lanes or counts.
  template <dense_step Step, bool Bytes>
  void launch_hot(const dense_task& t) {
    const std::int64_t most = ctx_.properties().shared_memory_per_block - cuda_tuning::hot_rest;
    const std::int64_t room = std::min<std::int64_t>(cuda_tuning::hot_bytes, most);
    const bool sorted = search_.rank != nullptr;
    const std::int64_t hot = sorted && !t.ends ? std::min(Bytes ? room / 4 : room * 2, search_.n) / 8 * 8 : 0;
    const auto bytes = static_cast<std::size_t>(Bytes ? hot * 4 : hot / 2);
    const auto kernel = &hot_kernel<Step, Bytes, I, O>;
    allow_shared(kernel, bytes);
    launch_kernel(ctx_, {ctx_.properties().multiprocessors, cuda_tuning::hot_block, bytes}, kernel, search_, t,
                  static_cast<unsigned>(hot));
  }
  void pull(const position& at, bool marks) {
    const dense_task t{.depth = at.depth, .alive = at.alive, .marks = marks};
    if (marks || at.largest > most_byte) return take_dense<dense_step::pull>(t);
    launch_kernel(ctx_, one_thread_each(search_.n, 256), bytes_kernel<I, O>, search_, at.depth);
    launch_hot<dense_step::pull, true>(t);
  }
  template <dense_step Step>
  void take_dense(const dense_task& t) {
    const bool sorted = search_.rank != nullptr && search_.n <= most_hot_vertices;
    return sorted ? launch_hot<Step, false>(t) : launch_dense<Step>(t);
  }
  void flood(const position& at) {
    constexpr int threads = 256;
    constexpr std::int64_t resident = 8;  // maximum blocks per SM
    const double wanted = (static_cast<double>(at.pairs) * warp_size + at.edges / 8) / threads + 1;
    const auto most = static_cast<double>(resident * ctx_.properties().multiprocessors);
    launch_kernel(ctx_, {static_cast<std::int64_t>(std::min(wanted, most)), threads}, push_kernel<I, O>, search_,
                  at.depth, at.begin, at.end);
  }
  // State left by the previous kernels.
  [[nodiscard]] control_block control() const {
    control_block found{};
    copy_to_host(ctx_, search_.control, &found, sizeof(found));
    ctx_.synchronize();
    return found;
  }

  void run_batch() {
    const position last = search_forward();
    search_back(last.depth - 1, last.wide_from);
    add_lanes(ctx_, search_.dependencies, search_.rank, search_.n, values_.view());
    if (edges_.empty()) return;
    launch_kernel(ctx_, grid_stride(ctx_, n_, block_threads / warp_size), edges_kernel<I, O>, search_, edges_of_graph_,
                  n_, last.wide_from, edges_.data());
  }

  // Runs to the first empty level.
  position search_forward() {
    clear(search_.states, state_bytes());
    const std::int64_t pairs = search_.n * lanes;
    clear(search_.numbers, pairs);
    if (counts_edges()) clear(search_.dependencies, pairs);
    fill_bytes(ctx_, search_.levels, 0xff, static_cast<std::size_t>(pairs) * sizeof(std::int32_t));
    launch_kernel(ctx_, {1, warp_size}, start_kernel<I, O>, search_);
    position at = start_of(search_);
    dense_levels_.clear();
    while (at.pairs > 0) {
      clear(search_.control, 1);
      const step_action action = next_action(search_, at);
      if (action == step_action::flood) {
        flood(at);
        advance_by_flood(search_, at, control().found.sets[0]);
        continue;
      }
      if (action != step_action::pull) {
        forward_.launch(ctx_, search_, at);
        at = control().at;
        continue;
      }
      const bool marks = marks_pairs(at);
      if (at.dense) dense_levels_.push_back({at.depth, marks});
      pull(at, marks);
      advance_by_pull(at, control().found.sets[0]);
    }
    return at;
  }

  void search_back(int levels, int wide_from) {
    if (search_.own != 0) {
      clear(search_.control, 1);
      launch_kernel(ctx_, grid_stride(ctx_, n_), count_kernel<I, O>, search_);
    }
    clear(search_.states, state_bytes());
    launch_kernel(ctx_, {1, warp_size}, end_kernel<I, O>, search_);
    for (int depth = levels; depth > 0;) {
      const int dense = dense_levels_.empty() ? 0 : dense_levels_.back().depth;
      if (dense == depth) {
        take_dense<dense_step::back>({.depth = depth, .marked = dense_levels_.back().marked, .ends = depth == levels});
        dense_levels_.pop_back();
        --depth;
      } else {
        backward_.launch(ctx_, search_, depth, dense, levels, wide_from);
        depth = dense;
      }
    }
  }

  void scale(span<const I, host> sources, double count) {
    const bool all = sources.empty();
    const scale_rule rule{static_cast<double>(n_), count, all && undirected_, options_};
    multiply(ctx_, values_.view(), rule.factor(all ? 1 : 0));
    multiply(ctx_, edges_.view(), rule.edge_factor());
    if (!all && rule.by_pairs() && !rule.with_endpoints()) scale_sources(sources, rule);
    if (options_.normalization != betweenness_normalization::by_maximum) return;
    for (array<double, device>* some : {&values_, &edges_}) {
      if (!some->empty()) divide_by_largest(ctx_, some->view(), search_.quotients);
    }
  }

  // The values of sources have been scaled like those of other vertices.
  void scale_sources(span<const I, host> sources, const scale_rule& rule) {
    const double usual = rule.factor(0);
    if (usual == 0) return;
    std::vector<I> sorted(sources.begin(), sources.end());
    std::sort(sorted.begin(), sorted.end());
    for (auto at = sorted.begin(); at != sorted.end();) {
      const auto next = std::upper_bound(at, sorted.end(), *at);
      const double factor = rule.factor(static_cast<double>(next - at)) / usual;
      multiply(ctx_, values_.view().subspan(*at, 1), factor);
      at = next;
    }
  }

  context<device> ctx_;
  std::int64_t n_;
  bool undirected_;
  betweenness_options options_;
  csr_matrix<pattern, I, O, device> transposed_;
  cooperative_kernel<search<I, O>, position> forward_;
  cooperative_kernel<search<I, O>, int, int, int, int> backward_;
  search<I, O> search_{};
  array<double, device> values_;
  array<double, device> edges_;  // [out-edge], if requested
  plan_memory memory_{ctx_};
  array<I, device> rank_;  // empty unless vertices are sorted by degree
  traversed_rows<I, O> out_;
  traversed_rows<I, O> in_;
  edge_set<I, O> edges_of_graph_{};
  struct dense_level {
    int depth;
    bool marked;
  };
  std::vector<dense_level> dense_levels_;  // dense levels of the search so far
};

}  // namespace

template <class I, class O>
std::unique_ptr<executor<I, device>> make_executor(const context<device>& ctx, const graph_view<I, O, device>& g,
                                                   const betweenness_options& options) {
  return std::make_unique<device_executor<I, O>>(ctx, g, options);
}

#define INSTANTIATE(I, O)                                                                                              \
  template std::unique_ptr<executor<I, device>> make_executor(const context<device>&, const graph_view<I, O, device>&, \
                                                              const betweenness_options&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)

}  // namespace spargo::detail::betweenness
