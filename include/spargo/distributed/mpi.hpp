// MPI communicators for programs with their own MPI (any MPI-3), which need no plugin. Only this file includes mpi.h.
//
// Waiting: requests are polled for some microseconds, then between yields, then between sleeps, so that more ranks than
// cores do not obstruct each other. All calls come from one thread (MPI_THREAD_FUNNELED). MPI errors end the job.
#pragma once

#include <spargo/distributed/communicator.hpp>

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <concepts>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace spargo {

namespace detail {

class mpi_backend final : public communicator_backend {
 public:
  // `finalizes`: the destructor finalises MPI.
  mpi_backend(MPI_Comm parent, bool finalizes) : finalizes_(finalizes) {  // NOLINT: no public function has this
    MPI_Comm_dup(parent, &comm_);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_rank(comm_, &rank);
    MPI_Comm_size(comm_, &size);
    MPI_Comm here = MPI_COMM_NULL;
    MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Comm_rank(here, &local_rank);
    MPI_Comm_size(here, &local_size);
    MPI_Comm_free(&here);
  }
  ~mpi_backend() override {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized != 0) return;
    MPI_Comm_free(&comm_);
    if (finalizes_) MPI_Finalize();
  }

  [[nodiscard]] const char* name() const noexcept override { return "mpi"; }

  void barrier() override {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibarrier(comm_, &request);
    wait(&request, 1);
  }

  void all_gather(char* all, const std::int64_t* offsets) override {
    if (offsets[size] > INT_MAX) {
      std::vector<message> sends;
      std::vector<message> receives;
      for (int k = 1; k < size; ++k) {
        const int r = (rank + k) % size;
        sends.push_back({r, all + offsets[rank], offsets[rank + 1] - offsets[rank]});
        receives.push_back({r, all + offsets[r], offsets[r + 1] - offsets[r]});
      }
      deliver(sends, receives);
      return;
    }
    std::vector<int> counts;
    std::vector<int> places;
    for (int r = 0; r < size; ++r) {
      counts.push_back(static_cast<int>(offsets[r + 1] - offsets[r]));
      places.push_back(static_cast<int>(offsets[r]));
    }
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_BYTE, all, counts.data(), places.data(), MPI_BYTE, comm_, &request);
    wait(&request, 1);
  }

  void all_to_all(const char* from, const std::int64_t* from_offsets, char* to,
                  const std::int64_t* to_offsets) override {
    std::vector<message> sends;
    std::vector<message> receives;
    for (int k = 0; k < size; ++k) {
      const int r = (rank + k) % size;
      const std::int64_t bytes = from_offsets[r + 1] - from_offsets[r];
      if (r == rank) {
        if (bytes > 0) std::memcpy(to + to_offsets[r], from + from_offsets[r], static_cast<std::size_t>(bytes));
        continue;
      }
      sends.push_back({r, const_cast<char*>(from) + from_offsets[r], bytes});
      receives.push_back({r, to + to_offsets[r], to_offsets[r + 1] - to_offsets[r]});
    }
    deliver(sends, receives);
  }

  [[nodiscard]] std::unique_ptr<channel> connect(std::vector<message> sends, std::vector<message> receives) override {
    return std::make_unique<requests>(comm_, ++channels_, sends, receives);
  }

  [[nodiscard]] std::shared_ptr<communicator_backend> split(int color) override {
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(comm_, color, rank, &part);
    auto made = std::make_shared<mpi_backend>(part, false);
    MPI_Comm_free(&part);
    return made;
  }

  void abort(int status) noexcept override {
    MPI_Abort(comm_, status);
    std::_Exit(status);
  }

 private:
  // Persistent requests; a message over 1 GiB is split.
  class requests final : public channel {
   public:
    requests(MPI_Comm comm, int tag, const std::vector<message>& sends, const std::vector<message>& receives) {
      each_chunk(receives, [&](int rank, char* data, int bytes) {
        MPI_Recv_init(data, bytes, MPI_BYTE, rank, tag, comm, &add());
      });
      each_chunk(sends, [&](int rank, char* data, int bytes) {
        MPI_Send_init(data, bytes, MPI_BYTE, rank, tag, comm, &add());
      });
    }
    requests(const requests&) = delete;
    requests& operator=(const requests&) = delete;
    ~requests() override {
      int finalized = 0;
      MPI_Finalized(&finalized);
      if (finalized != 0) return;
      for (MPI_Request& each : all_) MPI_Request_free(&each);
    }
    void start() override {
      if (!all_.empty()) MPI_Startall(static_cast<int>(all_.size()), all_.data());
    }
    void finish() override { wait(all_.data(), static_cast<int>(all_.size())); }

   private:
    MPI_Request& add() { return all_.emplace_back(MPI_REQUEST_NULL); }
    std::vector<MPI_Request> all_;
  };

  template <class Body>
  static void each_chunk(const std::vector<message>& messages, const Body& body) {
    constexpr std::int64_t chunk = std::int64_t{1} << 30;
    for (const message& each : messages) {
      for (std::int64_t at = 0; at < each.bytes; at += chunk) {
        body(each.rank, each.data + at, static_cast<int>(std::min(chunk, each.bytes - at)));
      }
    }
  }

  void deliver(const std::vector<message>& sends, const std::vector<message>& receives) {
    requests once(comm_, 0, sends, receives);
    once.start();
    once.finish();
  }

  // Polls, then yields between polls, then sleeps. If a yield let other programs run, calls in the next 100 ms sleep.
  static void wait(MPI_Request* all, int count) {
    using clock = std::chrono::steady_clock;
    thread_local clock::time_point rests_until{};
    int done = 0;
    for (int look = 0; look < 200; ++look) {
      MPI_Testall(count, all, &done, MPI_STATUSES_IGNORE);
      if (done != 0) return;
    }
    const auto start = clock::now();
    while (true) {
      MPI_Testall(count, all, &done, MPI_STATUSES_IGNORE);
      if (done != 0) return;
      const auto now = clock::now();
      if (now - start < std::chrono::milliseconds(2) && now > rests_until) {
        std::this_thread::yield();
        const auto after = clock::now();
        if (after - now > std::chrono::microseconds(200)) rests_until = after + std::chrono::milliseconds(100);
      } else {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
    }
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  bool finalizes_;
  int channels_ = 0;  // number of channels, used as tags; tag 0: one-time messages
};

}  // namespace detail

// Collective. MPI must be initialised and stay so as long as a handle lives.
template <class Comm>
communicator communicator::from_mpi(Comm comm) {
  static_assert(std::same_as<Comm, MPI_Comm>, "spargo: from_mpi takes an MPI_Comm");
  return communicator(std::make_shared<detail::mpi_backend>(comm, false));
}

}  // namespace spargo
