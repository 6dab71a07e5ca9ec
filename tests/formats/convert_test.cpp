// Every conversion on every backend against lists of triples.
#include "formats/reference.hpp"
#include "support/rounds.hpp"
#include "support/suites.hpp"

#include <functional>

namespace spargo::test {
namespace {

template <class Case>
class Convert : public test::space_suite<typename Case::space> {};

template <class Space>
using cases_in = testing::Types<
    format_case<double, std::int32_t, std::int32_t, Space>, format_case<float, std::int32_t, std::int64_t, Space>,
    format_case<std::complex<float>, std::int64_t, std::int64_t, Space>,
    format_case<std::complex<double>, std::int32_t, std::int32_t, Space>,
    format_case<pattern, std::int32_t, std::int32_t, Space>, format_case<pattern, std::int64_t, std::int64_t, Space>,
    format_case<double, std::int64_t, std::int64_t, Space>>;

struct case_name {
  template <class Case>
  static std::string GetName(int i) {
    return std::string(std::same_as<typename Case::space, host> ? "host" : "device") + std::to_string(i);
  }
};

TYPED_TEST_SUITE_P(Convert);

// The types of a case; not every test uses all.
#define CASE_TYPES                                       \
  using V = typename TypeParam::value;                   \
  using I = typename TypeParam::index;                   \
  using O [[maybe_unused]] = typename TypeParam::offset; \
  const runner<typename TypeParam::space> run;

TYPED_TEST_P(Convert, CooToCsrSumsDuplicates) {
  CASE_TYPES
  for (const auto& m : all_shapes<V>()) {
    const auto coo = run.in(make_coo<I>(m));
    const auto csr = run.out(to_csr<O>(run.ctx, coo.view()));
    EXPECT_EQ(csr.rows(), m.rows);
    EXPECT_EQ(csr.cols(), m.cols);
    EXPECT_TRUE(entries_of(csr.view()) == summed(m.entries)) << m.name;
  }
}

// Host keys (row within a bucket, column) of 37 bits, and of more than 64.
TYPED_TEST_P(Convert, CooToCsrOfManyColumns) {
  CASE_TYPES
  std::vector<triples<V>> shapes{random_triples<V>("a million", 1000000, 1000000, 40000, 21)};
  if constexpr (sizeof(I) == 8) shapes.push_back(random_triples<V>("2^62", 3000, std::int64_t{1} << 62, 40000, 22));
  for (auto& m : shapes) {
    for (std::size_t k = 0; k < 40000; k += 3) m.entries.push_back(m.entries[k]);
    const auto coo = run.in(make_coo<I>(m));
    EXPECT_TRUE(entries_of(run.out(to_csr<O>(run.ctx, coo.view())).view()) == summed(m.entries)) << m.name;
    const auto kept = run.out(to_csr<O>(run.ctx, coo.view(), {.on_duplicates = duplicates::keep}));
    EXPECT_TRUE(entries_of(kept.view()) == sorted(m.entries)) << m.name;
  }
}

TYPED_TEST_P(Convert, CooToCsrKeepsDuplicatesInOrder) {
  CASE_TYPES
  for (const auto& m : all_shapes<V>()) {
    const auto coo = run.in(make_coo<I>(m));
    const auto csr = run.out(to_csr<O>(run.ctx, coo.view(), {.on_duplicates = duplicates::keep}));
    EXPECT_TRUE(entries_of(csr.view()) == sorted(m.entries)) << m.name;
  }
}

TYPED_TEST_P(Convert, SortAndSumDuplicates) {
  CASE_TYPES
  auto shapes = all_shapes<V>();
  shapes.push_back(random_triples<V>("far more rows than entries", 2000000000, 2000000000, 3000, 9));
  for (int k = 0; k < 3000; k += 2) shapes.back().entries.push_back(shapes.back().entries[static_cast<std::size_t>(k)]);
  if constexpr (sizeof(I) == 8) {
    // Row and column do not fit one 64-bit key.
    shapes.push_back(
        random_triples<V>("2^40 rows and columns", std::int64_t{1} << 40, std::int64_t{1} << 40, 3000, 10));
    for (int k = 0; k < 3000; ++k) {
      auto again = shapes.back().entries[static_cast<std::size_t>(k)];
      if (k % 3 == 0) again.col = k;
      shapes.back().entries.push_back(again);
    }
  }
  for (const auto& m : shapes) {
    auto coo = run.in(make_coo<I>(m));
    sort(run.ctx, coo);
    EXPECT_TRUE(entries_of(run.out(std::move(coo)).view()) == sorted(m.entries)) << m.name;

    auto other = run.in(make_coo<I>(m));
    const auto expected = summed(m.entries);
    EXPECT_EQ(sum_duplicates(run.ctx, other), static_cast<std::int64_t>(m.entries.size() - expected.size())) << m.name;
    EXPECT_TRUE(entries_of(run.out(std::move(other)).view()) == expected) << m.name;
  }
}

TYPED_TEST_P(Convert, ExpandSymmetry) {
  CASE_TYPES
  for (const auto kind :
       {symmetry_kind::general, symmetry_kind::symmetric, symmetry_kind::skew_symmetric, symmetry_kind::hermitian}) {
    for (const auto& m : all_shapes<V>()) {
      if (m.rows != m.cols) continue;
      auto expected = m.entries;
      for (const auto& e : m.entries) {
        if (e.row == e.col || kind == symmetry_kind::general) continue;
        auto value = e.value;
        if constexpr (!is_pattern<V>) {
          if (kind == symmetry_kind::skew_symmetric) value = -value;
          if constexpr (complex_type<V>) {
            if (kind == symmetry_kind::hermitian) value = {value.real(), -value.imag()};
          }
        }
        expected.push_back({e.col, e.row, value});
      }
      const auto coo = run.in(make_coo<I>(m));
      EXPECT_TRUE(entries_of(run.out(expand_symmetry(run.ctx, coo.view(), kind)).view()) == expected) << m.name;
    }
  }
}

// Triangles in four orders, with and without duplicates, and entries on both sides of the diagonal.
TYPED_TEST_P(Convert, TriangleToCsr) {
  CASE_TYPES
  const auto by_row = [](const auto& a, const auto& b) { return coordinates_less(a, b); };
  const auto by_column = [](const auto& a, const auto& b) { return std::pair(a.col, a.row) < std::pair(b.col, b.row); };
  auto shapes = all_shapes<V>();
  shapes.push_back(random_triples<V>("several buckets", 2500, 2500, 20000, 21));  // of 64 KiB
  shapes.push_back(random_triples<V>("several buckets and a whole diagonal", 1500, 1500, 10000, 22));
  for (int k = 0; k < 1500; ++k) {
    auto& e = shapes.back().entries[static_cast<std::size_t>(k)];
    e.row = e.col = k;
  }
  std::vector<symmetry_kind> kinds{symmetry_kind::symmetric};
  if constexpr (!is_pattern<V>) kinds.push_back(symmetry_kind::skew_symmetric);
  if constexpr (complex_type<V>) kinds.push_back(symmetry_kind::hermitian);
  int larges = 0, number = 0;
  for (const auto& given : shapes) {
    if (given.rows != given.cols) continue;
    const bool large = given.entries.size() > 50000;
    larges += large ? 1 : 0;
    ++number;
    for (int variant = 0; variant < 13; ++variant) {
      if (large && variant % 3 != larges % 3) continue;  // the three large shapes share the variants
      if (is_sanitized && variant % 3 != number % 3) continue;
      const bool lower = variant % 2 == 0;
      const bool distinct = variant / 2 % 2 == 1;
      const int order = variant / 4;  // as given, by row, by column; as given on both sides
      auto m = given;
      for (auto& e : m.entries) {
        if (order < 3 && (lower ? e.row < e.col : e.row > e.col)) std::swap(e.row, e.col);
      }
      if (order == 1) std::stable_sort(m.entries.begin(), m.entries.end(), by_row);
      if (order == 2) std::stable_sort(m.entries.begin(), m.entries.end(), by_column);
      if (distinct) {
        const auto same = [](const auto& a, const auto& b) { return a.row == b.row && a.col == b.col; };
        m.entries.erase(std::unique(m.entries.begin(), m.entries.end(), same), m.entries.end());
      }
      // Both triangles in order, once for all kinds. Values are positions, with inverted bits where mirrored.
      std::vector<triple<std::int64_t>> places;
      for (std::size_t k = 0; k < m.entries.size(); ++k) {
        places.push_back({m.entries[k].row, m.entries[k].col, static_cast<std::int64_t>(k)});
      }
      for (std::size_t k = 0; k < m.entries.size(); ++k) {
        const auto& e = m.entries[k];
        if (e.row != e.col) places.push_back({e.col, e.row, ~static_cast<std::int64_t>(k)});
      }
      places = sorted(std::move(places));
      const auto coo = run.in(make_coo<I>(m));
      for (std::size_t k = 0; k < kinds.size(); ++k) {
        if (large && k != static_cast<std::size_t>(variant / 3) % kinds.size()) continue;
        const symmetry_kind kind = kinds[k];
        std::vector<triple<V>> all;
        all.reserve(places.size());
        for (const auto& [row, col, place] : places) {
          auto value = m.entries[static_cast<std::size_t>(place < 0 ? ~place : place)].value;
          if constexpr (!is_pattern<V>) {
            if (place < 0 && kind == symmetry_kind::skew_symmetric) value = -value;
            if constexpr (complex_type<V>) {
              if (place < 0 && kind == symmetry_kind::hermitian) value = {value.real(), -value.imag()};
            }
          }
          all.push_back({row, col, value});
        }
        const auto csr = run.out(to_csr<O>(run.ctx, coo.view(), {.symmetry = kind}));
        EXPECT_TRUE(entries_of(csr.view()) == merged(all)) << m.name << ", variant " << variant;
        const auto kept =
            run.out(to_csr<O>(run.ctx, coo.view(), {.on_duplicates = duplicates::keep, .symmetry = kind}));
        EXPECT_TRUE(entries_of(kept.view()) == all) << m.name << ", variant " << variant;
      }
    }
  }
  const auto oblong = run.in(make_coo<I>(random_triples<V>("oblong", 4, 5, 10, 1)));
  EXPECT_THROW((void)to_csr<O>(run.ctx, oblong.view(), {.symmetry = symmetry_kind::symmetric}), error);
}

TYPED_TEST_P(Convert, CsrToCoo) {
  CASE_TYPES
  for (auto& m : all_shapes<V>()) {
    m.entries = sorted(m.entries);
    const auto csr = run.in(make_csr<I, O>(m));
    EXPECT_TRUE(entries_of(run.out(to_coo(run.ctx, csr.view())).view()) == m.entries) << m.name;
  }
}

TYPED_TEST_P(Convert, Transpose) {
  CASE_TYPES
  for (auto& m : all_shapes<V>()) {
    // In row order only; columns in any order.
    std::stable_sort(m.entries.begin(), m.entries.end(), [](const auto& a, const auto& b) { return a.row < b.row; });
    const auto csr = run.in(make_csr<I, O>(m));
    auto expected = m.entries;
    for (auto& e : expected) std::swap(e.row, e.col);
    const auto transposed = run.out(transpose(run.ctx, csr.view()));
    EXPECT_EQ(transposed.rows(), m.cols);
    EXPECT_TRUE(entries_of(transposed.view()) == sorted(expected)) << m.name;
  }
}

TYPED_TEST_P(Convert, EllHoldsEveryRowAndPadsWithZeros) {
  CASE_TYPES
  for (auto& m : small_shapes<V>()) {
    m.entries = summed(m.entries);
    const auto csr = run.in(make_csr<I, O>(m));
    auto made = to_ell(run.ctx, csr.view());
    EXPECT_TRUE(entries_of(run.out(to_csr<O>(run.ctx, made.view())).view()) == m.entries) << m.name;

    const auto ell = run.out(std::move(made));
    const auto view = ell.view();
    ASSERT_EQ(view.indices.size(), m.rows * view.width) << m.name;
    std::int64_t longest = 0;
    std::vector<triple<V>> found;
    for (std::int64_t r = 0; r < m.rows; ++r) {
      longest = std::max<std::int64_t>(longest, view.row_lengths[r]);
      for (std::int64_t k = 0; k < view.width; ++k) {
        const std::int64_t at = k * m.rows + r;
        V value{};
        if constexpr (!is_pattern<V>) value = view.values[at];
        if (k < view.row_lengths[r]) {
          found.push_back({r, view.indices[at], value});
        } else {
          EXPECT_TRUE(view.indices[at] == 0 && value == V{}) << m.name << ": row " << r << " padding " << k;
        }
      }
    }
    EXPECT_TRUE(found == m.entries) << m.name;
    EXPECT_EQ(view.width, longest);
    EXPECT_EQ(view.nnz, static_cast<std::int64_t>(m.entries.size()));
  }
}

template <class V, class I, class O>
void expect_sell(const sell_view<const V, I, O, host>& view, const triples<V>& m, std::int64_t height,
                 std::int64_t window) {
  std::vector<int> seen(static_cast<std::size_t>(m.rows), 0);
  std::vector<triple<V>> found;
  ASSERT_EQ(view.slices(), (m.rows + height - 1) / height);
  ASSERT_EQ(view.permutation.size(), view.slices() * height);
  for (std::int64_t s = 0; s < view.permutation.size(); ++s) {
    const std::int64_t row = view.permutation[s];
    const std::int64_t base = view.slice_offsets[s / height] + s % height;
    const std::int64_t width = (view.slice_offsets[s / height + 1] - view.slice_offsets[s / height]) / height;
    EXPECT_EQ(row < 0, s >= m.rows);
    if (row >= 0) ++seen[static_cast<std::size_t>(row)];
    if (row >= 0) {
      EXPECT_EQ(row / window, s / window);
    }
    if (s % window != 0) {
      EXPECT_LE(view.row_lengths[s], view.row_lengths[s - 1]);
      if (row >= 0 && view.row_lengths[s] == view.row_lengths[s - 1]) {
        EXPECT_LT(view.permutation[s - 1], row);
      }
    }
    for (std::int64_t k = 0; k < width; ++k) {
      V value{};
      if constexpr (!is_pattern<V>) value = view.values[base + k * height];
      if (k < view.row_lengths[s]) {
        found.push_back({row, view.indices[base + k * height], value});
      } else {
        EXPECT_TRUE(view.indices[base + k * height] == 0 && value == V{}) << m.name << ": slot " << s;
      }
    }
  }
  EXPECT_TRUE(sorted(found) == m.entries) << m.name;
  EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int n) { return n == 1; })) << m.name;
}

