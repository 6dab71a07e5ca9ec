// Choice of the backend with its reason: from --device, and reconsidered once the work is known.
#pragma once

#include <spargo/core/context.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace spargo::apps {

class report;

struct backend {
  context<host> cpu;                   // always there: reading, checking
  std::optional<context<device>> gpu;  // when the GPU was chosen
  std::string name;                    // "cpu", "cuda:0"
  std::string reason;                  // one sentence, for people
  std::vector<int> ordinals{};         // the GPU of each rank, as its process numbers it; empty: ranks have none
  std::vector<int> gpus{};             // the same GPUs from 0, numbered anew over all hosts
};

// Opens the first device that does not throw.
struct opened_device {
  int ordinal = -1;     // -1: none opened
  std::string refusal;  // the first failure's message
};
[[nodiscard]] opened_device open_first(const std::vector<int>& ordinals, const std::function<void(int)>& open);

// `device` is auto, cpu, cuda (the first usable GPU) or cuda:N. Only cuda and cuda:N throw without a GPU
// (device_unavailable).
[[nodiscard]] backend choose_backend(const std::string& device, int threads);

// For apps that run on the CPU only: the CPU, for any `device`. Does not throw without a GPU.
[[nodiscard]] backend choose_cpu(const std::string& device, int threads);

// The usable GPUs that --devices gives by number or by count. Throws device_unavailable.
[[nodiscard]] std::vector<int> find_devices(const std::string& devices, const device_status& status);
// The GPU of one of several processes: assigned round-robin on each host, from --devices, else from --device, which is
// cuda (all usable ones) or cuda:N. Throws device_unavailable.
[[nodiscard]] int device_of_process(const std::string& device, const std::string& devices, const device_status& status,
                                    int local_rank);

// The error if ranks that need these bytes of device memory exceed `most` bytes of a GPU; empty if they fit. `gpus`:
// the GPU of each rank.
[[nodiscard]] std::string reason_against_ranks(const std::vector<std::int64_t>& needed, const std::vector<int>& gpus,
                                               std::int64_t most);

// f(ctx) with the chosen context. Code for a GPU is compiled only in a build with CUDA.
template <class F>
void on_backend(const backend& where, F&& f) {
  if constexpr (config::has_cuda) {
    if (where.gpu.has_value()) return f(*where.gpu);
  }
  f(where.cpu);
}

// Writes the backend's keys, and warns if it is not the one in `device`.
void report_backend(report& out, const std::string& device, const backend& where);
// For the report's row: "cpu (why), 2 threads".
[[nodiscard]] std::string describe(const backend& where);

// Requirements of a search, known before anything is copied to a device.
struct search_size {
  std::int64_t vertices = 0;
  std::int64_t entries = 0;               // edges as stored: an undirected one counts twice
  std::int64_t branching = 0;             // maximum number of new vertices from one vertex
  std::int64_t graph_bytes = 0;           // of the copied graph, in-edges included
  std::int64_t workspace_bytes = 0;       // of a search
  std::int64_t host_workspace_bytes = 0;  // of a search by the CPU
  int threads = 1;                        // of the CPU
  std::int64_t weight_bytes = 0;          // per entry; 0: unknown or none
  bool directed = true;
  bool resident = false;    // the graph is already on the device
  bool runs_on_cpu = true;  // false: on the GPU only
  bool runs_on_gpu = true;  // false: on the CPU only
};

// The remaining work, before a GPU is opened for it.
struct expected_work {
  std::int64_t entries = 0;
  double cpu_ns = 0;  // per entry on one CPU thread
  int threads = 1;
};
// Time to finish it on the CPU, or on a GPU including its opening.
[[nodiscard]] double expected_cpu_ms(const expected_work& work);
[[nodiscard]] double expected_gpu_ms(std::int64_t entries);

// Why `auto` does not open a GPU: opening takes longer than all the work on the CPU. Empty: it opens one.
[[nodiscard]] std::string reason_against_opening(const expected_work& work);

// Bytes of device memory for a search's queues, bitmaps and results beside the graph: an upper bound.
[[nodiscard]] std::int64_t search_workspace_bytes(std::int64_t vertices, std::int64_t entries,
                                                  std::int64_t index_bytes);

// Why the CPU does the search instead of the GPU `gpu` with `free_bytes` of memory; empty: the GPU does. Throws error
// (out_of_memory), with the needed and the free bytes, if the search does not fit and `device` is not auto.
[[nodiscard]] std::string reason_for_cpu(const std::string& device, const std::string& gpu, const search_size& search,
                                         std::int64_t free_bytes);

// Why a GPU does not do work that takes at least `least_bytes` of its memory. Empty: it may fit. Throws like
// reason_for_cpu.
[[nodiscard]] std::string reason_against_memory(const std::string& device, const std::string& gpu,
                                                std::int64_t least_bytes, std::int64_t free_bytes, bool runs_on_cpu);

// The same for the chosen GPU, if any, before anything is read; gives it up if there is a reason.
void settle_memory(backend& chosen, const std::string& device, std::int64_t least_bytes, std::int64_t most_bytes,
                   bool runs_on_cpu);

// Calls reason_for_cpu for the chosen GPU, if any, and gives it up if there is a reason. `most_bytes`: limit of its
// memory, 0 for none.
void settle_backend(backend& chosen, const std::string& device, const search_size& search, std::int64_t most_bytes);

}  // namespace spargo::apps
