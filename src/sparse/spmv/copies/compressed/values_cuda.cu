// Encodes the values of a compressed matrix from those of the CSR matrix, for a new plan or new values.
//
// Dictionary-encoded values first give two byte streams, for columns and values; if at most 256 combinations occur, one
// stream of their names replaces both. Combinations are marked in 65536 bits and named in the order of column names,
// then value names, so the same matrix gives the same bytes. Padding counts as the combination of the first names.
#include "core/device/block.cuh"
#include "sparse/spmv/copies/compressed/build.cuh"

#include <algorithm>
#include <utility>

namespace spargo::detail::spmv {

namespace {

constexpr int combinations = most_names * most_names;
constexpr int mark_words = combinations / 32;

// Marks, and the name of each marked combination: column name * 256 + value name.
struct pair_table {
  unsigned marks[mark_words];
  std::uint16_t combination[most_names];  // of each name
  std::uint8_t names[combinations];
  int count;
};

struct pattern_arguments {
  const compressed_slice* slices;
  const std::int64_t* first_entry;
  const std::uint16_t* lengths;
  std::int64_t count;
  std::int64_t rows;
};

// Every lane of every slice calls store(slice, place, length, first entry).
template <class Store>
__device__ void for_lane(const pattern_arguments& a, Store store) {
  const slice_place place(compressed_threads);
  if (place.slice >= a.count) return;  // uniform per warp
  const int length = place.row < a.rows ? a.lengths[place.row] : 0;
  store(a.slices[place.slice], place.lane, length, a.first_entry[place.slice] + warp_exclusive_sum(length));
}

template <class Word>
__global__ void __launch_bounds__(compressed_threads)
    arrange_kernel(pattern_arguments a, const Word* values, Word* arranged) {
  for_lane(a, [&](const compressed_slice& slice, int lane, int length, std::int64_t first) {
    Word* const to = arranged + std::int64_t{slice.start} * slice_rows;
    for (int k = 0; k < length; ++k) to[value_place(k, lane)] = values[first + k];
  });
}

template <class Word>
__global__ void __launch_bounds__(compressed_threads)
    names_kernel(pattern_arguments a, const Word* values, const name_table* table, std::uint8_t* names) {
  for_lane(a, [&](const compressed_slice& slice, int lane, int length, std::int64_t first) {
    std::uint8_t* const to = names + std::int64_t{slice.start} * slice_rows;
    for (int k = 0; k < slice.width; k += 4) {
      unit_quad<std::uint8_t> units{};
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        if (k + j < length) units.v[j] = name_of(table, values[first + k + j]);
      }
      store_units(to, k, lane, slice.width, units);
    }
  });
}

template <class Word>
__global__ void __launch_bounds__(compressed_threads)
    collect_kernel(const Word* values, std::int64_t nnz, name_table* table) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * compressed_threads;
  for (std::int64_t e = static_cast<std::int64_t>(blockIdx.x) * compressed_threads + threadIdx.x; e < nnz; e += step) {
    if (!has_room(table)) return;
    insert_key(table, values[e]);
  }
}

// Four slots per thread: streams have multiples of 32 units.
__device__ inline std::int64_t first_of_four() {
  return 4 * (static_cast<std::int64_t>(blockIdx.x) * compressed_threads + threadIdx.x);
}
__device__ inline unit_quad<std::uint8_t> four(const std::uint8_t* units) {
  return *reinterpret_cast<const unit_quad<std::uint8_t>*>(units);
}

__global__ void __launch_bounds__(compressed_threads)
    mark_kernel(const std::uint8_t* columns, const std::uint8_t* values, std::int64_t slots, pair_table* table) {
  const std::int64_t at = first_of_four();
  if (at >= slots) return;
  const auto column = four(columns + at);
  const auto value = four(values + at);
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const int combination = column.v[j] * most_names + value.v[j];
    const unsigned bit = 1U << (combination % 32);
    if ((__ldca(table->marks + combination / 32) & bit) == 0) atomicOr(table->marks + combination / 32, bit);
  }
}

// One block; a thread takes two words of marks and numbers their marks after all earlier ones.
__global__ void __launch_bounds__(mark_words / 2) rank_pairs_kernel(pair_table* table, int* count) {
  __shared__ int of_warps[mark_words / 2 / warp_size];
  const int t = static_cast<int>(threadIdx.x);
  const unsigned marks[2] = {table->marks[2 * t], table->marks[2 * t + 1]};
  auto [name, total] = block_exclusive_sum(__popc(marks[0]) + __popc(marks[1]), of_warps);
  if (t == 0) *count = total;
  for (int w = 0; w < 2; ++w) {
    for (unsigned left = marks[w]; left != 0 && name < most_names; left &= left - 1) {
      const int combination = 32 * (2 * t + w) + __ffs(static_cast<int>(left)) - 1;
      table->combination[name] = static_cast<std::uint16_t>(combination);
      table->names[combination] = static_cast<std::uint8_t>(name);
      ++name;
    }
  }
}

// Replaces column names by pair names.
__global__ void __launch_bounds__(compressed_threads)
    pair_kernel(const std::uint8_t* columns, const std::uint8_t* values, std::int64_t slots, const pair_table* table,
                std::uint8_t* pairs) {
  const std::int64_t at = first_of_four();
  if (at >= slots) return;
  const auto column = four(columns + at);
  const auto value = four(values + at);
  unit_quad<std::uint8_t> pair;
#pragma unroll
  for (int j = 0; j < 4; ++j) pair.v[j] = __ldg(table->names + column.v[j] * most_names + value.v[j]);
  *reinterpret_cast<unit_quad<std::uint8_t>*>(pairs + at) = pair;
}

