#include "input/cache.hpp"

#include "cli/report.hpp"

#include <spargo/core/error.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <thread>

namespace spargo::apps {

namespace {

struct tuning {
  static constexpr std::int64_t tick_ns = 20'000'000;  // twice the longest tick of file times on Linux (100 Hz)
};

constexpr int notes_version = 5;  // increment when the meaning of the notes or arrays changes

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::int64_t nanoseconds(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

// An open file: facts about it hold for what is read through `path`.
class held_file {
 public:
  explicit held_file(const std::string& name)
      : descriptor_(::open(name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)) {}
  held_file(const held_file&) = delete;
  held_file& operator=(const held_file&) = delete;
  ~held_file() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  // Owner of a regular file; none for other kinds, including links.
  [[nodiscard]] std::optional<unsigned> owner() const {
    struct stat status {};
    if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    return status.st_uid;
  }
  [[nodiscard]] std::string path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }

 private:
  int descriptor_;
};

}  // namespace

std::string to_string(cache_outcome outcome) {
  switch (outcome) {
    case cache_outcome::off:
      return "off";
    case cache_outcome::used:
      return "used";
    case cache_outcome::written:
      return "written";
  }
  return {};
}

declared_flag add_cache_flag(flag_set app, cache_mode& mode) {
  return app.add_flag_callback(
      "--cache", [&mode] { mode = cache_mode::on; },
      "save the parsed matrix beside FILE, as FILE.VALUES.cache.spg, and read that instead while FILE is unchanged");
}

input_cache::identity input_cache::identify(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  return {static_cast<std::int64_t>(status.st_size),
          nanoseconds(status.st_mtim),
          nanoseconds(status.st_ctim),
          status.st_dev,
          status.st_ino,
          status.st_uid};
}

input_cache::input_cache(cache_mode mode, const input_description& input, value_kind values, std::string name)
    : input_path_(input.path),
      columns_(input.wanted_columns),
      ids_(input.wanted_ids),
      name_(std::move(name)),
      values_(values) {
  if (mode == cache_mode::off || input.kind == input_kind::generator || input.kind == input_kind::snapshot) return;
  if (!input.can_be_read_again()) {
    warning_ = fmt::format("{}: a stream cannot be cached (expected a file)", input.file->name());
    return;
  }
  input_ = identify(input_path_);
  const std::int64_t age = now_ns() - std::max(input_.time_ns, input_.change_time_ns);
  if (input_.bytes < 0 || age < 0) return;
  if (age < tuning::tick_ns) std::this_thread::sleep_for(std::chrono::nanoseconds(tuning::tick_ns - age));
  path_ = fmt::format("{}.{}.cache.spg", input_path_, name_.empty() ? to_string(values) : name_);
}

std::string input_cache::notes(const input_facts& facts) const {
  json text{{"spargo cache", notes_version},
            {"reader", SPARGO_VERSION_STRING},
            {"bytes", input_.bytes},
            {"time_ns", input_.time_ns},
            {"change_time_ns", input_.change_time_ns},
            {"device", input_.device},
            {"inode", input_.inode},
            {"columns", columns_},
            {"ids", static_cast<int>(ids_)},
            {"stored", facts.stored},
            {"expanded", facts.expanded},
            {"rounded_integers", facts.rounded_integers},
            {"weighted", facts.weighted},
            {"warnings", facts.warnings},
            {"first_vertex", facts.first_vertex},
            {"vertices", facts.names.vertices},
            {"naming", static_cast<int>(facts.names.naming)}};
  if (!name_.empty()) text["values"] = name_;
  return dump_json(text);
}

// False for notes that do not match the file's current state, or are not the cache's.
bool input_cache::understand(std::string_view text, input_facts& facts) const {
  const json said = parsed_or_discarded(text);
  if (!said.is_object()) return false;
  try {
    facts.stored = said.at("stored").get<std::int64_t>();
    facts.expanded = said.at("expanded").get<std::int64_t>();
    facts.rounded_integers = said.at("rounded_integers").get<std::int64_t>();
    facts.weighted = said.at("weighted").get<bool>();
    facts.warnings = said.at("warnings").get<std::vector<std::string>>();
    facts.first_vertex = said.at("first_vertex").get<std::int64_t>();
    facts.names.vertices = said.at("vertices").get<std::int64_t>();
    facts.names.naming = static_cast<vertex_naming>(said.at("naming").get<int>());
  } catch (const json::exception&) {
    return false;
  }
  return text == notes(facts);
}

std::optional<snapshot> input_cache::open(const context<host>& ctx, input_facts& facts) {
  if (!is_on()) return std::nullopt;
  const held_file file(path_);
  const std::optional<unsigned> owner = file.owner();
  if (!owner.has_value() || (*owner != ::geteuid() && *owner != input_.owner && *owner != 0)) return std::nullopt;
  try {
    snapshot cached(ctx, file.path());
    if (!understand(cached.notes(), facts)) return std::nullopt;
    const snapshot_header& header = cached.header();
    const vertex_naming naming = header.has_ids     ? vertex_naming::listed
                                 : header.has_names ? vertex_naming::names
                                                    : vertex_naming::rows_from_one;
    const bool fits = header.values == values_ && facts.names.naming == naming && facts.names.vertices == header.rows &&
                      facts.first_vertex >= -1 && facts.first_vertex < header.rows;
    if (!fits) return std::nullopt;
    outcome_ = cache_outcome::used;
    return cached;
  } catch (const error&) {  // damaged or removed
    return std::nullopt;
  }
}

void input_cache::refuse(const std::string& why) {
  if (!is_on()) return;
  path_.clear();
  warning_ = fmt::format("{}: no cache: {}", input_path_, why);
}

void input_cache::write(const input_description& input, const input_facts& facts, const save_function& save) {
  if (!is_on()) return;
  if (identify(input_path_) != input_) {
    warning_ = input_path_ + ": changed while it was read, so it is not cached";
    return;
  }
  const std::string described = notes(facts);
  snapshot_options options;
  options.symmetry = input.symmetry;
  options.directed = input.directed;
  if (facts.names.naming == vertex_naming::listed) options.ids = facts.names.ids;
  options.names = facts.names.table;
  options.notes = described;
  options.output.links = output_links::replaced;
  try {
    save(path_, options);
    outcome_ = cache_outcome::written;
  } catch (const error& e) {
    warning_ = fmt::format("no cache: {}", e.what());
  } catch (const std::bad_alloc&) {
    warning_ = fmt::format("no cache: {}: out of memory", path_);
  }
}

void report_cache(report& out, const input_cache& cache) {
  out.keys()["cache"] = to_string(cache.outcome());
  if (cache.outcome() != cache_outcome::off) {
    out.row("cache", fmt::format("{}: {}", to_string(cache.outcome()), cache.path()));
  }
  if (!cache.warning().empty()) out.warn(cache.warning());
}

}  // namespace spargo::apps
