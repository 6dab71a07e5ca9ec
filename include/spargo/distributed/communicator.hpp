// Ranks that compute together: one thread alone, threads of one process, or MPI processes.
//
// All ranks call collective functions in the same order; waiting ranks yield or sleep, never spin. Results and sums are
// in rank order, so all ranks get the same bits on every run. A communicator is a cheap handle to shared state, for one
// thread at a time. It takes host memory only; devices communicate through exchanges (exchange.hpp).
//
// Failure. A phase that may fail on one rank only (open, parse, build, allocate) ends with `agree`: then either all
// ranks throw the same error, or none does. A rank that fails elsewhere must not go on: an exception that leaves a rank
// of a team ends the others, and an MPI process calls `abort`.
#pragma once

#include <spargo/core/array.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <spargo/core/macros_push.hpp>

namespace spargo {

// Thrown by all ranks after one has failed (`communicator::agree`); one rank should print it.
class SPARGO_EXPORT agreed_error : public error {
 public:
  using error::error;
  ~agreed_error() override;
};

// Thrown to a rank of a team that waits for one that has failed or ended.
class SPARGO_EXPORT peer_failed : public error {
 public:
  using error::error;
  ~peer_failed() override;
};

namespace detail {

// Bytes to or from a rank. The address stays valid as long as the channel lives.
struct message {
  int rank = 0;
  char* data = nullptr;
  std::int64_t bytes = 0;
};

// A repeated pattern of messages, one round at a time. Between the two calls leave sent and received data alone.
class SPARGO_EXPORT channel {
 public:
  virtual ~channel() = default;
  virtual void start() = 0;
  virtual void finish() = 0;
};

// What each kind of communicator implements. All but `abort` are collective. `offsets`: in bytes, size() + 1 of them.
class SPARGO_EXPORT communicator_backend {
 public:
  int rank = 0;
  int size = 1;
  int local_rank = 0;  // among the ranks of this host
  int local_size = 1;
  std::shared_ptr<void> kept;  // exchanges store here what later exchanges reuse

  communicator_backend() = default;
  communicator_backend(const communicator_backend&) = delete;
  communicator_backend& operator=(const communicator_backend&) = delete;
  virtual ~communicator_backend() = default;

  [[nodiscard]] virtual const char* name() const noexcept = 0;
  virtual void barrier() = 0;
  // Rank r contributes [offsets[r], offsets[r + 1]) of `all`; the caller has already written its own part.
  virtual void all_gather(char* all, const std::int64_t* offsets) = 0;
  // [from_offsets[r], from_offsets[r + 1]) is sent to rank r.
  virtual void all_to_all(const char* from, const std::int64_t* from_offsets, char* to,
                          const std::int64_t* to_offsets) = 0;
  // Both sides list the messages between two ranks in the same order.
  [[nodiscard]] virtual std::unique_ptr<channel> connect(std::vector<message> sends, std::vector<message> receives) = 0;
  // Groups the ranks that pass the same color, in rank order.
  [[nodiscard]] virtual std::shared_ptr<communicator_backend> split(int color) = 0;
  virtual void abort(int status) noexcept = 0;
};

}  // namespace detail

enum class reduction { sum, min, max };

// Bytes sent by a rank, and its time in collective functions, since its communicator was made.
struct SPARGO_EXPORT traffic {
  std::int64_t bytes = 0;
  double seconds = 0;
};

class SPARGO_EXPORT communicator {
 public:
  communicator();  // this thread alone
  explicit communicator(std::shared_ptr<detail::communicator_backend> backend);

  // The processes that mpirun or srun started together with this one; without a launcher, this thread alone. Loads
  // libspargo_mpi.so, from beside this library or the system's search path. Throws `unsupported` if it is missing or of
  // another version, or if MPI knows fewer processes than were started (so independent copies never run by accident).
  // All handles of a process share one communicator; the last one finalises MPI.
  [[nodiscard]] static communicator world();

  // Over a duplicate of an MPI communicator. Defined in <spargo/distributed/mpi.hpp>. Collective.
  template <class Comm>
  [[nodiscard]] static communicator from_mpi(Comm comm);

  [[nodiscard]] int rank() const noexcept { return backend().rank; }
  [[nodiscard]] int size() const noexcept { return backend().size; }
  [[nodiscard]] int local_rank() const noexcept { return backend().local_rank; }
  [[nodiscard]] int local_size() const noexcept { return backend().local_size; }
  [[nodiscard]] const char* name() const noexcept { return backend().name(); }  // "self", "team" or "mpi"
  [[nodiscard]] traffic sent() const noexcept;

  // A new communicator of the ranks that pass the same color (0 or more), in rank order. Its traffic counts as this
  // one's, and it fails together with this one; calls on the two must not overlap. Collective.
  [[nodiscard]] communicator split(int color) const;

  void barrier() const;

  // One element from every rank, in rank order.
  template <class T>
  [[nodiscard]] std::vector<T> all_gather(const T& mine) const {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> all(static_cast<std::size_t>(size()));
    all[static_cast<std::size_t>(rank())] = mine;
    std::vector<std::int64_t> offsets(all.size() + 1);
    for (std::size_t r = 0; r < offsets.size(); ++r) offsets[r] = static_cast<std::int64_t>(r);
    gather_in_place<T>(all, offsets);
    return all;
  }

