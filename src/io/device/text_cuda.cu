// Text to entries on the device: see text.hpp for the idea.
//
// A chunk is parsed in tiles, one thread block per tile. The first kernel counts the lines that end in every tile, the
// second sums the counts, the third copies the tile and the bytes before it to shared memory, lists the line ends and
// parses one line per thread. The chunk is in the L2 cache by then, so the second read costs little.
// Invariant: the bytes before a chunk's text are the last ones of the previous chunk; before the first chunk they are
// '\n'.
// Cost: three launches per chunk; each byte is read from memory once and from the cache twice.
#include "core/cuda.cuh"
#include "core/device/block.cuh"
#include "core/device/launch.cuh"
#include "core/device/pinned_slot.cuh"
#include "io/device/text.hpp"

#include <cstring>

namespace spargo::detail {

namespace {

struct tuning {
  static constexpr int threads = 256;
  static constexpr int thread_bytes = 32;  // one bit each in the mask of line ends
  static constexpr int tile_bytes = threads * thread_bytes;
  static constexpr int margin = 1024;  // bytes kept of the previous text: no line of three numbers is longer
  static constexpr int scan_threads = 1024;
};

struct device_fives {
  powers_of_five::entry of[2 * powers_of_five::limit + 1];
};
constexpr device_fives copy_table() {
  device_fives copy{};
  for (std::size_t i = 0; i < powers_of_five::table.size(); ++i) copy.of[i] = powers_of_five::table[i];
  return copy;
}
__device__ const device_fives fives = copy_table();

enum line_flag : unsigned { lost = 1, below = 2, above = 4 };

// Over all chunks so far.
struct counters {
  unsigned long long lines;
  unsigned long long unusual;
  unsigned long long rounded;
  long long largest;
  unsigned flags;
};

// A bit for each of the four bytes that is '\n', the first byte lowest.
__device__ unsigned newline_bits(unsigned word) {
  return (__vcmpeq4(word, 0x0a0a0a0aU) & 0x01010101U) * 0x10204080U >> 28;
}

__device__ unsigned newline_bits(uint4 bytes) {
  return newline_bits(bytes.x) | newline_bits(bytes.y) << 4 | newline_bits(bytes.z) << 8 | newline_bits(bytes.w) << 12;
}

// Loads 16 bytes at `at` of a text of `size` bytes; zeros after its end, up to a multiple of 16.
__device__ uint4 load(const char* text, std::int64_t at, std::int64_t size) {
  return at < size ? *reinterpret_cast<const uint4*>(text + at) : uint4{};
}

// counts[t] = lines that end in tile t. The first block also copies the end of the previous chunk before the text.
__global__ void __launch_bounds__(tuning::threads)
    count_lines(char* text, std::int64_t size, const char* end_before, unsigned* counts) {
  __shared__ unsigned sums[tuning::threads / warp_size];
  const std::int64_t tile = std::int64_t{blockIdx.x} * tuning::tile_bytes;
  unsigned count = 0;
  for (int k = 0; k < tuning::thread_bytes / 16; ++k) {
    count += __popc(newline_bits(load(text, tile + 16 * (k * tuning::threads + static_cast<int>(threadIdx.x)), size)));
  }
  count = block_sum(count, sums);
  if (threadIdx.x == 0) counts[blockIdx.x] = count;
  if (blockIdx.x == 0 && end_before != nullptr) {
    for (int k = static_cast<int>(threadIdx.x); k < tuning::margin; k += tuning::threads) {
      text[k - tuning::margin] = end_before[k - tuning::margin];
    }
  }
}

// firsts[t] = number of the first line that ends in tile t.
__global__ void __launch_bounds__(tuning::scan_threads)
    number_tiles(const unsigned* counts, std::int64_t tiles, std::int64_t* firsts, counters* all) {
  __shared__ unsigned sums[tuning::scan_threads / warp_size];
  auto first = static_cast<std::int64_t>(all->lines);
  for (std::int64_t begin = 0; begin < tiles; begin += tuning::scan_threads) {
    const std::int64_t t = begin + threadIdx.x;
    const auto [before, total] = block_exclusive_sum(t < tiles ? counts[t] : 0, sums);
    if (t < tiles) firsts[t] = first + before;
    first += total;
    __syncthreads();  // `sums` is reused, and all have read `lines`
  }
  if (threadIdx.x == 0) all->lines = static_cast<unsigned long long>(first);
}

struct tile_memory {
  alignas(16) char text[tuning::margin + tuning::tile_bytes];
  std::uint16_t ends[tuning::tile_bytes];  // positions of line ends in the tile
  unsigned sums[tuning::threads / warp_size];
  int begin;  // start of the first line that ends in the tile: 0 or less; below -`margin` if not kept
};

// Loads the tile's text and line ends; returns their number.
__device__ unsigned load_tile(const char* text, std::int64_t size, std::int64_t tile, tile_memory& shared) {
  constexpr int vectors = (tuning::margin + tuning::tile_bytes) / 16;
  for (int k = static_cast<int>(threadIdx.x); k < vectors; k += tuning::threads) {
    reinterpret_cast<uint4*>(shared.text)[k] = load(text, tile + 16 * k - tuning::margin, size);
  }
  __syncthreads();
  const auto* own = reinterpret_cast<const uint4*>(shared.text + tuning::margin) + 2 * threadIdx.x;
  unsigned ends = newline_bits(own[0]) | newline_bits(own[1]) << 16;
  auto [k, lines] = block_exclusive_sum(static_cast<unsigned>(__popc(ends)), shared.sums);
  for (; ends != 0; ends &= ends - 1) {
    const unsigned bit = static_cast<unsigned>(__ffs(static_cast<int>(ends)) - 1);
    shared.ends[k++] = static_cast<std::uint16_t>(threadIdx.x * tuning::thread_bytes + bit);
  }
  if (threadIdx.x < warp_size) {  // finds the last '\n' before the tile
    int begin = 0;
    unsigned found = 0;
    for (; begin > -tuning::margin; begin -= warp_size) {
      const char c = shared.text[tuning::margin + begin - warp_size + static_cast<int>(threadIdx.x)];
      found = __ballot_sync(full_mask, c == '\n');
      if (found != 0) break;
    }
    if (threadIdx.x == 0) shared.begin = found == 0 ? -tuning::margin - 1 : begin - __clz(static_cast<int>(found));
  }
  __syncthreads();
  return lines;
}

struct unusual_list {
  unusual_line* lines;
  std::int64_t capacity;
};

// Counts of one thread.
struct tally {
  unsigned flags = 0;
  unsigned rounded = 0;
  long long largest = -1;
};

__device__ void add(const tally& mine, counters* all) {
  const unsigned flags = warp_reduce(mine.flags, bit_or{});
  const long long largest = warp_max(mine.largest);
  const unsigned rounded = warp_reduce(mine.rounded, plus{});
  if (threadIdx.x % warp_size != 0) return;
  if ((flags & ~all->flags) != 0) atomicOr(&all->flags, flags);
  if (rounded != 0) atomicAdd(&all->rounded, static_cast<unsigned long long>(rounded));
  if (largest > all->largest) atomicMax(&all->largest, largest);
}

template <class V, class I, class T>
__device__ void store(const device_entry_sink<V, I>& to, std::int64_t k, const device_text::parsed_entry<T>& entry) {
  if (k >= to.capacity) return;
  to.rows[k] = static_cast<I>(entry.row);
  to.cols[k] = static_cast<I>(entry.col);
  if constexpr (!is_pattern<V>) to.values[k] = entry.value;
}

// `text` is at byte `offset` of the file.
template <class Line, class V, class I>
__global__ void __launch_bounds__(tuning::threads)
    parse_lines(const char* text, std::int64_t size, std::int64_t offset, const std::int64_t* firsts, Line rule,
                device_entry_sink<V, I> to, unusual_list unusual, counters* all) {
  __shared__ tile_memory shared;
  const std::int64_t tile = std::int64_t{blockIdx.x} * tuning::tile_bytes;
  const unsigned lines = load_tile(text, size, tile, shared);
  tally met;
  for (unsigned i = threadIdx.x; i < lines; i += tuning::threads) {
    const int begin = i == 0 ? shared.begin : shared.ends[i - 1] + 1;
    if (begin < -tuning::margin) {
      met.flags |= lost;
      continue;
    }
    const std::int64_t k = firsts[blockIdx.x] + i;
    device_text::parsed_entry<device_text::number_of<V>> entry;
    if (device_text::parse_line(rule, fives.of, shared.text + tuning::margin + begin, entry)) {
      store(to, k, entry);
      met.flags |= entry.row > entry.col ? below : entry.row < entry.col ? above : 0;
      met.rounded += entry.rounded ? 1 : 0;
      met.largest = max(met.largest, static_cast<long long>(max(entry.row, entry.col)));
    } else {
      const auto n = static_cast<std::int64_t>(atomicAdd(&all->unusual, 1ULL));
      if (n < unusual.capacity) unusual.lines[n] = {k, offset + tile + begin};
    }
  }
  __syncwarp();
  add(met, all);
}

}  // namespace

template <class Line, class V, class I>
struct device_text_parser<Line, V, I>::state {
  context<device> ctx;
  Line line;
  device_entry_sink<V, I> to;
  std::vector<pinned_slot> slots;
  array<char, device> texts[2];  // margin and chunk; double buffer
  array<unsigned, device> counts;
  array<std::int64_t, device> firsts;
  array<unusual_line, device> unusual;
  array<counters, device> all;
  const char* end_before = nullptr;  // end of the previous chunk's text

