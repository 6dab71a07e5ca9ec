// Triangles on the device: the executors. One processes ascending rows as stored (cuda_rows.cuh). The other orients the
// graph (cuda_orient.cuh) and looks up lists in sets (cuda_count.cuh). A run is a fixed sequence of kernels and a copy
// of the total; only total() waits.
//
// Both require an undirected graph with ascending rows, no loops and no duplicates. For other graphs the plan makes
// such a copy without directions; for directed ones with links also one with directions, to look up two-way edges.
#include "core/bytes_of.hpp"
#include "core/device/launch.cuh"
#include "core/device/plan_memory.hpp"
#include "core/device/words.cuh"
#include "core/instantiate.hpp"
#include "graph/triangles/cuda_count.cuh"
#include "graph/triangles/cuda_orient.cuh"
#include "graph/triangles/cuda_rows.cuh"
#include "graph/triangles/executor.hpp"
#include "primitives/element.hpp"
#include "primitives/sort/radix_sort.hpp"

#include <spargo/formats/convert.hpp>
#include <spargo/primitives/scan.hpp>

#include <bit>
#include <limits>

namespace spargo::detail::triangles {

namespace {

constexpr int warps_of_block = block_threads / warp_size;  // warps per block

template <class I, class O>
[[nodiscard]] device_rows<I, O> rows_of(const csr_pattern_view<I, O, device>& part) {
  return {part.rows, part.offsets.data(), part.indices.data()};
}

// Synchronizes.
template <class I, class O>
row_findings survey(const context<device>& ctx, const csr_pattern_view<I, O, device>& part) {
  array<row_findings, device> found(ctx, 1);
  fill_zero(ctx, found);
  if (part.rows > 0) {
    const device_guard guard(ctx);
    const std::int64_t parts = div_up(part.nnz(), traversal_tuning::entries);
    const unsigned blocks = blocks_for(ctx, std::max<std::int64_t>(parts * warp_size, part.rows), block_threads);
    launch_kernel(ctx, {blocks, block_threads}, survey_rows_kernel<I, O>, rows_of(part), parts, found.data());
  }
  return element<row_findings>(ctx, found.view(), 0);
}

// The graph that an executor processes.
template <class I, class O>
struct canonical_graph {
  graph<I, std::int64_t, device> copy;      // owner of `edges`; empty if they are the caller's
  graph<I, std::int64_t, device> directed;  // for the links of a directed graph
  csr_pattern_view<I, O, device> edges;
  std::int64_t longest = 0;

  [[nodiscard]] device_rows<I, O> rows() const { return rows_of(edges); }
  [[nodiscard]] device_rows<I, std::int64_t> directed_rows() const {
    if (directed.vertices() == 0) return {0, nullptr, nullptr};
    return rows_of(directed.view().out);
  }
  [[nodiscard]] std::int64_t bytes() const {
    const auto of = [](const csr_pattern_view<I, std::int64_t, device>& part) {
      return bytes_of(part.offsets, part.indices);
    };
    return of(copy.view().out) + of(directed.view().out);
  }
};

template <class I, class O>
canonical_graph<I, std::int64_t> copy_canonical(const context<device>& ctx, const graph_view<I, O, device>& g,
                                                triangles_output output) {
  canonical_graph<I, std::int64_t> made;
  const auto pairs = to_coo(ctx, csr_view<const pattern, I, O, device>{{g.out}, {}});
  const coo_pattern_view<I, device> view = pairs.view();
  made.copy = build_graph<std::int64_t>(ctx, view, {.direction = direction_kind::undirected});
  if (g.direction == direction_kind::directed && output == triangles_output::links) {
    made.directed = build_graph<std::int64_t>(ctx, view, {});
  }
  made.edges = made.copy.view().out;
  made.longest = static_cast<std::int64_t>(survey(ctx, made.edges).longest);
  return made;
}

template <class I, class O>
void find_degrees(const context<device>& ctx, const device_rows<I, O>& rows, array<I, device>& degrees) {
  for_each(ctx, rows.vertices, [rows, to = degrees.data()] __device__(std::int64_t v) {
    to[v] = static_cast<I>(rows.offsets[v + 1] - rows.offsets[v]);
  });
}

// Undirected: each edge between neighbours counts in both directions.
inline void double_counts(const context<device>& ctx, const array<std::int64_t, device>& counts,
                          array<std::int64_t, device>& links) {
  for_each(ctx, links.size(),
           [from = counts.data(), to = links.data()] __device__(std::int64_t v) { to[v] = 2 * from[v]; });
}

// Base of both executors: the graph and the results.
template <class I, class O>
class device_executor : public executor<I, device> {
 public:
  device_executor(const context<device>& ctx, canonical_graph<I, O> g, triangles_output output)
      : ctx_(ctx), graph_(std::move(g)), n_(graph_.edges.rows), output_(output), control_(ctx, 1) {
    total_ = {context<host>({.threads = 1, .resource = &pinned_host_resource()}), 1};
    total_[0] = 0;
    if (output == triangles_output::total) return;
    per_vertex_ = {ctx, n_};
    degrees_ = {ctx, n_};
    if (output == triangles_output::links) links_ = {ctx, n_};
    find_degrees(ctx, graph_.rows(), degrees_);
  }

