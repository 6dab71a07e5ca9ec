// Threads of one process as ranks: what a rank gives, the others copy from where it lies.
//
// A rank that waits yields a few times and then sleeps until it is rung; a collective is two barriers with the copies
// between them. A rank that fails rings all, and so does one that has ended: nobody waits for ever. Nor does anybody
// leave, and free what others may be copying, before no copy is under way; none begins after that.
#include <spargo/dist/communicator.hpp>

#include "core/bell.hpp"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>

namespace spargo {

namespace {

struct team_state {
  using clock = std::chrono::steady_clock;
  static constexpr int looks = 30;                          // before a thread sleeps
  static constexpr std::chrono::microseconds gap{200};      // a yield of more has let other programs run
  static constexpr std::chrono::milliseconds at_rest{100};  // then nobody yields: who sleeps is woken before they end
  static constexpr std::chrono::microseconds between_looks_of_leavers{50};

  explicit team_state(int ranks)
      : size(ranks),
        bells(static_cast<std::size_t>(ranks)),
        ended(static_cast<std::size_t>(ranks)),
        shown(static_cast<std::size_t>(ranks)) {}

  const int size;
  std::vector<detail::bell> bells;  // of each rank
  std::atomic<int> arrived{0};
  std::atomic<std::int64_t> round{0};
  std::atomic<clock::rep> rests_until{0};
  std::vector<std::atomic<bool>> ended;
  std::atomic<bool> any_ended{false};
  std::atomic<bool> broken{false};  // somebody has failed, or waited in vain
  std::atomic<int> copying{0};      // ranks that read what another one shows
  std::vector<void*> shown;         // by each rank, between two barriers
  std::mutex mutex;                 // of the two below
  std::exception_ptr failure;       // the first
  std::exception_ptr stranded;      // of a rank that waited for one that was gone

  void ring(int rank) { bells[static_cast<std::size_t>(rank)].ring(); }
  void ring_all() {
    for (detail::bell& each : bells) each.ring();
  }

  // Returns once `done`; throws where that will never be: somebody has failed, or what is `gone` will not come. Who
  // brings either about rings afterwards.
  template <class Done, class Gone>
  void wait(int rank, const Done& done, const Gone& gone) {
    for (int look = 0; look < looks && !done(); ++look) {  // others come sooner where they need not be woken
      const clock::time_point before = clock::now();
      if (before.time_since_epoch().count() < rests_until.load(std::memory_order_relaxed)) break;
      std::this_thread::yield();
      const clock::time_point after = clock::now();
      if (after - before > gap) rests_until.store((after + at_rest).time_since_epoch().count());
    }
    detail::bell& own = bells[static_cast<std::size_t>(rank)];
    for (std::uint32_t heard = own.heard(); !done(); heard = own.heard()) {
      if (broken || gone()) {
        if (done()) return;  // in between, and then somebody ended
        leave();
      }
      own.sleep(heard);
    }
  }

  // Reads what others show. Either a leaver sees the copy or the copy sees the leaver.
  template <class Read>
  void read(const Read& body) {
    ++copying;
    if (!broken) body();
    --copying;
    if (broken) leave();
  }

  [[noreturn]] void leave() {
    broken = true;
    ring_all();
    while (copying != 0) std::this_thread::sleep_for(between_looks_of_leavers);
    throw peer_failed(error_code::io, "team: another rank has failed, or has ended before this one");
  }

