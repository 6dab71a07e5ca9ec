#include "placement/matrix_command.hpp"

#include "cli/choice.hpp"
#include "cli/help.hpp"
#include "cli/text.hpp"
#include "placement/matrix_driver.hpp"

#include <spargo/distributed/communicator.hpp>

#include <fmt/format.h>

namespace spargo::apps {

void declare_matrix(flag_set app, matrix_flags& flags, const matrix_command_text& text,
                    const std::function<void()>& add_own) {
  app.description(text.about);
  app.add_option(text.argument, flags.file,
                 text.file + ": Matrix Market, snapshot or gen:NAME:key=value,... (see below)")
      ->required();
  add_own();
  add_print_flags(app, flags.rows, text.lines);
  app.add_option("--repeat", flags.repeat, text.repeats + " N times, for timing")
      ->check(positive_count())
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--no-validate", flags.no_validate, "skip the independent check");
  add_common_flags(app, flags.common, app_kind::computes, help_examples(app, text.examples) + help_on_matrix_inputs);
}

backend cpu_of(const std::string& command, const common_flags& flags) {
  backend where = choose_cpu(flags.device, flags.threads);
  if (flags.device != "cpu") where.reason = command + " runs on the CPU";
  return where;
}

namespace {

std::string on_cpu_by_default(const std::string& command) {
  return command + " takes a GPU where --device asks for one";
}

}  // namespace

backend place_as_asked(const std::string& command, const common_flags& flags, const input_description& input,
                       backend cpu, std::int64_t value_bytes) {
  if (flags.device == "auto") cpu.reason = on_cpu_by_default(command);
  if (!flags.device.starts_with("cuda")) return cpu;
  backend gpu = choose_backend(flags.device, flags.threads);
  settle_memory(gpu, flags.device, least_device_matrix_bytes(input, least_size(input), value_bytes), 0, false);
  return gpu;
}

void plan_as_asked(work_plan& plan, const common_flags& flags, const input_size& size, std::int64_t device_bytes) {
  if (flags.device == "auto") plan.device_reason = on_cpu_by_default(plan.command);
  if (!flags.device.starts_with("cuda")) return;
  plan.runs_on_gpu = true;
  plan.device = flags.device;
  plan.device_reason = "as asked for";
  plan.gpu_ms = expected_gpu_ms(size.listed);
  plan.device_bytes = device_bytes;
}

input_description describe_matrix(const context<host>& ctx, const std::string& path) {
  input_description input = describe_input(ctx, path);
  expect_matrix(input);
  return input;
}

void begin_report(report& out, const std::string& command, const matrix_flags& flags, const backend& where) {
  out.title(command + " " + flags.file);
  out.keys()["file"] = flags.file;
  report_backend(out, flags.common.device, where);
  out.row("device", describe(where));
}

void rethrow_with_file(const std::string& operation, const std::string& file) {
  try {
    throw;
  } catch (const error& e) {
    const std::string_view said = e.what();
    const std::string from_library = operation + ": ";
    const bool named = said.starts_with(from_library);
    const bool agreed = dynamic_cast<const agreed_error*>(&e) != nullptr;  // has lost its position
    if (e.code() != error_code::invalid_data || !e.position().file.empty() || (agreed && !named)) throw;
    const error about_file(e.code(), source_position{file, 0, 0},
                           std::string(said.substr(named ? from_library.size() : 0)));
    if (agreed) throw agreed_error(e.code(), about_file.what());
    throw about_file;
  }
}

void expect_square(const matrix_flags& flags, std::int64_t rows, std::int64_t cols) {
  if (rows == cols) return;
  throw error(error_code::invalid_data, source_position{flags.file, 0, 0},
              fmt::format("a matrix of {} x {} (expected a square one)", rows, cols));
}

void report_matrix(report& out, std::int64_t rows, std::int64_t cols, std::int64_t nnz, double load_ms,
                   double convert_ms) {
  json& keys = out.keys();
  keys["rows"] = rows;
  keys["cols"] = cols;
  keys["nnz"] = nnz;
  keys["load_ms"] = load_ms;
  keys["convert_ms"] = convert_ms;
  out.row("matrix", fmt::format("{} x {}, {}", with_commas(rows), with_commas(cols), counted(nnz, "entry", "entries")));
}

void report_runs(report& out, const time_summary& times) {
  out.keys()["time_ms"] = to_json(times);
  out.row("time", format_times(times));
}

void report_validity(report& out, std::optional<bool> valid, const std::string& how, double check_ms) {
  out.keys()["validate_ms"] = valid.has_value() ? json(check_ms) : json();
  out.keys()["valid"] = valid.has_value() ? json(*valid) : json();
  if (!valid.has_value()) {
    out.row("valid", "not checked (--no-validate)");
    return;
  }
  out.row("valid", (*valid ? "yes: " : "NO: ") + how);
  out.row("check", format_milliseconds(check_ms));
}

exit_status conclude(const report& out, const matrix_flags& flags, std::optional<bool> valid,
                     const std::string& not_converged) {
  out.print();
  if (valid == false) {
    print_error(flags.common.called, flags.file + ": the result failed validation");
  } else if (!not_converged.empty()) {
    print_error(flags.common.called, fmt::format("{}: not converged: {}", flags.file, not_converged));
  }
  return valid == false || !not_converged.empty() ? exit_status::invalid_result : exit_status::success;
}

work_plan plan_of(const std::string& command, const matrix_flags& flags, const backend& cpu, const plan_scale& scale,
                  input_description& input, input_size& size, double ns) {
  input = describe_matrix(cpu.cpu, flags.file);
  expect_known_size(input);
  size = least_size(input);
  if (size.listed == 0) size.listed = input.entries;
  if (size.distinct == 0) {
    size.distinct = size.listed + (input.symmetry == symmetry_kind::general ? 0 : size.off_diagonal);
  }
  work_plan plan{command, input.path, input.format, size.rows, size.cols, size.listed};
  plan.scale = scale;
  plan.threads = cpu.cpu.threads();
  plan.cpu_ms = expected_cpu_ms({size.listed / std::max<std::int64_t>(scale.ranks, 1), ns, plan.threads});
  plan.runs_on_gpu = false;
  plan.device = "cpu";
  plan.device_reason = cpu.reason;
  return plan;
}

}  // namespace spargo::apps