  void run() final {
    if (n_ == 0) return;
    const device_guard guard(ctx_);
    fill_zero(ctx_, control_);
    count();
    if (!links_.empty() && !directed()) double_counts(ctx_, per_vertex_, links_);
    copy_to_host(ctx_, &control_.data()->total, total_.data(), sizeof(count64));
  }

  [[nodiscard]] std::int64_t total() const final {
    ctx_.synchronize();
    return static_cast<std::int64_t>(total_[0]);
  }
  [[nodiscard]] span<const std::int64_t, device> per_vertex() const noexcept final { return per_vertex_.view(); }
  [[nodiscard]] span<const std::int64_t, device> links() const noexcept final { return links_.view(); }
  [[nodiscard]] span<const I, device> degrees() const noexcept final { return degrees_.view(); }
  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return graph_.bytes() + bytes_of(per_vertex_, links_, degrees_, control_);
  }

 protected:
  virtual void count() = 0;  // fills all results except the links of an undirected graph

  // Whether an edge between neighbours may count once or twice.
  [[nodiscard]] bool directed() const { return graph_.directed_rows().offsets != nullptr; }
  [[nodiscard]] launch_shape warps_for(std::int64_t parts) const { return grid_stride(ctx_, parts, warps_of_block); }
  static count64* as_sums(array<std::int64_t, device>& counts) { return reinterpret_cast<count64*>(counts.data()); }

  context<device> ctx_;
  canonical_graph<I, O> graph_;
  std::int64_t n_;
  triangles_output output_;
  array<count_control, device> control_;
  array<std::int64_t, device> per_vertex_;
  array<std::int64_t, device> links_;
  array<I, device> degrees_;
  array<count64, host> total_;
};

// Calls f.template operator()<Output>(); links of an undirected graph are derived from counts.
template <class F>
void with_output(triangles_output output, bool directed, F&& f) {
  if (output == triangles_output::total) return f.template operator()<triangles_output::total>();
  if (output == triangles_output::links && directed) return f.template operator()<triangles_output::links>();
  f.template operator()<triangles_output::per_vertex>();
}

// --- Rows as stored -------------------------------------------------------

template <class I, class O>
class row_executor final : public device_executor<I, O> {
  using base = device_executor<I, O>;
  using base::control_;
  using base::ctx_;
  using base::graph_;
  using base::links_;
  using base::n_;
  using base::per_vertex_;

 public:
  using base::base;