TYPED_TEST_P(Convert, SellHoldsEveryRowInOrderOfLength) {
  CASE_TYPES
  for (auto& m : all_shapes<V>()) {
    m.entries = summed(m.entries);
    const auto csr = run.in(make_csr<I, O>(m));
    for (const auto& [height, sigma] : {std::pair{32, 1024}, {4, 1}, {1, 64}, {3, 10}, {1024, 1}}) {
      if (m.rows > 50000 && height == 1024) continue;  // much padding, slow to check
      const std::int64_t window = sigma == 1 ? 1 : (sigma + height - 1) / height * height;
      auto made =
          to_sell(run.ctx, csr.view(), {.slice_height = height, .sorting_window = sigma, .max_padding_ratio = 1e9});
      EXPECT_TRUE(entries_of(run.out(to_csr(run.ctx, made.view())).view()) == m.entries) << m.name;
      const auto sell = run.out(std::move(made));
      expect_sell(sell.view(), m, height, window);
    }
  }
}

TYPED_TEST_P(Convert, PaddingIsLimited) {
  CASE_TYPES
  triples<V> m{"arrow", 3000, 3000, {}};
  for (std::int64_t c = 0; c < 3000; ++c) m.add(0, c);
  for (std::int64_t r = 1; r < 3000; ++r) m.add(r, r);
  const auto csr = run.in(make_csr<I, O>(m));
  const auto refused = [&](auto&& convert, const char* size) {
    try {
      convert();
      ADD_FAILURE() << "the padding was accepted";
    } catch (const error& e) {
      EXPECT_EQ(e.code(), error_code::unsupported);
      EXPECT_NE(std::string(e.what()).find(size), std::string::npos) << e.what();
    }
  };
  refused([&] { (void)to_ell(run.ctx, csr.view()); }, "padding gives 9000000 slots for 5999");
  refused([&] { (void)to_sell(run.ctx, csr.view()); }, "slots for 5999");
  EXPECT_EQ(to_ell(run.ctx, csr.view(), {.max_padding_ratio = 2000}).width(), 3000);
}

