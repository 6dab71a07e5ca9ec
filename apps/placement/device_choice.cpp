#include "placement/device_choice.hpp"

#include "cli/cli.hpp"
#include "cli/report.hpp"
#include "input/memory_limit.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace spargo::apps {

namespace {

// Sizes up to which the CPU searches faster. Microseconds on an H200, and on two cores of its host:
//   R-MAT, degree 16, vertices and entries  22,000: 46 and 7   442,000: 75 and 45   1,885,000: 98 and 200
//   grid less a tenth of its edges          46,000: 343 and 98   183,000: 843 and 574   413,000: 1202 and 1398
//   strips of 100,000 vertices, 20 and 50 wide: 7922 and 796, 3321 and 668; a path of as many: 142,330 and 1235
struct placement_tuning {
  static constexpr std::int64_t small = 400'000;  // vertices and entries
  // With one new vertex from each vertex the graph is one or two paths: its levels have no parallelism.
  static constexpr std::int64_t path = 1;
};

// Opening and closing a GPU takes time. R-MAT 22, 33.5 million edges in a file of 0.52 GB, whole processes of bfs
// on an H200: opened in 210 ms and closed in 100, the first kernels loaded in 20; read and built in 1.1 ns an edge.
// With 16 threads the CPU takes 0.35 s and the GPU 0.45, with 8 the CPU 0.58.
struct opening_tuning {
  static constexpr double opening_ms = 330;
  static constexpr double entry_ns = 1.5;
  static constexpr int most_threads = 64;  // that help; 16 were measured
};

std::string bytes_text(std::int64_t bytes) { return format_bytes(static_cast<double>(bytes)); }

std::int64_t free_memory(const context<device>& gpu, std::int64_t most_bytes) {
  const std::int64_t free_bytes = gpu.memory().free_bytes;
  return most_bytes > 0 ? std::min(free_bytes, most_bytes) : free_bytes;
}

void use_cpu(backend& chosen, const std::string& why) {
  chosen.gpu.reset();
  chosen.name = "cpu";
  chosen.reason = why;
}

void use_gpu(backend& chosen, int ordinal, const std::string& why) {
  device_options options;
  options.ordinal = ordinal;
  chosen.gpu.emplace(options);
  chosen.name = fmt::format("cuda:{}", ordinal);
  chosen.reason = fmt::format("{}, {}", chosen.gpu->properties().name, why);
}

// Under `auto` a GPU that is listed but unusable (busy in exclusive mode, for example) is not an error.
void use_gpu_if_possible(backend& chosen) {
  const device_status status = query_devices();
  if (!status.usable()) {
    chosen.reason = fmt::format("no usable GPU: {}", status.reason);
    return;
  }
  const opened_device opened =
      open_first(status.ordinals, [&](int ordinal) { use_gpu(chosen, ordinal, "the first usable GPU"); });
  if (opened.ordinal < 0) use_cpu(chosen, fmt::format("the GPU could not be used: {}", opened.refusal));
}

// Without a number: the first GPU that works, or the first failure.
void use_any_gpu(backend& chosen) {
  const device_status status = query_devices();
  const auto use = [&](int ordinal) { use_gpu(chosen, ordinal, "as asked for"); };
  if (open_first(status.ordinals, use).ordinal < 0) use(status.usable() ? status.ordinals.front() : 0);
}

}  // namespace

opened_device open_first(const std::vector<int>& ordinals, const std::function<void(int)>& open) {
  opened_device result;
  for (const int ordinal : ordinals) {
    try {
      open(ordinal);
      result.ordinal = ordinal;
      return result;
    } catch (const error& e) {
      if (result.refusal.empty()) result.refusal = e.what();
    }
  }
  return result;
}

backend choose_cpu(const std::string& device, int threads) {
  host_options options;
  options.threads = threads;
  options.resource = &host_memory();
  const char* reason = device == "cpu" ? "as asked for" : "reading and writing files is the CPU's work";
  return {context<host>(options), std::nullopt, "cpu", reason};
}