 private:
  void count() override {
    fill_zero(ctx_, per_vertex_);
    fill_zero(ctx_, links_);
    with_output(this->output_, this->directed(), [&]<triangles_output Output>() {
      const row_tally<Output, I> start{{base::as_sums(per_vertex_), base::as_sums(links_)}, graph_.directed_rows()};
      if (graph_.longest <= cuda_rows_tuning::thread_row) {
        launch_kernel(ctx_, grid_stride(ctx_, n_), count_rows_by_threads_kernel<Output, I, O>, graph_.rows(), start,
                      control_.data());
      } else {
        const std::int64_t most = std::int64_t{cuda_rows_tuning::blocks} * ctx_.properties().multiprocessors;
        launch_kernel(ctx_, {std::min(div_up(n_, std::int64_t{warps_of_block}), most), block_threads},
                      count_rows_by_warps_kernel<Output, I, O>, graph_.rows(), start, control_.data());
      }
    });
  }
};

// --- Oriented -------------------------------------------------------------

// Sort keys (longest row minus degree) and vertices.
template <class I, class O>
void make_keys(const context<device>& ctx, const device_rows<I, O>& rows, std::int64_t longest, rank_t* keys,
               rank_t* vertices) {
  for_each(ctx, rows.vertices, [=] __device__(std::int64_t v) {
    keys[v] = static_cast<rank_t>(longest - (rows.offsets[v + 1] - rows.offsets[v]));
    vertices[v] = static_cast<rank_t>(v);
  });
}

// [rank], plus one: sizes of lists and of work, then their starts.
template <class O>
struct list_offsets {
  array<O, device> in;     // neighbours of higher rank
  array<O, device> out;    // of lower rank, in sorted order
  array<O, device> quads;  // of lower rank, in units of four
  array<O, device> items;

  list_offsets(const context<device>& ctx, std::int64_t n)
      : in(ctx, n + 1), out(ctx, n + 1), quads(ctx, n + 1), items(ctx, n + 1) {}
  [[nodiscard]] std::int64_t bytes() const { return 4 * in.size() * std::int64_t{sizeof(O)}; }
};

// keys: from make_keys, by rank; higher: number of neighbours of higher rank.
template <class O>
void find_offsets(const context<device>& ctx, std::int64_t n, std::int64_t longest, const rank_t* keys,
                  const rank_t* higher, list_offsets<O>& offsets, count_item* items) {
  for_each(ctx, n + 1,
           [=, in = offsets.in.data(), out = offsets.out.data(), quads = offsets.quads.data(),
            first_item = offsets.items.data()] __device__(std::int64_t r) {
             const std::int64_t above = r < n ? higher[r] : 0;
             const std::int64_t below = r < n ? longest - keys[r] - above : 0;
             in[r] = static_cast<O>(above);
             out[r] = static_cast<O>(below);
             quads[r] = static_cast<O>((below + 3) / 4);
             first_item[r] = static_cast<O>(items_of(below, above));
           });
  for (auto* sizes : {&offsets.in, &offsets.out, &offsets.quads, &offsets.items}) {
    exclusive_scan<O, device>(ctx, std::as_const(*sizes).view(), sizes->view());
  }
  for_each(ctx, n, [first_item = offsets.items.data(), to = items] __device__(std::int64_t r) {
    for (std::int64_t k = first_item[r]; k < first_item[r + 1]; ++k) {
      to[k] = {static_cast<rank_t>(r), static_cast<rank_t>(k - first_item[r])};
    }
  });
}

template <class I, class O>
class oriented_executor final : public device_executor<I, O> {
  using base = device_executor<I, O>;
  using base::control_;
  using base::ctx_;
  using base::graph_;
  using base::links_;
  using base::n_;
  using base::per_vertex_;
  using tuning = cuda_count_tuning;

