// A snapshot beside the input: what was parsed once is mapped the next time (--cache).
//
// Idea: FILE.VALUES.cache.spg, where VALUES is what the entries were read as (pattern, fp32, fp64, ...), holds the
// matrix as canonical CSR, and in its notes which file FILE is (device, inode), its size and the times of its last
// change, the version of the reader, and what reading told besides. Invariant: a cache is used only while all of these
// are as they were, the snapshot is undamaged, and it belongs to the user, the owner of FILE, or root; in any other
// case FILE is read as if there were no cache. A file system's clock ticks: a FILE changed within the last tick is
// waited for, so that a later change shows. The name can be foreseen: a link in its place is neither read nor followed
// when the cache is written.
#pragma once

#include "common/input.hpp"
#include "common/parse.hpp"
#include "common/report.hpp"

#include <CLI/CLI.hpp>

#include <functional>

namespace spargo::apps {

enum class cache_mode { off, on };
enum class cache_outcome { off, used, written };

[[nodiscard]] std::string to_string(cache_outcome outcome);

// --cache.
CLI::Option* add_cache_flag(CLI::App& app, cache_mode& mode);

class input_cache {
 public:
  // Looks at the file as it is now, before it is read. Off for what has no text to parse (a generator, a snapshot) and
  // for what cannot be read twice (a pipe: a warning says so).
  input_cache(cache_mode mode, const input_description& input, value_kind values);

  // The cached matrix, verified, with the facts of the input; none where there is none to be used.
  [[nodiscard]] std::optional<snapshot> open(const context<host>& ctx, input_facts& facts);

  // Writes the cache, unless the input has changed meanwhile. A failure is no error: it becomes the warning.
  template <entry_type V, index_type I, index_type O>
  void write(const context<host>& ctx, const input_description& input, const csr_input<V, I, O>& read);

  [[nodiscard]] bool is_on() const noexcept { return !path_.empty(); }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] cache_outcome outcome() const noexcept { return outcome_; }
  [[nodiscard]] const std::string& warning() const noexcept { return warning_; }  // one line, or empty

 private:
  struct identity {
    std::int64_t bytes = -1;
    std::int64_t time_ns = 0;         // of the contents' last change, which anybody may set
    std::int64_t change_time_ns = 0;  // of any change, set by the kernel
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    unsigned owner = 0;
    bool operator==(const identity&) const = default;
  };
  [[nodiscard]] static identity identify(const std::string& path);
  [[nodiscard]] std::string notes(const input_facts& facts) const;
  [[nodiscard]] bool understand(std::string_view notes, input_facts& facts) const;
  void attempt(const std::function<void()>& write);

  std::string input_path_;
  std::string path_;  // empty: off
  value_kind values_;
  identity input_;
  cache_outcome outcome_ = cache_outcome::off;
  std::string warning_;
};

// The key "cache" with the outcome, a row where it was asked for, and the warning.
void report_cache(report& out, const input_cache& cache);

template <entry_type V>
[[nodiscard]] constexpr value_kind kind_of_values() {
  if constexpr (is_pattern<V>) return value_kind::pattern;
  if constexpr (std::same_as<V, float>) return value_kind::fp32;
  if constexpr (std::same_as<V, double>) return value_kind::fp64;
  if constexpr (std::same_as<V, std::complex<float>>) return value_kind::complex_fp32;
  return value_kind::complex_fp64;
}

template <entry_type V, index_type I, index_type O>
void input_cache::write(const context<host>& ctx, const input_description& input, const csr_input<V, I, O>& read) {
  if (!is_on()) return;
  const std::string described = notes(read.facts);
  snapshot_options options;
  options.symmetry = input.symmetry;
  options.directed = input.directed;
  if (read.facts.names.naming == vertex_naming::listed) options.ids = read.facts.names.ids;
  options.notes = described;
  options.output.links = output_links::replaced;
  attempt([&] { write_snapshot<V, I, O>(ctx, path_, read.matrix, options); });
}

// What `input_cache::open` gave: f(csr_input<V, I, O>&), which borrows it.
template <entry_type V, class F>
decltype(auto) with_opened(const context<host>& ctx, snapshot opened, input_facts facts, F&& f) {
  input_description cached;
  cached.mapped = std::move(opened);
  return with_stored_indices(cached.mapped->header(), [&]<class I, class O>(type_tag<I>, type_tag<O>) {
    csr_input<V, I, O> borrowed = borrow_csr<V, I, O>(ctx, cached);
    if (facts.names.naming == vertex_naming::listed) facts.names.ids = std::move(borrowed.facts.names.ids);
    borrowed.facts = std::move(facts);
    return f(borrowed);
  });
}

// with_parsed_csr from the cache, which is written where it could not be used.
template <entry_type V, class F>
decltype(auto) with_cached_csr(const context<host>& ctx, const input_description& input, const read_options& options,
                               input_cache& cache, F&& f, const parse_choice& parsing = {}) {
  const stopwatch loading;
  input_facts facts;
  if (std::optional<snapshot> opened = cache.open(ctx, facts)) {
    return with_opened<V>(ctx, std::move(*opened), std::move(facts), [&]<class I, class O>(csr_input<V, I, O>& read) {
      read.load_ms = loading.milliseconds();
      return f(read);
    });
  }
  return with_parsed_csr<V>(ctx, parsing, input, options, [&]<class I, class O>(csr_input<V, I, O>& read) {
    cache.write(ctx, input, read);
    return f(read);
  });
}

// A graph as text as canonical CSR, a pattern where it has no weights: f(csr_input<V, I, O>&, const input_cache&).
// Whether it has any is known before it is read only from a cache: one with weights is there if it has some, and one
// without remembers whether it had.
template <class F>
decltype(auto) with_cached_edges(const context<host>& ctx, const input_description& input, const read_options& options,
                                 cache_mode mode, F&& f) {
  input_cache weighted(mode, input, value_kind::fp64);
  input_cache unweighted(mode, input, value_kind::pattern);
  input_facts facts;
  if (std::optional<snapshot> opened = weighted.open(ctx, facts)) {
    return with_opened<double>(ctx, std::move(*opened), std::move(facts),
                               [&](auto& read) { return f(read, std::as_const(weighted)); });
  }
  if (std::optional<snapshot> opened = unweighted.open(ctx, facts); opened.has_value() && !facts.weighted) {
    return with_opened<pattern>(ctx, std::move(*opened), std::move(facts),
                                [&](auto& read) { return f(read, std::as_const(unweighted)); });
  }
  return with_edges(ctx, input, options, [&]<class V, class I>(coo_input<V, I>& read) {
    return with_canonical<V, I>(ctx, read, [&]<class O>(csr_input<V, I, O>& result) {
      input_cache& cache = is_pattern<V> ? unweighted : weighted;
      cache.write(ctx, input, result);
      return f(result, std::as_const(cache));
    });
  });
}

// Any input as canonical CSR with the values it has, from its cache or into it: f(csr_input<V, I, O>&, const
// input_cache&).
template <class F>
decltype(auto) with_cached_matrix(const context<host>& ctx, const input_description& input, const read_options& options,
                                  cache_mode mode, F&& f) {
  if (is_graph_text(input.kind)) return with_cached_edges(ctx, input, options, mode, f);
  return with_stored_values(input, [&]<class V>(type_tag<V>) {
    input_cache cache(mode, input, kind_of_values<V>());
    return with_cached_csr<V>(ctx, input, options, cache, [&](auto& read) { return f(read, std::as_const(cache)); });
  });
}

}  // namespace spargo::apps