TYPED_TEST_P(Convert, EntriesOutsideTheMatrixAreRefused) {
  CASE_TYPES
  for (const auto& [row, col] : {std::pair{4, 0}, {-1, 0}, {0, 5}, {0, -1}}) {
    auto m = random_triples<V>("bad", 4, 5, 100, 1);
    m.entries[41].row = row;
    m.entries[41].col = col;
    const auto coo = run.in(make_coo<I>(m));
    try {
      (void)to_csr<O>(run.ctx, coo.view());
      ADD_FAILURE() << row << ", " << col << " was accepted";
    } catch (const error& e) {
      EXPECT_EQ(e.code(), error_code::invalid_data);
      EXPECT_NE(std::string(e.what()).find("entry 41: (" + std::to_string(row) + ", " + std::to_string(col)),
                std::string::npos)
          << e.what();
    }
  }
}

REGISTER_TYPED_TEST_SUITE_P(Convert, CooToCsrSumsDuplicates, CooToCsrOfManyColumns, CooToCsrKeepsDuplicatesInOrder,
                            SortAndSumDuplicates, ExpandSymmetry, TriangleToCsr, CsrToCoo, Transpose,
                            EllHoldsEveryRowAndPadsWithZeros, SellHoldsEveryRowInOrderOfLength, PaddingIsLimited,
                            EntriesOutsideTheMatrixAreRefused);