 public:
  oriented_executor(const context<device>& ctx, canonical_graph<I, O> g, triangles_output output,
                    const set_limits& limits)
      : base(ctx, std::move(g), output), limits_(limits), edges_(graph_.edges.nnz() / 2), offsets_(ctx, n_) {
    if (n_ > std::int64_t{std::numeric_limits<std::int32_t>::max()}) {
      throw error(error_code::unsupported,
                  "triangles: " + std::to_string(n_) + " vertices on a device (at most 2147483647)");
    }
    ranks_ = memory_.take<rank_t>(n_);
    in_counts_ = {ctx, n_};
    in_ = memory_.take<rank_t>(edges_);
    for (auto* sorted : {&keys_, &values_, &spare_keys_, &spare_values_}) *sorted = {ctx, std::max(edges_, n_)};
    // A list ends within a quad of its own; a group reads some quads beyond it.
    const std::int64_t quads = edges_ / 4 + std::min(edges_, n_) + 2 * tuning::lanes;
    out_ = memory_.take<uint4>(quads);
    fill_bytes(ctx, out_, 0xff, static_cast<std::size_t>(quads) * sizeof(uint4));
    // A rank with items has more edges above it than a warp follows or a list too long for it, hence at least one edge.
    items_ = memory_.take<count_item>(edges_ / tuning::segment + std::min(edges_, n_));
    if (output != triangles_output::total) counts_ = {ctx, n_};
    if (this->directed()) rank_links_ = {ctx, n_};
  }

  [[nodiscard]] std::int64_t workspace_bytes() const noexcept override {
    return base::workspace_bytes() + memory_.bytes() + offsets_.bytes() +
           bytes_of(in_counts_, keys_, values_, spare_keys_, spare_values_, counts_, rank_links_);
  }

 private:
  void count() override {
    rank_vertices();
    orient();
    fill_zero(ctx_, counts_);
    fill_zero(ctx_, rank_links_);
    with_output(this->output_, this->directed(), [&]<triangles_output Output>() { count_lists<Output>(); });
    if (!counts_.empty()) gather_words(ctx_, n_, ranks_, counts_.data(), per_vertex_.data());
    if (!rank_links_.empty()) gather_words(ctx_, n_, ranks_, rank_links_.data(), links_.data());
  }

  // Fills ranks_, and keys_ by rank.
  void rank_vertices() {
    make_keys(ctx_, graph_.rows(), graph_.longest, keys_.data(), values_.data());
    sort_pairs(ctx_, n_, keys_, values_, spare_keys_, spare_values_, 0,
               static_cast<int>(std::bit_width(static_cast<std::uint64_t>(graph_.longest))));
    invert_permutation(ctx_, {values_.data(), n_}, ranks_);
  }

  void orient() {
    const std::int64_t parts = div_up(graph_.edges.nnz(), traversal_tuning::entries);
    fill_zero(ctx_, in_counts_);
    launch_kernel(ctx_, this->warps_for(parts), count_higher_kernel<I, O>, graph_.rows(), parts, ranks_,
                  in_counts_.data());
    find_offsets(ctx_, n_, graph_.longest, keys_.data(), in_counts_.data(), offsets_, items_);
    fill_zero(ctx_, in_counts_);
    launch_kernel(ctx_, this->warps_for(parts), fill_higher_kernel<I, O>, graph_.rows(), parts, graph_.directed_rows(),
                  ranks_, offsets_.in.data(), in_counts_.data(), in_, keys_.data(), values_.data());
    sort_pairs(ctx_, edges_, keys_, values_, spare_keys_, spare_values_, 0,
               static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n_ - 1))));
    const std::int64_t list_parts = div_up(edges_, traversal_tuning::entries);
    launch_kernel(ctx_, this->warps_for(list_parts), place_lower_kernel<O>, n_, list_parts, offsets_.out.data(),
                  offsets_.quads.data(), values_.data(), reinterpret_cast<rank_t*>(out_));
  }

  template <triangles_output Output>
  void count_lists() {
    const oriented_lists<O> lists{in_, offsets_.in.data(), out_, offsets_.quads.data(), offsets_.out.data()};
    const count_sums sums{base::as_sums(counts_), base::as_sums(rank_links_)};
    launch_kernel(ctx_, {std::int64_t{tuning::blocks_per_sm} * ctx_.properties().multiprocessors, tuning::block},
                  count_by_blocks_kernel<Output, O>, lists, n_, limits_, items_, offsets_.items.data() + n_, sums,
                  control_.data());
    launch_kernel(ctx_, {blocks_for(ctx_, n_, tuning::warp_block), tuning::warp_block},
                  count_by_warps_kernel<Output, O>, lists, n_, sums, control_.data());
  }

  set_limits limits_;
  std::int64_t edges_;
  plan_memory memory_{ctx_};
  rank_t* ranks_ = nullptr;          // [vertex]
  array<rank_t, device> in_counts_;  // [rank]
  list_offsets<O> offsets_;
  rank_t* in_ = nullptr;        // neighbours of higher rank
  array<rank_t, device> keys_;  // sort buffers for vertices and edges
  array<rank_t, device> values_;
  array<rank_t, device> spare_keys_;
  array<rank_t, device> spare_values_;
  uint4* out_ = nullptr;  // neighbours of lower rank
  count_item* items_ = nullptr;
  array<std::int64_t, device> counts_;  // [rank]
  array<std::int64_t, device> rank_links_;
};

