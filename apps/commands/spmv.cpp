// spmv FILE: y = A x, or A^T x, timed, and checked against a sequential float64 reference.
#include "cli/cli.hpp"
#include "cli/enum_words.hpp"
#include "cli/help.hpp"
#include "cli/outputs.hpp"
#include "cli/progress.hpp"
#include "commands/info/figures.hpp"
#include "commands/spmv/report.hpp"
#include "commands/table.hpp"
#include "input/memory_need.hpp"
#include "placement/device_choice.hpp"
#include "placement/plan.hpp"
#include "placement/ranks.hpp"

#include <fmt/format.h>

#include <optional>
#include <variant>

namespace spargo::apps {

namespace {

spmv_job make_job(const spmv_flags& flags) {
  spmv_job job;
  const bool all = flags.format == "all";
  if (all && (flags.algorithm != "auto" || flags.storage != "auto")) {
    throw usage_error("--format all: each format has algorithms of its own (expected no --algorithm and no --storage)");
  }
  job.wanted = parse_spmv_request(all ? "auto" : flags.format, flags.algorithm, flags.storage);
  job.repeat = flags.repeat;
  job.warmup = flags.warmup;
  job.verify = !flags.no_verify;
  job.transposes = flags.transpose;
  if (parse_random("--x", flags.x, job.x.seed)) {
    job.x.values = spmv_x::random;
  } else if (flags.x == "reciprocal") {
    job.x.values = spmv_x::reciprocal;
  } else if (flags.x != "ones") {
    job.x.file = flags.x;
  }
  return job;
}

// Before anything is read: gives up a GPU, or throws. A cache may hold less than the text.
template <class V>
parse_choice expect_memory(const spmv_flags& flags, const spmv_job& job, backend& where, const input_description& input,
                           const input_cache& cache) {
  if (cache.is_on()) return choose_parsing(flags.parse, where.gpu, input);
  const input_size size = least_size(input);
  settle_memory(where, flags.common.device, least_device_matrix_bytes(input, size, sizeof(V)), 0,
                job.wanted.algorithm == spmv_algorithm::automatic);
  parse_choice parsing = choose_parsing(flags.parse, where.gpu, input);
  if (!parsing.gpu.has_value()) {
    expect_host_memory(input, size, least_matrix_bytes(input, size, sizeof(V), sizeof(V)));
  }
  return parsing;
}

template <class V>
std::vector<compared_format> multiply_in_all(const backend& where, const any_csr<V>& matrix, spmv_job job) {
  std::vector<compared_format> all;
  for (const sparse_format format : {sparse_format::csr, sparse_format::coo, sparse_format::ell, sparse_format::sell}) {
    compared_format& one = all.emplace_back(compared_format{format});
    job.wanted.format = format;
    job.wanted.format_reason = "the fastest of those compared";
    try {
      one.product = std::visit([&](const auto& read) { return multiply(where, read, job); }, matrix);
    } catch (const error& e) {
      const bool refused = e.code() == error_code::unsupported || e.code() == error_code::out_of_memory;
      if (format == sparse_format::csr || !refused) throw;
      one.refusal = message_for("spmv", e);
    }
  }
  return all;
}

template <class V>
exit_status run_valued(const spmv_flags& flags, const spmv_job& job, backend& where, const input_description& input) {
  input_cache cache(flags.cache, input, kind_of_values<V>());
  const parse_choice parsing = expect_memory<V>(flags, job, where, input, cache);
  const any_csr<V> matrix = [&] {
    progress_bar bar("reading " + input.path, flags.common.quiet);
    return read_csr<V>(where.cpu, input, bar.options(), cache, parsing);
  }();
  report out("spmv", flags.common);
  std::visit([&](const auto& read) { add_spy(out, read.matrix); }, matrix);
  if (flags.format == "all") {
    const std::vector<compared_format> all = multiply_in_all<V>(where, matrix, job);
    const spmv_product& best = fastest(all);
    report_input(out, input, best);
    const bool valid = report_formats(out, flags, all);
    out.row("fastest", std::string(to_string(best.format.format)));
    report_choices(out, flags, where, best);
    report_cache(out, cache);
    report_speed(out, flags, best);
    const exit_status status = conclude_product(out, flags, best);
    return valid ? status : exit_status::invalid_result;
  }
  const spmv_product result = std::visit([&](const auto& read) { return multiply(where, read, job); }, matrix);
  report_input(out, input, result);
  report_choices(out, flags, where, result);
  report_cache(out, cache);
  report_speed(out, flags, result);
  return conclude_product(out, flags, result);
}

void expect_precision(const spmv_flags& flags, const input_description& input) {
  if (input.field != matrix_market_field::complex || flags.precision != "fp32") return;
  throw usage_error(
      fmt::format("{}: complex matrices work in fp64 complex only (expected no --precision fp32)", flags.file));
}

exit_status run(const spmv_flags& flags) {
  const spmv_job job = make_job(flags);
  backend where = choose_backend(flags.common.device, flags.common.threads);
  if (!where.gpu.has_value()) expect_on_cpu(where.cpu, job.wanted);
  const input_description input = describe_input(where.cpu, flags.file);
  expect_matrix(input);
  expect_precision(flags, input);
  if (input.field == matrix_market_field::complex) {
    return run_valued<std::complex<double>>(flags, job, where, input);
  }
  return flags.precision == "fp32" ? run_valued<float>(flags, job, where, input)
                                   : run_valued<double>(flags, job, where, input);
}

// Of all ranks' rows: the worst is the first wrong one, else that of the largest error.
template <class V>
spmv_check check_on_ranks(const communicator& comm, const distributed_matrix<V>& a, const array<V, host>& x,
                          span<const V, host> y) {
  spmv_check worst = check_spmv<V, std::int64_t, std::int64_t>(a.own(), x.view(), y);
  if (worst.worst_row >= 0) worst.worst_row += a.row_parts().first(comm.rank());
  for (const spmv_check& each : comm.all_gather(worst)) {
    const bool worse = worst.valid != each.valid ? worst.valid : each.max_error > worst.max_error;
    if (worse || (worst.valid == each.valid && each.max_error == worst.max_error && each.worst_row >= 0 &&
                  (worst.worst_row < 0 || each.worst_row < worst.worst_row))) {
      worst = each;
    }
  }
  return worst;
}

// Products on the ranks' CPUs or GPUs; y on the host.
template <class Space, class V>
ranked_runs multiply_on_ranks(const communicator& comm, const context<Space>& ctx, const spmv_flags& flags,
                              product_split split, const distributed_matrix<V>& a, const array<V, host>& x,
                              spmv_product& result, array<V, host>& y, std::string& how) {
  const stopwatch planning;
  const distributed_spmv_plan<V, Space> plan(comm, ctx, a, {}, split);
  result.plan_ms = planning.milliseconds();
  result.algorithm = plan.algorithm();
  result.reason = plan.reason();
  how = plan.how();
  array<V, Space> mine;
  array<V, Space> product;
  together(comm, [&] {
    mine = {ctx, plan.local_columns()};
    product = {ctx, plan.own_rows()};
    copy<V>(ctx, x.view().subspan(a.column_parts().first(comm.rank()), plan.own_columns()),
            mine.view().subspan(0, plan.own_columns()));
    ctx.synchronize();
  });
  const stopwatch since_start;
  ranked_runs runs = time_on_ranks(comm, flags.warmup, flags.repeat, since_start, [&] {
    plan.run(V{1}, mine.view(), V{}, product.view());
    ctx.synchronize();
  });
  together(comm, [&] { y = copy_to_host(ctx, std::as_const(product).view()); });
  return runs;
}

template <class V>
exit_status run_valued_on_ranks(const communicator& comm, const backend& where, const spmv_flags& flags,
                                const spmv_job& job, input_description input) {
  ranked_input<V> read = read_on_ranks<V>(comm, where.cpu, std::move(input), flags.common);
  const stopwatch converting;
  const distributed_matrix<V> a(comm, where.cpu, std::as_const(read.share).view(), read.triangle);
  read.share = {};
  spmv_product result;
  result.load_ms = read.from.load_ms;
  result.convert_ms = converting.milliseconds();
  array<V, host> x;  // all of it, for the check
  array<V, host> y;
  together(comm, [&] { x = make_x<V>(where.cpu, job.x, a.cols()); });
  std::string how;
  ranked_runs runs;
  const bool as_it_is =
      job.wanted.algorithm != spmv_algorithm::automatic || job.wanted.storage == spmv_storage::borrowed;
  const product_split split = as_it_is ? product_split::rows : product_split::automatic;
  on_backend(where, [&](const auto& ctx) { runs = multiply_on_ranks(comm, ctx, flags, split, a, x, result, y, how); });
  result.values = kind_of_values<V>();
  result.rows = a.rows();
  result.cols = a.cols();
  result.nnz = a.nnz();
  result.stored = read.from.facts.stored;
  result.rounded_integers = read.from.facts.rounded_integers;
  result.index_bits = 32;
  result.offset_bits = 64;
  result.format = {sparse_format::csr, "rows distributed over ranks"};
  result.storage = where.gpu.has_value() ? spmv_storage::copied : spmv_storage::borrowed;
  result.storage_reason = where.gpu.has_value() ? "to each GPU" : "as read";
  constexpr std::int64_t value = sizeof(V);
  result.bytes = a.nnz() * (4 + value) + (a.rows() + 1) * 8 + (a.rows() + a.cols()) * value;
  result.times = runs.timed.times;
  if (job.verify) {
    const stopwatch watch;
    result.check = check_on_ranks<V>(comm, a, x, y.view());
    result.check_ms = watch.milliseconds();
  }
  result.y = clone(where.cpu, comm.all_gather(span<const V, host>(y)));
  report out("spmv", flags.common);
  on_first(comm, [&] {
    summarise_y(result);
    report_input(out, read.from.input, result);
    report_choices(out, flags, where, result);
    report_cache(out, read.from.cache);
    report_speed(out, flags, result);
    report_ranks(out, comm, where, how, runs);
    (void)conclude_product(out, flags, result);
  });
  return status_of(result.check.has_value() ? std::optional<bool>(result.check->valid) : std::nullopt);
}

// Several processes, or GPUs: as CSR.
exit_status run_on_ranks(const communicator& comm, const backend& where, const spmv_flags& flags, const spmv_job& job) {
  expect_no_cache(flags.cache);
  input_description input = describe_on_ranks(comm, where.cpu, flags.file, flags.common);
  const bool is_complex = input.field == matrix_market_field::complex;
  together(comm, [&] {
    expect_matrix(input);
    expect_precision(flags, input);
  });
  if (is_complex) return run_valued_on_ranks<std::complex<double>>(comm, where, flags, job, std::move(input));
  return flags.precision == "fp32" ? run_valued_on_ranks<float>(comm, where, flags, job, std::move(input))
                                   : run_valued_on_ranks<double>(comm, where, flags, job, std::move(input));
}

void check_shared(const spmv_flags& flags, const spmv_job& job) {
  if (flags.format == "all") throw usage_error("--format all: not on several processes or GPUs");
  if (flags.transpose) throw usage_error("--transpose: not on several processes or GPUs");
  const bool on_gpus = are_on_gpus(flags.common);
  if ((job.wanted.format.has_value() && *job.wanted.format != sparse_format::csr) ||
      (job.wanted.algorithm != spmv_algorithm::automatic && job.wanted.algorithm != spmv_algorithm::row_per_thread) ||
      (job.wanted.storage == spmv_storage::copied && !on_gpus)) {
    throw usage_error(fmt::format("several {} multiply by --format csr --algorithm row_per_thread only{}",
                                  on_gpus ? "GPUs" : "processes", on_gpus ? ", or auto" : ""));
  }
  expect_parsing_on_cpu(flags.parse);
}

exit_status share_out(spmv_flags& flags) {
  const spmv_job job = make_job(flags);
  check_shared(flags, job);
  return run_ranks(
      flags.common,
      [&] {
        prepare_outputs(flags.common, {flags.file, flags.x},
                        {{"--output", flags.output}, {"--print", flags.rows.output}});
      },
      [&](const communicator& comm, const backend& where) { return run_on_ranks(comm, where, flags, job); });
}

// Nanoseconds per entry on one thread: 4 million entries, uniformly random, are read from text in 0.2 s and multiplied
// in 9.6 ms (two-core cloud machine).
struct expected_tuning {
  static constexpr double read_ns = 50;
  static constexpr double product_ns = 2.4;
};

// An upper bound on the CPU: the matrix, x and y, and the plan with its copy; 0 for formats other than CSR.
std::int64_t most_running_bytes(const spmv_job& job, const input_size& size, std::int64_t value_bytes, int threads) {
  if (job.wanted.format.value_or(sparse_format::csr) != sparse_format::csr) return 0;
  const matrix_shape shape{.rows = size.rows,
                           .cols = size.cols,
                           .entries = size.distinct,
                           .index_bytes = size.index_bytes,
                           .offset_bytes = 8,
                           .value_bytes = value_bytes,
                           .threads = threads};
  const spmv_options options{.algorithm = job.wanted.algorithm,
                             .storage = job.wanted.storage.value_or(spmv_storage::copied),
                             .products = job.repeat,
                             .operation = job.transposes ? spmv_operation::transpose : spmv_operation::none};
  return size.distinct * (size.index_bytes + value_bytes) + (size.rows + 1) * shape.offset_bytes +
         (size.rows + size.cols) * value_bytes + estimate(shape, options).host_bytes;
}

// One process, a GPU at most, or a rank of several.
exit_status plan_product(const spmv_flags& flags, const plan_scale& scale) {
  const spmv_job job = make_job(flags);
  if (scale.ranks > 0) {
    check_shared(flags, job);
    expect_no_cache(flags.cache);
  }
  const backend where = choose_cpu("cpu", flags.common.threads);
  const input_description input = describe_input(where.cpu, flags.file);
  expect_matrix(input);
  expect_known_size(input);
  const bool is_complex = input.field == matrix_market_field::complex;
  const std::int64_t value = is_complex ? 16 : flags.precision == "fp32" ? 4 : 8;
  input_size size = least_size(input);
  if (size.listed == 0) size.listed = input.entries;
  if (size.distinct == 0)
    size.distinct = size.listed + (input.symmetry == symmetry_kind::general ? 0 : size.off_diagonal);
  work_plan plan{"spmv", input.path, input.format, size.rows, size.cols, size.listed};
  plan.scale = scale;
  plan.threads = where.cpu.threads();
  plan.algorithm = flags.algorithm;
  const std::int64_t ranks = std::max<std::int64_t>(scale.ranks, 1);
  const double product_ns = expected_tuning::product_ns * static_cast<double>(flags.warmup + flags.repeat);
  plan.cpu_ms = expected_cpu_ms({size.listed / ranks, expected_tuning::read_ns + product_ns, plan.threads});
  plan.gpu_ms = expected_gpu_ms(size.listed / ranks);
  plan.host_bytes = least_matrix_bytes(input, size, value, value);
  if (scale.ranks == 0 && size.rows > 0) {
    // Also sorting, and two vectors of a copy that the product is compared with (spmv/product.cpp).
    plan.host_running_bytes = std::max(plan.host_bytes, most_running_bytes(job, size, value, plan.threads)) +
                              size.listed * size.index_bytes +
                              std::clamp(plan.host_bytes, std::int64_t{32} << 20, std::int64_t{1} << 30);
  }
  plan.device_bytes = least_device_matrix_bytes(input, size, value) / ranks;
  if (scale.ranks > 0) {
    size.index_bytes = 8;
    plan.host_bytes = least_rank_bytes(size, ranks, {direction_kind::directed, true, false, value, {2 * value, 0}});
  }
  const device_wish wish = device_as_asked(flags.common, scale);
  const device_status status = query_devices();
  plan.device = !wish.device.empty() ? wish.device : status.usable() ? "cuda" : "cpu";
  plan.device_reason = !wish.device.empty() ? wish.reason
                       : status.usable()    ? "the first usable GPU, if as much of its memory is free"
                                            : "no usable GPU: " + status.reason;
  return print_plan(flags.common, plan, input);
}

void add_flags(flag_set app, spmv_flags& flags) {
  app.add_option("FILE", flags.file, "a matrix: Matrix Market, snapshot or gen:NAME:key=value,... (see below)")
      ->required();
  app.add_option("--format", flags.format, "auto, csr, coo, ell or sell; all: one after the other, in a table")
      ->check(one_of("a format", words_of<sparse_format>({"auto"}, {"all"})))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--algorithm", flags.algorithm,
                 "auto; for csr row_per_thread, merge_path and compressed, on a GPU also row_per_warp, row_blocks, "
                 "column_passes, blocked and binned; for coo coo_segmented, on a GPU also coo_atomic; ell; sell")
      ->check(one_of("an algorithm", words_of<spmv_algorithm>()))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--storage", flags.storage,
                 "borrowed: multiply the matrix as it is; copied: build a faster form of it where there is one; auto: "
                 "whichever pays off within --repeat products")
      ->check(one_of("a storage", words_of<spmv_storage>({"auto"})))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_flag("--transpose", flags.transpose, "multiply by the transpose, y = A^T x (complex: without conjugation)");
  app.add_option("--precision", flags.precision, "fp32 or fp64; complex matrices work in fp64 complex")
      ->check(one_of("a precision", {"fp32", "fp64"}))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option(
         "--x", flags.x,
         "ones; reciprocal (1/(1+i), i from 0); random[:SEED] in [-1, 1); or a file: Matrix Market, or a number a line")
      ->check(suggests({"ones", "reciprocal", "random"}))
      ->type_name("X")
      ->capture_default_str();
  app.add_option("--output", flags.output, "write y as a Matrix Market array (.gz by name); - is standard output")
      ->type_name("FILE");
  add_print_flags(app, flags.rows,
                  "element of y (row value; complex: row real imaginary), with --format all per format");
  app.add_option("--repeat", flags.repeat,
                 "number of timed samples; short products are batched into samples of about 0.2 ms")
      ->check(positive_count())
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--warmup", flags.warmup, "untimed products before the timed ones")
      ->check(count_from(0))
      ->type_name("N")
      ->capture_default_str();
  add_parse_flag(app, flags.parse);
  add_devices_flag(app, flags.common);
  add_cache_flag(app, flags.cache);
  app.add_flag("--no-verify", flags.no_verify, "do not compare y with a sequential float64 reference");
}

command_body declare(flag_set app) {
  app.description(
      "y = A x, or A^T x, for a sparse matrix A: reads it, multiplies on the CPU or the GPU, times and checks the "
      "result.");
  const auto flags = std::make_shared<spmv_flags>();
  add_flags(app, *flags);
  add_common_flags(app, flags->common, app_kind::computes,
                   help_examples(app, {"matrix.mtx.gz", "matrix.mtx --x random:7 --output y.mtx --json report.json",
                                       "gen:laplacian2d:n=1000 --format sell --precision fp32"}) +
                       help_on_matrix_inputs);
  const auto does = [flags] {
    check_table_flags(flags->rows);
    if (is_shared_out(flags->common)) return share_out(*flags);
    prepare_outputs(flags->common, {flags->file, flags->x},
                    {{"--output", flags->output}, {"--print", flags->rows.output}});
    return run(*flags);
  };
  return {does, [flags](const plan_scale& scale) { return plan_product(*flags, scale); }};
}

}  // namespace

extern const command spmv_command{
    "spmv", "product of a sparse matrix and a vector", declare, nullptr, true, command_kind::matrices};

}  // namespace spargo::apps