INSTANTIATE_TYPED_TEST_SUITE_P(Host, Convert, cases_in<host>, case_name);
// Under sanitizers, without CUDA, those on the device could only skip: one type in their place, of the host.
using device_cases =
    std::conditional_t<is_sanitized, testing::Types<format_case<double, std::int32_t, std::int32_t, host>>,
                       cases_in<device>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Device, Convert, device_cases, case_name);

TEST(ConvertThreads, SameBitsForAnyNumber) {
  for (const auto& m : large_shapes<double>()) {
    const auto coo = make_coo<std::int32_t>(m);
    const auto expected = entries_of(to_csr<std::int32_t>(context<host>({.threads = 1}), coo.view()).view());
    for (const int threads : {2, 3, 7}) {
      const context<host> ctx({.threads = threads});
      const auto csr = to_csr<std::int32_t>(ctx, coo.view());
      EXPECT_TRUE(entries_of(csr.view()) == expected) << m.name << " with " << threads << " threads";
      const auto back = transpose(ctx, transpose(ctx, csr.view()).view());
      EXPECT_TRUE(entries_of(back.view()) == expected) << m.name << " with " << threads << " threads";
    }
  }
}

// Sorting long rows one by one: quadratic work would take minutes.
TEST(ConvertCost, DenseRowIsNotQuadratic) {
  const std::int64_t n = 2000000;
  coo_matrix<pattern, std::int32_t, host> coo(context<host>{}, 2, static_cast<std::int32_t>(n), n);
  for (std::int64_t k = 0; k < n; ++k) {
    coo.row_indices()[k] = 1;
    coo.col_indices()[k] = static_cast<std::int32_t>((k * 1000003) % n);
  }
  const auto csr = to_csr<std::int32_t>(context<host>{}, coo.view());
  ASSERT_EQ(csr.nnz(), n);
  for (std::int64_t k = 0; k < n; ++k) ASSERT_EQ(csr.indices()[k], k);
}

