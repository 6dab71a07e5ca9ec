// A snapshot beside the input: what was parsed once is mapped the next time (--cache).
//
// Idea: FILE.VALUES.cache.spg, where VALUES is what the entries were read as (pattern, fp32, fp64, ...), holds the
// matrix as canonical CSR, and in its notes which file FILE is (device, inode), its size and the times of its last
// change, the version of the reader, and what reading told besides. Invariant: a cache is used only while all of these
// are as they were, the snapshot is undamaged, and it belongs to the user, the owner of FILE, or root; in any other
// case FILE is read as if there were no cache. A file system's clock ticks: a FILE changed within the last tick is
// waited for, so that a later change shows. The name can be foreseen: a link in its place is neither read nor followed
// when the cache is written.
#pragma once

#include <functional>
#include "input/input.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace spargo::apps {

class report;

enum class cache_mode { off, on };
enum class cache_outcome { off, used, written };

[[nodiscard]] std::string to_string(cache_outcome outcome);

// --cache.
CLI::Option* add_cache_flag(CLI::App& app, cache_mode& mode);

class input_cache {
 public:
  // Looks at the file as it is now, before it is read. Off for what has no text to parse (a generator, a snapshot) and
  // for what cannot be read twice (a pipe: a warning says so). `name`: of what the values are, where their kind does
  // not say it.
  input_cache(cache_mode mode, const input_description& input, value_kind values, std::string name = {});

  // The cached matrix, verified, with the facts of the input; none where there is none to be used.
  [[nodiscard]] std::optional<snapshot> open(const context<host>& ctx, input_facts& facts);

  // Writes the cache by `save`, unless the input has changed meanwhile. A failure is no error: it becomes the warning.
  using save_function = std::function<void(const std::string& path, const snapshot_options& options)>;
  void write(const input_description& input, const input_facts& facts, const save_function& save);

  [[nodiscard]] bool is_on() const noexcept { return !path_.empty(); }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] cache_outcome outcome() const noexcept { return outcome_; }
  [[nodiscard]] const std::string& warning() const noexcept { return warning_; }  // one line, or empty

 private:
  struct identity {
    std::int64_t bytes = -1;
    std::int64_t time_ns = 0;         // of the contents' last change, which anybody may set
    std::int64_t change_time_ns = 0;  // of any change, set by the kernel
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    unsigned owner = 0;
    bool operator==(const identity&) const = default;
  };
  [[nodiscard]] static identity identify(const std::string& path);
  [[nodiscard]] std::string notes(const input_facts& facts) const;
  [[nodiscard]] bool understand(std::string_view notes, input_facts& facts) const;

  std::string input_path_;
  std::string columns_;  // --columns
  id_kind ids_;          // --ids
  std::string path_;     // empty: off
  std::string name_;
  value_kind values_;
  identity input_;
  cache_outcome outcome_ = cache_outcome::off;
  std::string warning_;
};

// The key "cache" with the outcome, a row where it was asked for, and the warning.
void report_cache(report& out, const input_cache& cache);

}  // namespace spargo::apps
