// Partitions, and the exchange of values by packed messages.
#include "core/parallel.hpp"
#include "distributed/exchange/exchange_pattern.hpp"

#include <fmt/format.h>

#include <cstring>
#include <numeric>

namespace spargo {

partition even_partition(std::int64_t size, int parts) {
  partition made;
  made.offsets.clear();
  const detail::parts blocks{div_up(size, partition::grain), parts};
  for (int p = 0; p <= parts; ++p) made.offsets.push_back(std::min(size, blocks.first(p) * partition::grain));
  return made;
}

partition balanced_partition(const communicator& comm, std::int64_t size, span<const std::int64_t, host> entries) {
  const std::int64_t blocks = div_up(size, partition::grain);
  SPARGO_EXPECTS(entries.size() == blocks,
                 fmt::format("partition: {} counts for {} blocks of {}", entries.size(), blocks, partition::grain));
  std::vector<std::int64_t> all(entries.begin(), entries.end());
  comm.reduce_in_place(span<std::int64_t, host>(all), reduction::sum);
  return detail::distributed::balance(size, comm.size(), all);
}

partition detail::distributed::balance(std::int64_t size, int parts, span<const std::int64_t, host> entries) {
  const std::int64_t total = std::accumulate(entries.begin(), entries.end(), entries.size() * partition::grain);
  partition made;
  made.offsets.assign(static_cast<std::size_t>(parts) + 1, size);
  made.offsets[0] = 0;
  std::int64_t before = 0;
  int part = 1;
  for (std::int64_t b = 0; b < entries.size(); ++b) {
    // A block goes to the part that most of it falls into.
    const std::int64_t weight = entries[b] + partition::grain;
    for (; part < parts && before + weight / 2 >= total / parts * part; ++part) {
      made.offsets[static_cast<std::size_t>(part)] = b * partition::grain;
    }
    before += weight;
  }
  return made;
}

template <>
enum_table<device_link> enum_rows() noexcept {
  static constexpr std::array<enum_row<device_link>, 4> rows{{
      {device_link::automatic, "automatic"},
      {device_link::peer, "peer"},
      {device_link::nccl, "nccl"},
      {device_link::host_memory, "host_memory"},
  }};
  return rows;
}

detail::distributed::exchange_pattern detail::distributed::make_pattern(const communicator& comm,
                                                                        const context<host>& ctx,
                                                                        const partition& owners,
                                                                        span<const std::int64_t, host> ghosts) {
  exchange_pattern made;
  const std::int64_t* at = ghosts.begin();
  for (int r = 0; r < comm.size(); ++r) {
    const std::int64_t* const end = std::lower_bound(at, ghosts.end(), owners.last(r));
    made.receives.push_back(end - at);
    at = end;
  }
  const array<std::int64_t, host> ids = comm.all_to_all<std::int64_t>(ctx, ghosts, made.receives, made.sends);
  comm.agree_on([&] {
    made.wanted.assign(ids.begin(), ids.end());
    for (std::int64_t& id : made.wanted) id -= owners.first(comm.rank());
  });
  return made;
}

struct exchange<host>::state {
  context<host> ctx;
  std::size_t element = 1;
  std::vector<std::int64_t> wanted;  // own elements to send, concatenated by rank
  array<char, host> sent;
  array<char, host> received;
  std::unique_ptr<detail::channel> channel;

  template <class T>
  void pack(const void* own) {
    const T* const from = static_cast<const T*>(own);
    T* const to = reinterpret_cast<T*>(sent.data());
    detail::parallel_for(ctx.threads(), std::ssize(wanted), detail::grain::elements,
                         [&](std::int64_t k) { to[k] = from[wanted[static_cast<std::size_t>(k)]]; });
  }
};

exchange<host>::exchange(const communicator& comm, const context<host>& ctx, const partition& owners,
                         span<const std::int64_t, host> ghosts, std::size_t element_bytes) {
  SPARGO_EXPECTS(owners.parts() == comm.size(), "exchange: expected a partition with one part for each rank");
  state_ = comm.agree_on([&] { return detail::new_state<state>(); });
  state& s = *state_;
  s.ctx = ctx;
  s.element = element_bytes;
  detail::distributed::exchange_pattern pattern = detail::distributed::make_pattern(comm, ctx, owners, ghosts);
  comm.agree_on([&] {
    s.sent = {ctx, std::ssize(pattern.wanted) * static_cast<std::int64_t>(element_bytes)};
    s.received = {ctx, ghosts.size() * static_cast<std::int64_t>(element_bytes)};
  });
  s.wanted = std::move(pattern.wanted);
  const auto messages = [&](const std::vector<std::int64_t>& elements, array<char, host>& buffer) {
    std::vector<detail::message> all;
    char* data = buffer.data();
    for (int r = 0; r < comm.size(); ++r) {
      const std::int64_t bytes = elements[static_cast<std::size_t>(r)] * static_cast<std::int64_t>(element_bytes);
      if (bytes > 0) all.push_back({r, data, bytes});
      data += bytes;
    }
    return all;
  };
  s.channel = comm.connect(messages(pattern.sends, s.sent), messages(pattern.receives, s.received));
}

void exchange<host>::start_bytes(const void* own, std::int64_t, std::size_t value) {
  state& s = *state_;
  SPARGO_EXPECTS(s.element % value == 0, fmt::format("exchange: values of {} bytes (expected {})", value, s.element));
  switch (const std::size_t element = s.element) {
    case 4:
      s.pack<std::uint32_t>(own);
      break;
    case 8:
      s.pack<std::uint64_t>(own);
      break;
    default:
      detail::parallel_for(s.ctx.threads(), std::ssize(s.wanted), detail::grain::rows, [&](std::int64_t k) {
        const auto from = static_cast<std::size_t>(s.wanted[static_cast<std::size_t>(k)]) * element;
        std::memcpy(s.sent.data() + static_cast<std::size_t>(k) * element, static_cast<const char*>(own) + from,
                    element);
      });
  }
  s.channel->start();
}

void exchange<host>::finish_bytes(void* ghosts, std::int64_t count, std::size_t value) {
  state& s = *state_;
  SPARGO_EXPECTS(count * static_cast<std::int64_t>(value) == s.received.size(),
                 fmt::format("exchange: room for {} values of {} bytes", count, value));
  s.channel->finish();
  if (count > 0) {
    detail::copy_host_to_host(s.ctx, s.received.data(), ghosts, static_cast<std::size_t>(s.received.size()));
  }
}

std::int64_t exchange<host>::sent() const noexcept { return std::ssize(state_->wanted); }
std::string_view exchange<host>::how() const noexcept { return "host memory"; }

}  // namespace spargo
