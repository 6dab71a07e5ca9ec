// Building blocks for custom frontier algorithms: `advance` visits the out-edges of a set of vertices, `filter` keeps a
// subset, `split` partitions a set into near and far, as delta-stepping does.
//
//   frontier<I, host> now(ctx, n), next(ctx, n);
//   advance_workspace<I, O, host> workspace(ctx, g);
//   assign(ctx, now, source);
//   while (size_of(ctx, now) > 0) {
//     advance(ctx, g, now, next, workspace, [&](I u, I v, O e) { return ...; });  // true: v joins `next`
//     std::swap(now, next);
//   }
//
// This header has the host operators and the parts shared by both backends; <spargo/graph/operators.cuh>, for nvcc,
// adds the device operators with the same names and arguments. A functor is any callable; operators call it
// concurrently, so it must write with atomics (std::atomic_ref here, CUDA atomics there). If it throws on the host, the
// operator stops and rethrows; the output frontier is then empty and the workspace reusable.
//
// Idea: a prefix sum of degrees numbers the edges of a frontier; the numbers are partitioned into chunks of equal size,
// so that a vertex of a million edges is shared like a million vertices of one. Threads take chunks in ascending order
// and append their output in the same order: the start of a chunk's output is passed from chunk to chunk. Invariant:
// only later chunks wait for a chunk, and the thread that holds it is running. Cost: O(vertices and edges of the
// frontier) work, sizeof(int64) + 1/8 bytes per vertex of workspace. Sources: Merrill, Garland, Grimshaw, PPoPP 2012
// (edges by prefix sum); Wang et al., "Gunrock", PPoPP 2016 (advance and filter).
#pragma once

#include <spargo/graph/frontier/bitmap.hpp>
#include <spargo/graph/frontier/prefetch.hpp>
#include <spargo/graph/graph.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <exception>
#include <string>
#include <utility>

#include <spargo/core/macros_push.hpp>

namespace spargo {

namespace detail {

// Counters of a frontier, stored in its space so that the device need not ask the host.
struct frontier_state {
  std::uint64_t size = 0;         // vertices; more than the capacity after an overflow
  std::uint64_t joining = 0;      // the same, while an operator runs; else 0
  std::uint64_t blocks_done = 0;  // of the running kernel; else 0
};

}  // namespace detail

// A set of vertices as a queue, allocated once and refilled many times. It may hold duplicates, in any order; initially
// empty. Memory: sizeof(I) bytes per vertex of capacity.
template <index_type I, memory_space Space>
class frontier {
 public:
  // Asynchronous on a device. Throws invalid_argument for a negative capacity.
  frontier(const context<Space>& ctx, std::int64_t capacity)
      : slots_((check(capacity), ctx), capacity), state_(ctx, 1), report_(report_context(), 1) {
    fill_zero(ctx, state_.view());
  }

  [[nodiscard]] std::int64_t capacity() const noexcept { return slots_.size(); }
  // The first size_of(ctx, f) of `capacity()` elements are the frontier.
  [[nodiscard]] span<const I, Space> slots() const noexcept { return slots_.view(); }

  // For the operators.
  [[nodiscard]] span<I, Space> slots() noexcept { return slots_.view(); }
  [[nodiscard]] span<const detail::frontier_state, Space> state() const noexcept { return state_.view(); }
  [[nodiscard]] span<detail::frontier_state, Space> state() noexcept { return state_.view(); }
  [[nodiscard]] span<detail::frontier_state, host> report() const noexcept { return report_.view(); }

 private:
  static void check(std::int64_t capacity) {
    SPARGO_EXPECTS(capacity >= 0, "frontier: a capacity of " + std::to_string(capacity));
  }
  // Pinned on a device, so that the copy of the state does not block.
  static context<host> report_context() {
    if constexpr (std::same_as<Space, device>) {
      return context<host>({.threads = 1, .resource = &pinned_host_resource()});
    } else {
      return context<host>({.threads = 1});
    }
  }