backend choose_backend(const std::string& device, int threads) {
  backend chosen = choose_cpu("cpu", threads);
  if (device == "auto") {
    use_gpu_if_possible(chosen);
  } else if (device == "cuda") {
    use_any_gpu(chosen);
  } else if (device != "cpu") {
    std::int64_t ordinal = 0;
    (void)parse_integer(std::string_view(device).substr(5), ordinal);
    use_gpu(chosen, static_cast<int>(ordinal), "as asked for");
  }
  return chosen;
}

std::vector<int> find_devices(const std::string& text, const device_status& status) {
  if (!status.usable()) {
    throw error(error_code::device_unavailable, fmt::format("--devices {}: no usable GPU: {}", text, status.reason));
  }
  std::vector<int> named;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    std::int64_t n = 0;
    (void)parse_integer(std::string_view(text).substr(at, end - at), n);
    named.push_back(static_cast<int>(n));
    at = end + 1;
  }
  if (text.find(',') == std::string::npos) {
    if (named.front() > status.count) {
      throw error(error_code::device_unavailable, fmt::format("--devices {}: {} GPU{} usable (expected no more)", text,
                                                              status.count, status.count == 1 ? " is" : "s are"));
    }
    return {status.ordinals.begin(), status.ordinals.begin() + named.front()};
  }
  for (const int ordinal : named) {
    if (std::count(status.ordinals.begin(), status.ordinals.end(), ordinal) == 0) {
      throw error(error_code::device_unavailable, fmt::format("--devices {}: no usable GPU {} (expected {})", text,
                                                              ordinal, fmt::join(status.ordinals, ", ")));
    }
  }
  return named;
}

int device_of_process(const std::string& device, const std::string& devices, const device_status& status,
                      int local_rank) {
  std::vector<int> ours = status.ordinals;
  if (!devices.empty()) {
    ours = find_devices(devices, status);
  } else if (!status.usable()) {
    throw error(error_code::device_unavailable, fmt::format("--device {}: no usable GPU: {}", device, status.reason));
  } else if (device != "cuda") {
    std::int64_t ordinal = 0;
    (void)parse_integer(std::string_view(device).substr(5), ordinal);
    if (std::count(ours.begin(), ours.end(), ordinal) == 0) {
      throw error(error_code::device_unavailable,
                  fmt::format("--device {}: no usable GPU {} (expected {})", device, ordinal, fmt::join(ours, ", ")));
    }
    return static_cast<int>(ordinal);
  }
  return ours[static_cast<std::size_t>(local_rank) % ours.size()];
}