  state(const context<device>& given, const Line& rule, const device_entry_sink<V, I>& sink,
        const device_read_tuning& how)
      : ctx(given),
        line(rule),
        to(sink),
        slots(static_cast<std::size_t>(how.slots)),
        texts{{ctx, tuning::margin + room(how)}, {ctx, tuning::margin + room(how)}},
        counts(ctx, tiles(room(how))),
        firsts(ctx, tiles(room(how))),
        unusual(ctx, how.most_unusual),
        all(ctx, 1) {
    const counters none{.lines = 0, .unusual = 0, .rounded = 0, .largest = -1, .flags = 0};
    fill_bytes(ctx, texts[0].data(), '\n', tuning::margin);
    copy<counters>(ctx, span<const counters, host>(&none, 1), all.view());
    for (pinned_slot& slot : slots) slot.reserve(room(how));
    ctx.synchronize();
  }
  ~state() { cudaStreamSynchronize(ctx.stream()); }  // no copy from the slots is in flight

  // Size of a chunk with '\n' and zero padding to a multiple of the kernels' loads; whole host pages.
  static std::int64_t room(const device_read_tuning& how) {
    return div_up(how.chunk_bytes + 1, std::int64_t{4096}) * 4096;
  }
  static std::int64_t tiles(std::int64_t bytes) { return div_up(bytes, std::int64_t{tuning::tile_bytes}); }
  [[nodiscard]] pinned_slot& slot(std::int64_t i) { return slots[static_cast<std::size_t>(i) % slots.size()]; }