// Enough entries that they bypass the caches.
TEST(ConvertCost, FortyMegabytesOfEntries) {
  const std::int64_t n = 10'000'000;
  const std::int32_t size = 700'001;
  const auto hash = [](std::uint64_t x) {
    x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15;
    return (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9;
  };
  coo_matrix<float, std::int32_t, host> coo(context<host>{}, size, size, n);
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(size));
  std::uint64_t given = 0;
  const auto entry = [&](std::int64_t row, std::int64_t col, float value) {
    return hash(static_cast<std::uint64_t>(row) << 32 | static_cast<std::uint64_t>(col)) *
           static_cast<std::uint64_t>(value);
  };
  for (std::int64_t k = 0; k < n; ++k) {
    const auto random = hash(static_cast<std::uint64_t>(k));
    coo.row_indices()[k] = static_cast<std::int32_t>((random >> 32) % size);
    coo.col_indices()[k] = static_cast<std::int32_t>((random & 0xffffffff) % size);
    coo.values()[k] = static_cast<float>(k % 1000 + 1);
    ++lengths[static_cast<std::size_t>(coo.row_indices()[k])];
    given += entry(coo.row_indices()[k], coo.col_indices()[k], coo.values()[k]);
  }
  for (const int threads : {1, 3}) {
    const auto csr = to_csr<std::int32_t>(context<host>({.threads = threads}), std::as_const(coo).view(),
                                          {.on_duplicates = duplicates::keep});
    std::uint64_t found = 0;
    for (std::int32_t r = 0; r < size; ++r) {
      ASSERT_EQ(csr.offsets()[r + 1] - csr.offsets()[r], lengths[static_cast<std::size_t>(r)]);
      for (std::int32_t k = csr.offsets()[r]; k < csr.offsets()[r + 1]; ++k) {
        if (k > csr.offsets()[r]) {
          ASSERT_LE(csr.indices()[k - 1], csr.indices()[k]);
        }
        found += entry(r, csr.indices()[k], csr.values()[k]);
      }
    }
    EXPECT_EQ(found, given) << threads << " threads";
  }
}