  void end(int rank, std::exception_ptr with) {
    if (with) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::move(with);
      broken = true;
    }
    ended[static_cast<std::size_t>(rank)] = true;
    any_ended = true;
    ring_all();
  }
};

void copy_bytes(const char* from, char* to, std::int64_t bytes) {
  if (bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

class team_channel final : public detail::channel {
 public:
  // What the others see, for as long as any of them may look.
  struct side {
    std::vector<detail::message> sends;
    std::atomic<std::int64_t> posted{0};
    std::vector<std::atomic<std::int64_t>> fetched;  // [send] by its receiver

    explicit side(std::vector<detail::message> all) : sends(std::move(all)), fetched(sends.size()) {}
  };

  team_channel(team_state& team, int rank, std::vector<detail::message> sends, std::vector<detail::message> receives)
      : team_(team), rank_(rank), receives_(std::move(receives)), own_(std::make_shared<side>(std::move(sends))) {}

  [[nodiscard]] std::shared_ptr<side>* shown() { return &own_; }

  // The messages from `rank`.
  void link(int rank, const std::shared_ptr<side>& other) {
    std::size_t at = 0;
    for (const detail::message& each : receives_) {
      if (each.rank != rank) continue;
      while (other->sends[at].rank != rank_) ++at;
      sources_.push_back({other, at++, each});
    }
  }

  void start() override {
    ++own_->posted;
    for (const detail::message& each : own_->sends) team_.ring(each.rank);
  }

  void finish() override {
    const std::int64_t round = own_->posted;
    const auto await = [&](const std::atomic<std::int64_t>& count, int rank) {
      team_.wait(
          rank_, [&] { return count >= round; }, [&] { return bool{team_.ended[static_cast<std::size_t>(rank)]}; });
    };
    for (const source& each : sources_) {
      await(each.owner->posted, each.to.rank);
      team_.read([&] { copy_bytes(each.owner->sends[each.at].data, each.to.data, each.to.bytes); });
      ++each.owner->fetched[each.at];
      team_.ring(each.to.rank);
    }
    for (std::size_t k = 0; k < own_->sends.size(); ++k) await(own_->fetched[k], own_->sends[k].rank);
  }

 private:
  struct source {
    std::shared_ptr<side> owner;
    std::size_t at;  // among its sends
    detail::message to;
  };
  team_state& team_;
  int rank_;
  std::vector<detail::message> receives_;
  std::shared_ptr<side> own_;
  std::vector<source> sources_;
};

class team_backend final : public detail::communicator_backend {
 public:
  team_backend(std::shared_ptr<team_state> team, int number) : team_(std::move(team)) {
    rank = local_rank = number;
    size = local_size = team_->size;
  }
  [[nodiscard]] const char* name() const noexcept override { return "team"; }

  void barrier() override {
    const std::int64_t now = team_->round;
    if (++team_->arrived == size) {
      team_->arrived = 0;
      ++team_->round;
      team_->ring_all();
    }
    team_->wait(
        rank, [&] { return team_->round != now; }, [&] { return bool{team_->any_ended}; });
  }

  void all_gather(char* all, const std::int64_t* offsets) override {
    between_barriers(all, [&](int r, void* theirs) {
      copy_bytes(static_cast<const char*>(theirs) + offsets[r], all + offsets[r], offsets[r + 1] - offsets[r]);
    });
  }

  void all_to_all(const char* from, const std::int64_t* from_offsets, char* to,
                  const std::int64_t* to_offsets) override {
    view mine{from, from_offsets};
    const auto take = [&](int r, void* shown) {
      const view& theirs = *static_cast<const view*>(shown);
      copy_bytes(theirs.data + theirs.offsets[rank], to + to_offsets[r], to_offsets[r + 1] - to_offsets[r]);
    };
    take(rank, &mine);
    between_barriers(&mine, take);
  }

  [[nodiscard]] std::unique_ptr<detail::channel> connect(std::vector<detail::message> sends,
                                                         std::vector<detail::message> receives) override {
    auto made = std::make_unique<team_channel>(*team_, rank, std::move(sends), std::move(receives));
    using shown = std::shared_ptr<team_channel::side>;
    between_barriers(made->shown(), [&](int r, void* theirs) { made->link(r, *static_cast<shown*>(theirs)); });
    return made;
  }

  void abort(int status) noexcept override { std::_Exit(status); }

 private:
  struct view {
    const char* data;
    const std::int64_t* offsets;
  };

  // take(r, what rank r shows) for all others.
  template <class Take>
  void between_barriers(void* mine, const Take& take) {
    team_->shown[static_cast<std::size_t>(rank)] = mine;
    barrier();
    team_->read([&] {
      for (int k = 1; k < size; ++k) {
        const int r = (rank + k) % size;
        take(r, team_->shown[static_cast<std::size_t>(r)]);
      }
    });
    barrier();
  }

  std::shared_ptr<team_state> team_;
};

void run_rank(const std::shared_ptr<team_state>& team, int number,
              const std::function<void(const communicator&)>& rank) {
  try {
    rank(communicator(std::make_shared<team_backend>(team, number)));
    team->end(number, nullptr);
  } catch (const peer_failed&) {
    {
      const std::lock_guard lock(team->mutex);
      if (!team->stranded) team->stranded = std::current_exception();
    }
    team->end(number, nullptr);
  } catch (...) {
    team->end(number, std::current_exception());
  }
}

}  // namespace

void run_team(int ranks, const std::function<void(const communicator&)>& rank) {
  SPARGO_EXPECTS(ranks >= 1, "run_team: " + std::to_string(ranks) + " ranks (expected 1 or more)");
  if (ranks == 1) return rank(communicator());
  const auto team = std::make_shared<team_state>(ranks);
  std::vector<std::thread> threads;
  try {
    for (int number = 1; number < ranks; ++number) threads.emplace_back([&, number] { run_rank(team, number, rank); });
    run_rank(team, 0, rank);
  } catch (...) {  // a thread could not be had
    team->end(0, std::current_exception());
  }
  for (std::thread& each : threads) each.join();
  if (team->failure) std::rethrow_exception(team->failure);
  if (team->stranded) std::rethrow_exception(team->stranded);
}

}  // namespace spargo
