#include "core/device/launch.cuh"
#include "sparse/spmv/copies/compressed/names.cuh"

#include <utility>

namespace spargo::detail::spmv {

namespace {

__global__ void __launch_bounds__(name_slots) clear_kernel(name_table* table) {
  table->keys[threadIdx.x] = no_key;
  if (threadIdx.x == 0) table->count = 0;
}

// One block, one thread per slot.
__global__ void __launch_bounds__(name_slots) rank_kernel(name_table* table, int* count) {
  __shared__ unsigned long long keys[name_slots];
  const int slot = static_cast<int>(threadIdx.x);
  const unsigned long long key = table->keys[slot];
  keys[slot] = key;
  __syncthreads();
  const int found = table->count;
  if (slot == 0) *count = found;
  if (found > most_names || key == no_key) return;
  int rank = 0;
  for (int other = 0; other < name_slots; ++other) rank += keys[other] < key ? 1 : 0;
  table->sorted[rank] = key;
  table->names[slot] = static_cast<std::uint8_t>(rank);
}

}  // namespace

array<name_table, device> make_names(const context<device>& ctx) {
  const device_guard guard(ctx);
  array<name_table, device> table(ctx, 1);
  launch_kernel(ctx, {1, name_slots}, clear_kernel, table.data());
  return table;
}

int rank_names(const context<device>& ctx, array<name_table, device>& table) {
  const device_guard guard(ctx);
  array<int, device> count(ctx, 1);
  launch_kernel(ctx, {1, name_slots}, rank_kernel, table.data(), count.data());
  return to_host(ctx, std::as_const(count).view())[0];
}

}  // namespace spargo::detail::spmv