// Runs `work` with the k-th allocation failing, for every k, until it succeeds.
void expect_clean_failures(const std::function<void(const context<host>&)>& work) {
  int k = 0;
  for (;; ++k) {
    failing_resource memory(k);
    bool succeeded = false;
    try {
      work(context<host>({.threads = 3, .resource = &memory}));
      succeeded = true;
    } catch (const error& e) {
      EXPECT_EQ(e.code(), error_code::out_of_memory);
    }
    EXPECT_EQ(memory.live(), 0) << "request " << k;
    if (succeeded) {
      EXPECT_EQ(memory.requests(), k);
      break;
    }
    ASSERT_LT(k, 100);
  }
  EXPECT_GT(k, 0);
}

template <class V>
void expect_clean_failures_of_all() {
  const auto m = random_triples<V>("random", 900, 900, 100000, 1);
  const auto row_major = [&] {
    auto by_row = m;
    std::stable_sort(by_row.entries.begin(), by_row.entries.end(),
                     [](const auto& a, const auto& b) { return a.row < b.row; });
    return make_coo<std::int32_t>(by_row);
  }();
  const auto coo = make_coo<std::int32_t>(m);
  const auto csr = to_csr<std::int64_t>(context<host>{}, coo.view());
  const auto ell = to_ell(context<host>{}, csr.view());
  const auto sell = to_sell(context<host>{}, csr.view());
  using host_context = context<host>;
  expect_clean_failures([&](const host_context& ctx) { (void)to_csr<std::int32_t>(ctx, coo.view()); });
  expect_clean_failures([&](const host_context& ctx) { (void)to_csr<std::int32_t>(ctx, row_major.view()); });
  expect_clean_failures([&](const host_context& ctx) { (void)to_coo(ctx, csr.view()); });
  expect_clean_failures([&](const host_context& ctx) { (void)to_ell(ctx, csr.view()); });
  expect_clean_failures([&](const host_context& ctx) { (void)to_sell(ctx, csr.view()); });
  expect_clean_failures([&](const host_context& ctx) { (void)to_csr<std::int64_t>(ctx, ell.view()); });
  expect_clean_failures([&](const host_context& ctx) { (void)to_csr(ctx, sell.view()); });
  expect_clean_failures([&](const host_context& ctx) { (void)transpose(ctx, csr.view()); });
  expect_clean_failures(
      [&](const host_context& ctx) { (void)expand_symmetry(ctx, coo.view(), symmetry_kind::symmetric); });

  // In place: a failure leaves the matrix unchanged.
  const auto in_place = [&](const auto& source, auto&& operation) {
    expect_clean_failures([&](const host_context& ctx) {
      auto copy_of = make_coo<std::int32_t>(source);
      try {
        operation(ctx, copy_of);
      } catch (const error&) {
        EXPECT_TRUE(entries_of(copy_of.view()) == source.entries);
        throw;
      }
    });
  };
  const auto hypersparse = random_triples<V>("hypersparse", 2000000000, 3, 50, 1);
  for (const auto& source : {m, hypersparse}) {
    in_place(source, [](const host_context& ctx, auto& matrix) { sort(ctx, matrix); });
    in_place(source, [](const host_context& ctx, auto& matrix) { sum_duplicates(ctx, matrix); });
  }
}

