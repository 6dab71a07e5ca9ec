// Thread teams: how a region reaches its workers, and how threads wait.
//
// Regions are numbered. The leader writes the region's data and publishes its number. A worker joins by changing its
// own word from "before this region" to "in it". To close the region the leader changes the words of workers that have
// not joined to "after it" by the same atomic exchange, and waits for those that have. Cost while workers poll: each
// reads one word, and the leader reads one word of each.
#include "core/busy.hpp"

#include <spargo/core/cgroup.hpp>
#include <spargo/core/context.hpp>
#include <spargo/core/interruption.hpp>

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

namespace spargo::detail {

namespace {

using clock = std::chrono::steady_clock;
using std::chrono::microseconds;
using std::chrono::milliseconds;

struct tuning {
  // How long a thread polls before it sleeps. Chosen longer than the small levels between two regions of a search.
  static constexpr clock::duration poll_time = microseconds(200);
  // The same for a leader while its team does not poll: parts take longer than this, and those it waits for have begun.
  static constexpr clock::duration resting_poll_time = microseconds(20);
  static constexpr int polls_per_reading = 16;  // between readings of the clock: about 1 us
  // If polls took this long, the thread was preempted.
  static constexpr clock::duration preemption_gap = microseconds(300);
  // How long a team then stops polling. Doubles each time, until polling has worked for as long.
  static constexpr clock::duration least_rest = milliseconds(5);
  static constexpr clock::duration most_rest = milliseconds(640);
  static constexpr int affinity_age = 64;  // regions until affinity is read again; it may change while the process runs
  static constexpr int workers_per_processor = 16;  // over all teams
};

thread_local bool inside_region = false;
std::atomic<int> assumed_processors{0};
std::atomic<bool> assumed_busy{false};

int processors_by_affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

// Rounded up: half a processor gives one thread. Read once per process.
std::atomic<int> cached_quota{0};
int processors_by_quota() {
  if (cached_quota.load(std::memory_order_relaxed) == 0) {
    const auto cpus = cpu_quota();
    cached_quota =
        cpus ? std::max(1, static_cast<int>(std::min(std::ceil(*cpus), 1e6))) : std::numeric_limits<int>::max();
  }
  return cached_quota.load(std::memory_order_relaxed);
}

// The first number of an OpenMP variable ("4" or "4,2"); INT_MAX if there is none.
int threads_by_variable(const char* name) {
  const char* const text = std::getenv(name);
  int value = 0;
  if (text == nullptr || std::from_chars(text, text + std::strlen(text), value).ec != std::errc{} || value < 1) {
    return std::numeric_limits<int>::max();
  }
  return value;
}

// --- Teams
// ------------------------------------------------------------------------------------------------------------

// A region's number and its thread count in one word.
struct region_name {
  static constexpr std::uint64_t base = 4096;
  std::uint64_t bits = 0;
  [[nodiscard]] std::uint64_t number() const { return bits / base; }
  [[nodiscard]] int threads() const { return static_cast<int>(bits % base); }
};

class team {
 public:
  void run(int threads, region_function function, void* self, waking wake);
  // Grows to `workers` workers, or as many as can be started.
  void grow(int workers);
  [[nodiscard]] int workers() const { return static_cast<int>(workers_.size()); }

 private:
  // 2 * number: not in region `number` or an earlier one; 2 * number + 1: in it.
  struct alignas(64) worker {
    std::atomic<std::uint64_t> state{0};
    team* owner = nullptr;
    int slot = 0;
  };

  static void* main_of_worker(void* self);
  void serve(worker& me);
  [[nodiscard]] region_name await_region(region_name seen, bool polls);
  void sleep_until_published(region_name seen);
  void await_worker(worker& other, std::uint64_t in);
  template <class Done>
  [[nodiscard]] bool poll(Done&& done, clock::duration at_rest);

