// Common to all communicators: typed collectives, agreement on errors, and the single-rank backend.
//
// A reduction of few elements gathers all of them. For many, rank r receives everyone's slice r, reduces it in rank
// order, and the results are gathered: 2 n elements of traffic per rank instead of n * ranks, with the same bits.
#include <spargo/distributed/communicator.hpp>

#include "core/instantiate.hpp"
#include "core/parts.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <tuple>

namespace spargo {

namespace {

constexpr std::int64_t gathered_elements = 512;  // longer reductions go by slices

class self_backend final : public detail::communicator_backend {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "self"; }
  void barrier() override {}
  void all_gather(char*, const std::int64_t*) override {}
  void all_to_all(const char* from, const std::int64_t* from_offsets, char* to, const std::int64_t*) override {
    if (from_offsets[1] > 0) std::memcpy(to, from, static_cast<std::size_t>(from_offsets[1]));
  }
  [[nodiscard]] std::unique_ptr<detail::channel> connect(std::vector<detail::message>,
                                                         std::vector<detail::message>) override {
    struct nothing final : detail::channel {
      void start() override {}
      void finish() override {}
    };
    return std::make_unique<nothing>();
  }
  [[nodiscard]] std::shared_ptr<communicator_backend> split(int) override { return std::make_shared<self_backend>(); }
  void abort(int status) noexcept override { std::_Exit(status); }
};

std::vector<std::int64_t> scaled(span<const std::int64_t, host> offsets, std::size_t element) {
  std::vector<std::int64_t> bytes(offsets.begin(), offsets.end());
  for (std::int64_t& at : bytes) at *= static_cast<std::int64_t>(element);
  return bytes;
}

template <class T>
T combine(T a, T b, reduction operation) {
  if (operation == reduction::sum) return static_cast<T>(a + b);
  return operation == reduction::min ? std::min(a, b) : std::max(a, b);
}

// values[i] = the reduction of all[r * values.size() + i] over r.
template <class T>
void reduce_blocks(span<const T, host> all, span<T, host> values, reduction operation) {
  std::copy_n(all.data(), values.size(), values.data());
  for (std::int64_t at = values.size(); at < all.size(); at += values.size()) {
    for (std::int64_t i = 0; i < values.size(); ++i) values[i] = combine(values[i], all[at + i], operation);
  }
}

}  // namespace

agreed_error::~agreed_error() = default;
peer_failed::~peer_failed() = default;

struct communicator::state {
  traffic sent;
};

// Adds the duration of a scope to the traffic.
class communicator::timed {
 public:
  timed(state& counted, std::int64_t bytes) : counted_(counted) { counted.sent.bytes += bytes; }
  timed(const timed&) = delete;
  timed& operator=(const timed&) = delete;
  ~timed() { counted_.sent.seconds += std::chrono::duration<double>(clock::now() - start_).count(); }

 private:
  using clock = std::chrono::steady_clock;
  state& counted_;
  clock::time_point start_ = clock::now();
};

class communicator::timed_channel final : public detail::channel {
 public:
  timed_channel(std::shared_ptr<state> counted, std::shared_ptr<detail::communicator_backend> backend,
                std::unique_ptr<detail::channel> under, std::int64_t bytes)
      : counted_(std::move(counted)), backend_(std::move(backend)), under_(std::move(under)), bytes_(bytes) {}
  void start() override {
    const timed scope(*counted_, bytes_);
    under_->start();
  }
  void finish() override {
    const timed scope(*counted_, 0);
    under_->finish();
  }

 private:
  std::shared_ptr<state> counted_;
  std::shared_ptr<detail::communicator_backend> backend_;  // outlives its channels
  std::unique_ptr<detail::channel> under_;
  std::int64_t bytes_;
};

communicator::communicator() : communicator(std::make_shared<self_backend>()) {}
communicator::communicator(std::shared_ptr<detail::communicator_backend> backend)
    : communicator(std::move(backend), std::make_shared<state>()) {}
communicator::communicator(std::shared_ptr<detail::communicator_backend> backend, std::shared_ptr<state> counted)
    : backend_(std::move(backend)), state_(std::move(counted)) {}

traffic communicator::sent() const noexcept { return state_->sent; }
void communicator::add_traffic(const traffic& more) const noexcept {
  state_->sent.bytes += more.bytes;
  state_->sent.seconds += more.seconds;
}

communicator communicator::split(int color) const {
  SPARGO_EXPECTS(color >= 0, "split: color " + std::to_string(color) + " (expected 0 or more)");
  return {backend().split(color), state_};
}

void communicator::barrier() const {
  const timed scope(*state_, 0);
  backend().barrier();
}

void communicator::gather_bytes(char* all, span<const std::int64_t, host> offsets, std::size_t element) const {
  SPARGO_EXPECTS(offsets.size() == size() + 1, "all_gather: expected one more offset than ranks");
  const std::vector<std::int64_t> bytes = scaled(offsets, element);
  const auto mine = static_cast<std::size_t>(rank());
  const timed scope(*state_, (size() - 1) * (bytes[mine + 1] - bytes[mine]));
  backend().all_gather(all, bytes.data());
}

