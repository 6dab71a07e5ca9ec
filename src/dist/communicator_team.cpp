// Threads of one process as ranks: what a rank gives, the others copy from where it lies.
//
// One mutex and one condition variable for everything that waits; a collective is two barriers with the copies between
// them. A rank that fails wakes all who wait, and one that has ended those who wait for it: nobody waits for ever. Nor
// does anybody leave, and free what others may be copying, before no copy is under way; none begins after that.
#include <spargo/dist/communicator.hpp>

#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>

namespace spargo {

namespace {

struct team_state {
  static constexpr int looks = 30;  // before a thread sleeps

  explicit team_state(int ranks)
      : size(ranks), ended(static_cast<std::size_t>(ranks)), shown(static_cast<std::size_t>(ranks)) {}

  const int size;
  std::mutex mutex;
  std::condition_variable changed;
  int arrived = 0;
  std::int64_t round = 0;
  std::vector<char> ended;
  bool any_ended = false;
  bool broken = false;          // somebody has failed, or waited in vain
  int copying = 0;              // ranks that read what another one shows
  std::exception_ptr failure;   // the first
  std::exception_ptr stranded;  // of a rank that waited for one that was gone
  std::vector<void*> shown;     // by each rank, between two barriers

  // Returns once `done`; throws where that will never be: somebody has failed, or what is `gone` will not come.
  template <class Done, class Gone>
  void wait(std::unique_lock<std::mutex>& lock, const Done& done, const Gone& gone) {
    for (int look = 0; look < looks && !done(); ++look) {  // others come sooner where they need not be woken
      lock.unlock();
      std::this_thread::yield();
      lock.lock();
    }
    changed.wait(lock, [&] { return done() || broken || gone(); });
    if (!done()) leave(lock);
  }

  // Reads what others show, without the lock.
  template <class Read>
  void read(std::unique_lock<std::mutex>& lock, const Read& body) {
    if (broken) leave(lock);
    ++copying;
    lock.unlock();
    body();
    lock.lock();
    --copying;
    changed.notify_all();
  }

  [[noreturn]] void leave(std::unique_lock<std::mutex>& lock) {
    broken = true;
    changed.notify_all();
    changed.wait(lock, [&] { return copying == 0; });
    throw peer_failed(error_code::io, "team: another rank has failed, or has ended before this one");
  }

  void end(int rank, std::exception_ptr with) {
    const std::lock_guard lock(mutex);
    broken = broken || with;
    if (with && !failure) failure = std::move(with);
    ended[static_cast<std::size_t>(rank)] = 1;
    any_ended = true;
    changed.notify_all();
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
    std::int64_t posted = 0;            // under the team's mutex, as the next
    std::vector<std::int64_t> fetched;  // [send] by its receiver
  };

  team_channel(team_state& team, int rank, std::vector<detail::message> sends, std::vector<detail::message> receives)
      : team_(team), rank_(rank), receives_(std::move(receives)), own_(std::make_shared<side>()) {
    own_->fetched.resize(sends.size());
    own_->sends = std::move(sends);
  }

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
    const std::lock_guard lock(team_.mutex);
    ++own_->posted;
    team_.changed.notify_all();
  }

  void finish() override {
    std::unique_lock lock(team_.mutex);
    const std::int64_t round = own_->posted;
    const auto gone = [&](int rank) { return team_.ended[static_cast<std::size_t>(rank)] != 0; };
    for (const source& each : sources_) {
      team_.wait(
          lock, [&] { return each.owner->posted >= round; }, [&] { return gone(each.to.rank); });
      team_.read(lock, [&] { copy_bytes(each.owner->sends[each.at].data, each.to.data, each.to.bytes); });
      ++each.owner->fetched[each.at];
    }
    for (std::size_t k = 0; k < own_->sends.size(); ++k) {
      team_.wait(
          lock, [&] { return own_->fetched[k] >= round; }, [&] { return gone(own_->sends[k].rank); });
    }
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
    std::unique_lock lock(team_->mutex);
    const std::int64_t now = team_->round;
    if (++team_->arrived == size) {
      team_->arrived = 0;
      ++team_->round;
      team_->changed.notify_all();
    }
    team_->wait(
        lock, [&] { return team_->round != now; }, [&] { return team_->any_ended; });
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
    {
      std::unique_lock lock(team_->mutex);
      team_->read(lock, [&] {
        for (int k = 1; k < size; ++k) {
          const int r = (rank + k) % size;
          take(r, team_->shown[static_cast<std::size_t>(r)]);
        }
      });
    }
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