  // Any number of elements from every rank, concatenated in rank order.
  template <class T>
  [[nodiscard]] std::vector<T> all_gather(span<const T, host> mine) const {
    const std::vector<std::int64_t> offsets = offsets_of(all_gather(mine.size()));
    std::vector<T> all(static_cast<std::size_t>(offsets.back()));
    std::copy(mine.begin(), mine.end(), all.begin() + offsets[static_cast<std::size_t>(rank())]);
    gather_in_place<T>(all, offsets);
    return all;
  }

  // Rank r contributes elements [offsets[r], offsets[r + 1]) and writes them before the call.
  template <class T>
  void gather_in_place(std::type_identity_t<span<T, host>> all, span<const std::int64_t, host> offsets) const {
    gather_bytes(reinterpret_cast<char*>(all.data()), offsets, sizeof(T));
  }

  // Sends `counts[r]` elements of `from` to rank r; returns what was received, `received[r]` elements from rank r.
  template <class T>
  [[nodiscard]] array<T, host> all_to_all(const context<host>& ctx, std::type_identity_t<span<const T, host>> from,
                                          span<const std::int64_t, host> counts,
                                          std::vector<std::int64_t>& received) const {
    received = swap_counts(counts);
    const std::vector<std::int64_t> to_offsets = offsets_of(received);
    array<T, host> to(ctx, to_offsets.back());
    swap_bytes(reinterpret_cast<const char*>(from.data()), offsets_of(counts), reinterpret_cast<char*>(to.data()),
               to_offsets, sizeof(T));
    return to;
  }

  // Elementwise reduction in rank order. The same bits on all ranks.
  template <detail::scalar T>
  void reduce_in_place(span<T, host> values, reduction operation) const;
  template <detail::scalar T>
  [[nodiscard]] T all_reduce(T value, reduction operation) const {
    reduce_in_place(span<T, host>(&value, 1), operation);
    return value;
  }

  // Ends a phase that may fail: if any rank has failed, all ranks throw one of the errors as agreed_error. Among
  // several, the first in file order, else the lowest rank's. `mine`: null if this rank has not failed.
  void agree(const error* mine) const;

  // Runs a phase, which must not be collective, and agrees on its exception.
  template <class Phase>
  decltype(auto) agree_on(Phase&& phase) const {
    using result = std::invoke_result_t<Phase>;
    std::exception_ptr failure;
    if constexpr (std::is_void_v<result>) {
      try {
        phase();
      } catch (...) {
        failure = std::current_exception();
      }
      agree_on_exception(failure);
    } else {
      std::optional<result> made;
      try {
        made.emplace(phase());
      } catch (...) {
        failure = std::current_exception();
      }
      agree_on_exception(failure);
      return result(std::move(*made));
    }
  }

  // Ends all ranks, also other processes. Not collective.
  void abort(int status) const noexcept { backend().abort(status); }

  // For exchanges. Adds traffic that bypasses this communicator.
  void add_traffic(const traffic& more) const noexcept;
  [[nodiscard]] std::unique_ptr<detail::channel> connect(std::vector<detail::message> sends,
                                                         std::vector<detail::message> receives) const;
  // State shared by all exchanges; freed with the last handle.
  [[nodiscard]] std::shared_ptr<void>& kept() const noexcept { return backend().kept; }

  // Exclusive prefix sum of `counts`, with the total last.
  [[nodiscard]] static std::vector<std::int64_t> offsets_of(span<const std::int64_t, host> counts);

 private:
  struct [[gnu::visibility("hidden")]] state;
  class [[gnu::visibility("hidden")]] timed;
  class [[gnu::visibility("hidden")]] timed_channel;

  communicator(std::shared_ptr<detail::communicator_backend> backend, std::shared_ptr<state> counted);
  [[nodiscard]] detail::communicator_backend& backend() const noexcept { return *backend_; }
  void gather_bytes(char* all, span<const std::int64_t, host> offsets, std::size_t element) const;
  [[nodiscard]] std::vector<std::int64_t> swap_counts(span<const std::int64_t, host> counts) const;
  void swap_bytes(const char* from, std::vector<std::int64_t> from_offsets, char* to,
                  std::vector<std::int64_t> to_offsets, std::size_t element) const;
  void agree_on_exception(const std::exception_ptr& failure) const;

  std::shared_ptr<detail::communicator_backend> backend_;
  std::shared_ptr<state> state_;
};

// Runs rank(communicator) on `ranks` threads, one per rank. When all have ended, throws the first exception of any
// rank; throws also if one rank returns while another waits for it.
SPARGO_EXPORT void run_team(int ranks, const std::function<void(const communicator&)>& rank);

// What the launcher (mpirun, srun) says about this process in the environment; one process if there is none.
struct SPARGO_EXPORT launched_process {
  int rank = 0;
  int size = 1;
  std::string variable;  // the environment variable found; empty: none
};
[[nodiscard]] SPARGO_EXPORT launched_process query_launcher();

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