std::vector<std::int64_t> communicator::swap_counts(span<const std::int64_t, host> counts) const {
  SPARGO_EXPECTS(counts.size() == size(), "all_to_all: expected one count for each rank");
  std::vector<std::int64_t> received(static_cast<std::size_t>(size()));
  std::vector<std::int64_t> offsets(received.size() + 1);
  for (std::size_t r = 0; r < offsets.size(); ++r) offsets[r] = static_cast<std::int64_t>(r * sizeof(std::int64_t));
  const timed scope(*state_, (size() - 1) * std::int64_t{sizeof(std::int64_t)});
  backend().all_to_all(reinterpret_cast<const char*>(counts.data()), offsets.data(),
                       reinterpret_cast<char*>(received.data()), offsets.data());
  return received;
}

void communicator::swap_bytes(const char* from, std::vector<std::int64_t> from_offsets, char* to,
                              std::vector<std::int64_t> to_offsets, std::size_t element) const {
  from_offsets = scaled(from_offsets, element);
  to_offsets = scaled(to_offsets, element);
  const auto mine = static_cast<std::size_t>(rank());
  const timed scope(*state_, from_offsets.back() - (from_offsets[mine + 1] - from_offsets[mine]));
  backend().all_to_all(from, from_offsets.data(), to, to_offsets.data());
}

std::unique_ptr<detail::channel> communicator::connect(std::vector<detail::message> sends,
                                                       std::vector<detail::message> receives) const {
  std::int64_t bytes = 0;
  for (const detail::message& each : sends) bytes += each.bytes;
  const timed scope(*state_, 0);
  return std::make_unique<timed_channel>(state_, backend_, backend().connect(std::move(sends), std::move(receives)),
                                         bytes);
}

std::vector<std::int64_t> communicator::offsets_of(span<const std::int64_t, host> counts) {
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(counts.size()) + 1);
  for (std::size_t r = 1; r < offsets.size(); ++r) {
    offsets[r] = offsets[r - 1] + counts[static_cast<std::int64_t>(r) - 1];
  }
  return offsets;
}

template <detail::scalar T>
void communicator::reduce_in_place(span<T, host> values, reduction operation) const {
  if (size() == 1) return;
  const std::int64_t n = values.size();
  if (n <= gathered_elements) {
    const std::vector<T> all = all_gather(span<const T, host>(values));
    SPARGO_EXPECTS(std::ssize(all) == n * size(), "all_reduce: the ranks have different numbers of elements");
    reduce_blocks<T>(all, values, operation);
    return;
  }
  const detail::parts shares{n, size()};
  std::vector<std::int64_t> counts(static_cast<std::size_t>(size()));
  for (int r = 0; r < size(); ++r) counts[static_cast<std::size_t>(r)] = shares.last(r) - shares.first(r);
  std::vector<std::int64_t> received;
  const array<T, host> all = all_to_all<T>(context<host>({.threads = 1}), values, counts, received);
  reduce_blocks<T>(all.view(), values.subspan(shares.first(rank()), shares.last(rank()) - shares.first(rank())),
                   operation);
  gather_in_place<T>(values, offsets_of(counts));
}

void communicator::agree(const error* mine) const {
  struct report {
    std::int64_t failed, code, line, column;
  };
  const bool failed = mine != nullptr;
  const auto reports = all_gather(report{failed, failed ? static_cast<std::int64_t>(mine->code()) : 0,
                                         failed ? mine->position().line : 0, failed ? mine->position().column : 0});
  int first = -1;
  const auto place = [&](int r) {
    const report& n = reports[static_cast<std::size_t>(r)];
    return std::tuple(n.line == 0, n.line, n.column);
  };
  for (int r = 0; r < size(); ++r) {
    if (reports[static_cast<std::size_t>(r)].failed != 0 && (first < 0 || place(r) < place(first))) first = r;
  }
  if (first < 0) return;
  std::string file;
  std::string text;
  if (rank() == first) {
    file = mine->position().file;
    text = mine->what();
    text.erase(0, std::strlen(error(mine->code(), mine->position(), "").what()));  // "FILE:LINE:COLUMN: "
  }
  const std::vector<char> all_file = all_gather(span<const char, host>(file));
  const std::vector<char> all_text = all_gather(span<const char, host>(text));
  const report& n = reports[static_cast<std::size_t>(first)];
  throw agreed_error(static_cast<error_code>(n.code),
                     source_position{std::string(all_file.begin(), all_file.end()), n.line, n.column},
                     std::string(all_text.begin(), all_text.end()));
}

void communicator::agree_on_exception(const std::exception_ptr& failure) const {
  if (!failure) return agree(nullptr);
  try {
    std::rethrow_exception(failure);
  } catch (const peer_failed&) {
    throw;
  } catch (const error& e) {
    agree(&e);
  } catch (const std::bad_alloc&) {
    const error e(error_code::out_of_memory, "host memory ran out");
    agree(&e);
  } catch (const std::exception& e) {
    const error other(error_code::invalid_data, e.what());
    agree(&other);
  }
}

#define INSTANTIATE(T) template void communicator::reduce_in_place<T>(span<T, host>, reduction) const;
SPARGO_FOR_EACH_SCALAR(INSTANTIATE)

}  // namespace spargo
