#include "common/device_choice.hpp"

#include "common/cli.hpp"
#include "common/memory_limit.hpp"
#include "common/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

namespace spargo::apps {

namespace {

// When a search is over on the CPU before the GPU is. On an H200 a search took 20 us and 3 us a level; two cores beside
// it took 1 s for 150 million vertices and entries.
struct placement_tuning {
  // However few the levels, six or so, the GPU takes 40 us: the CPU gets through this many meanwhile.
  static constexpr std::int64_t always_small = 6'000;
  // A graph without hubs, such as a mesh or a road network, has many levels of few vertices: a square grid of n
  // vertices from a corner 2 sqrt(n), which the CPU walks in the same time at n = 30,000; a road network, longer than
  // it is wide, two to four times as many, and then as many vertices and entries as this.
  static constexpr std::int64_t long_small = 300'000;
  static constexpr std::int64_t longest_row_of_long = 16;
};

std::string bytes_text(std::int64_t bytes) { return format_bytes(static_cast<double>(bytes)); }

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

// A GPU that is listed but cannot be used (busy in exclusive mode, say) is no reason to fail under `auto`.
void use_gpu_if_possible(backend& chosen) {
  const device_status status = query_devices();
  if (!status.usable()) {
    chosen.reason = fmt::format("no usable GPU: {}", status.reason);
    return;
  }
  try {
    use_gpu(chosen, 0, "the first usable GPU");
  } catch (const error& e) {
    use_cpu(chosen, fmt::format("the GPU could not be used: {}", e.what()));
  }
}

}  // namespace

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "CPU";
}

backend choose_backend(const std::string& device, int threads) {
  host_options options;
  options.threads = threads;
  options.resource = &host_memory();
  backend chosen{context<host>(options), std::nullopt, "cpu", "as asked for"};
  if (device == "auto") {
    use_gpu_if_possible(chosen);
  } else if (device != "cpu") {
    std::int64_t ordinal = 0;
    if (device.size() > 5) (void)parse_integer(std::string_view(device).substr(5), ordinal);
    use_gpu(chosen, static_cast<int>(ordinal), "as asked for");
  }
  return chosen;
}

std::int64_t search_workspace_bytes(std::int64_t vertices, std::int64_t entries, std::int64_t index_bytes) {
  // Levels, parents, the queue and the bitmaps: at most 24 bytes a vertex with 4-byte indices, of which two arrays are
  // of indices; and chunks of long rows.
  return vertices * (16 + 2 * index_bytes) + entries / 32 + (std::int64_t{1} << 20);
}

std::string reason_for_cpu(const std::string& device, const std::string& gpu, const search_size& search,
                           std::int64_t free_bytes) {
  const std::int64_t needed = search.graph_bytes + search.workspace_bytes;
  if (needed > free_bytes) {
    const std::string what = fmt::format(
        "the search needs {} of device memory (graph {}, workspace {}), {} of {} are free", bytes_text(needed),
        bytes_text(search.graph_bytes), bytes_text(search.workspace_bytes), bytes_text(free_bytes), gpu);
    if (device != "auto" || !search.runs_on_cpu) throw error(error_code::out_of_memory, what);
    return what;
  }
  if (device != "auto" || !search.runs_on_cpu) return {};
  const std::int64_t size = search.vertices + search.entries;
  if (size <= placement_tuning::always_small) {
    return fmt::format("a graph this small is searched sooner than {} is started", gpu);
  }
  if (size <= placement_tuning::long_small && search.longest_row <= placement_tuning::longest_row_of_long) {
    return fmt::format(
        "no vertex has more than {} neighbours, so a search has many small levels, and the graph is small: "
        "sooner done than on {}",
        search.longest_row, gpu);
  }
  return {};
}

void settle_backend(backend& chosen, const std::string& device, const search_size& search, std::int64_t most_bytes) {
  if (!chosen.gpu.has_value()) return;
  std::int64_t free_bytes = chosen.gpu->memory().free_bytes;
  if (most_bytes > 0) free_bytes = std::min(free_bytes, most_bytes);
  const std::string why = reason_for_cpu(device, chosen.gpu->properties().name, search, free_bytes);
  if (!why.empty()) use_cpu(chosen, why);
}

}  // namespace spargo::apps