  void parse(char* text, std::int64_t bytes, std::int64_t offset) {
    const launch_shape shape{tiles(bytes), tuning::threads};
    launch_kernel(ctx, shape, count_lines, text, bytes, end_before, counts.data());
    launch_kernel(ctx, {1, tuning::scan_threads}, number_tiles, counts.data(), tiles(bytes), firsts.data(), all.data());
    launch_kernel(ctx, shape, parse_lines<Line, V, I>, text, bytes, offset, firsts.data(), line, to,
                  unusual_list{unusual.data(), unusual.size()}, all.data());
  }
};

template <class Line, class V, class I>
device_text_parser<Line, V, I>::device_text_parser(const context<device>& ctx, const Line& line,
                                                   const device_entry_sink<V, I>& to,
                                                   const device_read_tuning& tuning) {
  const device_guard guard(ctx);
  state_ = std::make_unique<state>(ctx, line, to, tuning);
}

template <class Line, class V, class I>
device_text_parser<Line, V, I>::~device_text_parser() = default;

template <class Line, class V, class I>
char* device_text_parser<Line, V, I>::slot(std::int64_t i) {
  const device_guard guard(state_->ctx);
  state_->slot(i).wait();
  return state_->slot(i).data();
}

template <class Line, class V, class I>
void device_text_parser<Line, V, I>::submit(std::int64_t i, std::int64_t bytes, std::int64_t offset) {
  const device_guard guard(state_->ctx);
  const pinned_slot& slot = state_->slot(i);
  char* const text = state_->texts[i % 2].data() + tuning::margin;
  const std::int64_t whole = div_up(bytes, std::int64_t{16}) * 16;  // rounded up: kernels load 16 bytes at a time
  std::memset(slot.data() + bytes, 0, static_cast<std::size_t>(whole - bytes));
  copy_to_device(state_->ctx, slot.data(), text, static_cast<std::size_t>(whole));
  SPARGO_CUDA_TRY(cudaEventRecord(slot.copied(), state_->ctx.stream()));
  state_->parse(text, bytes, offset);
  state_->end_before = text + bytes;
}

template <class Line, class V, class I>
device_text_outcome device_text_parser<Line, V, I>::finish() {
  state& s = *state_;
  const device_guard guard(s.ctx);
  const auto all = to_host(s.ctx, s.all.view());
  const counters& met = all[0];
  device_text_outcome outcome;
  outcome.lines = static_cast<std::int64_t>(met.lines);
  outcome.unusual_count = static_cast<std::int64_t>(met.unusual);
  outcome.lost = (met.flags & lost) != 0;
  outcome.below = (met.flags & below) != 0;
  outcome.above = (met.flags & above) != 0;
  outcome.rounded = static_cast<std::int64_t>(met.rounded);
  outcome.largest = met.largest;
  outcome.unusual.resize(static_cast<std::size_t>(std::min(outcome.unusual_count, s.unusual.size())));
  const auto listed = static_cast<std::int64_t>(outcome.unusual.size());
  copy<unusual_line>(s.ctx, s.unusual.view().subspan(0, listed),
                     span<unusual_line, host>(outcome.unusual.data(), listed));
  s.ctx.synchronize();
  return outcome;
}

template <class V, class I>
void patch_entries(const context<device>& ctx, const std::vector<patched_entry<V, I>>& parsed,
                   const device_entry_sink<V, I>& to) {
  const auto count = static_cast<std::int64_t>(parsed.size());
  const array<patched_entry<V, I>, device> patches =
      to_device(ctx, span<const patched_entry<V, I>, host>(parsed.data(), count));
  const patched_entry<V, I>* const patch = patches.data();
  for_each(ctx, count, [=] __device__(std::int64_t i) {
    const patched_entry<V, I>& entry = patch[i];
    to.rows[entry.entry] = entry.row;
    to.cols[entry.entry] = entry.col;
    if constexpr (!is_pattern<V>) to.values[entry.entry] = entry.value;
  });
  ctx.synchronize();
}

#define INSTANTIATE(V, I)                                                                      \
  template class device_text_parser<device_text::matrix_line, V, I>;                           \
  template void patch_entries(const context<device>&, const std::vector<patched_entry<V, I>>&, \
                              const device_entry_sink<V, I>&);
INSTANTIATE(float, std::int32_t)
INSTANTIATE(float, std::int64_t)
INSTANTIATE(double, std::int32_t)
INSTANTIATE(double, std::int64_t)
INSTANTIATE(pattern, std::int32_t)
INSTANTIATE(pattern, std::int64_t)
#undef INSTANTIATE
template class device_text_parser<device_text::edge_line, double, std::int32_t>;
template class device_text_parser<device_text::edge_line, double, std::int64_t>;

}  // namespace spargo::detail