TEST(ConvertMemory, EveryFailedAllocationIsAnErrorWithoutALeak) {
  expect_clean_failures_of_all<double>();
  expect_clean_failures_of_all<pattern>();
}

TEST(ConvertErrors, WrongSizesAreRefused) {
  const context<host> ctx;
  auto coo = make_coo<std::int32_t>(random_triples<double>("random", 4, 5, 100, 1));
  coo.values().truncate(99);
  EXPECT_THROW((void)to_csr<std::int32_t>(ctx, coo.view()), error);
  auto csr = make_csr<std::int32_t, std::int32_t>(triples<double>{"empty", 4, 4, {}});
  csr.offsets().truncate(4);
  EXPECT_THROW((void)to_ell(ctx, csr.view()), error);
  const auto fine = make_csr<std::int32_t, std::int32_t>(triples<double>{"empty", 4, 5, {}});
  EXPECT_THROW((void)to_sell(ctx, fine.view(), {.slice_height = 0}), error);
  EXPECT_THROW((void)to_sell(ctx, fine.view(), {.slice_height = 1025}), error);
  EXPECT_THROW((void)to_sell(ctx, fine.view(), {.sorting_window = 0}), error);
  EXPECT_THROW((void)to_ell(ctx, fine.view(), {.max_padding_ratio = std::nan("")}), error);
  EXPECT_THROW((void)expand_symmetry(ctx, make_coo<std::int32_t>(triples<double>{"", 4, 5, {}}).view(),
                                     symmetry_kind::symmetric),
               error);
}

}  // namespace
}  // namespace spargo::test