  array<I, Space> slots_;
  array<detail::frontier_state, Space> state_;
  mutable array<detail::frontier_state, host> report_;  // not part of its value
};

// How often a vertex joins the output of one advance.
enum class admission {
  every_time,  // for each edge whose functor returned true; the output must have room for all of them
  once,        // at most once, by a bitmap in the workspace; the output needs room for all vertices of the graph
};

struct SPARGO_EXPORT advance_options {
  admission admit = admission::every_time;
};

// Scratch of `advance` for one graph (or any smaller one), reused by every call.
template <index_type I, index_type O, memory_space Space>
class advance_workspace;

template <index_type I, index_type O>
class advance_workspace<I, O, host> {
 public:
  advance_workspace(const context<host>& ctx, const graph_view<I, O, host>& g)
      : edges_(g.out.nnz()),
        first_edges_(ctx, std::int64_t{g.vertices()} + 1),
        joined_(ctx, div_up<std::int64_t>(g.vertices(), 64)) {
    fill_zero(ctx, joined_.view());
  }

  [[nodiscard]] std::int64_t vertices() const noexcept { return first_edges_.size() - 1; }
  [[nodiscard]] std::int64_t edges() const noexcept { return edges_; }

  // For the operators.
  [[nodiscard]] std::int64_t* first_edges() noexcept { return first_edges_.data(); }  // prefix sum of degrees
  [[nodiscard]] std::uint64_t* joined() noexcept { return joined_.data(); }           // all zero between calls

 private:
  std::int64_t edges_;
  array<std::int64_t, host> first_edges_;
  array<std::uint64_t, host> joined_;
};

namespace detail {

struct operators_host_tuning {
  // Edges per chunk, or vertices in a filter: about 10 us of work, compared to 0.1 us to take and append a chunk.
  static constexpr std::int64_t chunk = 4096;
  // Smaller inputs run on the calling thread: a barrier of two threads takes 2 to 5 us, three times per advance.
  static constexpr std::int64_t sequential = 16384;
};

// Calls work(self, thread) for every thread in [0, threads), on as many threads as are available.
SPARGO_EXPORT void run_on_threads(int threads, void (*work)(void* self, int thread), void* self);

template <class F>
void on_threads(int threads, F f) {
  run_on_threads(
      threads, [](void* self, int thread) { (*static_cast<F*>(self))(thread); }, &f);
}

// --- Checks, for both backends ------------------------------------------------------------

template <class I, class Space>
void check_distinct(const char* operation, const frontier<I, Space>& in, const frontier<I, Space>& out) {
  SPARGO_EXPECTS(&in != &out, std::string(operation) + ": the output is the input (expected another frontier)");
}

template <class I, class Space>
void check_split(const frontier<I, Space>& in, const frontier<I, Space>& near, const frontier<I, Space>& far) {
  check_distinct("split", in, near);
  check_distinct("split", in, far);
  SPARGO_EXPECTS(&near != &far, "split: both outputs are one frontier (expected two)");
}

template <class I, class O, class Space>
void check_advance(const graph_view<I, O, Space>& g, const frontier<I, Space>& in, const frontier<I, Space>& out,
                   const advance_workspace<I, O, Space>& workspace, const advance_options& options) {
  const std::int64_t n = g.vertices();
  SPARGO_EXPECTS(n == 0 || g.out.offsets.size() == n + 1, "advance: " + std::to_string(g.out.offsets.size()) +
                                                              " offsets for " + std::to_string(n) +
                                                              " vertices (expected one more than vertices)");
  check_distinct("advance", in, out);
  SPARGO_EXPECTS(n <= workspace.vertices() && g.out.nnz() <= workspace.edges(),
                 "advance: the workspace is for " + std::to_string(workspace.vertices()) + " vertices and " +
                     std::to_string(workspace.edges()) + " edges, the graph has " + std::to_string(n) + " and " +
                     std::to_string(g.out.nnz()));
  SPARGO_EXPECTS(options.admit != admission::once || out.capacity() >= n,
                 "advance: the output has a capacity of " + std::to_string(out.capacity()) + " (expected " +
                     std::to_string(n) + ", one slot per vertex)");
}

inline std::int64_t checked_size(std::uint64_t size, std::int64_t capacity) {
  SPARGO_EXPECTS(size <= static_cast<std::uint64_t>(capacity),
                 "frontier: " + std::to_string(size) + " vertices exceed the capacity of " + std::to_string(capacity) +
                     " (expected a larger one, admission::once, or a functor that admits each vertex once)");
  return static_cast<std::int64_t>(size);
}

// --- Host append and expansion -------------------------------------------------------------

// An operator's output. Counts all vertices and stores those that fit.
template <class I>
struct frontier_sink {
  I* slots = nullptr;
  std::int64_t capacity = 0;
  std::uint64_t size = 0;

