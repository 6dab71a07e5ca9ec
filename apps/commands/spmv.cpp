// spmv FILE: y = A x on a real matrix, timed, and checked against a sequential float64 reference.
#include "commands/table.hpp"
#include "common/cache.hpp"
#include "common/cli.hpp"
#include "common/device_choice.hpp"
#include "common/help.hpp"
#include "common/input.hpp"
#include "common/outputs.hpp"
#include "common/progress.hpp"
#include "common/random.hpp"
#include "common/report.hpp"
#include "common/spmv_check.hpp"
#include "common/spmv_request.hpp"
#include "common/timing.hpp"

#include <spargo/io/matrix_market.hpp>
#include <spargo/sparse/spmv.hpp>

#include <fmt/format.h>

#include <cmath>
#include <optional>

namespace spargo::apps {

namespace {

struct tuning {
  // The copy that bandwidth is held against moves as many bytes as the product, but at least this many: below, thread
  // and launch latencies are what is timed. On a GPU more, to leave its caches.
  static constexpr std::int64_t min_copy_bytes_host = std::int64_t{32} << 20;
  static constexpr std::int64_t min_copy_bytes_device = std::int64_t{256} << 20;
  static constexpr std::int64_t max_copy_bytes = std::int64_t{1} << 30;
  static constexpr std::int64_t copies = 5;
};

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

// x from a file: a column (or a row) of the right length, dense or sparse.
template <value_type V>
array<V, host> read_vector(const context<host>& ctx, const std::string& path, std::int64_t size) {
  const auto column = read_matrix_market<V, std::int64_t>(ctx, path);
  const bool is_column = column.cols() == 1 && column.rows() == size;
  const bool is_row = column.rows() == 1 && column.cols() == size;
  if (!is_column && !is_row) {
    throw error(
        error_code::invalid_data, source_position{path, 0, 0},
        fmt::format("--x is {} x {} (expected {} x 1, the matrix's columns)", column.rows(), column.cols(), size));
  }
  array<V, host> x(ctx, size);
  fill_zero(ctx, x.view());
  const auto& at = is_column ? column.row_indices() : column.col_indices();
  for (std::int64_t k = 0; k < column.nnz(); ++k) x[at[k]] += column.values()[k];
  return x;
}

template <value_type V>
array<V, host> make_x(const context<host>& ctx, const std::string& spec, std::int64_t size) {
  std::uint64_t seed = 0;
  const bool random = parse_random("--x", spec, seed);
  if (spec != "ones" && spec != "reciprocal" && !random) return read_vector<V>(ctx, spec, size);
  array<V, host> x(ctx, size);
  for (std::int64_t i = 0; i < size; ++i) {
    const double value = random                 ? random_symmetric(seed, static_cast<std::uint64_t>(i))
                         : spec == "reciprocal" ? 1.0 / (1.0 + static_cast<double>(i))
                                                : 1.0;
    if constexpr (std::same_as<V, float>) {
      x[i] = static_cast<float>(value);
    } else {
      x[i] = V(value);
    }
  }
  return x;
}

// Seconds that a copy of about `bytes` (read and written together) takes per byte; none when there is no memory for it.
template <class Space>
std::optional<double> copy_bytes_per_second(const context<Space>& ctx, std::int64_t bytes) {
  constexpr std::int64_t least =
      std::same_as<Space, host> ? tuning::min_copy_bytes_host : tuning::min_copy_bytes_device;
  const std::int64_t elements = std::clamp(bytes, least, tuning::max_copy_bytes) / (2 * std::int64_t{sizeof(double)});
  try {
    array<double, Space> from(ctx, elements);
    array<double, Space> to(ctx, elements);
    fill_zero(ctx, from.view());
    const time_summary times = time_calls(
        1, tuning::copies, [&] { copy<double>(ctx, from.view(), to.view()); }, [&] { ctx.synchronize(); });
    return 2.0 * sizeof(double) * static_cast<double>(elements) / (times.min * 1e-3);
  } catch (const error& e) {
    if (e.code() == error_code::out_of_memory) return std::nullopt;
    throw;
  }
}

// Bytes that any product in this format must move: the entries without padding, what locates them, x and y once.
template <class V, class I, class O>
std::int64_t compulsory_bytes(sparse_format format, std::int64_t rows, std::int64_t cols, std::int64_t nnz) {
  const auto value = static_cast<std::int64_t>(sizeof(V));
  const auto index = static_cast<std::int64_t>(sizeof(I));
  const auto offset = static_cast<std::int64_t>(sizeof(O));
  std::int64_t matrix = nnz * (value + index);
  switch (format) {
    case sparse_format::csr:
      matrix += (rows + 1) * offset;
      break;
    case sparse_format::coo:
      matrix += nnz * index;
      break;
    case sparse_format::ell:
      matrix += rows * index;
      break;
    case sparse_format::sell:
      matrix += 2 * rows * index;
      break;
  }
  return matrix + (rows + cols) * value;
}

// What one backend measured; y is on the host again.
template <class V>
struct product {
  array<V, host> y;
  format_choice format;
  spmv_algorithm algorithm = spmv_algorithm::automatic;
  std::string reason;
  spmv_storage storage = spmv_storage::borrowed;
  std::string storage_reason;
  double upload_ms = 0, convert_ms = 0, plan_ms = 0;
  std::int64_t workspace_bytes = 0;
  time_summary times;
  std::optional<double> copy_rate;  // bytes per second
};

// f(view) with the matrix in the wanted format; what was converted lives until f returns.
template <class V, class I, class O, class Space, class F>
void with_format(const context<Space>& ctx, const csr_view<const V, I, O, Space>& matrix, sparse_format format, F&& f) {
  switch (format) {
    case sparse_format::csr:
      f(matrix);
      return;
    case sparse_format::coo: {
      const auto coo = to_coo(ctx, matrix);
      f(coo.view());
      return;
    }
    case sparse_format::ell: {
      const auto ell = to_ell(ctx, matrix);
      f(ell.view());
      return;
    }
    case sparse_format::sell: {
      const auto sell = to_sell(ctx, matrix);
      f(sell.view());
      return;
    }
  }
}

// A plan on CSR, with its storage as asked for or as pays for --repeat products, and why.
template <class V, class I, class O, class Space>
spmv_plan<V, I, O, Space> plan_csr(const context<Space>& ctx, const csr_view<const V, I, O, Space>& matrix,
                                   const spmv_flags& flags, const spmv_request& wanted, std::string& why) {
  using plan = spmv_plan<V, I, O, Space>;
  why = "as asked for";
  if (wanted.algorithm != spmv_algorithm::automatic) return plan(ctx, matrix, {.algorithm = wanted.algorithm});
  if (wanted.storage == spmv_storage::borrowed) return plan(ctx, matrix);
  if (wanted.storage == spmv_storage::copied) {
    plan made(ctx, matrix, {.storage = spmv_storage::copied});
    if (made.storage() == spmv_storage::borrowed) why = "no copy is expected to be faster";
    return made;
  }
  try {
    plan made(ctx, matrix, {.storage = spmv_storage::copied, .products = flags.repeat});
    why = fmt::format("{} within {} product{} (--repeat)",
                      made.storage() == spmv_storage::copied ? "the copy pays" : "no copy pays",
                      with_commas(flags.repeat), flags.repeat == 1 ? "" : "s");
    return made;
  } catch (const error& e) {
    if (e.code() != error_code::out_of_memory) throw;
    why = "no memory for a copy";
    return plan(ctx, matrix);
  }
}

// Plans on CSR, or converts where neither CSR nor a copy of it is expected to be as fast; then times. On return
// `result.y` is not yet filled; y holds A x, synchronised.
template <class V, class I, class O, class Space>
void measure(const context<Space>& ctx, const csr_view<const V, I, O, Space>& matrix, span<const V, Space> x,
             span<V, Space> y, const spmv_flags& flags, const spmv_request& wanted, product<V>& result) {
  const busy multiplying("multiplying");
  using plan = spmv_plan<V, I, O, Space>;
  const auto time = [&](const plan& made) {
    result.algorithm = made.algorithm();
    result.reason = made.reason();
    result.storage = made.storage();
    result.workspace_bytes = made.workspace_bytes();
    result.times = time_calls(
        flags.warmup, flags.repeat, [&] { made.run(V(1), x, V(0), y); }, [&] { ctx.synchronize(); });
  };
  format_choice& format = result.format;
  std::optional<plan> on_csr;
  if (format.format == sparse_format::csr || !wanted.format.has_value()) {
    const stopwatch planning;
    on_csr.emplace(plan_csr<V, I, O, Space>(ctx, matrix, flags, wanted, result.storage_reason));
    ctx.synchronize();
    result.plan_ms = planning.milliseconds();
    if (format.format != sparse_format::csr && on_csr->storage() == spmv_storage::copied) {
      format = {sparse_format::csr, "what the copy is made of"};
    }
  }
  if (format.format == sparse_format::csr) {
    time(*on_csr);
  } else {
    const stopwatch converting;
    with_format(ctx, matrix, format.format, [&](const auto& view) {
      ctx.synchronize();
      result.convert_ms = converting.milliseconds();
      const stopwatch planning;
      const plan made(ctx, view, {.algorithm = wanted.algorithm});
      ctx.synchronize();
      result.plan_ms += planning.milliseconds();
      result.storage_reason = "the matrix as converted";
      time(made);
    });
  }
  const std::int64_t bytes = compulsory_bytes<V, I, O>(format.format, matrix.rows, matrix.cols, matrix.nnz());
  result.copy_rate = copy_bytes_per_second(ctx, bytes);
}

// The format as asked for, or as pays for --repeat products.
template <class V, class I, class O>
format_choice choose_format(const backend& where, const csr_pattern_view<I, O, host>& matrix, const spmv_flags& flags,
                            const spmv_request& wanted) {
  if (wanted.format.has_value()) return {*wanted.format, "as asked for"};
  if (wanted.storage == spmv_storage::copied) return {sparse_format::csr, "what copies are made of"};
  if (wanted.storage == spmv_storage::borrowed) return {sparse_format::csr, "as read"};
  const format_use use{.value_bytes = sizeof(V), .complex_values = complex_type<V>, .products = flags.repeat};
  return where.gpu.has_value() ? suggest_format<device>(where.cpu, matrix, use)
                               : suggest_format<host>(where.cpu, matrix, use);
}

template <class V, class I, class O>
product<V> multiply(const backend& where, const csr_input<V, I, O>& read, const array<V, host>& x,
                    const spmv_flags& flags, const spmv_request& wanted) {
  const csr_view<const V, I, O, host>& matrix = read.matrix;
  product<V> result;
  result.format = choose_format<V, I, O>(where, matrix, flags, wanted);
  result.y = array<V, host>(where.cpu, matrix.rows);
  if (!where.gpu.has_value()) {
    measure<V, I, O, host>(where.cpu, matrix, x.view(), result.y.view(), flags, wanted, result);
    return result;
  }
  if constexpr (config::has_cuda) {
    const context<device>& gpu = *where.gpu;
    const stopwatch uploading;
    csr_matrix<V, I, O, device> uploaded;
    csr_view<const V, I, O, device> there = read.on_device.view();
    if (there.offsets.empty()) {
      uploaded = to_device(gpu, matrix);
      there = uploaded.view();
    }
    const array<V, device> device_x = to_device(gpu, x.view());
    array<V, device> device_y(gpu, matrix.rows);
    gpu.synchronize();
    result.upload_ms = uploading.milliseconds();
    measure<V, I, O, device>(gpu, there, device_x.view(), device_y.view(), flags, wanted, result);
    result.y = to_host(gpu, device_y.view(), where.cpu);
  }
  return result;
}

json number(double v) { return v; }
json number(const std::complex<double>& v) { return json::array({v.real(), v.imag()}); }
std::string text(double v) { return fmt::format("{:.17g}", v); }
std::string text(const std::complex<double>& v) { return fmt::format("{:.17g} {:+.17g}i", v.real(), v.imag()); }

template <class V>
void report_y(report& out, const array<V, host>& y) {
  using wide = typename detail::reference_of<V>::type;
  wide sum{};
  double largest = 0;
  for (const V& v : y) {
    sum += wide(v);
    largest = std::max<double>(largest, std::abs(wide(v)));
  }
  double squares = 0;  // scaled: the square of a large entry would overflow
  const double scale = largest > 0 && std::isfinite(largest) ? largest : 1.0;
  for (const V& v : y) squares += std::norm(wide(v) / scale);
  const double l2 = scale * std::sqrt(squares);
  json first = json::array();
  for (std::int64_t i = 0; i < std::min<std::int64_t>(y.size(), 5); ++i) first.push_back(number(wide(y[i])));
  out.keys()["y"] = {{"sum", number(sum)}, {"l2", l2}, {"first", first}};
  out.row("y", fmt::format("sum {}, 2-norm {:.17g}", text(sum), l2));
}

template <class V, class I, class O>
void report_speed(report& out, const product<V>& result, std::int64_t rows, std::int64_t cols, std::int64_t nnz) {
  const double seconds = result.times.median * 1e-3;
  const double flops = (complex_type<V> ? 8.0 : 2.0) * static_cast<double>(nnz);
  const std::int64_t bytes = compulsory_bytes<V, I, O>(result.format.format, rows, cols, nnz);
  const double rate = static_cast<double>(bytes) / seconds;
  out.keys()["time_ms"] = to_json(result.times);
  out.keys()["gflops"] = flops / seconds * 1e-9;
  out.keys()["bytes"] = bytes;
  out.keys()["gbytes_per_s"] = rate * 1e-9;
  out.keys()["bandwidth_fraction"] = result.copy_rate.has_value() ? json(rate / *result.copy_rate) : json();
  out.row("time", format_times(result.times));
  out.row("speed",
          fmt::format("{:.3g} GFLOP/s, {:.3g} GB/s", flops / seconds * 1e-9, rate * 1e-9) +
              (result.copy_rate.has_value() ? fmt::format(", {:.0f}% of a copy at {:.3g} GB/s in the same run",
                                                          100 * rate / *result.copy_rate, *result.copy_rate * 1e-9)
                                            : std::string(", no memory for a copy to hold it against")));
}

std::optional<bool> report_check(report& out, const std::optional<spmv_check>& check) {
  out.keys()["verified"] = check.has_value() ? json(check->valid) : json();
  out.keys()["max_error"] = check.has_value() ? json(check->max_error) : json();
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
  return check->valid;
}

void report_input(report& out, const input_description& input, const input_facts& facts, std::int64_t rows,
                  std::int64_t cols, std::int64_t nnz) {
  json& keys = out.keys();
  keys["file"] = input.path;
  keys["rows"] = rows;
  keys["cols"] = cols;
  keys["nnz"] = nnz;
  keys["field"] = to_string(input.field);
  keys["symmetry"] = to_string(input.symmetry);
  keys["stored"] = facts.stored;
  keys["rounded_integers"] = facts.rounded_integers;
  out.title(fmt::format("spmv {}", input.path));
  out.row("matrix", fmt::format("{} x {}, {} entries ({}, {}, {}; {} stored)", with_commas(rows), with_commas(cols),
                                with_commas(nnz), input.format, to_string(input.field), to_string(input.symmetry),
                                with_commas(facts.stored)));
  if (facts.rounded_integers > 0) {
    const std::string rounded = fmt::format("{} integers exceed what the values hold exactly, rounded to nearest",
                                            with_commas(facts.rounded_integers));
    out.row("note", rounded);
    out.warn(input.path + ": " + rounded);
  }
}

template <class V, class I, class O>
exit_status run_typed(const spmv_flags& flags, const spmv_request& wanted, const backend& where,
                      const input_description& input, const csr_input<V, I, O>& read, const input_cache& cache) {
  const auto& matrix = read.matrix;
  const array<V, host> x = make_x<V>(where.cpu, flags.x, matrix.cols);
  const product<V> result = multiply<V, I, O>(where, read, x, flags, wanted);

  report out("spmv", flags.common);
  report_input(out, input, read.facts, matrix.rows, matrix.cols, matrix.nnz());
  const bool single = std::same_as<V, float>;
  const double convert_ms = read.convert_ms + result.convert_ms;
  json& keys = out.keys();
  keys["format"] = to_string(result.format.format);
  keys["format_reason"] = result.format.reason;
  keys["storage"] = to_string(result.storage);
  keys["storage_reason"] = result.storage_reason;
  keys["algorithm"] = to_string(result.algorithm);
  keys["algorithm_reason"] = result.reason;
  report_backend(out, flags.common.device, where);
  keys["precision"] = single ? "fp32" : "fp64";
  keys["index_bits"] = sizeof(I) * 8;
  keys["offset_bits"] = sizeof(O) * 8;
  keys["x"] = flags.x;
  keys["parsed_on"] = read.facts.parsed_on_device ? "gpu" : "cpu";
  keys["load_ms"] = read.load_ms;
  keys["convert_ms"] = convert_ms;
  keys["upload_ms"] = result.upload_ms;
  keys["plan_ms"] = result.plan_ms;
  keys["workspace_bytes"] = result.workspace_bytes;
  out.row("device", fmt::format("{} ({}), {} threads", where.name, where.reason, where.cpu.threads()));
  out.row("format", fmt::format("{}: {}", to_string(result.format.format), result.format.reason));
  out.row("storage", fmt::format("{}: {}", to_string(result.storage), result.storage_reason));
  out.row("algorithm", fmt::format("{}: {}", to_string(result.algorithm), result.reason));
  out.row("numbers", fmt::format("{}{}, {}-bit indices, {}-bit offsets", complex_type<V> ? "complex " : "",
                                 single ? "fp32" : "fp64", sizeof(I) * 8, sizeof(O) * 8));
  out.row("before", fmt::format("load {}, convert {}, {}plan {}", format_milliseconds(read.load_ms),
                                format_milliseconds(convert_ms),
                                where.gpu.has_value() ? "upload " + format_milliseconds(result.upload_ms) + ", " : "",
                                format_milliseconds(result.plan_ms)));
  report_cache(out, cache);
  report_speed<V, I, O>(out, result, matrix.rows, matrix.cols, matrix.nnz());
  report_y(out, result.y);
  std::optional<spmv_check> check;
  if (!flags.no_verify) {
    const busy checking("checking the product");
    check = check_spmv<V, I, O>(matrix, x.view(), result.y.view());
  }
  const std::optional<bool> valid = report_check(out, check);

  if (!flags.output.empty() && valid != false) {  // a wrong y never replaces a file
    const busy writing("writing " + flags.output);
    write_matrix_market<V>(flags.output, dense_view<const V, host>{result.y.size(), 1, 1, result.y.view()});
    out.row("written", flags.output);
  }
  out.print();
  if (valid == false) {
    print_error(flags.common.called,
                fmt::format("{}: the result failed validation at row {}", input.path, check->worst_row + 1));
  }
  return status_of(valid);
}

template <class V>
exit_status run_valued(const spmv_flags& flags, const spmv_request& wanted, const backend& where,
                       const input_description& input) {
  std::optional<progress_bar> bar(std::in_place, "reading " + input.path, flags.common.quiet);
  input_cache cache(flags.cache, input, kind_of_values<V>());
  const auto go = [&]<class I, class O>(const csr_input<V, I, O>& read) {
    bar.reset();
    return run_typed<V, I, O>(flags, wanted, where, input, read, cache);
  };
  return with_cached_csr<V>(where.cpu, input, bar->options(), cache, go, choose_parsing(flags.parse, where.gpu, input));
}

exit_status run(const spmv_flags& flags) {
  const spmv_request wanted = parse_spmv_request(flags.format, flags.algorithm, flags.storage);
  std::uint64_t seed = 0;
  (void)parse_random("--x", flags.x, seed);
  const backend where = choose_backend(flags.common.device, flags.common.threads);
  const input_description input = describe_input(where.cpu, flags.file);
  if (is_graph_text(input.kind)) {
    throw error(
        error_code::unsupported, source_position{flags.file, 0, 0},
        fmt::format("not a Matrix Market file: {} (expected one that begins with %%MatrixMarket, a snapshot, or "
                    "gen:...; convert turns a graph into either)",
                    input.format));
  }
  const bool fp32 = flags.precision == "fp32";
  if (input.field == matrix_market_field::complex) {
    if (fp32) {
      throw usage_error(
          fmt::format("{}: complex matrices work in fp64 complex only (expected no --precision fp32)", flags.file));
    }
    return run_valued<std::complex<double>>(flags, wanted, where, input);
  }
  return fp32 ? run_valued<float>(flags, wanted, where, input) : run_valued<double>(flags, wanted, where, input);
}

void add_flags(CLI::App& app, spmv_flags& flags) {
  app.add_option("FILE", flags.file, "a matrix: Matrix Market, snapshot or gen:NAME:key=value,... (see below)")
      ->required();
  app.add_option("--format", flags.format, "auto, csr, coo, ell or sell")
      ->check(one_of("a format", {"auto", "csr", "coo", "ell", "sell"}))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--algorithm", flags.algorithm,
                 "auto; for csr row_per_thread, merge_path and compressed, on a GPU also row_per_warp, row_blocks, "
                 "column_passes, blocked and binned; for coo coo_segmented, on a GPU also coo_atomic; ell; sell")
      ->check(
          one_of("an algorithm", {"auto", "row_per_thread", "row_per_warp", "row_blocks", "merge_path", "column_passes",
                                  "compressed", "blocked", "binned", "ell", "sell", "coo_atomic", "coo_segmented"}))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--storage", flags.storage,
                 "borrowed: multiply the matrix as it is; copied: build a faster form of it where there is one; auto: "
                 "whichever pays off within --repeat products")
      ->check(one_of("a storage", {"auto", "borrowed", "copied"}))
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
  return [flags] {
    prepare_outputs(flags->common, {flags->file, flags->x}, {{"--output", flags->output}});
    return run(*flags);
  };
}

}  // namespace

const command spmv_command{"spmv", "product of a sparse matrix and a vector", declare};

}  // namespace spargo::apps
