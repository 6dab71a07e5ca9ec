// Ranks that compute together: this thread alone, threads of one process, or processes of MPI.
//
// Every rank calls the same functions in the same order ("collective"); all of them wait for each other, politely. What
// comes back is in the order of ranks, and sums are added in it: every rank has the same bits, on every run. A
// communicator is a cheap handle to shared state, for one thread at a time. Only memory of the host is taken; between
// devices there are exchanges (exchange.hpp).
//
// Failure. A phase in which one rank may fail and another may not (opening, parsing, building, allocating) ends with
// `agree`: then all ranks throw the same error, or none does. Whoever fails between two such places must not go on:
// an exception that leaves a rank of a team ends the others, a process of MPI calls `abort`.
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

// What all ranks throw where one has failed (`communicator::agree`): one of them is to print it.
class SPARGO_EXPORT agreed_error : public error {
 public:
  using error::error;
  ~agreed_error() override;
};

// A rank of a team waits for one that has failed, or has ended.
class SPARGO_EXPORT peer_failed : public error {
 public:
  using error::error;
  ~peer_failed() override;
};

namespace detail {

// Bytes to or from a rank. They stay where they are as long as the channel lives.
struct message {
  int rank = 0;
  char* data = nullptr;
  std::int64_t bytes = 0;
};

// A pattern of messages that is repeated. `start` may not be called before the last `finish` has returned; between the
// two nothing is written to what is sent, nor is what is received looked at.
class SPARGO_EXPORT channel {
 public:
  virtual ~channel() = default;
  virtual void start() = 0;
  virtual void finish() = 0;
};

// What a communicator hides. All but `abort` are collective. Offsets are of bytes, one more than there are ranks.
class SPARGO_EXPORT communicator_backend {
 public:
  int rank = 0;
  int size = 1;
  int local_rank = 0;  // among those of this host
  int local_size = 1;
  std::shared_ptr<void> kept;  // by exchanges, for those that are made later

  communicator_backend() = default;
  communicator_backend(const communicator_backend&) = delete;
  communicator_backend& operator=(const communicator_backend&) = delete;
  virtual ~communicator_backend() = default;

  [[nodiscard]] virtual const char* name() const noexcept = 0;
  virtual void barrier() = 0;
  // Rank r's part of everybody's `all` is [offsets[r], offsets[r + 1]); the caller's own is there already.
  virtual void all_gather(char* all, const std::int64_t* offsets) = 0;
  // [from_offsets[r], from_offsets[r + 1]) goes to rank r.
  virtual void all_to_all(const char* from, const std::int64_t* from_offsets, char* to,
                          const std::int64_t* to_offsets) = 0;
  // The messages between two ranks are the same ones on both sides, in the same order.
  [[nodiscard]] virtual std::unique_ptr<channel> connect(std::vector<message> sends, std::vector<message> receives) = 0;
  // Of the ranks that name the same color, in their order.
  [[nodiscard]] virtual std::shared_ptr<communicator_backend> split(int color) = 0;
  virtual void abort(int status) noexcept = 0;
};

}  // namespace detail

enum class reduction { sum, min, max };

// What a rank has sent, and how long it has been in collective functions, since its communicator was made.
struct SPARGO_EXPORT traffic {
  std::int64_t bytes = 0;
  double seconds = 0;
};

class SPARGO_EXPORT communicator {
 public:
  communicator();  // this thread alone
  explicit communicator(std::shared_ptr<detail::communicator_backend> backend);

  // The processes that mpirun or srun has started with this one; this thread alone where neither has. MPI is in a
  // library of its own, libspargo_mpi.so beside this one or where the system looks, which is loaded here. Throws
  // `unsupported` if it is missing or another version's, or if MPI knows of fewer processes than were started: nobody
  // runs as many copies instead. The handles of a process share one communicator; MPI is finalised with the last.
  [[nodiscard]] static communicator world();

  // Of the ranks of an MPI communicator, which is duplicated. Defined in <spargo/distributed/mpi.hpp>. Collective.
  template <class Comm>
  [[nodiscard]] static communicator from_mpi(Comm comm);

  [[nodiscard]] int rank() const noexcept { return backend().rank; }
  [[nodiscard]] int size() const noexcept { return backend().size; }
  [[nodiscard]] int local_rank() const noexcept { return backend().local_rank; }
  [[nodiscard]] int local_size() const noexcept { return backend().local_size; }
  [[nodiscard]] const char* name() const noexcept { return backend().name(); }  // "self", "team" or "mpi"
  [[nodiscard]] traffic sent() const noexcept;

  // The ranks that name the same color, in their order: a communicator of their own, whose traffic counts as this
  // one's. It fails with this one, and is used in turn with it. color: 0 or more. Collective.
  [[nodiscard]] communicator split(int color) const;

  void barrier() const;

  // One element of every rank, in their order.
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

  // Any number of each, one rank's after the other's.
  template <class T>
  [[nodiscard]] std::vector<T> all_gather(span<const T, host> mine) const {
    const std::vector<std::int64_t> offsets = offsets_of(all_gather(mine.size()));
    std::vector<T> all(static_cast<std::size_t>(offsets.back()));
    std::copy(mine.begin(), mine.end(), all.begin() + offsets[static_cast<std::size_t>(rank())]);
    gather_in_place<T>(all, offsets);
    return all;
  }

  // Elements [offsets[r], offsets[r + 1]) come from rank r, to whose own ones this rank writes before the call.
  template <class T>
  void gather_in_place(std::type_identity_t<span<T, host>> all, span<const std::int64_t, host> offsets) const {
    gather_bytes(reinterpret_cast<char*>(all.data()), offsets, sizeof(T));
  }

  // `counts[r]` elements for rank r, one rank's after the other's; returns what they sent, in the order of ranks, and
  // how many each of them in `received`.
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

  // Element by element, over the ranks in their order. The same bits everywhere.
  template <detail::scalar T>
  void reduce_in_place(span<T, host> values, reduction operation) const;
  template <detail::scalar T>
  [[nodiscard]] T all_reduce(T value, reduction operation) const {
    reduce_in_place(span<T, host>(&value, 1), operation);
    return value;
  }

  // After a phase that may fail: throws on every rank, as agreed_error, the error of one that has failed. Of several it
  // is the first in a file's order, else the lowest rank's. `mine` is null where this rank has not failed.
  void agree(const error* mine) const;

  // Runs a phase, which must not be collective itself, and agrees on what it has thrown.
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

  // Ends all ranks, the other processes included. Not collective.
  void abort(int status) const noexcept { backend().abort(status); }

  // For exchanges; what goes by other ways than this one is added to the traffic.
  void add_traffic(const traffic& more) const noexcept;
  [[nodiscard]] std::unique_ptr<detail::channel> connect(std::vector<detail::message> sends,
                                                         std::vector<detail::message> receives) const;
  // What they keep for those that are made later. It goes with the last handle.
  [[nodiscard]] std::shared_ptr<void>& kept() const noexcept { return backend().kept; }

  // 0, and the sums of the first 1, 2, ... counts.
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

// rank(communicator) on `ranks` threads, of which each is a rank. Throws what the first of them to fail has thrown,
// when all have ended; so too if one returns while another waits for it.
SPARGO_EXPORT void run_team(int ranks, const std::function<void(const communicator&)>& rank);

// What mpirun or srun says of this process, by its environment; one process where neither has started it.
struct SPARGO_EXPORT launched_process {
  int rank = 0;
  int size = 1;
  std::string variable;  // that says so; empty: none
};
[[nodiscard]] SPARGO_EXPORT launched_process query_launcher();

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
