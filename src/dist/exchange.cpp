// Partitions, and the exchange of values by packed messages.
#include "core/parallel.hpp"
#include "dist/exchange_pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

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
  std::vector<std::int64_t> weights(entries.begin(), entries.end());
  comm.reduce_in_place(span<std::int64_t, host>(weights), reduction::sum);
  std::int64_t total = 0;
  for (std::int64_t& weight : weights) total += weight += partition::grain;
  partition made;
  made.offsets.assign(static_cast<std::size_t>(comm.size()) + 1, size);
  made.offsets[0] = 0;
  std::int64_t before = 0;
  int part = 1;
  for (std::int64_t b = 0; b < blocks; ++b) {
    // A block is where most of it is.
    const std::int64_t middle = before + weights[static_cast<std::size_t>(b)] / 2;
    for (; part < comm.size() && middle >= total / comm.size() * part; ++part) {
      made.offsets[static_cast<std::size_t>(part)] = b * partition::grain;
    }
    before += weights[static_cast<std::size_t>(b)];
  }
  return made;
}

std::string_view to_string(device_link link) {
  switch (link) {
    case device_link::peer:
      return "peer";
    case device_link::nccl:
      return "nccl";
    case device_link::host_memory:
      return "host_memory";
    default:
      return "automatic";
  }
}

detail::dist::exchange_pattern detail::dist::make_pattern(const communicator& comm, const context<host>& ctx,
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

namespace {

// Elements that others want, one after the other: from `from` on, to place `to`.
struct run {
  std::int64_t from, to, count;
};

// Empty where runs of neighbours are too short to be copied as such: half as long as this on average.
constexpr std::int64_t long_run = 16;
std::vector<run> runs_of(const std::vector<std::int64_t>& wanted) {
  std::vector<run> runs;
  for (std::int64_t k = 0; k < std::ssize(wanted); ++k) {
    const std::int64_t element = wanted[static_cast<std::size_t>(k)];
    if (runs.empty() || runs.back().from + runs.back().count != element) {
      if (std::ssize(runs) * long_run > std::ssize(wanted)) return {};
      runs.push_back({element, k, 0});
    }
    ++runs.back().count;
  }
  return runs;
}

}  // namespace

struct exchange<host>::state {
  context<host> ctx;
  std::size_t element = 1;
  std::int64_t count = 0;
  std::vector<run> runs;             // of this rank's elements, which the others want;
  std::vector<std::int64_t> wanted;  // or each of them
  array<char, host> sent;
  array<char, host> received;
  std::unique_ptr<detail::channel> channel;

  void pack_runs(const char* own) {
    const auto copy = [&](const run& r, std::int64_t first, std::int64_t last) {
      std::memcpy(sent.data() + static_cast<std::size_t>(r.to + first) * element,
                  own + static_cast<std::size_t>(r.from + first) * element,
                  static_cast<std::size_t>(last - first) * element);
    };
    if (ctx.threads() == 1) {
      for (const run& r : runs) copy(r, 0, r.count);
      return;
    }
    detail::parallel_ranges(ctx.threads(), count, detail::grain::elements, [&](std::int64_t first, std::int64_t last) {
      auto r = std::upper_bound(runs.begin(), runs.end(), first, [](std::int64_t k, const run& x) { return k < x.to; });
      for (--r; r != runs.end() && r->to < last; ++r) {
        copy(*r, std::max<std::int64_t>(0, first - r->to), std::min(r->count, last - r->to));
      }
    });
  }

  template <class T>
  void pack_each(const void* own) {
    const T* const from = static_cast<const T*>(own);
    T* const to = reinterpret_cast<T*>(sent.data());
    detail::parallel_for(ctx.threads(), count, detail::grain::elements,
                         [&](std::int64_t k) { to[k] = from[wanted[static_cast<std::size_t>(k)]]; });
  }
};

exchange<host>::exchange(const communicator& comm, const context<host>& ctx, const partition& owners,
                         span<const std::int64_t, host> ghosts, std::size_t element_bytes) {
  SPARGO_EXPECTS(owners.parts() == comm.size(), "exchange: the partition does not have a part for each rank");
  state_ = comm.agree_on([&] { return std::make_unique<state>(); });
  state& s = *state_;
  s.ctx = ctx;
  s.element = element_bytes;
  detail::dist::exchange_pattern pattern = detail::dist::make_pattern(comm, ctx, owners, ghosts);
  comm.agree_on([&] {
    s.sent = {ctx, std::ssize(pattern.wanted) * static_cast<std::int64_t>(element_bytes)};
    s.received = {ctx, ghosts.size() * static_cast<std::int64_t>(element_bytes)};
  });
  s.count = std::ssize(pattern.wanted);
  comm.agree_on([&] { s.runs = runs_of(pattern.wanted); });
  if (s.runs.empty()) s.wanted = std::move(pattern.wanted);
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

exchange<host>::exchange(exchange&&) noexcept = default;
exchange<host>& exchange<host>::operator=(exchange&&) noexcept = default;
exchange<host>::~exchange() = default;

void exchange<host>::start_bytes(const void* own, std::int64_t, std::size_t value) {
  state& s = *state_;
  SPARGO_EXPECTS(s.element % value == 0, fmt::format("exchange: values of {} bytes, not of {}", value, s.element));
  if (!s.runs.empty()) {
    s.pack_runs(static_cast<const char*>(own));
  } else if (s.element == 4) {
    s.pack_each<std::uint32_t>(own);
  } else if (s.element == 8) {
    s.pack_each<std::uint64_t>(own);
  } else {
    const std::size_t element = s.element;
    detail::parallel_for(s.ctx.threads(), s.count, detail::grain::rows, [&](std::int64_t k) {
      const auto from = static_cast<std::size_t>(s.wanted[static_cast<std::size_t>(k)]) * element;
      std::memcpy(s.sent.data() + static_cast<std::size_t>(k) * element, static_cast<const char*>(own) + from, element);
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

std::int64_t exchange<host>::sent() const noexcept { return state_->count; }
std::string_view exchange<host>::how() const noexcept { return "host memory"; }

}  // namespace spargo