  void append(I v) {
    if (size < static_cast<std::uint64_t>(capacity)) slots[size] = v;
    ++size;
  }
  [[nodiscard]] std::int64_t reserve(std::int64_t count) {
    const auto begin = static_cast<std::int64_t>(size);
    size += static_cast<std::uint64_t>(count);
    return begin;
  }
  void write(const I* from, std::int64_t count, std::int64_t begin) const {
    if (begin < capacity) std::copy_n(from, std::min(count, capacity - begin), slots + begin);
  }
};

// A chunk's output for each of `Outputs` sinks: at most as many vertices as a chunk has.
template <class I, std::size_t Outputs>
struct chunk_output {
  I vertices[Outputs][operators_host_tuning::chunk];
  std::int64_t counts[Outputs] = {};

  void put(std::size_t output, I v) { vertices[output][counts[output]++] = v; }
};

// Calls produce(chunk, output) concurrently and appends the outputs in chunk order.
template <std::size_t Outputs, class I, class Produce>
void append_in_order(int threads, std::int64_t chunks, frontier_sink<I> (&to)[Outputs], const Produce& produce) {
  std::atomic<std::int64_t> next_chunk{0};
  std::atomic<std::int64_t> turn{0};  // next chunk to append; its thread owns `to` and `failure`
  std::exception_ptr failure;         // of the first failing chunk in order
  on_threads(threads, [&](int) {
    for (std::int64_t k = next_chunk.fetch_add(1); k < chunks; k = next_chunk.fetch_add(1)) {
      chunk_output<I, Outputs> output;
      std::exception_ptr mine;
      try {
        produce(k, output);
      } catch (...) {
        mine = std::current_exception();
        next_chunk.store(chunks);
      }
      for (std::int64_t now = turn.load(std::memory_order_acquire); now != k;
           now = turn.load(std::memory_order_acquire)) {
        turn.wait(now, std::memory_order_acquire);
      }
      if (failure == nullptr) failure = std::move(mine);
      std::int64_t begin[Outputs];
      for (std::size_t o = 0; o < Outputs; ++o) begin[o] = to[o].reserve(output.counts[o]);
      turn.store(k + 1, std::memory_order_release);
      turn.notify_all();
      for (std::size_t o = 0; o < Outputs; ++o) to[o].write(output.vertices[o], output.counts[o], begin[o]);
    }
  });
  if (failure != nullptr) std::rethrow_exception(failure);
}

// Claims v in the bitmap; with a null bitmap vertices may join repeatedly.
template <class I>
[[nodiscard]] bool admits(std::uint64_t* joined, I v) {
  return joined == nullptr || claim_bit(joined, v);
}

// Clears the bitmap if an exception ends the operator.
class clean_bitmap {
 public:
  clean_bitmap(std::uint64_t* joined, std::int64_t vertices)
      : joined_(joined), vertices_(vertices), before_(std::uncaught_exceptions()) {}
  ~clean_bitmap() {
    if (joined_ == nullptr || std::uncaught_exceptions() == before_) return;
    std::fill_n(joined_, div_up<std::int64_t>(vertices_, 64), std::uint64_t{0});
  }
  clean_bitmap(const clean_bitmap&) = delete;
  clean_bitmap& operator=(const clean_bitmap&) = delete;