std::string reason_against_ranks(const std::vector<std::int64_t>& needed, const std::vector<int>& gpus,
                                 std::int64_t most) {
  std::map<int, std::int64_t> sums;
  std::vector<std::string> each;
  for (std::size_t r = 0; r < needed.size(); ++r) {
    sums[gpus[r]] += needed[r];
    each.push_back(bytes_text(needed[r]));
  }
  const auto fullest =
      std::max_element(sums.begin(), sums.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (fullest == sums.end() || fullest->second <= most) return {};
  const std::int64_t all = std::accumulate(needed.begin(), needed.end(), std::int64_t{0});
  return fmt::format(
      "the ranks need {} of device memory{} (expected at most {}: --max-device-memory): {} or more would do",
      fmt::join(each, ", "),
      sums.size() < each.size() ? fmt::format(", {} on one GPU", bytes_text(fullest->second)) : "", bytes_text(most),
      counted((all + most - 1) / std::max<std::int64_t>(most, 1), "GPU"));
}

double expected_cpu_ms(const expected_work& work) {
  const int threads = std::clamp(work.threads, 1, opening_tuning::most_threads);
  return static_cast<double>(work.entries) * work.cpu_ns / threads * 1e-6;
}

double expected_gpu_ms(std::int64_t entries) {
  return opening_tuning::opening_ms + static_cast<double>(entries) * opening_tuning::entry_ns * 1e-6;
}

std::string reason_against_opening(const expected_work& work) {
  if (expected_cpu_ms(work) >= expected_gpu_ms(work.entries)) return {};
  return fmt::format("opening a GPU takes longer than {} on the CPU", counted(work.entries, "entry", "entries"));
}

std::int64_t search_workspace_bytes(std::int64_t vertices, std::int64_t entries, std::int64_t index_bytes) {
  // Levels, parents, the queue and the bitmaps: at most 24 bytes per vertex with 4-byte indices, of which two arrays
  // are of indices; and chunks of long rows.
  return vertices * (16 + 2 * index_bytes) + entries / 32 + (std::int64_t{1} << 20);
}

std::string reason_for_cpu(const std::string& device, const std::string& gpu, const search_size& search,
                           std::int64_t free_bytes) {
  if (device == "auto" && !search.runs_on_gpu) return "this algorithm runs on the CPU only";
  const std::int64_t needed = search.graph_bytes + search.workspace_bytes;
  if (needed > free_bytes && !search.resident) {
    const std::string what = fmt::format(
        "the search needs {} of device memory (graph {}, workspace {}), {} of {} are free", bytes_text(needed),
        bytes_text(search.graph_bytes), bytes_text(search.workspace_bytes), bytes_text(free_bytes), gpu);
    if (device != "auto" || !search.runs_on_cpu) throw error(error_code::out_of_memory, what);
    return what;
  }
  if (device != "auto" || !search.runs_on_cpu) return {};
  if (search.branching <= placement_tuning::path) {
    return fmt::format("the graph consists of long paths, which the CPU searches faster than {}", gpu);
  }
  if (search.vertices + search.entries <= placement_tuning::small) {
    return fmt::format("a graph of {} vertices and {} edges is searched faster on the CPU than on {}",
                       with_commas(search.vertices), with_commas(search.entries), gpu);
  }
  return {};
}

std::string reason_against_memory(const std::string& device, const std::string& gpu, std::int64_t least_bytes,
                                  std::int64_t free_bytes, bool runs_on_cpu) {
  if (least_bytes <= free_bytes) return {};
  const std::string what = fmt::format("it takes at least {} of device memory; {} of {} are free",
                                       bytes_text(least_bytes), bytes_text(free_bytes), gpu);
  if (device != "auto" || !runs_on_cpu) throw error(error_code::out_of_memory, what);
  return what;
}

void report_backend(report& out, const std::string& device, const backend& where) {
  json& keys = out.keys();
  keys["device"] = where.name;
  keys["device_reason"] = where.reason;
  if (where.gpu.has_value()) keys["gpu"] = where.gpu->properties().name;
  keys["threads"] = where.cpu.threads();
  if (device.starts_with("cuda") && !where.gpu.has_value()) {
    out.warn(fmt::format("--device {} changes nothing here: {}", device, where.reason));
  }
}

std::string describe(const backend& where) {
  const int threads = where.cpu.threads();
  return fmt::format("{} ({}), {}", where.name, where.reason, counted(threads, "thread"));
}

void settle_memory(backend& chosen, const std::string& device, std::int64_t least_bytes, std::int64_t most_bytes,
                   bool runs_on_cpu) {
  if (!chosen.gpu.has_value()) return;
  const std::string why = reason_against_memory(device, chosen.gpu->properties().name, least_bytes,
                                                free_memory(*chosen.gpu, most_bytes), runs_on_cpu);
  if (!why.empty()) use_cpu(chosen, why);
}

void settle_backend(backend& chosen, const std::string& device, const search_size& search, std::int64_t most_bytes) {
  if (!chosen.gpu.has_value()) return;
  const std::string why =
      reason_for_cpu(device, chosen.gpu->properties().name, search, free_memory(*chosen.gpu, most_bytes));
  if (!why.empty()) use_cpu(chosen, why);
}

}  // namespace spargo::apps