template <class Word>
__global__ void __launch_bounds__(most_names)
    describe_pairs_kernel(const pair_table* table, const name_table* differences, const name_table* values, int count,
                          named_pair<Word>* pairs) {
  const int name = static_cast<int>(threadIdx.x);
  if (name >= count) return;
  const int combination = table->combination[name];
  pairs[name] = {static_cast<Word>(values->sorted[combination % most_names]),
                 static_cast<std::int32_t>(difference_of(differences->sorted[combination / most_names]))};
}

template <class Word>
__global__ void __launch_bounds__(compressed_threads)
    unpair_kernel(const std::uint8_t* names, const named_pair<Word>* pairs, std::int64_t slots,
                  const name_table* differences, std::uint8_t* columns) {
  const std::int64_t at = first_of_four();
  if (at >= slots) return;
  const auto pair = four(names + at);
  unit_quad<std::uint8_t> column;
#pragma unroll
  for (int j = 0; j < 4; ++j) column.v[j] = name_of(differences, key_of(pairs[pair.v[j]].difference));
  *reinterpret_cast<unit_quad<std::uint8_t>*>(columns + at) = column;
}

[[nodiscard]] pattern_arguments arguments_of(const compressed_pattern& p) {
  return {p.slices.data(), p.first_entry.data(), p.lengths.data(), p.slices.size(), p.rows};
}

[[nodiscard]] launch_shape four_slots_each(std::int64_t slots) {
  return one_thread_each(div_up(slots, 4), compressed_threads);
}

// Combines the names of columns and values if there are few enough pairs.
template <class Word>
void pair_names(const context<device>& ctx, compressed_pattern& pattern, compressed_values<Word>& values) {
  const std::int64_t slots = pattern.groups * slice_rows;
  array<pair_table, device> table(ctx, 1);
  array<int, device> count(ctx, 1);
  fill_zero(ctx, table.view());
  launch_kernel(ctx, four_slots_each(slots), mark_kernel, pattern.columns.data(), values.names.data(), slots,
                table.data());
  launch_kernel(ctx, {1, mark_words / 2}, rank_pairs_kernel, table.data(), count.data());
  const int found = to_host(ctx, std::as_const(count).view())[0];
  if (found > most_names) return;
  array<std::uint8_t, device> names(ctx, slots);
  array<named_pair<Word>, device> pairs(ctx, most_names);
  launch_kernel(ctx, four_slots_each(slots), pair_kernel, pattern.columns.data(), values.names.data(), slots,
                table.data(), names.data());
  launch_kernel(ctx, {1, most_names}, describe_pairs_kernel<Word>, table.data(), pattern.differences.data(),
                values.table.data(), found, pairs.data());
  values.encoding = value_encoding::paired;
  values.names = std::move(names);
  values.pairs = std::move(pairs);
  values.table = {};
  values.named = found;
  pattern.columns = {};
}

}  // namespace

template <class Word>
value_names name_values(const context<device>& ctx, const Word* values, std::int64_t nnz) {
  if constexpr (can_be_named<Word>) {
    const device_guard guard(ctx);
    auto table = make_names(ctx);
    const std::int64_t most = 16LL * ctx.properties().multiprocessors;
    const std::int64_t blocks = std::min(div_up(nnz, compressed_threads), most);
    launch_kernel(ctx, {blocks, compressed_threads}, collect_kernel<Word>, values, nnz, table.data());
    const int count = rank_names(ctx, table);
    return {std::move(table), count};
  } else {
    return {};
  }
}

template <class Word>
compressed_values<Word> compress_values(const context<device>& ctx, compressed_pattern& pattern, const Word* values,
                                        value_names names) {
  const device_guard guard(ctx);
  const launch_shape shape = a_warp_each(pattern.slices.size());
  const std::int64_t slots = pattern.groups * slice_rows;
  compressed_values<Word> stored;
  if constexpr (can_be_named<Word>) {
    if (names.count <= most_names) {
      stored.encoding = value_encoding::named;
      stored.names = array<std::uint8_t, device>(ctx, slots);
      stored.table = std::move(names.table);
      stored.named = names.count;
      launch_kernel(ctx, shape, names_kernel<Word>, arguments_of(pattern), values, stored.table.data(),
                    stored.names.data());
      if (pattern.encoding == column_encoding::named) pair_names(ctx, pattern, stored);
      return stored;
    }
  }
  stored.plain = array<Word, device>(ctx, slots);
  launch_kernel(ctx, shape, arrange_kernel<Word>, arguments_of(pattern), values, stored.plain.data());
  return stored;
}

template <class Word>
void restore_columns(const context<device>& ctx, compressed_pattern& pattern, const compressed_values<Word>& values) {
  if (values.encoding != value_encoding::paired || !pattern.columns.empty()) return;
  const device_guard guard(ctx);
  const std::int64_t slots = pattern.groups * slice_rows;
  array<std::uint8_t, device> columns(ctx, slots);
  launch_kernel(ctx, four_slots_each(slots), unpair_kernel<Word>, values.names.data(), values.pairs.data(), slots,
                pattern.differences.data(), columns.data());
  pattern.columns = std::move(columns);
}

#define INSTANTIATE(Word)                                                                                    \
  template value_names name_values(const context<device>&, const Word*, std::int64_t);                       \
  template compressed_values<Word> compress_values(const context<device>&, compressed_pattern&, const Word*, \
                                                   value_names);                                             \
  template void restore_columns(const context<device>&, compressed_pattern&, const compressed_values<Word>&);
INSTANTIATE(std::uint32_t)
INSTANTIATE(std::uint64_t)
INSTANTIATE(ulonglong2)

}  // namespace spargo::detail::spmv