 private:
  std::uint64_t* joined_;
  std::int64_t vertices_;
  int before_;
};

// first_edges[i] = sum of the degrees of vertices[0] .. vertices[i-1], for i in [0, count].
template <class I, class O>
void number_edges(int threads, const csr_pattern_view<I, O, host>& out, const I* vertices, std::int64_t count,
                  std::int64_t* first_edges) {
  const std::int64_t share = div_up<std::int64_t>(count, threads);
  const auto each_share = [&](auto&& f) {
    on_threads(threads, [&](int t) {
      const std::int64_t begin = std::min(count, t * share);
      if (begin < count) f(begin, std::min(count, begin + share));
    });
  };
  first_edges[0] = 0;
  each_share([&](std::int64_t begin, std::int64_t end) {
    std::int64_t sum = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      sum += out.offsets[std::int64_t{vertices[i]} + 1] - out.offsets[vertices[i]];
      first_edges[i + 1] = sum;
    }
  });
  for (std::int64_t end = share; end < count; end += share) {  // adds each share's total to the end of the next share
    first_edges[std::min(count, end + share)] += first_edges[end];
  }
  each_share([&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; begin > 0 && i + 1 < end; ++i) first_edges[i + 1] += first_edges[begin];
  });
}

// Visits edges [first, last) of the numbering; vertices that join go to `output`.
template <class I, class O, class Visit>
void visit_edges(const csr_pattern_view<I, O, host>& out, const I* vertices, const std::int64_t* first_edges,
                 std::int64_t vertex_count, std::int64_t first, std::int64_t last, std::uint64_t* joined,
                 const Visit& visit, chunk_output<I, 1>& output) {
  std::int64_t i = std::upper_bound(first_edges, first_edges + vertex_count + 1, first) - first_edges - 1;
  for (; first < last; ++i) {
    prefetch_rows(out, vertices, i, vertex_count);
    const I u = vertices[i];
    const std::int64_t stop = std::min(last, first_edges[i + 1]);
    O e = static_cast<O>(out.offsets[u] + (first - first_edges[i]));
    for (; first < stop; ++first, ++e) {
      const I v = out.indices[e];
      if (visit(u, v, e) && admits(joined, v)) output.put(0, v);
    }
  }
}

// Advance by the calling thread, without numbering edges.
template <class I, class O, class Visit>
void advance_alone(const csr_pattern_view<I, O, host>& out, const I* vertices, std::int64_t count,
                   std::uint64_t* joined, const Visit& visit, frontier_sink<I>& to) {
  for (std::int64_t i = 0; i < count; ++i) {
    prefetch_rows(out, vertices, i, count);
    const I u = vertices[i];
    for (O e = out.offsets[u]; e < out.offsets[std::int64_t{u} + 1]; ++e) {
      const I v = out.indices[e];
      if (visit(u, v, e) && (joined == nullptr || !test_and_set_bit(joined, v))) to.append(v);
    }
  }
}

// Whether a frontier and its edges are too few to use several threads.
template <class I, class O>
bool is_small(const csr_pattern_view<I, O, host>& out, const I* vertices, std::int64_t count) {
  std::int64_t work = count;
  for (std::int64_t i = 0; i < count && work < operators_host_tuning::sequential; ++i) {
    work += out.offsets[std::int64_t{vertices[i]} + 1] - out.offsets[vertices[i]];
  }
  return work < operators_host_tuning::sequential;
}

// Calls place(v, output) for each vertex of `in`; outputs keep the order of `in`.
template <class I, std::size_t Outputs, class Place>
void distribute(const context<host>& ctx, const frontier<I, host>& in, frontier<I, host>* const (&outputs)[Outputs],
                const Place& place) {
  using tuning = operators_host_tuning;
  frontier_sink<I> to[Outputs];
  for (std::size_t o = 0; o < Outputs; ++o) {
    to[o] = {outputs[o]->slots().data(), outputs[o]->capacity()};
    outputs[o]->state()[0].size = 0;
  }
  const I* const vertices = in.slots().data();
  const auto size = static_cast<std::int64_t>(in.state()[0].size);
  const int threads = size < tuning::sequential ? 1 : ctx.threads();
  append_in_order(threads, div_up(size, tuning::chunk), to, [&](std::int64_t k, auto& output) {
    for (std::int64_t i = k * tuning::chunk; i < std::min(size, (k + 1) * tuning::chunk); ++i) {
      place(vertices[i], output);
    }
  });
  for (std::size_t o = 0; o < Outputs; ++o) (void)checked_size(to[o].size, outputs[o]->capacity());
  for (std::size_t o = 0; o < Outputs; ++o) outputs[o]->state()[0].size = to[o].size;
}

