// Naive matrices for the tests of formats: lists of triples, difficult shapes, and the expected result of every
// conversion, by std::stable_sort and loops. Independent of src/.
#pragma once

#include "support/device.hpp"
#include "support/rounds.hpp"

#include <spargo/formats/convert.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace spargo::test {

// Parameters of a typed test.
template <class V, class I, class O, class Space>
struct format_case {
  using value = V;
  using index = I;
  using offset = O;
  using space = Space;
};

template <class V>
V value_of(std::uint64_t bits) {
  const auto part = [](std::uint64_t x) { return static_cast<double>(x % 2001) / 64.0 - 15.0; };
  if constexpr (is_pattern<V>) {
    return {};
  } else if constexpr (complex_type<V>) {
    using real = typename V::value_type;
    return V(static_cast<real>(part(bits)), static_cast<real>(part(bits >> 20)));
  } else {
    // Inexact values, so that the order of a sum matters.
    return static_cast<V>(part(bits) * 1.1 + 0.3);
  }
}

template <class V>
struct triple {
  std::int64_t row = 0;
  std::int64_t col = 0;
  V value{};
  friend bool operator==(const triple&, const triple&) = default;
};

template <class V>
struct triples {
  std::string name;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::vector<triple<V>> entries;

  void add(std::int64_t row, std::int64_t col) {
    entries.push_back({row, col, value_of<V>(entries.size() * 0x9e3779b97f4a7c15ULL)});
  }
};

template <class V>
bool coordinates_less(const triple<V>& a, const triple<V>& b) {
  return a.row != b.row ? a.row < b.row : a.col < b.col;
}

template <class V>
std::vector<triple<V>> sorted(std::vector<triple<V>> entries) {
  std::stable_sort(entries.begin(), entries.end(), coordinates_less<V>);
  return entries;
}

// For sorted entries: sums of equal coordinates.
template <class V>
std::vector<triple<V>> merged(const std::vector<triple<V>>& entries) {
  std::vector<triple<V>> out;
  out.reserve(entries.size());
  for (const auto& e : entries) {
    if (!out.empty() && out.back().row == e.row && out.back().col == e.col) {
      if constexpr (!is_pattern<V>) out.back().value += e.value;
    } else {
      out.push_back(e);
    }
  }
  return out;
}

template <class V>
std::vector<triple<V>> summed(std::vector<triple<V>> entries) {
  return merged(sorted(std::move(entries)));
}

template <class V>
triples<V> random_triples(std::string name, std::int64_t rows, std::int64_t cols, std::int64_t nnz, unsigned seed) {
  triples<V> m{std::move(name), rows, cols, {}};
  std::mt19937_64 random(seed);
  for (std::int64_t k = 0; k < nnz; ++k) {
    m.add(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(rows)),
          static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(cols)));
  }
  return m;
}

template <class V>
std::vector<triples<V>> small_shapes() {
  std::vector<triples<V>> all;
  for (const auto& [rows, cols] : {std::pair{0, 0}, {0, 5}, {5, 0}, {1, 1}, {7, 9}}) {
    all.push_back({"no entries, " + std::to_string(rows) + "x" + std::to_string(cols), rows, cols, {}});
  }
  all.push_back({"1x1", 1, 1, {}});
  all.back().add(0, 0);
  all.push_back({"first and last rows empty", 6, 4, {}});
  for (const auto& [row, col] : {std::pair{3, 3}, {1, 2}, {4, 0}, {1, 0}, {3, 1}}) all.back().add(row, col);
  all.push_back({"one dense row, reversed", 9, 300, {}});
  for (std::int64_t c = 299; c >= 0; --c) all.back().add(4, c);
  all.push_back({"one dense column", 300, 9, {}});
  for (std::int64_t r = 0; r < 300; ++r) all.back().add((r * 7) % 300, 4);
  all.push_back({"one coordinate, many times", 3, 3, {}});
  for (int k = 0; k < 1000; ++k) all.back().add(1, 2);
  all.push_back({"diagonal", 33, 33, {}});
  for (int k = 0; k < 33; ++k) all.back().add(k, k);
  all.push_back({"row order, columns not", 5, 64, {}});
  for (int r = 0; r < 5; ++r) {
    for (int c = 63; c >= 0; --c) all.back().add(r, (c * 37) % 64);
  }
  for (const std::int64_t n : {31, 32, 33, 255, 256, 257}) {
    all.push_back(random_triples<V>("random " + std::to_string(n), n, n, 5 * n, static_cast<unsigned>(n)));
  }
  return all;
}

