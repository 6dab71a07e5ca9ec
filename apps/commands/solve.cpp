// solve FILE: A x = b by a Krylov method; the residual is checked independently.
#include "cli/choice.hpp"
#include "cli/enum_words.hpp"
#include "cli/plots.hpp"
#include "commands/solve/check.hpp"
#include "commands/spmv/product.hpp"
#include "commands/table.hpp"
#include "placement/matrix_driver.hpp"
#include "placement/ranks.hpp"

#include <spargo/distributed/krylov.hpp>
#include <spargo/io/matrix_market.hpp>
#include <spargo/io/output.hpp>
#include <spargo/solvers/krylov.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <utility>

namespace spargo::apps {

namespace {

struct solve_flags : matrix_flags {
  std::string rhs = "ones-solution";
  std::string method = "auto";
  std::string preconditioner = "auto";
  std::string output;
  std::string plot;
  double tolerance = 1e-8;
  std::int64_t max_iterations = krylov_options{}.max_iterations;
  std::int64_t restart = 50;
  std::int64_t block_size = 8;
};

[[nodiscard]] std::int64_t value_bytes(const input_description& input) {
  return input.field == matrix_market_field::complex ? 16 : 8;
}

krylov_options options_of(const solve_flags& flags) {
  return {.method = parse_enum<krylov_method>("solve: unknown method", flags.method),
          .preconditioner = parse_enum<krylov_preconditioner>("solve: unknown preconditioner", flags.preconditioner),
          .tolerance = flags.tolerance,
          .max_iterations = flags.max_iterations,
          .restart = flags.restart,
          .block_size = flags.block_size};
}

// Of rows [first, first + a.rows) of `all`.
template <value_type V, index_type I, index_type O>
array<V, host> right_side(const context<host>& ctx, const solve_flags& flags, const csr_view<const V, I, O, host>& a,
                          std::int64_t first, std::int64_t all) {
  if (flags.rhs == "ones-solution") {
    array<V, host> b(ctx, a.rows);
    for (std::int64_t row = 0; row < a.rows; ++row) {
      V sum{};
      for (O k = a.offsets[row]; k < a.offsets[row + 1]; ++k) sum += a.values[k];
      b[row] = sum;
    }
    return b;
  }
  spmv_x wanted;
  if (parse_random("--rhs", flags.rhs, wanted.seed)) {
    wanted.values = spmv_x::random;
  } else if (flags.rhs != "ones") {
    wanted.file = flags.rhs;
  }
  array<V, host> b = make_x<V>(ctx, wanted, all, {"--rhs", "rows", true});
  if (a.rows == all) return b;
  return clone(ctx, std::as_const(b).view().subspan(first, a.rows));
}

void expect_ranks(const solve_flags& flags) {
  const krylov_preconditioner by = options_of(flags).preconditioner;
  if (by == krylov_preconditioner::automatic || by == krylov_preconditioner::none ||
      by == krylov_preconditioner::jacobi) {
    return;
  }
  throw usage_error(fmt::format("--preconditioner {}: not on several processes or GPUs (expected jacobi or none)",
                                flags.preconditioner));
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
  out.row("error", fmt::format("{:.3g} at most, from the x of ones that made b", error));
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

template <value_type V>
void write_outputs(report& out, const solve_flags& flags, const krylov_result& result, const array<V, host>& x) {
  if (!flags.output.empty()) {
    write_matrix_market<V>(flags.output, dense_view<const V, host>{x.size(), 1, 1, x.view()});
    out.row("written", flags.output + (result.converged ? "" : " (not converged)"));
  }
  if (!flags.plot.empty()) {
    draw_history(flags, result);
    out.keys()["plot"] = flags.plot;
    out.row("written", flags.plot + " (the residual by iteration)");
  }
  print_lines(out, flags.rows, value_columns<V>("row"), x.size(), [&](std::int64_t k, table_writer& row) {
    row.number(k + 1);
    value_cells(row, x[k]);
  });
}

// What a plan did, in any space.
struct solved {
  krylov_method method{};
  std::string reason;
  krylov_preconditioner preconditioner{};
  std::int64_t workspace_bytes = 0;
  double plan_ms = 0;
  time_summary times;
  krylov_result result;
  std::optional<residual_check> check;
  double check_ms = 0;
};

template <class Plan>
void describe_plan(const Plan& plan, solved& all) {
  all.method = plan.method();
  all.reason = plan.reason();
  all.preconditioner = plan.preconditioner();
  all.workspace_bytes = plan.workspace_bytes();
}

// x on the host.
template <class Space, value_type V, index_type I, index_type O>
solved solve_in(const context<Space>& ctx, const csr_view<const V, I, O, Space>& a, const solve_flags& flags,
                const array<V, host>& b, array<V, host>& x) {
  solved all;
  const stopwatch planning;
  const krylov_plan<V, Space> plan(ctx, a, options_of(flags));
  ctx.synchronize();
  all.plan_ms = planning.milliseconds();
  array<V, Space> right(ctx, b.size());
  array<V, Space> found(ctx, x.size());
  copy<V>(ctx, b.view(), right.view());
  all.times = time_runs("solving", flags.repeat, [&] {
    fill_zero(ctx, found.view());
    all.result = plan.run(std::as_const(right).view(), found.view());
  });
  copy<V>(ctx, std::as_const(found).view(), x.view());
  ctx.synchronize();
  describe_plan(plan, all);
  return all;
}

// The rest of the report, the outputs, and the exit status. `more`: rows before the check's.
template <value_type V>
exit_status conclude_solution(
    report& out, const solve_flags& flags, const input_description& input, const solved& all, const array<V, host>& x,
    const std::function<void()>& more = [] {}) {
  const krylov_result& result = all.result;
  json& keys = out.keys();
  keys["field"] = to_string(input.field);
  keys["symmetry"] = to_string(input.symmetry);
  keys["plan_ms"] = all.plan_ms;
  keys["workspace_bytes"] = all.workspace_bytes;
  keys["rhs"] = flags.rhs;
  keys["method_reason"] = all.reason;
  keys["preconditioner"] = to_string(all.preconditioner);
  out.row("method",
          fmt::format("{}: {}; preconditioner {}", to_string(all.method), all.reason, to_string(all.preconditioner)));
  report_result(out, flags, result);
  report_x(out, flags, x);
  report_runs(out, all.times);
  more();
  const std::optional<bool> valid = all.check.has_value() ? std::optional(all.check->valid) : std::nullopt;
  report_validity(out, valid,
                  fmt::format("|b - A x| is {:.3g} of |b|, computed independently",
                              all.check.has_value() ? all.check->relative_residual : 0),
                  all.check_ms);
  if (valid != false) write_outputs(out, flags, result, x);
  return conclude(out, flags, valid, result.converged ? "" : result.reason);
}

// x on the host.
template <class Space, value_type V>
ranked_runs solve_on_ranks(const communicator& comm, const context<Space>& ctx, const solve_flags& flags,
                           const distributed_matrix<V>& a, const array<V, host>& b, array<V, host>& x, solved& all,
                           std::string& how) {
  const stopwatch planning;
  const distributed_krylov_plan<V, Space> plan(comm, ctx, a, options_of(flags));
  all.plan_ms = planning.milliseconds();
  array<V, Space> copied;
  array<V, Space> found;
  together(comm, [&] {
    if constexpr (std::same_as<Space, device>) copied = to_device(ctx, b);
    found = {ctx, b.size()};
  });
  span<const V, Space> right = copied.view();
  if constexpr (std::same_as<Space, host>) right = b.view();
  const traffic before = comm.sent();
  all.times = time_runs("solving", flags.repeat, [&] {
    fill_zero(ctx, found.view());
    all.result = plan.run(right, found.view());
  });
  ranked_runs runs;
  runs.exchanged_bytes = comm.all_reduce(comm.sent().bytes - before.bytes, reduction::sum) / flags.repeat;
  runs.exchange_ms =
      comm.all_reduce((comm.sent().seconds - before.seconds) * 1e3, reduction::max) / static_cast<double>(flags.repeat);
  describe_plan(plan, all);
  how = plan.how();
  if constexpr (std::same_as<Space, host>) {
    x = std::move(found);
  } else {
    together(comm, [&] { x = to_host(ctx, found); });
  }
  return runs;
}

// Several processes or GPUs.
template <value_type V>
exit_status solve_over(const communicator& comm, const backend& where, const solve_flags& flags,
                       input_description described) {
  ranked_input<V> read = read_on_ranks<V>(comm, where.cpu, std::move(described), flags.common);
  const input_description& input = read.from.input;
  together(comm, [&] { expect_square(flags, read.share.rows(), read.share.cols()); });
  const stopwatch converting;
  const distributed_matrix<V> a(comm, where.cpu, std::as_const(read.share).view(), read.triangle);
  read.share = {};
  const double convert_ms = converting.milliseconds();
  const std::int64_t first = a.row_parts().first(comm.rank());
  array<V, host> b;
  array<V, host> x;
  together(comm, [&] {
    expect_finite(flags, a.own(), first);
    b = right_side<V, std::int64_t, std::int64_t>(where.cpu, flags, a.own(), first, a.rows());
  });
  solved all;
  ranked_runs runs;
  std::string how;
  on_backend(where, [&](const auto& ctx) { runs = solve_on_ranks(comm, ctx, flags, a, b, x, all, how); });
  const array<V, host> whole = clone(where.cpu, comm.all_gather(span<const V, host>(x)));
  if (!flags.no_validate) {
    const stopwatch checking;
    residual_norms norms;
    for (const residual_norms& each :
         comm.all_gather(residual_of<V, std::int64_t, std::int64_t>(a.own(), std::as_const(b).view(), whole.view()))) {
      norms.add(each);
    }
    all.check = norms.against(all.result.relative_residual);
    all.check_ms = checking.milliseconds();
  }
  report out("solve", flags.common);
  on_first(comm, [&] {
    begin_report(out, "solve", flags, where);
    warn_of_rounding(out, flags.file, read.from.facts.rounded_integers);
    report_matrix(out, a.rows(), a.cols(), a.nnz(), read.from.load_ms, convert_ms);
    (void)conclude_solution(out, flags, input, all, whole, [&] { report_ranks(out, comm, where, how, runs); });
  });
  const bool valid = !all.check.has_value() || all.check->valid;
  return valid && all.result.converged ? exit_status::success : exit_status::invalid_result;
}

struct solution : matrix_algorithm {
  using flags_type = solve_flags;
  static constexpr const char* name = "solve";
  static constexpr double expected_ns = 50 + 400;  // text; 100 iterations
  static constexpr bool takes_ranks = true;

  static matrix_command_text text() {
    return {
        "Solves A x = b by products with A: conjugate gradients, MINRES, BiCGSTAB or GMRES. Computes the residual of x "
        "anew; a system that does not converge is exit status 3. With --device cuda one GPU solves it, with "
        "--devices several. Several GPUs or processes support Jacobi's preconditioner or none.",
        "a matrix",
        "solve",
        {"matrix.mtx.gz", "matrix.mtx --rhs b.mtx --output x.mtx --plot residual.png",
         "gen:laplacian2d:n=1000 --method minres --tolerance 1e-6"},
        "FILE",
        "element of x (row value; complex: row real imaginary)"};
  }
  static void add_flags(flag_set app, solve_flags& flags) {
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
    app.add_option(
           "--preconditioner", flags.preconditioner,
           "auto: jacobi unless the diagonal has a zero; none; jacobi: divide by the diagonal; block-jacobi: by "
           "blocks of it; ilu0: incomplete LU factors; ic0: incomplete Cholesky factors, for symmetric positive "
           "definite matrices")
        ->check(one_of("a preconditioner", words_of<krylov_preconditioner>()))
        ->type_name("NAME")
        ->capture_default_str();
    app.add_option("--tolerance", flags.tolerance, "stop once the 2-norm of b - A x is at most X times that of b")
        ->check(non_negative_number())
        ->type_name("X")
        ->capture_default_str();
    app.add_option("--max-iterations", flags.max_iterations, "stop after N iterations; default: 10 times the rows")
        ->check({[](const std::string& word) -> std::string {  // the default itself may exceed `count_from`
          std::int64_t n = 0;
          return parse_integer(word, n) && n >= 0 ? "" : word + " is not a count (expected 0 to 2^63-1)";
        }})
        ->type_name("N");
    app.add_option("--restart", flags.restart, "gmres: vectors kept between restarts")
        ->check(positive_count())
        ->type_name("N")
        ->capture_default_str();
    app.add_option("--block-size", flags.block_size, "block-jacobi: rows of a block, at most 256")
        ->check(positive_count())
        ->type_name("N")
        ->capture_default_str();
    app.add_option("--output", flags.output, "write x as a Matrix Market array (.gz by name); - is standard output")
        ->type_name("FILE");
    app.add_option("--plot", flags.plot, "draw the residual by iteration: .png, .svg or .pdf")->type_name("FILE");
    add_devices_flag(app, flags.common);
  }
  static void check_flags(const solve_flags& flags) { check_picture("--plot", flags.plot); }
  static std::vector<std::string> other_inputs(const solve_flags& flags) { return {flags.rhs}; }
  static std::vector<output_request> outputs(const solve_flags& flags) {
    return {{"--output", flags.output}, {"--plot", flags.plot}};
  }
  static backend place(const solve_flags& flags, const input_description& input, backend cpu) {
    return place_as_asked(name, flags.common, input, std::move(cpu), value_bytes(input));
  }

  template <value_type V, index_type I, index_type O>
  static exit_status run(const matrix_job<solve_flags>& job, const csr_input<V, I, O>& read) {
    report& out = job.out;
    const solve_flags& flags = job.flags;
    const context<host>& ctx = job.cpu();
    const csr_view<const V, I, O, host>& a = read.matrix;
    expect_square(flags, a.rows, a.cols);
    expect_finite(flags, a);
    const array<V, host> b = right_side<V, I, O>(ctx, flags, a, 0, a.rows);
    array<V, host> x(ctx, a.rows);
    solved all;
    on_backend(job.where, [&]<class Space>(const context<Space>& space) {
      if constexpr (std::same_as<Space, host>) {
        all = solve_in<host, V, I, O>(space, a, flags, b, x);
      } else {
        const csr_matrix<V, I, O, device> copy = to_device(space, a);
        all = solve_in<device, V, I, O>(space, copy.view(), flags, b, x);
      }
    });
    const stopwatch checking;
    if (!flags.no_validate) {
      all.check = residual_of<V, I, O>(a, b.view(), std::as_const(x).view()).against(all.result.relative_residual);
    }
    all.check_ms = checking.milliseconds();
    report_matrix(out, read);
    return conclude_solution(out, flags, job.input, all, x);
  }

  static std::optional<exit_status> run_on_ranks(const solve_flags& flags, const std::function<void()>& prepare) {
    if (!is_shared_out(flags.common)) return std::nullopt;
    expect_ranks(flags);
    return run_ranks(flags.common, prepare, [&](const communicator& comm, const backend& where) {
      std::optional<rows_from_one> counting;
      if (!is_generator_spec(flags.file)) counting.emplace();
      input_description input = describe_on_ranks(comm, where.cpu, flags.file, flags.common);
      together(comm, [&] { expect_matrix(input); });
      try {
        if (input.field != matrix_market_field::complex) {
          return solve_over<double>(comm, where, flags, std::move(input));
        }
        return solve_over<std::complex<double>>(comm, where, flags, std::move(input));
      } catch (const error&) {
        rethrow_with_file(name, flags.file);
      }
    });
  }

  static void expect(work_plan& plan, const solve_flags& flags, const input_description& input,
                     const input_size& size) {
    const std::int64_t value = value_bytes(input);
    const matrix_shape shape{.rows = size.rows,
                             .cols = size.cols,
                             .entries = size.distinct,
                             .index_bytes = size.index_bytes,
                             .value_bytes = value,
                             .threads = plan.threads};
    const auto device_bytes = [&](const matrix_shape& of) {
      return of.entries * (of.index_bytes + value) + (of.rows + 1) * of.offset_bytes + 2 * of.rows * value +
             estimate(of, options_of(flags)).device_bytes;
    };
    plan.algorithm = flags.method;
    if (flags.method == "auto") plan.algorithm_reason = "chosen once the input is read";
    if (plan.scale.ranks > 0) {
      expect_ranks(flags);
      matrix_shape part{.rows = size.rows / plan.scale.ranks, .offset_bytes = 8, .value_bytes = value};
      krylov_options least = options_of(flags);
      if (least.method == krylov_method::automatic) least.method = krylov_method::cg;
      input_size distributed = size;
      distributed.index_bytes = 8;
      plan.host_bytes =
          least_rank_bytes(distributed, plan.scale.ranks, {direction_kind::directed, true, false, value, {value, 0}}) +
          (are_on_gpus(flags.common) ? 0 : estimate(part, least).host_bytes);
      const device_wish wish = device_as_asked(flags.common, plan.scale);
      plan.device = wish.device;
      plan.device_reason = wish.reason;
      plan.runs_on_gpu = are_on_gpus(flags.common);
      if (!plan.runs_on_gpu) return;
      part.cols = part.rows;
      part.entries = size.distinct / plan.scale.ranks;
      plan.gpu_ms = expected_gpu_ms(size.listed / plan.scale.ranks);
      plan.device_bytes = device_bytes(part);
      return;
    }
    plan.host_bytes = least_matrix_bytes(input, size, value, value);
    plan.host_running_bytes =
        std::max(plan.host_bytes, size.distinct * (size.index_bytes + value) + 10 * size.rows * value +
                                      estimate(shape, options_of(flags)).host_bytes);
    plan_as_asked(plan, flags.common, size, device_bytes(shape));
  }
};

}  // namespace

extern const command solve_command = matrix_command<solution>("a linear system, by Krylov methods");

}  // namespace spargo::apps