template <class I, class O>
std::unique_ptr<executor<I, device>> make(const context<device>& ctx, canonical_graph<I, O> g,
                                          const triangles_options& options, const set_limits& limits) {
  if (options.algorithm == triangles_algorithm::merge) {
    return std::make_unique<row_executor<I, O>>(ctx, std::move(g), options.output);
  }
  return std::make_unique<oriented_executor<I, O>>(ctx, std::move(g), options.output, limits);
}

}  // namespace

template <class I, class O>
row_survey survey_rows(const context<device>& ctx, const graph_view<I, O, device>& g) {
  if (g.vertices() == 0) return {.canonical = true};
  if (g.direction == direction_kind::directed) return {};
  const row_findings found = survey(ctx, g.out);
  return {static_cast<std::int64_t>(found.longest), found.disorder == 0};
}

template <class I, class O>
std::unique_ptr<executor<I, device>> make_executor(const context<device>& ctx, const graph_view<I, O, device>& g,
                                                   const triangles_options& options, const row_survey& survey,
                                                   const set_limits& limits) {
  if (!survey.canonical) return make(ctx, copy_canonical(ctx, g, options.output), options, limits);
  return make(ctx, canonical_graph<I, O>{{}, {}, g.out, survey.longest}, options, limits);
}

template <class I>
void find_coefficients(const context<device>& ctx, span<const std::int64_t, device> counts,
                       span<const I, device> degrees, double links_of_one, span<double, device> coefficients) {
  for_each(ctx, counts.size(),
           [=, counts = counts.data(), degrees = degrees.data(), to = coefficients.data()] __device__(std::int64_t v) {
             const auto d = static_cast<double>(degrees[v]);
             to[v] = d < 2 ? 0 : links_of_one * static_cast<double>(counts[v]) / (d * (d - 1));
           });
}

#define INSTANTIATE(I, O)                                                                                              \
  template row_survey survey_rows(const context<device>&, const graph_view<I, O, device>&);                            \
  template std::unique_ptr<executor<I, device>> make_executor(const context<device>&, const graph_view<I, O, device>&, \
                                                              const triangles_options&, const row_survey&,             \
                                                              const set_limits&);
SPARGO_FOR_EACH_INDEX_OFFSET(INSTANTIATE)
#define INSTANTIATE_INDEX(I)                                                                                          \
  template void find_coefficients<I>(const context<device>&, span<const std::int64_t, device>, span<const I, device>, \
                                     double, span<double, device>);
SPARGO_FOR_EACH_INDEX(INSTANTIATE_INDEX)

}  // namespace spargo::detail::triangles