  [[nodiscard]] bool is_resting(clock::time_point now) const {
    return now.time_since_epoch().count() < rest_until_.load(std::memory_order_relaxed) ||
           assumed_busy.load(std::memory_order_relaxed);
  }
  void rest(clock::time_point now);

  // One cache line for what workers poll, one for what sleepers change, one for what hardly ever changes.
  alignas(64) std::atomic<std::uint64_t> published_{0};
  region_function function_ = nullptr;
  void* self_ = nullptr;
  alignas(64) std::atomic<int> sleepers_{0};
  std::atomic<std::uint32_t> worker_wakeups_{0};  // sleeping workers wait on it
  alignas(64) std::atomic<clock::rep> rest_until_{0};
  std::atomic<clock::rep> rested_{0};  // length of the last rest
  alignas(64) std::atomic<bool> leader_sleeping_{false};
  std::atomic<std::uint32_t> leader_wakeups_{0};
  std::vector<std::unique_ptr<worker>> workers_;
};

// All teams. Never destroyed: workers sleep in them until the process ends.
class team_pool {
 public:
  static team_pool& get() {
    static team_pool& pool = *new team_pool;
    return pool;
  }

  team* take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return new team;
    team* const last = idle_.back();
    idle_.pop_back();
    return last;
  }
  void give_back(team* idle) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(idle);
  }
  // Counts one more worker; false if the limit is reached.
  [[nodiscard]] bool count_worker() {
    const std::lock_guard lock(mutex_);
    if (workers_ >= tuning::workers_per_processor * processors_by_affinity()) return false;
    ++workers_;
    return true;
  }
  void uncount_worker() {
    const std::lock_guard lock(mutex_);
    --workers_;
  }

 private:
  team_pool();

  std::mutex mutex_;
  std::vector<team*> idle_;
  int workers_ = 0;
};

// The team of a thread that has called an operation, until the thread ends.
struct team_lease {
  team* leased_team = nullptr;
  ~team_lease() {
    if (leased_team != nullptr) team_pool::get().give_back(leased_team);
  }
};
thread_local team_lease leased;

// A forked child has only the forking thread: the parent's teams are abandoned.
team_pool::team_pool() {
  pthread_atfork([] { get().mutex_.lock(); }, [] { get().mutex_.unlock(); },
                 [] {
                   team_pool& pool = get();
                   pool.idle_.clear();
                   pool.workers_ = 0;
                   leased.leased_team = nullptr;
                   cached_quota = 0;
                   pool.mutex_.unlock();
                 });
}

void team::rest(clock::time_point now) {
  const clock::rep before = rested_.load(std::memory_order_relaxed);
  const bool again = now.time_since_epoch().count() < rest_until_.load(std::memory_order_relaxed) + before;
  const clock::rep length = std::clamp(again ? 2 * before : 0, tuning::least_rest.count(), tuning::most_rest.count());
  rested_.store(length, std::memory_order_relaxed);
  rest_until_.store(now.time_since_epoch().count() + length, std::memory_order_relaxed);
}

// True once done() is; false if polling takes too long.
template <class Done>
bool team::poll(Done&& done, clock::duration at_rest) {
  if (done()) return true;
  const clock::time_point start = clock::now();
  const clock::time_point end = start + (is_resting(start) ? at_rest : tuning::poll_time);
  if (start == end) return false;
  for (clock::time_point before = start;;) {
    for (int k = 0; k < tuning::polls_per_reading; ++k) {
      pause_thread();
      if (done()) return true;
    }
    const clock::time_point now = clock::now();
    if (now - before > tuning::preemption_gap) {
      rest(now);
      return false;
    }
    if (now > end) return false;
    before = now;
  }
}

void team::sleep_until_published(region_name seen) {
  sleepers_.fetch_add(1);
  for (std::uint32_t count = worker_wakeups_.load(); published_.load() == seen.bits; count = worker_wakeups_.load())
    worker_wakeups_.wait(count);
  sleepers_.fetch_sub(1);
}

