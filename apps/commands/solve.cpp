// solve FILE: A x = b by a Krylov method; the residual is checked independently.
#include "cli/choice.hpp"
#include "cli/cli.hpp"
#include "cli/enum_words.hpp"
#include "cli/help.hpp"
#include "cli/outputs.hpp"
#include "cli/plots.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/timing.hpp"
#include "commands/solve/check.hpp"
#include "commands/spmv/product.hpp"
#include "commands/table.hpp"
#include "input/memory_need.hpp"
#include "placement/device_choice.hpp"
#include "placement/plan.hpp"

#include <spargo/io/matrix_market.hpp>
#include <spargo/io/output.hpp>
#include <spargo/solvers/krylov.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>

namespace spargo::apps {

namespace {

struct solve_flags {
  common_flags common;
  std::string file;
  std::string rhs = "ones-solution";
  std::string method = "auto";
  std::string preconditioner = "auto";
  std::string output;
  std::string plot;
  double tolerance = 1e-8;
  std::int64_t max_iterations = 10'000;
  std::int64_t restart = 50;
  std::int64_t repeat = 1;
  bool no_validate = false;
};

krylov_options options_of(const solve_flags& flags) {
  return {.method = parse_enum<krylov_method>("solve: unknown method", flags.method),
          .preconditioner = parse_enum<krylov_preconditioner>("solve: unknown preconditioner", flags.preconditioner),
          .tolerance = flags.tolerance,
          .max_iterations = flags.max_iterations,
          .restart = flags.restart};
}

void expect_cpu(const solve_flags& flags) {
  if (flags.common.device.starts_with("cuda")) {
    throw usage_error("--device cuda: solve runs on the CPU (expected auto or cpu)");
  }
}

backend cpu_of(const solve_flags& flags) {
  backend where = choose_cpu(flags.common.device, flags.common.threads);
  if (flags.common.device != "cpu") where.reason = "solve runs on the CPU";
  return where;
}

template <value_type V, index_type I, index_type O>
array<V, host> right_side(const context<host>& ctx, const solve_flags& flags, const csr_view<const V, I, O, host>& a) {
  spmv_x wanted;
  if (parse_random("--rhs", flags.rhs, wanted.seed)) {
    wanted.values = spmv_x::random;
  } else if (flags.rhs != "ones" && flags.rhs != "ones-solution") {
    wanted.file = flags.rhs;
  }
  array<V, host> b = make_x<V>(ctx, wanted, a.rows, "rows");
  if (flags.rhs != "ones-solution") return b;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    V sum{};
    for (O k = a.offsets[row]; k < a.offsets[row + 1]; ++k) sum += a.values[k];
    b[row] = sum;
  }
  return b;
}

json number(double v) { return v; }
json number(const std::complex<double>& v) { return json::array({v.real(), v.imag()}); }

template <value_type V>
void report_x(report& out, const solve_flags& flags, const array<V, host>& x) {
  V sum{};
  double error = 0;
  json first = json::array();
  for (std::int64_t i = 0; i < x.size(); ++i) {
    sum += x[i];
    error = std::max(error, std::abs(x[i] - V{1}));
    if (i < 5) first.push_back(number(x[i]));
  }
  out.keys()["x"] = {{"sum", number(sum)}, {"first", first}};
  if (flags.rhs != "ones-solution") return;
  out.keys()["max_error"] = error;
  out.row("error", fmt::format("{:.3g} at most: the solution is 1 everywhere", error));
}

void report_result(report& out, const solve_flags& flags, const krylov_result& result) {
  json& keys = out.keys();
  keys["method"] = to_string(result.method);
  keys["converged"] = result.converged;
  keys["outcome"] = to_string(result.outcome);
  keys["outcome_reason"] = result.reason;
  keys["iterations"] = result.iterations;
  keys["relative_residual"] = result.relative_residual;
  keys["tolerance"] = flags.tolerance;
  json history = json::array();
  if (out.writes_json()) history = result.history;
  keys["history"] = history;
  out.row(
      result.converged ? "converged" : "NOT CONVERGED",
      fmt::format("{} of {}: {}", counted(result.iterations, "iteration"), to_string(result.method), result.reason));
  out.row("residual", fmt::format("{:.3g} of |b|, {:.3g} wanted", result.relative_residual, flags.tolerance));
}

std::optional<bool> report_check(report& out, const std::optional<residual_check>& check, double check_ms) {
  out.keys()["validate_ms"] = check.has_value() ? json(check_ms) : json();
  out.keys()["valid"] = check.has_value() ? json(check->valid) : json();
  if (!check.has_value()) {
    out.row("valid", "not checked (--no-validate)");
    return {};
  }
  out.row("valid", fmt::format("{}: |b - A x| is {:.3g} of |b|, computed independently", check->valid ? "yes" : "NO",
                               check->relative_residual));
  out.row("check", format_milliseconds(check_ms));
  return check->valid;
}

void draw_history(const solve_flags& flags, const krylov_result& result) {
  const std::string subtitle =
      fmt::format("{}, {}, residual {:.2g} of |b|{}", to_string(result.method), counted(result.iterations, "iteration"),
                  result.relative_residual, result.converged ? "" : ", not converged");
  const bool is_file = !flags.file.starts_with("gen:");
  const std::string name = is_file ? std::filesystem::path(flags.file).filename().string() : flags.file;
  output_file file(flags.plot);
  file.write(
      draw_convergence(result.history, flags.tolerance, name, subtitle).file(picture_format_of(flags.plot).value()));
  file.commit();
}

// Writes x unless its residual is wrong; reports and prints.
template <value_type V>
exit_status conclude(report& out, const solve_flags& flags, const krylov_result& result, std::optional<bool> valid,
                     const array<V, host>& x) {
  if (valid != false) {
    if (!flags.output.empty()) {
      write_matrix_market<V>(flags.output, dense_view<const V, host>{x.size(), 1, 1, x.view()});
      out.row("written", flags.output + (result.converged ? "" : " (not converged)"));
    }
    if (!flags.plot.empty()) {
      draw_history(flags, result);
      out.keys()["plot"] = flags.plot;
      out.row("written", flags.plot + " (the residual by iteration)");
    }
  }
  out.print();
  if (valid == false) {
    print_error(flags.common.called, flags.file + ": the result failed validation: the residual is not as reported");
  } else if (!result.converged) {
    print_error(flags.common.called, fmt::format("{}: not converged: {}", flags.file, result.reason));
  }
  return valid == false || !result.converged ? exit_status::invalid_result : exit_status::success;
}

template <value_type V, index_type I, index_type O>
exit_status solve(report& out, const backend& where, const solve_flags& flags, const csr_input<V, I, O>& read) {
  const csr_view<const V, I, O, host>& a = read.matrix;
  if (a.rows != a.cols) {
    throw error(error_code::invalid_data,
                fmt::format("{}: a matrix of {} x {} (expected a square one)", flags.file, a.rows, a.cols));
  }
  const array<V, host> b = right_side<V, I, O>(where.cpu, flags, a);
  const stopwatch planning;
  const krylov_plan<V, host> plan(where.cpu, a, options_of(flags));
  const double plan_ms = planning.milliseconds();
  array<V, host> x(where.cpu, a.rows);
  krylov_result result;
  std::vector<double> times;
  {
    const busy solving("solving");
    for (std::int64_t k = 0; k < flags.repeat; ++k) {
      std::fill(x.begin(), x.end(), V{});
      const stopwatch watch;
      result = plan.run(b.view(), x.view());
      times.push_back(watch.milliseconds());
    }
  }
  json& keys = out.keys();
  keys["rows"] = a.rows;
  keys["cols"] = a.cols;
  keys["nnz"] = a.nnz();
  keys["load_ms"] = read.load_ms;
  keys["convert_ms"] = read.convert_ms;
  keys["plan_ms"] = plan_ms;
  keys["workspace_bytes"] = plan.workspace_bytes();
  keys["rhs"] = flags.rhs;
  keys["method_reason"] = plan.reason();
  keys["preconditioner"] = to_string(plan.preconditioner());
  out.row("matrix",
          fmt::format("{} x {}, {}", with_commas(a.rows), with_commas(a.cols), counted(a.nnz(), "entry", "entries")));
  out.row("method", fmt::format("{}: {}; preconditioner {}", to_string(plan.method()), plan.reason(),
                                to_string(plan.preconditioner())));
  report_result(out, flags, result);
  report_x(out, flags, x);
  const time_summary summary = summarize(std::move(times));
  keys["time_ms"] = to_json(summary);
  out.row("time", format_times(summary));
  std::optional<residual_check> check;
  const stopwatch checking;
  if (!flags.no_validate) {
    check = check_solution<V, I, O>(a, b.view(), std::as_const(x).view(), result.relative_residual);
  }
  const std::optional<bool> valid = report_check(out, check, checking.milliseconds());
  return conclude(out, flags, result, valid, x);
}

template <class V>
exit_status run_valued(report& out, const backend& where, const solve_flags& flags, const input_description& input) {
  const input_size size = least_size(input);
  expect_host_memory(input, size, least_matrix_bytes(input, size, sizeof(V), sizeof(V)));
  input_cache cache(cache_mode::off, input, kind_of_values<V>());
  const any_csr<V> matrix = [&] {
    progress_bar bar("reading " + input.path, flags.common.quiet);
    return read_csr<V>(where.cpu, input, bar.options(), cache);
  }();
  return std::visit([&](const auto& read) { return solve(out, where, flags, read); }, matrix);
}

exit_status run(const solve_flags& flags) {
  const backend where = cpu_of(flags);
  const input_description input = describe_input(where.cpu, flags.file);
  expect_matrix(input);
  report out("solve", flags.common);
  out.title("solve " + flags.file);
  out.keys()["file"] = flags.file;
  out.keys()["field"] = to_string(input.field);
  out.keys()["symmetry"] = to_string(input.symmetry);
  report_backend(out, flags.common.device, where);
  out.row("device", describe(where));
  if (input.field == matrix_market_field::complex) {
    return run_valued<std::complex<double>>(out, where, flags, input);
  }
  return run_valued<double>(out, where, flags, input);
}

// Nanoseconds per entry: read from text, and in 100 iterations on one thread.
struct expected_cost {
  static constexpr double read_ns = 50;
  static constexpr double iterations_ns = 400;
};

exit_status plan_solution(const solve_flags& flags, const plan_scale& scale) {
  expect_cpu(flags);
  if (scale.ranks > 0) throw usage_error("solve does not run on several processes or GPUs");
  const backend where = cpu_of(flags);
  const input_description input = describe_input(where.cpu, flags.file);
  expect_matrix(input);
  expect_known_size(input);
  const std::int64_t value = input.field == matrix_market_field::complex ? 16 : 8;
  input_size size = least_size(input);
  if (size.listed == 0) size.listed = input.entries;
  if (size.distinct == 0) {
    size.distinct = size.listed + (input.symmetry == symmetry_kind::general ? 0 : size.off_diagonal);
  }
  const krylov_options options = options_of(flags);
  const matrix_shape shape{.rows = size.rows,
                           .cols = size.cols,
                           .entries = size.distinct,
                           .index_bytes = size.index_bytes,
                           .value_bytes = value,
                           .threads = where.cpu.threads()};
  work_plan plan{"solve", input.path, input.format, size.rows, size.cols, size.listed};
  plan.threads = where.cpu.threads();
  plan.algorithm = flags.method;
  if (flags.method == "auto") plan.algorithm_reason = "chosen once the input is read";
  plan.cpu_ms = expected_cpu_ms({size.listed, expected_cost::read_ns + expected_cost::iterations_ns, plan.threads});
  plan.host_bytes = least_matrix_bytes(input, size, value, value);
  plan.host_running_bytes = std::max(plan.host_bytes, size.distinct * (size.index_bytes + value) +
                                                          10 * size.rows * value + estimate(shape, options).host_bytes);
  plan.runs_on_gpu = false;
  plan.device = "cpu";
  plan.device_reason = where.reason;
  return print_plan(flags.common, plan);
}

void add_flags(CLI::App& app, solve_flags& flags) {
  app.add_option("FILE", flags.file, "a matrix: Matrix Market, snapshot or gen:NAME:key=value,... (see below)")
      ->required();
  app.add_option("--rhs", flags.rhs,
                 "b: ones-solution (A times ones); ones; random[:SEED] from -1 to 1; or a Matrix Market file")
      ->check(suggests({"ones-solution", "ones", "random"}))
      ->type_name("B")
      ->capture_default_str();
  app.add_option(
         "--method", flags.method,
         "auto: by the matrix, and another one where it fails; cg: symmetric positive definite matrices; minres: "
         "symmetric ones; bicgstab and gmres: any")
      ->check(one_of("a method", words_of<krylov_method>()))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--preconditioner", flags.preconditioner,
                 "auto: jacobi unless the diagonal has a zero; jacobi: divide by the diagonal; none")
      ->check(one_of("a preconditioner", words_of<krylov_preconditioner>()))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--tolerance", flags.tolerance, "stop once the 2-norm of b - A x is at most X times that of b")
      ->check(CLI::Validator(CLI::NonNegativeNumber).description(""))
      ->type_name("X")
      ->capture_default_str();
  app.add_option("--max-iterations", flags.max_iterations, "stop after N iterations")
      ->check(count_from(0))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--restart", flags.restart, "gmres: vectors kept between restarts")
      ->check(positive_count())
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--output", flags.output, "write x as a Matrix Market array (.gz by name); - is standard output")
      ->type_name("FILE");
  app.add_option("--plot", flags.plot, "draw the residual by iteration: .png, .svg or .pdf")->type_name("FILE");
  app.add_option("--repeat", flags.repeat, "solve N times, for timing")
      ->check(positive_count())
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--no-validate", flags.no_validate, "skip the independent check");
}

command_body declare(CLI::App& app) {
  app.description(
      "Solves A x = b by products with A: conjugate gradients, MINRES, BiCGSTAB or GMRES. Computes the residual of x "
      "anew; a system that does not converge is exit status 3.");
  const auto flags = std::make_shared<solve_flags>();
  add_flags(app, *flags);
  add_common_flags(app, flags->common, app_kind::computes,
                   help_examples(app, {"matrix.mtx.gz", "matrix.mtx --rhs b.mtx --output x.mtx --plot residual.png",
                                       "gen:laplacian2d:n=1000 --method minres --tolerance 1e-6"}) +
                       help_on_matrix_inputs);
  const auto does = [flags] {
    expect_cpu(*flags);
    check_picture("--plot", flags->plot);
    prepare_outputs(flags->common, {flags->file, flags->rhs}, {{"--output", flags->output}, {"--plot", flags->plot}});
    return run(*flags);
  };
  return {does, [flags](const plan_scale& scale) { return plan_solution(*flags, scale); }};
}

}  // namespace

const command solve_command{
    "solve", "a linear system, by Krylov methods", declare, nullptr, false, command_kind::matrices};

}  // namespace spargo::apps