// Clears the bitmap's words that were set; atomically, since vertices of one word may belong to different threads.
template <class I>
void clear_joined(int threads, std::uint64_t* joined, const I* vertices, std::int64_t count) {
  if (count < operators_host_tuning::sequential) threads = 1;
  const std::int64_t share = div_up<std::int64_t>(count, threads);
  on_threads(threads, [&](int t) {
    for (std::int64_t i = t * share; i < std::min(count, (t + 1) * share); ++i) {
      std::atomic_ref<std::uint64_t>(joined[vertices[i] >> 6]).store(0, std::memory_order_relaxed);
    }
  });
}

// Clears the bitmap after many vertices joined and rewrites the output in ascending order, so that the next advance
// reads rows in memory order. CPU time of one thread, uniform 2^18 of 32 edges each: components 20 ms (85 in the order
// of joining), Bellman-Ford 169 ms (525).
template <class I>
void sort_joined(int threads, std::uint64_t* joined, std::int64_t vertices, I* slots, std::int64_t count) {
  constexpr std::int64_t words_per_chunk = operators_host_tuning::chunk / 64;
  const std::int64_t words = div_up<std::int64_t>(vertices, 64);
  if (count < operators_host_tuning::sequential) threads = 1;
  frontier_sink<I> to[1] = {{slots, count}};
  append_in_order(threads, div_up(words, words_per_chunk), to, [&](std::int64_t k, auto& output) {
    for (std::int64_t w = k * words_per_chunk; w < std::min(words, (k + 1) * words_per_chunk); ++w) {
      for (std::uint64_t rest = std::exchange(joined[w], 0); rest != 0; rest &= rest - 1) {
        output.put(0, static_cast<I>(w * 64 + std::countr_zero(rest)));
      }
    }
  });
}

}  // namespace detail

// --- Assignment and size ------------------------------------------------------

// Sets the frontier to `vertices`. Throws invalid_argument if they exceed its capacity.
template <index_type I>
void assign(const context<host>& ctx, frontier<I, host>& f, std::type_identity_t<span<const I, host>> vertices) {
  (void)detail::checked_size(static_cast<std::uint64_t>(vertices.size()), f.capacity());
  copy<I>(ctx, vertices, f.slots().subspan(0, vertices.size()));
  f.state()[0] = {.size = static_cast<std::uint64_t>(vertices.size())};
}

// Sets the frontier to one vertex.
template <index_type I>
void assign(const context<host>& ctx, frontier<I, host>& f, std::type_identity_t<I> vertex) {
  assign(ctx, f, span<const I, host>(&vertex, 1));
}

// Sets the frontier to vertices 0 to count - 1.
template <index_type I>
void assign_all(const context<host>& /*ctx*/, frontier<I, host>& f, std::int64_t count) {
  (void)detail::checked_size(static_cast<std::uint64_t>(count), f.capacity());
  for (std::int64_t v = 0; v < count; ++v) f.slots()[v] = static_cast<I>(v);
  f.state()[0] = {.size = static_cast<std::uint64_t>(count)};
}

// Number of vertices. On a device it synchronizes, and throws invalid_argument if the operator that filled the frontier
// overflowed it (a host operator throws immediately).
template <index_type I>
[[nodiscard]] std::int64_t size_of(const context<host>& /*ctx*/, const frontier<I, host>& f) {
  return static_cast<std::int64_t>(f.state()[0].size);
}
template <index_type I>
[[nodiscard]] std::int64_t size_of(const context<device>& ctx, const frontier<I, device>& f) {
  copy<detail::frontier_state>(ctx, f.state(), f.report());
  ctx.synchronize();
  return detail::checked_size(f.report()[0].size, f.capacity());
}

// --- The operators ------------------------------------------------------------