region_name team::await_region(region_name seen, bool polls) {
  if (!polls || !poll([&] { return published_.load(std::memory_order_acquire) != seen.bits; }, clock::duration(0)))
    sleep_until_published(seen);
  return {published_.load(std::memory_order_acquire)};
}

void* team::main_of_worker(void* self) {
  worker& me = *static_cast<worker*>(self);
  inside_region = true;  // nested regions run on this thread alone
  me.owner->serve(me);
  return nullptr;
}

void team::serve(worker& me) {
  region_name region;
  bool polls = true;
  while (true) {
    region = await_region(region, polls);
    polls = false;  // poll again only after some work: a worker that came late, or is not needed, sleeps
    if (me.slot >= region.threads()) continue;
    const std::uint64_t out = 2 * region.number();
    std::uint64_t state = me.state.load(std::memory_order_relaxed);
    while (state < out && !me.state.compare_exchange_weak(state, out + 1, std::memory_order_acq_rel)) {
    }
    if (state >= out) continue;  // already closed
    polls = function_(self_, me.slot);
    me.state.store(out);
    if (leader_sleeping_.load()) {
      leader_wakeups_.fetch_add(1);
      leader_wakeups_.notify_one();
    }
  }
}

void team::await_worker(worker& other, std::uint64_t in) {
  const auto is_out = [&] { return other.state.load(std::memory_order_acquire) != in; };
  if (poll(is_out, tuning::resting_poll_time)) return;
  leader_sleeping_.store(true);
  for (std::uint32_t count = leader_wakeups_.load(); !is_out(); count = leader_wakeups_.load())
    leader_wakeups_.wait(count);
  leader_sleeping_.store(false);
}

