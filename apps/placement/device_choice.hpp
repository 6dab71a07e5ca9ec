// Which backend runs, and why: --device turned into a context, and looked at again once the work is known.
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

// Opens devices one after the other until one does not throw an error.
struct opened_device {
  int ordinal = -1;     // -1: none opened
  std::string refusal;  // what the first that failed said
};
[[nodiscard]] opened_device open_first(const std::vector<int>& ordinals, const std::function<void(int)>& open);

// `device` is auto, cpu, cuda (the first usable GPU) or cuda:N. `auto` never throws for want of a GPU; the others throw
// device_unavailable.
[[nodiscard]] backend choose_backend(const std::string& device, int threads);

// For an app whose work no device does: the CPU, whatever `device` says. Never throws for want of a GPU.
[[nodiscard]] backend choose_cpu(const std::string& device, int threads);

// The GPUs that --devices names, of those that are usable: how many of them, or their numbers. Throws
// device_unavailable.
[[nodiscard]] std::vector<int> find_devices(const std::string& devices, const device_status& status);
// That of a process, one of several: those of a host take in turn what --devices names, else what --device does, which
// is cuda (all that are usable) or cuda:N. Throws device_unavailable.
[[nodiscard]] int device_of_process(const std::string& device, const std::string& devices, const device_status& status,
                                    int local_rank);

// The error if ranks need this many bytes of device memory each, and may use at most `most` of a GPU. Empty:
// they fit. `gpus`: each rank's.
[[nodiscard]] std::string reason_against_ranks(const std::vector<std::int64_t>& needed, const std::vector<int>& gpus,
                                               std::int64_t most);

// f(ctx) with the context that was chosen. Code for a GPU is compiled only in a build with CUDA.
template <class F>
void on_backend(const backend& where, F&& f) {
  if constexpr (config::has_cuda) {
    if (where.gpu.has_value()) return f(*where.gpu);
  }
  f(where.cpu);
}

// Writes the backend's keys, and warns where it is not the one that `device` names.
void report_backend(report& out, const std::string& device, const backend& where);
// For the report's row: "cpu (why), 2 threads".
[[nodiscard]] std::string describe(const backend& where);

// What a search asks of a device, known before anything is copied to it.
struct search_size {
  std::int64_t vertices = 0;
  std::int64_t entries = 0;          // edges as stored: an undirected one counts twice
  std::int64_t branching = 0;        // the most new vertices that one vertex can lead on to
  std::int64_t graph_bytes = 0;      // of the graph as it is copied, in-edges included
  std::int64_t workspace_bytes = 0;  // of a search
  std::int64_t weight_bytes = 0;     // of an entry; 0: not known, or none
  bool directed = true;
  bool resident = false;    // the graph is on the device already, and its memory is for it
  bool runs_on_cpu = true;  // false: the algorithm asked for is the GPU's alone
  bool runs_on_gpu = true;  // false: on the CPU only
};

// What is left to do, before a GPU is opened for it.
struct expected_work {
  std::int64_t entries = 0;
  double cpu_ns = 0;  // that each takes one thread of the CPU
  int threads = 1;
};
// Until it is done, by the CPU or by a GPU that is opened for it.
[[nodiscard]] double expected_cpu_ms(const expected_work& work);
[[nodiscard]] double expected_gpu_ms(std::int64_t entries);

// Why `auto` does not open a GPU: that alone takes longer than the CPU takes for all of it. Empty: it does.
[[nodiscard]] std::string reason_against_opening(const expected_work& work);

// Bytes of device memory for a search's queues, bitmaps and results beside the graph: an upper bound.
[[nodiscard]] std::int64_t search_workspace_bytes(std::int64_t vertices, std::int64_t entries,
                                                  std::int64_t index_bytes);

// Whether a GPU named `gpu` with `free_bytes` of memory is to do the search. Empty: it is; else why the CPU does it.
// Throws error (out_of_memory), with what is needed and what is free, when the search does not fit and `device` is not
// auto.
[[nodiscard]] std::string reason_for_cpu(const std::string& device, const std::string& gpu, const search_size& search,
                                         std::int64_t free_bytes);

// Why a GPU does not do what takes at least `least_bytes` of its memory. Empty: it may fit. Throws as reason_for_cpu.
[[nodiscard]] std::string reason_against_memory(const std::string& device, const std::string& gpu,
                                                std::int64_t least_bytes, std::int64_t free_bytes, bool runs_on_cpu);

// The same of the GPU chosen, if one was, before anything is read; gives it up if there is a reason.
void settle_memory(backend& chosen, const std::string& device, std::int64_t least_bytes, std::int64_t most_bytes,
                   bool runs_on_cpu);

// Asks reason_for_cpu of the GPU chosen, if one was, and gives it up if there is one. `most_bytes`: use no more of its
// memory than that, 0 for no such limit.
void settle_backend(backend& chosen, const std::string& device, const search_size& search, std::int64_t most_bytes);

}  // namespace spargo::apps
