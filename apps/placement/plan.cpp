#include "placement/plan.hpp"

#include "cli/outputs.hpp"
#include "cli/report.hpp"
#include "input/columns.hpp"
#include "input/memory_limit.hpp"
#include "placement/ranks.hpp"

#include <spargo/io/edge_table.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace spargo::apps {

namespace {

std::string bytes_text(std::int64_t bytes) { return format_bytes(static_cast<double>(bytes)); }

std::string size_text(const work_plan& plan) {
  if (!plan.directed.has_value()) {
    return fmt::format("{} x {}, some {} ({})", with_commas(plan.rows), with_commas(plan.cols),
                       counted(plan.entries, "entry", "entries"), plan.format);
  }
  const std::string vertices = plan.rows > 0 ? counted(plan.rows, "vertex", "vertices") : "vertices not yet known";
  return fmt::format("{}, some {}, {} ({})", vertices, counted(plan.entries, "listed edge"),
                     *plan.directed ? "directed" : "undirected", plan.format);
}

std::string time_text(double ms) { return ms < 1 ? "under 1 ms" : format_milliseconds(ms); }

// Resident memory of this process, which has read nothing; /proc/self/statm: size, resident, ... in pages.
std::int64_t resident_bytes() {
  std::int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;
  return pages * static_cast<std::int64_t>(::sysconf(_SC_PAGESIZE));
}

// What a run's process takes at most, as the system counts it: program, stacks and arrays.
std::int64_t process_bytes(const work_plan& plan) {
  constexpr std::int64_t stacks_and_code = 8'000'000;  // of a run on nine vertices, beyond a plan's own: 3 to 5 MB
  return resident_bytes() + stacks_and_code + std::max(plan.host_bytes, plan.host_running_bytes);
}

// Whether the memory here suffices, or how many ranks it suffices for.
std::string host_text(const work_plan& plan) {
  const std::int64_t available = host_memory().available();
  const std::string least = "at least " + bytes_text(plan.host_bytes);
  if (plan.scale.ranks > 0) {
    return fmt::format("{} in each rank; the {} available here hold {} of them", least, bytes_text(available),
                       with_commas(available / std::max<std::int64_t>(plan.host_bytes, 1)));
  }
  const std::int64_t most = process_bytes(plan);
  const std::string running = fmt::format("; up to {} with the program", bytes_text(most));
  const char* const short_of = plan.host_bytes > available ? "NOT ENOUGH: "
                               : most > available          ? "PERHAPS NOT ENOUGH: "
                                                           : "";
  return fmt::format("{}{}; {}{} available", least, running, short_of, bytes_text(available));
}

}  // namespace

device_wish device_as_asked(const common_flags& flags, const plan_scale& scale) {
  if (!flags.devices.empty()) return {"cuda:" + flags.devices, "as asked for"};
  if (flags.device != "auto") return {flags.device, "as asked for"};
  if (scale.ranks > 0) return {"cpu", "several processes use the CPU unless --device says otherwise"};
  return {};
}

void expect_known_size(const input_description& input) {
  std::error_code none;
  if (!input.file.has_value() || input.mapped.has_value() || std::filesystem::is_regular_file(input.path, none)) return;
  throw error(error_code::unsupported, source_position{input.file->name(), 0, 0},
              "the size of a stream is not known before it is read (expected a file, or gen:...)");
}

exit_status print_plan(const common_flags& given, const work_plan& plan, const input_description& input) {
  common_flags flags = given;
  prepare_outputs(flags, {plan.file}, {});
  report out("plan", flags);
  json& keys = out.keys();
  const bool on_gpu = plan.device != "cpu";
  const double ms = on_gpu ? plan.gpu_ms : plan.cpu_ms;
  keys["command"] = plan.command;
  keys["file"] = plan.file;
  keys[plan.directed.has_value() ? "vertices" : "rows"] = plan.rows > 0 ? json(plan.rows) : json();
  if (plan.directed.has_value()) {
    keys["directed"] = *plan.directed;
  } else {
    keys["cols"] = plan.cols;
  }
  keys["listed"] = plan.entries;
  keys["ranks"] = std::max<std::int64_t>(plan.scale.ranks, 1);
  keys["host_bytes"] = plan.host_bytes;
  keys["host_memory_bytes"] = plan.host_bytes;  // as the report of a run calls it
  keys["host_running_bytes"] = plan.host_running_bytes > 0 ? json(plan.host_running_bytes) : json();
  keys["host_process_bytes"] = plan.scale.ranks > 0 ? json() : json(process_bytes(plan));
  keys["device_bytes"] = plan.runs_on_gpu ? json(plan.device_bytes) : json();
  keys["expected_ms"] = ms;
  keys["expected_cpu_ms"] = plan.cpu_ms;
  keys["expected_gpu_ms"] = plan.runs_on_gpu ? json(plan.gpu_ms) : json();
  keys["device"] = plan.device;
  keys["device_reason"] = plan.device_reason;
  keys["threads"] = plan.threads;
  keys["algorithm"] = plan.algorithm;
  const bool open = plan.algorithm == "auto";
  const std::string reason = open ? "chosen once the input is read" : plan.algorithm_reason;
  keys["algorithm_reason"] = reason;
  out.title(fmt::format("plan {} {}", plan.command, plan.file));
  out.row(plan.directed.has_value() ? "graph" : "matrix", size_text(plan));
  if (plan.directed.has_value()) report_columns(out, input, *plan.directed);
  if (input.kind == input_kind::edge_list) {
    for (const std::string& warning : warnings_of(find_padded_id(*input.file, input.columns))) {
      out.warn(plan.file + ": " + warning);
    }
  }
  if (!plan.unused_weights.empty()) {
    out.warn(fmt::format("{}: {}; every edge counts 1", plan.file, plan.unused_weights));
  }
  if (plan.scale.ranks > 0) {
    out.row("ranks",
            plan.scale.on_gpus ? counted(plan.scale.ranks, "GPU") : counted(plan.scale.ranks, "process", "processes"));
  }
  out.row("host", host_text(plan));
  if (plan.runs_on_gpu) {
    out.row("device memory", bytes_text(plan.device_bytes) + (plan.scale.ranks > 0 ? " on each rank's GPU" : "") +
                                 (on_gpu ? "" : ", if a GPU is used"));
  }
  const std::string by_gpu = plan.runs_on_gpu ? fmt::format(", {} on a GPU", time_text(plan.gpu_ms)) : "";
  const std::string shared = plan.scale.ranks > 0 ? ", without communication between ranks" : "";
  out.row("time", fmt::format("{}{} until the first result ({} on {}{}{})", ms < 1 ? "" : "about ", time_text(ms),
                              time_text(plan.cpu_ms), counted(plan.threads, "thread"), by_gpu, shared));
  out.row("device", fmt::format("{}: {}", plan.device, plan.device_reason));
  out.row("algorithm", plan.algorithm + ": " + reason);
  out.print();
  return exit_status::success;
}

}  // namespace spargo::apps