// Calls visit(u, v, e) once for every out-edge of every vertex u of `in`: v = g.out.indices[e]. `out` becomes those v
// for which it returned true. `in` must hold vertices of the graph, unchecked. With admission::every_time and a functor
// whose answers do not depend on timing, `out` is deterministic: in the order of `in` and of the edges, for any number
// of threads. With admission::once only the set is. Throws invalid_argument before any visit if `in` is `out`, the
// graph exceeds the workspace, or `out` lacks room for `once`; and after the visits if `out` overflowed, which is then
// empty.
template <index_type I, index_type O, class Visit>
void advance(const context<host>& ctx, const std::type_identity_t<graph_view<I, O, host>>& g,
             const frontier<I, host>& in, frontier<I, host>& out, advance_workspace<I, O, host>& workspace,
             const Visit& visit, const advance_options& options = {}) {
  using tuning = detail::operators_host_tuning;
  detail::check_advance(g, in, out, workspace, options);
  std::uint64_t* const joined = options.admit == admission::once ? workspace.joined() : nullptr;
  detail::frontier_sink<I> to[1] = {{out.slots().data(), out.capacity()}};
  out.state()[0].size = 0;
  const std::int64_t size = size_of(ctx, in);
  const detail::clean_bitmap clean(joined, workspace.vertices());
  // The numbering has room for every vertex once; a frontier with duplicates may hold more.
  for (std::int64_t first = 0; first < size; first += workspace.vertices()) {
    const I* const vertices = in.slots().data() + first;
    const std::int64_t count = std::min(size - first, workspace.vertices());
    if (ctx.threads() == 1 || detail::is_small(g.out, vertices, count)) {
      detail::advance_alone(g.out, vertices, count, joined, visit, to[0]);
      continue;
    }
    std::int64_t* const first_edges = workspace.first_edges();
    detail::number_edges(ctx.threads(), g.out, vertices, count, first_edges);
    const std::int64_t edges = first_edges[count];
    detail::append_in_order(ctx.threads(), div_up(edges, tuning::chunk), to, [&](std::int64_t k, auto& output) {
      const std::int64_t begin = k * tuning::chunk;
      detail::visit_edges(g.out, vertices, first_edges, count, begin, std::min(edges, begin + tuning::chunk), joined,
                          visit, output);
    });
  }
  const std::int64_t found = detail::checked_size(to[0].size, out.capacity());
  if (joined != nullptr && found > workspace.vertices() / 64) {
    detail::sort_joined(ctx.threads(), joined, workspace.vertices(), out.slots().data(), found);
  } else if (joined != nullptr) {
    detail::clear_joined(ctx.threads(), joined, out.slots().data(), found);
  }
  out.state()[0].size = to[0].size;
}

// `out` becomes the vertices v of `in`, duplicates included, for which keep(v) returned true; keep is called once for
// each. In the order of `in`, for any number of threads. Throws like `advance`.
template <index_type I, class Keep>
void filter(const context<host>& ctx, const frontier<I, host>& in, frontier<I, host>& out, const Keep& keep) {
  detail::check_distinct("filter", in, out);
  frontier<I, host>* const outputs[] = {&out};
  detail::distribute(ctx, in, outputs, [&](I v, auto& output) {
    if (keep(v)) output.put(0, v);
  });
}

// `near` becomes the vertices v of `in`, duplicates included, for which is_near(v) returned true, `far` the others;
// is_near is called once for each, and `in` is read once. Both keep the order of `in`, for any number of threads.
// Throws like `advance`; both outputs are then empty. Use: with is_near(v) = distance[v] < limit, near/far and
// delta-stepping expand `near` until it is empty, then raise the limit and split `far` (Davidson, Baxter, Garland,
// Owens, IPDPS 2014).
template <index_type I, class IsNear>
void split(const context<host>& ctx, const frontier<I, host>& in, frontier<I, host>& near, frontier<I, host>& far,
           const IsNear& is_near) {
  detail::check_split(in, near, far);
  frontier<I, host>* const outputs[] = {&near, &far};
  detail::distribute(ctx, in, outputs, [&](I v, auto& output) { output.put(is_near(v) ? 0 : 1, v); });
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
