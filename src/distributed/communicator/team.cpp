// Threads of one process as ranks; ranks copy directly from each other's memory.
//
// A waiting rank yields a few times and then sleeps until notified. A collective is two barriers with the copies
// between them. A rank that fails or ends notifies all, so no wait lasts forever. A rank leaves (and frees memory that
// others may be copying) only when no copy is in flight, and no copy begins after that. This holds for the whole team;
// a part of it (`split`) only has its own barrier and shared pointers.
#include <spargo/distributed/communicator.hpp>

#include "core/futex_event.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <numeric>
#include <thread>
#include <utility>

namespace spargo {

namespace {

// Ranks are numbered in the whole team.
struct team_state {
  using clock = std::chrono::steady_clock;
  static constexpr int most_yields = 30;                       // yields before a thread sleeps
  static constexpr std::chrono::microseconds slow_yield{200};  // a longer yield means that other programs have run
  static constexpr std::chrono::milliseconds rest_time{100};   // without yields afterwards: a sleeper wakes up faster
  static constexpr std::chrono::microseconds leave_poll_interval{50};

  explicit team_state(int ranks) : events(static_cast<std::size_t>(ranks)), ended(static_cast<std::size_t>(ranks)) {}

  std::vector<detail::futex_event> events;  // one per rank
  std::atomic<clock::rep> rests_until{0};
  std::vector<std::atomic<bool>> ended;
  std::atomic<bool> any_ended{false};
  std::atomic<bool> broken{false};  // a rank has failed, or waited in vain
  std::atomic<int> copying{0};      // ranks reading another one's memory
  std::mutex mutex;                 // guards the next two
  std::exception_ptr failure;       // the first
  std::exception_ptr stranded;      // from a rank whose peer was gone

  void ring(int rank) { events[static_cast<std::size_t>(rank)].notify(); }
  void ring_all() {
    for (detail::futex_event& each : events) each.notify();
  }

  // Returns once `done`; throws if a rank has failed or the awaited one is `gone`, both of which are notified.
  template <class Done, class Gone>
  void wait(int rank, const Done& done, const Gone& gone) {
    for (int yields = 0; yields < most_yields && !done(); ++yields) {  // cheaper than being woken
      const clock::time_point before = clock::now();
      if (before.time_since_epoch().count() < rests_until.load(std::memory_order_relaxed)) break;
      std::this_thread::yield();
      const clock::time_point after = clock::now();
      if (after - before > slow_yield) rests_until.store((after + rest_time).time_since_epoch().count());
    }
    detail::futex_event& own = events[static_cast<std::size_t>(rank)];
    for (std::uint32_t epoch = own.epoch(); !done(); epoch = own.epoch()) {
      if (broken || gone()) {
        if (done()) return;  // done in between, before the other ended
        leave();
      }
      own.wait(epoch);
    }
  }

  // Runs `body`, which reads other ranks' memory. Either a leaving rank sees the copy or the copy sees that it leaves.
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
    while (copying != 0) std::this_thread::sleep_for(leave_poll_interval);
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

// A subset of a team, numbered from 0.
struct team_part {
  explicit team_part(std::vector<int> ranks) : members(std::move(ranks)), published(members.size()) {}

  const std::vector<int> members;  // ranks in the whole team
  std::atomic<int> arrived{0};
  std::atomic<std::int64_t> round{0};
  std::vector<void*> published;  // by each member, between two barriers