// Large enough that every loop has several shares and buckets: at least two shares of 2^15 entries.
template <class V>
std::vector<triples<V>> large_shapes() {
  const auto entries = [](std::int64_t usual) { return test::is_sanitized ? std::int64_t{70000} : usual; };
  std::vector<triples<V>> all;
  all.push_back(random_triples<V>("random, many duplicates", 500, 700, entries(150000), 1));
  all.push_back(random_triples<V>("random, sparse", 70000, 60000, entries(150000), 2));
  all.push_back(random_triples<V>("column-major", 5000, 300, entries(120000), 3));
  std::stable_sort(all.back().entries.begin(), all.back().entries.end(),
                   [](const auto& a, const auto& b) { return a.col < b.col; });
  all.push_back(random_triples<V>("row-major", 5000, 300000, entries(120000), 4));
  std::stable_sort(all.back().entries.begin(), all.back().entries.end(),
                   [](const auto& a, const auto& b) { return a.row < b.row; });
  all.push_back(random_triples<V>("canonical", 3000, 3000, entries(100000), 5));
  all.back().entries = summed(all.back().entries);
  all.push_back(random_triples<V>("sorted with duplicates", 300, 300, entries(100000), 6));
  all.back().entries = sorted(all.back().entries);
  all.push_back(random_triples<V>("skewed, two dense rows", 100000, 100000, entries(200000) * 3 / 10, 7));
  for (std::int64_t k = 0; k < entries(200000) * 7 / 10; ++k)
    all.back().add(k % 2 == 0 ? 11111 : 77777, (k * 7919) % 100000);
  std::shuffle(all.back().entries.begin(), all.back().entries.end(), std::mt19937_64(8));
  return all;
}

template <class V>
std::vector<triples<V>> all_shapes() {
  auto all = small_shapes<V>();
  for (auto& m : large_shapes<V>()) all.push_back(std::move(m));
  return all;
}

template <class T>
array<T, host> host_array(const std::vector<T>& from) {
  array<T, host> to(context<host>({.threads = 1}), static_cast<std::int64_t>(from.size()));
  std::copy(from.begin(), from.end(), to.begin());
  return to;
}

template <class I, class V>
coo_matrix<V, I, host> make_coo(const triples<V>& m) {
  std::vector<I> rows;
  std::vector<I> cols;
  std::vector<V> values;
  for (const auto& e : m.entries) {
    rows.push_back(static_cast<I>(e.row));
    cols.push_back(static_cast<I>(e.col));
    if constexpr (!is_pattern<V>) values.push_back(e.value);
  }
  return {static_cast<I>(m.rows), static_cast<I>(m.cols), host_array(rows), host_array(cols), host_array(values)};
}

// For entries in row order.
template <class I, class O, class V>
csr_matrix<V, I, O, host> make_csr(const triples<V>& m) {
  std::vector<O> offsets(static_cast<std::size_t>(m.rows) + 1, 0);
  for (const auto& e : m.entries) ++offsets[static_cast<std::size_t>(e.row) + 1];
  for (std::size_t r = 1; r < offsets.size(); ++r) offsets[r] = static_cast<O>(offsets[r] + offsets[r - 1]);
  auto coo = make_coo<I>(m);
  return {coo.rows(), coo.cols(), host_array(offsets), std::move(coo.col_indices()), std::move(coo.values())};
}

template <class V, class I>
std::vector<triple<V>> entries_of(const coo_view<const V, I, host>& m) {
  std::vector<triple<V>> out;
  out.reserve(static_cast<std::size_t>(m.nnz()));
  for (std::int64_t k = 0; k < m.nnz(); ++k) {
    out.push_back({m.row_indices[k], m.col_indices[k], V{}});
    if constexpr (!is_pattern<V>) out.back().value = m.values[k];
  }
  return out;
}

// Reads offsets as the format defines them, so that wrong ones show.
template <class V, class I, class O>
std::vector<triple<V>> entries_of(const csr_view<const V, I, O, host>& m) {
  std::vector<triple<V>> out;
  EXPECT_EQ(m.offsets.size(), std::int64_t{m.rows} + 1);
  EXPECT_EQ(m.offsets[0], 0);
  EXPECT_EQ(m.offsets[m.rows], m.nnz());
  out.reserve(static_cast<std::size_t>(m.nnz()));
  for (std::int64_t r = 0; r < m.rows; ++r) {
    for (std::int64_t k = m.offsets[r]; k < m.offsets[r + 1]; ++k) {
      out.push_back({r, m.indices[k], V{}});
      if constexpr (!is_pattern<V>) out.back().value = m.values[k];
    }
  }
  return out;
}

// A context of each space, and copies to and from it.
template <class Space>
struct runner;

template <>
struct runner<host> {
  context<host> ctx{host_options{.threads = 3}};
  template <class M>
  M in(M m) const {
    return m;
  }
  template <class M>
  M out(M m) const {
    return m;
  }
};

template <>
struct runner<device> {
  context<device> ctx;
  template <class M>
  auto in(const M& m) const {
    return to_device(ctx, m.view());
  }
  template <class M>
  auto out(const M& m) const {
    return to_host(ctx, m.view());
  }
};

// Counts live allocations, and fails the k-th request.
class failing_resource final : public memory_resource<host> {
 public:
  explicit failing_resource(int fail_at) : fail_at_(fail_at) {}
  void* allocate(std::size_t bytes, stream_handle stream) override {
    if (requests_++ == fail_at_) throw error(error_code::out_of_memory, std::to_string(bytes) + " bytes refused");
    live_ += static_cast<std::int64_t>(bytes);
    return default_host_resource().allocate(bytes, stream);
  }
  void deallocate(void* pointer, std::size_t bytes, stream_handle stream) noexcept override {
    live_ -= static_cast<std::int64_t>(bytes);
    default_host_resource().deallocate(pointer, bytes, stream);
  }
  [[nodiscard]] std::int64_t live() const { return live_; }
  [[nodiscard]] int requests() const { return requests_; }

 private:
  int fail_at_;
  int requests_ = 0;
  std::int64_t live_ = 0;
};

}  // namespace spargo::test