void team::grow(int workers) {
  while (this->workers() < workers && team_pool::get().count_worker()) {
    auto fresh = std::make_unique<worker>();
    fresh->owner = this;
    fresh->slot = this->workers() + 1;
    fresh->state.store(2 * region_name{published_.load()}.number());
    workers_.reserve(workers_.size() + 1);
    // Workers block all signals except those caused by their own faults; others go to the program's threads.
    sigset_t all, before;
    sigfillset(&all);
    for (const int own : {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) sigdelset(&all, own);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    const int status = pthread_create(&thread, nullptr, main_of_worker, fresh.get());
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (status != 0) {
      team_pool::get().uncount_worker();
      return;
    }
    pthread_detach(thread);
    workers_.push_back(std::move(fresh));
  }
}

void team::run(int threads, region_function function, void* self, waking wake) {
  function_ = function;
  self_ = self;
  const std::uint64_t number = region_name{published_.load(std::memory_order_relaxed)}.number() + 1;
  published_.store(number * region_name::base + static_cast<std::uint64_t>(threads));
  // A worker that is not counted yet will see the number before it sleeps.
  if (sleepers_.load() > 0 && (wake == waking::always || !is_resting(clock::now()))) {
    worker_wakeups_.store(static_cast<std::uint32_t>(number));
    worker_wakeups_.notify_all();
  }

  function(self, 0);

  const std::uint64_t out = 2 * number;
  for (int slot = 1; slot < threads; ++slot) {
    std::atomic<std::uint64_t>& state = workers_[static_cast<std::size_t>(slot - 1)]->state;
    std::uint64_t now = state.load(std::memory_order_acquire);
    while (now < out && !state.compare_exchange_weak(now, out, std::memory_order_acq_rel)) {
    }
  }
  for (int slot = 1; slot < threads; ++slot) {
    worker& other = *workers_[static_cast<std::size_t>(slot - 1)];
    if (other.state.load(std::memory_order_acquire) == out + 1) await_worker(other, out + 1);
  }
}

// --- Parts
// ------------------------------------------------------------------------------------------------------------

// A region whose threads take parts. The first exception ends it.
class shared_parts {
 public:
  static constexpr int most_cursors = 64;

  shared_parts(int threads, std::int64_t parts, const function_ref<void(part_taker&)>& body)
      : body_(body), count_(std::min(threads, most_cursors)) {
    for (int c = 0; c < count_; ++c) {
      part_cursor& cursor = cursors_[static_cast<std::size_t>(c)];
      cursor.next.store(parts * c / count_, std::memory_order_relaxed);
      cursor.end = parts * (c + 1) / count_;
    }
  }

  void run(int threads, waking wake) {
    run_region(
        threads, [](void* self, int slot) { return static_cast<shared_parts*>(self)->work(slot); }, this, wake);
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  bool work(int slot) {
    part_taker mine(cursors_.data(), count_, slot);
    try {
      body_(mine);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      for (part_cursor& cursor : cursors_) cursor.next.store(cursor.end, std::memory_order_relaxed);
    }
    return mine.has_taken();
  }

  const function_ref<void(part_taker&)>& body_;
  int count_;
  std::array<part_cursor, static_cast<std::size_t>(most_cursors)> cursors_;
  std::mutex mutex_;
  std::exception_ptr failure_;
};

}  // namespace

int usable_processors() { return std::min(processors_by_affinity(), processors_by_quota()); }

void assume_busy(bool busy) { assumed_busy.store(busy); }

void assume_processors(int processors) { assumed_processors.store(processors); }

int default_threads() {
  return std::min({usable_processors(), threads_by_variable("OMP_NUM_THREADS"), threads_by_variable("OMP_THREAD_LIMIT"),
                   context<host>::most_threads});
}

int team_size(int threads) {
  if (inside_region) return 1;
  interruption::look();  // between regions no thread waits for another
  if (threads <= 1) return 1;
  thread_local int age = 0;
  thread_local int processors = 0;
  if (assumed_processors.load(std::memory_order_relaxed) > 0) return std::min(threads, assumed_processors.load());
  if (age++ % tuning::affinity_age == 0) processors = usable_processors();
  return std::min(threads, processors);
}

void run_region(int threads, region_function function, void* self, waking wake) {
  if (threads > 1) {
    if (leased.leased_team == nullptr) leased.leased_team = team_pool::get().take();
    leased.leased_team->grow(threads - 1);
    threads = std::min(threads, leased.leased_team->workers() + 1);
  }
  if (threads <= 1) {
    function(self, 0);
    return;
  }
  inside_region = true;
  leased.leased_team->run(threads, function, self, wake);
  inside_region = false;
}

bool part_taker::take(std::int64_t& part) {
  for (; looked_ < count_; ++looked_) {
    part_cursor& from = cursors_[(slot_ + looked_) % count_];
    if (from.next.load(std::memory_order_relaxed) >= from.end) continue;
    part = from.next.fetch_add(1, std::memory_order_relaxed);
    if (part < from.end) {
      taken_ = true;
      return true;
    }
  }
  return false;
}

void run_on_threads(int threads, std::int64_t parts, function_ref<void(part_taker&)> body, waking wake) {
  if (parts <= 0) return;
  const int team = team_size(static_cast<int>(std::min<std::int64_t>(threads, parts)));
  if (team > 1) {
    shared_parts(team, parts, body).run(team, wake);
    return;
  }
  part_cursor all;
  all.end = parts;
  part_taker mine(&all, 1, 0);
  body(mine);
}

void run_parts(int threads, std::int64_t parts, function_ref<void(std::int64_t)> body, waking wake) {
  on_threads(
      threads, parts,
      [&](part_taker& mine) {
        for (std::int64_t part; mine.take(part);) body(part);
      },
      wake);
}

void run_ranges(int threads, std::int64_t size, std::int64_t least,
                function_ref<void(std::int64_t, std::int64_t)> body) {
  if (size <= 0) return;
  const parts shares = split_loop(threads, size, least);
  const auto range = [&](std::int64_t p) { body(shares.first(p), shares.last(p)); };
  parallel_parts(threads, shares.count, range, waking_for(size, least));
}

}  // namespace spargo::detail
