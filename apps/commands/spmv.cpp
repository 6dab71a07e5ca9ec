// spmv FILE: y = A x on a real matrix, timed, and checked against a sequential float64 reference.
#include "cli/cli.hpp"
#include "cli/enum_words.hpp"
#include "cli/help.hpp"
#include "cli/outputs.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "commands/spmv/product.hpp"
#include "commands/table.hpp"
#include "input/memory_need.hpp"
#include "placement/device_choice.hpp"
#include "placement/plan.hpp"
#include "placement/ranks.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <optional>
#include <variant>

namespace spargo::apps {

namespace {

struct spmv_flags {
  common_flags common;
  std::string file;
  std::string format = "auto";
  std::string algorithm = "auto";
  std::string storage = "auto";
  std::string precision = "fp64";
  std::string x = "ones";
  std::string output;
  std::string parse = "auto";
  cache_mode cache = cache_mode::off;
  std::int64_t repeat = 10;
  std::int64_t warmup = 2;
  bool no_verify = false;
};

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
  if (parse_random("--x", flags.x, job.x.seed)) {
    job.x.values = spmv_x::random;
  } else if (flags.x == "reciprocal") {
    job.x.values = spmv_x::reciprocal;
  } else if (flags.x != "ones") {
    job.x.file = flags.x;
  }
  return job;
}

json number(const spmv_product& result, const std::complex<double>& v) {
  return result.is_complex() ? json::array({v.real(), v.imag()}) : json(v.real());
}

void report_y(report& out, const spmv_product& result) {
  json first = json::array();
  for (const std::complex<double>& v : result.y_first) first.push_back(number(result, v));
  out.keys()["y"] = {{"sum", number(result, result.y_sum)}, {"l2", result.y_norm}, {"first", first}};
  const std::string imaginary = result.is_complex() ? fmt::format(" {:+.17g}i", result.y_sum.imag()) : std::string();
  out.row("y", fmt::format("sum {:.17g}{}, 2-norm {:.17g}", result.y_sum.real(), imaginary, result.y_norm));
}

void report_speed(report& out, const spmv_flags& flags, const spmv_product& result) {
  const double seconds = result.times.median * 1e-3;
  const double flops = (result.is_complex() ? 8.0 : 2.0) * static_cast<double>(result.nnz);
  const double rate = static_cast<double>(result.bytes) / seconds;
  out.keys()["time_ms"] = to_json(result.times);
  out.keys()["gflops"] = flops / seconds * 1e-9;
  out.keys()["bytes"] = result.bytes;
  out.keys()["gbytes_per_s"] = rate * 1e-9;
  out.keys()["copy_gbytes_per_s"] = result.copy_rate.has_value() ? json(*result.copy_rate * 1e-9) : json();
  out.keys()["bandwidth_fraction"] = result.copy_rate.has_value() ? json(rate / *result.copy_rate) : json();
  out.row("time", format_times(result.times));
  out.row("speed",
          fmt::format("{:.3g} GFLOP/s, {:.3g} GB/s", flops / seconds * 1e-9, rate * 1e-9) +
              (result.copy_rate.has_value()  ? fmt::format(", {:.0f}% of a copy at {:.3g} GB/s in the same run",
                                                           100 * rate / *result.copy_rate, *result.copy_rate * 1e-9)
               : is_shared_out(flags.common) ? std::string()
                                             : std::string(", no memory for a copy to hold it against")));
}

std::optional<bool> report_check(report& out, const spmv_product& result) {
  const std::optional<spmv_check>& check = result.check;
  out.keys()["verified"] = check.has_value() ? json(check->valid) : json();
  out.keys()["max_error"] = check.has_value() ? json(check->max_error) : json();
  out.keys()["validate_ms"] = check.has_value() ? json(result.check_ms) : json();
  if (!check.has_value()) {
    out.row("verified", "no (--no-verify)");
    return std::nullopt;
  }
  out.keys()["worst_row"] = check->worst_row + 1;
  const std::string where = check->worst_row < 0
                                ? std::string("no rows")
                                : fmt::format("row {}, where the bound is {:.2g}", check->worst_row + 1, check->bound);
  out.row("verified", fmt::format("{}: largest error {:.2g} of sum |a||x|, {}", check->valid ? "yes" : "NO, WRONG",
                                  check->max_error, where));
  out.row("check", format_milliseconds(result.check_ms));
  return check->valid;
}

void report_input(report& out, const input_description& input, const spmv_product& result) {
  json& keys = out.keys();
  keys["file"] = input.path;
  keys["rows"] = result.rows;
  keys["cols"] = result.cols;
  keys["nnz"] = result.nnz;
  keys["field"] = to_string(input.field);
  keys["symmetry"] = to_string(input.symmetry);
  keys["stored"] = result.stored;
  keys["rounded_integers"] = result.rounded_integers;
  out.title(fmt::format("spmv {}", input.path));
  out.row("matrix", fmt::format("{} x {}, {} entries ({}, {}, {}; {} stored)", with_commas(result.rows),
                                with_commas(result.cols), with_commas(result.nnz), input.format, to_string(input.field),
                                to_string(input.symmetry), with_commas(result.stored)));
  if (result.rounded_integers > 0) {
    const std::string rounded = fmt::format("{} integers exceed what the values hold exactly, rounded to nearest",
                                            with_commas(result.rounded_integers));
    out.row("note", rounded);
    out.warn(input.path + ": " + rounded);
  }
}

void report_choices(report& out, const spmv_flags& flags, const backend& where, const spmv_product& result) {
  const bool single = result.values == value_kind::fp32;
  json& keys = out.keys();
  keys["format"] = to_string(result.format.format);
  keys["format_reason"] = result.format.reason;
  keys["storage"] = to_string(result.storage);
  keys["storage_reason"] = result.storage_reason;
  keys["algorithm"] = to_string(result.algorithm);
  keys["algorithm_reason"] = result.reason;
  report_backend(out, flags.common.device, where);
  keys["precision"] = single ? "fp32" : "fp64";
  keys["index_bits"] = result.index_bits;
  keys["offset_bits"] = result.offset_bits;
  keys["x"] = flags.x;
  keys["parsed_on"] = result.parsed_on_device ? "gpu" : "cpu";
  keys["load_ms"] = result.load_ms;
  keys["convert_ms"] = result.convert_ms;
  keys["upload_ms"] = result.upload_ms;
  keys["plan_ms"] = result.plan_ms;
  keys["workspace_bytes"] = result.workspace_bytes;
  out.row("device", describe(where));
  out.row("format", fmt::format("{}: {}", to_string(result.format.format), result.format.reason));
  out.row("storage", fmt::format("{}: {}", to_string(result.storage), result.storage_reason));
  out.row("algorithm", fmt::format("{}: {}", to_string(result.algorithm), result.reason));
  out.row("numbers", fmt::format("{}{}, {}-bit indices, {}-bit offsets", result.is_complex() ? "complex " : "",
                                 single ? "fp32" : "fp64", result.index_bits, result.offset_bits));
  out.row("before", fmt::format("load {}, convert {}, {}plan {}", format_milliseconds(result.load_ms),
                                format_milliseconds(result.convert_ms),
                                where.gpu.has_value() ? "upload " + format_milliseconds(result.upload_ms) + ", " : "",
                                format_milliseconds(result.plan_ms)));
}

exit_status finish(report& out, const spmv_flags& flags, const spmv_product& result) {
  report_y(out, result);
  const std::optional<bool> valid = report_check(out, result);
  if (!flags.output.empty() && valid != false) {  // a wrong y never replaces a file
    write_y(flags.output, result);
    out.row("written", flags.output);
  }
  out.print();
  if (valid == false) {
    print_error(flags.common.called,
                fmt::format("{}: the result failed validation at row {}", flags.file, result.check->worst_row + 1));
  }
  return status_of(valid);
}

// Before anything is read: gives up a GPU, or throws. A cache may hold less than the text.
template <class V>
parse_choice expect_memory(const spmv_flags& flags, const spmv_job& job, backend& where, const input_description& input,
                           const input_cache& cache) {
  if (cache.is_on()) return choose_parsing(flags.parse, where.gpu, input);
  const input_size size = least_size(input);
  settle_memory(where, flags.common.device, least_matrix_bytes_there(input, size, sizeof(V)), 0,
                job.wanted.algorithm == spmv_algorithm::automatic);
  parse_choice parsing = choose_parsing(flags.parse, where.gpu, input);
  if (!parsing.gpu.has_value()) {
    expect_host_memory(input, size, least_matrix_bytes(input, size, sizeof(V), sizeof(V)));
  }
  return parsing;
}

// --format all: the product in each format, or why it is refused; of these the fastest is reported in full.
struct compared_format {
  sparse_format format;
  std::optional<spmv_product> product{};
  std::string refusal{};
};

template <class V>
std::vector<compared_format> multiply_in_all(const backend& where, const any_csr<V>& matrix, spmv_job job) {
  std::vector<compared_format> all;
  for (const sparse_format format : {sparse_format::csr, sparse_format::coo, sparse_format::ell, sparse_format::sell}) {
    compared_format& one = all.emplace_back(compared_format{format});
    job.wanted.format = format;
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

const spmv_product& fastest(const std::vector<compared_format>& all) {
  const spmv_product* best = &*all.front().product;
  for (const compared_format& one : all) {
    if (one.product.has_value() && one.product->times.median < best->times.median) best = &*one.product;
  }
  return *best;
}

// The table, and "formats" of JSON. False: a product is wrong.
bool report_formats(report& out, const std::vector<compared_format>& all) {
  json list = json::array();
  bool valid = true;
  for (const compared_format& one : all) {
    const std::string name(to_string(one.format));
    if (!one.product.has_value()) {
      list.push_back({{"format", name}, {"refused", one.refusal}});
      out.row(name, "refused: " + one.refusal);
      continue;
    }
    const spmv_product& p = *one.product;
    const double seconds = p.times.median * 1e-3;
    const double gflops = (p.is_complex() ? 8.0 : 2.0) * static_cast<double>(p.nnz) / seconds * 1e-9;
    const double rate = static_cast<double>(p.bytes) / seconds * 1e-9;
    const bool wrong = p.check.has_value() && !p.check->valid;
    valid = valid && !wrong;
    list.push_back({{"format", name},
                    {"algorithm", to_string(p.algorithm)},
                    {"storage", to_string(p.storage)},
                    {"convert_ms", p.convert_ms},
                    {"plan_ms", p.plan_ms},
                    {"time_ms", to_json(p.times)},
                    {"gflops", gflops},
                    {"bytes", p.bytes},
                    {"gbytes_per_s", rate},
                    {"verified", p.check.has_value() ? json(p.check->valid) : json()},
                    {"max_error", p.check.has_value() ? json(p.check->max_error) : json()}});
    out.row(name,
            fmt::format("{:>9} {:>8.3g} GFLOP/s {:>8.3g} GB/s  {:>9} before  {}{}", format_milliseconds(p.times.median),
                        gflops, rate, format_milliseconds(p.convert_ms + p.plan_ms), to_string(p.algorithm),
                        wrong ? "  WRONG" : ""));
  }
  out.keys()["formats"] = std::move(list);
  return valid;
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
  if (flags.format == "all") {
    const std::vector<compared_format> all = multiply_in_all<V>(where, matrix, job);
    const spmv_product& best = fastest(all);
    report_input(out, input, best);
    const bool valid = report_formats(out, all);
    out.row("fastest", std::string(to_string(best.format.format)));
    report_choices(out, flags, where, best);
    report_cache(out, cache);
    report_speed(out, flags, best);
    const exit_status status = finish(out, flags, best);
    return valid ? status : exit_status::invalid_result;
  }
  const spmv_product result = std::visit([&](const auto& read) { return multiply(where, read, job); }, matrix);
  report_input(out, input, result);
  report_choices(out, flags, where, result);
  report_cache(out, cache);
  report_speed(out, flags, result);
  return finish(out, flags, result);
}

exit_status run(const spmv_flags& flags) {
  const spmv_job job = make_job(flags);
  backend where = choose_backend(flags.common.device, flags.common.threads);
  const input_description input = describe_input(where.cpu, flags.file);
  expect_matrix(input);
  const bool fp32 = flags.precision == "fp32";
  if (input.field == matrix_market_field::complex) {
    if (fp32) {
      throw usage_error(
          fmt::format("{}: complex matrices work in fp64 complex only (expected no --precision fp32)", flags.file));
    }
    return run_valued<std::complex<double>>(flags, job, where, input);
  }
  return fp32 ? run_valued<float>(flags, job, where, input) : run_valued<double>(flags, job, where, input);
}

// Of all ranks' rows: the worst is the first wrong one, else that of the largest error.
spmv_check check_on_ranks(const communicator& comm, const distributed_matrix<double>& a, const array<double, host>& x,
                          span<const double, host> y) {
  const auto own = a.own();
  spmv_check worst = check_spmv<double, std::int64_t, std::int64_t>(own, x.view(), y);
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
template <class Space>
ranked_runs multiply_on_ranks(const communicator& comm, const context<Space>& ctx, const spmv_flags& flags,
                              product_split split, const distributed_matrix<double>& a, const array<double, host>& x,
                              spmv_product& result, array<double, host>& y, std::string& how) {
  const stopwatch planning;
  const distributed_spmv_plan<double, Space> plan(comm, ctx, a, {}, split);
  result.plan_ms = planning.milliseconds();
  result.algorithm = plan.algorithm();
  result.reason = plan.reason();
  how = plan.how();
  array<double, Space> mine;
  array<double, Space> product;
  together(comm, [&] {
    mine = {ctx, plan.local_columns()};
    product = {ctx, plan.own_rows()};
    copy<double>(ctx, x.view().subspan(a.column_parts().first(comm.rank()), plan.own_columns()),
                 mine.view().subspan(0, plan.own_columns()));
    ctx.synchronize();
  });
  const stopwatch since_start;
  ranked_runs runs = time_on_ranks(comm, flags.warmup, flags.repeat, since_start, [&] {
    plan.run(1.0, mine.view(), 0.0, product.view());
    ctx.synchronize();
  });
  together(comm, [&] { y = copy_to_host(ctx, std::as_const(product).view()); });
  return runs;
}

// Several processes, or GPUs: real matrices in fp64, as CSR.
exit_status run_on_ranks(const communicator& comm, const backend& where, const spmv_flags& flags, const spmv_job& job) {
  ranked_input<double> read = read_on_ranks<double>(comm, where.cpu, flags.file, flags.common, flags.cache);
  const stopwatch converting;
  const distributed_matrix<double> a(comm, where.cpu, std::as_const(read.share).view(), read.triangle);
  read.share = {};
  spmv_product result;
  result.load_ms = read.from.load_ms;
  result.convert_ms = converting.milliseconds();
  array<double, host> x;  // all of it, for the check
  array<double, host> y;
  together(comm, [&] { x = make_x<double>(where.cpu, job.x, a.cols()); });
  std::string how;
  ranked_runs runs;
  const bool as_it_is =
      job.wanted.algorithm != spmv_algorithm::automatic || job.wanted.storage == spmv_storage::borrowed;
  const product_split split = as_it_is ? product_split::rows : product_split::automatic;
  on_backend(where, [&](const auto& ctx) { runs = multiply_on_ranks(comm, ctx, flags, split, a, x, result, y, how); });
  result.rows = a.rows();
  result.cols = a.cols();
  result.nnz = a.nnz();
  result.stored = read.from.facts.stored;
  result.rounded_integers = read.from.facts.rounded_integers;
  result.index_bits = 32;
  result.offset_bits = 64;
  result.format = {sparse_format::csr, "rows shared out among ranks"};
  result.storage = where.gpu.has_value() ? spmv_storage::copied : spmv_storage::borrowed;
  result.storage_reason = where.gpu.has_value() ? "to each GPU" : "as read";
  result.bytes = a.nnz() * 12 + (a.rows() + 1) * 8 + (a.rows() + a.cols()) * 8;
  result.times = runs.timed.times;
  if (job.verify) {
    const stopwatch watch;
    result.check = check_on_ranks(comm, a, x, y.view());
    result.check_ms = watch.milliseconds();
  }
  result.y = clone(where.cpu, comm.all_gather(span<const double, host>(y)));
  report out("spmv", flags.common);
  on_first(comm, [&] {
    summarise_y(result);
    report_input(out, read.from.input, result);
    report_choices(out, flags, where, result);
    report_cache(out, read.from.cache);
    report_speed(out, flags, result);
    report_ranks(out, comm, where, how, runs);
    (void)finish(out, flags, result);
  });
  return status_of(result.check.has_value() ? std::optional<bool>(result.check->valid) : std::nullopt);
}

void check_shared(const spmv_flags& flags, const spmv_job& job) {
  if (flags.format == "all") throw usage_error("--format all: not on several processes or GPUs");
  const bool on_gpus = are_on_gpus(flags.common);
  if (flags.precision != "fp64" || (job.wanted.format.has_value() && *job.wanted.format != sparse_format::csr) ||
      (job.wanted.algorithm != spmv_algorithm::automatic && job.wanted.algorithm != spmv_algorithm::row_per_thread) ||
      (job.wanted.storage == spmv_storage::copied && !on_gpus)) {
    throw usage_error(fmt::format("several {} multiply fp64 matrices by --format csr --algorithm row_per_thread only{}",
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
        prepare_outputs(flags.common, {flags.file, flags.x}, {{"--output", flags.output}});
      },
      [&](const communicator& comm, const backend& where) { return run_on_ranks(comm, where, flags, job); });
}

// Nanoseconds per entry on one thread: 4 million entries, uniformly random, are read from text in 0.2 s and multiplied
// in 9.6 ms (two-core cloud machine).
struct expected_tuning {
  static constexpr double read_ns = 50;
  static constexpr double product_ns = 2.4;
};

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
  const bool is_complex = input.field == matrix_market_field::complex;
  const std::int64_t value = is_complex ? 16 : flags.precision == "fp32" ? 4 : 8;
  input_size size = least_size(input);
  if (size.listed == 0) size.listed = input.entries;
  if (size.distinct == 0)
    size.distinct = size.listed + (input.symmetry == symmetry_kind::general ? 0 : size.off_diagonal);
  work_plan told{"spmv", input.path, input.format, size.rows, size.cols, size.listed};
  told.scale = scale;
  told.threads = where.cpu.threads();
  told.algorithm = flags.algorithm;
  const std::int64_t ranks = std::max<std::int64_t>(scale.ranks, 1);
  const double product_ns = expected_tuning::product_ns * static_cast<double>(flags.warmup + flags.repeat);
  told.cpu_ms = expected_cpu_ms({size.listed / ranks, expected_tuning::read_ns + product_ns, told.threads});
  told.gpu_ms = expected_gpu_ms(size.listed / ranks);
  told.host_bytes = least_matrix_bytes(input, size, value, value);
  told.device_bytes = least_matrix_bytes_there(input, size, value) / ranks;
  if (scale.ranks > 0) {
    size.index_bytes = 8;
    told.host_bytes = least_rank_bytes(size, ranks, {direction_kind::directed, true, false, value, {2 * value, 0}});
  }
  const device_wish wish = device_as_asked(flags.common, scale);
  const device_status status = query_devices();
  told.device = !wish.device.empty() ? wish.device : status.usable() ? "cuda" : "cpu";
  told.device_reason = !wish.device.empty() ? wish.reason
                       : status.usable()    ? "the first usable GPU, if as much of its memory is free"
                                            : "no usable GPU: " + status.reason;
  return print_plan(flags.common, told);
}

void add_flags(CLI::App& app, spmv_flags& flags) {
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
  app.add_option("--precision", flags.precision, "fp32 or fp64; complex matrices work in fp64 complex")
      ->check(one_of("a precision", {"fp32", "fp64"}))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--x", flags.x,
                 "ones; reciprocal (1/(1+i), i from 0); random[:SEED] in [-1, 1); or a Matrix Market file")
      ->check(suggests({"ones", "reciprocal", "random"}))
      ->type_name("X")
      ->capture_default_str();
  app.add_option("--output", flags.output, "write y as a Matrix Market array (.gz by name); - is standard output")
      ->type_name("FILE");
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

command_body declare(CLI::App& app) {
  app.description(
      "y = A x for a sparse matrix A: reads it, multiplies on the CPU or the GPU, times and checks the result.");
  const auto flags = std::make_shared<spmv_flags>();
  add_flags(app, *flags);
  add_common_flags(app, flags->common, app_kind::computes,
                   help_examples(app, {"matrix.mtx.gz", "matrix.mtx --x random:7 --output y.mtx --json report.json",
                                       "gen:laplacian2d:n=1000 --format sell --precision fp32"}) +
                       help_on_matrix_inputs);
  const auto does = [flags] {
    if (is_shared_out(flags->common)) return share_out(*flags);
    prepare_outputs(flags->common, {flags->file, flags->x}, {{"--output", flags->output}});
    return run(*flags);
  };
  return {does, [flags](const plan_scale& scale) { return plan_product(*flags, scale); }};
}

}  // namespace

const command spmv_command{"spmv", "product of a sparse matrix and a vector", declare, nullptr, true};

}  // namespace spargo::apps