  [[nodiscard]] int member(int rank) const { return members[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] bool any_ended(const team_state& team) const {
    return team.any_ended && std::any_of(members.begin(), members.end(),
                                         [&](int m) { return bool{team.ended[static_cast<std::size_t>(m)]}; });
  }
};

void copy_bytes(const char* from, char* to, std::int64_t bytes) {
  if (bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

class team_channel final : public detail::channel {
 public:
  // Shared with the receivers, as long as any of them may read it.
  struct side {
    std::vector<detail::message> sends;
    std::atomic<std::int64_t> posted{0};
    std::vector<std::atomic<std::int64_t>> fetched;  // [send] rounds copied by its receiver

    explicit side(std::vector<detail::message> all) : sends(std::move(all)), fetched(sends.size()) {}
  };

  team_channel(team_state& team, const team_part& part, int rank, std::vector<detail::message> sends,
               std::vector<detail::message> receives)
      : team_(team),
        part_(part),
        rank_(rank),
        receives_(std::move(receives)),
        own_(std::make_shared<side>(std::move(sends))) {}

  [[nodiscard]] std::shared_ptr<side>* published() { return &own_; }

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
    for (const detail::message& each : own_->sends) team_.ring(part_.member(each.rank));
  }

  void finish() override {
    const std::int64_t round = own_->posted;
    const auto await = [&](const std::atomic<std::int64_t>& count, int rank) {
      const auto other = static_cast<std::size_t>(part_.member(rank));
      team_.wait(
          part_.member(rank_), [&] { return count >= round; }, [&] { return bool{team_.ended[other]}; });
    };
    for (const source& each : sources_) {
      await(each.owner->posted, each.to.rank);
      team_.read([&] { copy_bytes(each.owner->sends[each.at].data, each.to.data, each.to.bytes); });
      ++each.owner->fetched[each.at];
      team_.ring(part_.member(each.to.rank));
    }
    for (std::size_t k = 0; k < own_->sends.size(); ++k) await(own_->fetched[k], own_->sends[k].rank);
  }

 private:
  struct source {
    std::shared_ptr<side> owner;
    std::size_t at;  // index among its sends
    detail::message to;
  };
  team_state& team_;
  const team_part& part_;
  int rank_;
  std::vector<detail::message> receives_;
  std::shared_ptr<side> own_;
  std::vector<source> sources_;
};

class team_backend final : public detail::communicator_backend {
 public:
  team_backend(std::shared_ptr<team_state> team, std::shared_ptr<team_part> part, int number)
      : team_(std::move(team)), part_(std::move(part)) {
    rank = local_rank = number;
    size = local_size = static_cast<int>(part_->members.size());
  }
  [[nodiscard]] const char* name() const noexcept override { return "team"; }

  void barrier() override {
    const std::int64_t now = part_->round;
    if (++part_->arrived == size) {
      part_->arrived = 0;
      ++part_->round;
      for (const int m : part_->members) team_->ring(m);
    }
    team_->wait(
        part_->member(rank), [&] { return part_->round != now; }, [&] { return part_->any_ended(*team_); });
  }

  void all_gather(char* all, const std::int64_t* offsets) override {
    between_barriers(all, [&](int r, void* theirs) {
      copy_bytes(static_cast<const char*>(theirs) + offsets[r], all + offsets[r], offsets[r + 1] - offsets[r]);
    });
  }

  void all_to_all(const char* from, const std::int64_t* from_offsets, char* to,
                  const std::int64_t* to_offsets) override {
    view mine{from, from_offsets};
    const auto take = [&](int r, void* published) {
      const view& theirs = *static_cast<const view*>(published);
      copy_bytes(theirs.data + theirs.offsets[rank], to + to_offsets[r], to_offsets[r + 1] - to_offsets[r]);
    };
    take(rank, &mine);
    between_barriers(&mine, take);
  }

  [[nodiscard]] std::unique_ptr<detail::channel> connect(std::vector<detail::message> sends,
                                                         std::vector<detail::message> receives) override {
    auto made = std::make_unique<team_channel>(*team_, *part_, rank, std::move(sends), std::move(receives));
    using published = std::shared_ptr<team_channel::side>;
    between_barriers(made->published(), [&](int r, void* theirs) { made->link(r, *static_cast<published*>(theirs)); });
    return made;
  }

  [[nodiscard]] std::shared_ptr<communicator_backend> split(int color) override {
    std::vector<int> colors(static_cast<std::size_t>(size), color);
    between_barriers(
        &color, [&](int r, void* theirs) { colors[static_cast<std::size_t>(r)] = *static_cast<const int*>(theirs); });
    std::vector<int> members;
    int number = 0;
    int first = -1;  // lowest rank of the part; creates it
    for (int r = 0; r < size; ++r) {
      if (colors[static_cast<std::size_t>(r)] != color) continue;
      if (first < 0) first = r;
      if (r == rank) number = static_cast<int>(members.size());
      members.push_back(part_->member(r));
    }
    std::shared_ptr<team_part> made;
    if (first == rank) made = std::make_shared<team_part>(std::move(members));
    between_barriers(&made, [&](int r, void* theirs) {
      if (r == first) made = *static_cast<const std::shared_ptr<team_part>*>(theirs);
    });
    return std::make_shared<team_backend>(team_, std::move(made), number);
  }

  void abort(int status) noexcept override { std::_Exit(status); }

 private:
  struct view {
    const char* data;
    const std::int64_t* offsets;
  };

  // Calls take(r, pointer of rank r) for all other ranks.
  template <class Take>
  void between_barriers(void* mine, const Take& take) {
    part_->published[static_cast<std::size_t>(rank)] = mine;
    barrier();
    team_->read([&] {
      for (int k = 1; k < size; ++k) {
        const int r = (rank + k) % size;
        take(r, part_->published[static_cast<std::size_t>(r)]);
      }
    });
    barrier();
  }

  std::shared_ptr<team_state> team_;
  std::shared_ptr<team_part> part_;
};

void run_rank(const std::shared_ptr<team_state>& team, const std::shared_ptr<team_part>& all, int number,
              const std::function<void(const communicator&)>& rank) {
  try {
    rank(communicator(std::make_shared<team_backend>(team, all, number)));
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
  std::vector<int> all_ranks(static_cast<std::size_t>(ranks));
  std::iota(all_ranks.begin(), all_ranks.end(), 0);
  const auto all = std::make_shared<team_part>(std::move(all_ranks));
  std::vector<std::thread> threads;
  try {
    for (int number = 1; number < ranks; ++number)
      threads.emplace_back([&, number] { run_rank(team, all, number, rank); });
    run_rank(team, all, 0, rank);
  } catch (...) {  // a thread could not be created
    team->end(0, std::current_exception());
  }
  for (std::thread& each : threads) each.join();
  if (team->failure) std::rethrow_exception(team->failure);
  if (team->stranded) std::rethrow_exception(team->stranded);
}

}  // namespace spargo
