// A snapshot beside the input, so that a parsed file is memory-mapped the next time (--cache).
//
// Idea: FILE.VALUES.cache.spg, where VALUES is the value type (pattern, fp32, fp64, ...), holds the matrix as canonical
// CSR. Its notes identify FILE (device, inode), its size and modification times, the reader's version, and further
// facts from reading. Invariant: a cache is used only if all of these are unchanged, the snapshot is undamaged, and it
// belongs to the user, FILE's owner, or root; otherwise FILE is read as without a cache. File times have a resolution:
// if FILE changed within the last tick, writing the cache waits, so that a later change is detected. The cache's name
// is predictable: a link with that name is neither read nor followed when the cache is written.
#pragma once

#include "cli/flags.hpp"

#include <functional>
#include "input/input.hpp"

namespace spargo::apps {

class report;

enum class cache_mode { off, on };
enum class cache_outcome { off, used, written };

[[nodiscard]] std::string to_string(cache_outcome outcome);

declared_flag add_cache_flag(flag_set app, cache_mode& mode);

class input_cache {
 public:
  // Examines the file before it is read. Off for inputs without text to parse (a generator, a snapshot) and for inputs
  // that cannot be read twice (a pipe, with a warning). `name`: of the values, if their kind is not specific enough.
  input_cache(cache_mode mode, const input_description& input, value_kind values, std::string name = {});

  // The cached, verified matrix and the facts of the input; none if no cache can be used.
  [[nodiscard]] std::optional<snapshot> open(const context<host>& ctx, input_facts& facts);

  // Writes the cache through `save`, unless the input has changed meanwhile. A failure is not an error but a warning.
  using save_function = std::function<void(const std::string& path, const snapshot_options& options)>;
  void write(const input_description& input, const input_facts& facts, const save_function& save);

  // Turns the cache off, with a warning.
  void refuse(const std::string& why);

  [[nodiscard]] bool is_on() const noexcept { return !path_.empty(); }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] cache_outcome outcome() const noexcept { return outcome_; }
  [[nodiscard]] const std::string& warning() const noexcept { return warning_; }  // one line, or empty

 private:
  struct identity {
    std::int64_t bytes = -1;
    std::int64_t time_ns = 0;         // of the last modification; users can set it
    std::int64_t change_time_ns = 0;  // of the last change of any kind; set by the kernel
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

// Reports the key "cache" with the outcome, a row if a cache was requested, and the warning.
void report_cache(report& out, const input_cache& cache);

}  // namespace spargo::apps
