// reorder FILE: an order of a square matrix's rows and columns for small bandwidth or locality.
#include "cli/choice.hpp"
#include "cli/cli.hpp"
#include "cli/enum_words.hpp"
#include "cli/help.hpp"
#include "cli/outputs.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/timing.hpp"
#include "commands/table.hpp"
#include "input/memory_need.hpp"
#include "input/read.hpp"
#include "placement/device_choice.hpp"
#include "placement/plan.hpp"

#include <spargo/graph/reorder.hpp>
#include <spargo/io/matrix_market.hpp>
#include <spargo/io/output.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace spargo::apps {

namespace {

struct reorder_flags {
  common_flags common;
  std::string file;
  std::string method = "rcm";
  std::string output;
  std::string permutation;
  std::int64_t repeat = 1;
  bool no_validate = false;
};

struct wanted_order {
  reorder_method method = reorder_method::rcm;
  std::uint64_t seed = 0;
};

wanted_order parse_method(const reorder_flags& flags) {
  wanted_order wanted;
  if (parse_random("--method", flags.method, wanted.seed)) {
    wanted.method = reorder_method::random;
  } else if (flags.method == "degree") {
    wanted.method = reorder_method::degree;
  } else if (flags.method != "rcm") {
    throw usage_error(
        fmt::format("--method: {} is not a method (expected rcm, degree or random[:SEED])", flags.method));
  }
  return wanted;
}

void expect_cpu(const reorder_flags& flags) {
  if (flags.common.device.starts_with("cuda")) {
    throw usage_error("--device cuda: reorder runs on the CPU (expected auto or cpu)");
  }
}

backend cpu_of(const reorder_flags& flags) {
  backend where = choose_cpu(flags.common.device, flags.common.threads);
  if (flags.common.device != "cpu") where.reason = "reorder runs on the CPU";
  return where;
}

// The graph of A + A^T, without loops.
template <index_type I, index_type O>
graph<I, std::int64_t, host> graph_of(const context<host>& ctx, const csr_pattern_view<I, O, host>& a) {
  array<I, host> rows(ctx, a.nnz());
  for (I row = 0; row < a.rows; ++row) {
    std::fill(rows.data() + a.offsets[row], rows.data() + a.offsets[std::int64_t{row} + 1], row);
  }
  const coo_pattern_view<I, host> pairs{a.rows, a.cols, rows.view(), a.indices};
  return build_graph(ctx, pairs, {.direction = direction_kind::undirected});
}

template <index_type I, index_type O>
array<I, host> order_of(const context<host>& ctx, const wanted_order& wanted, const graph_view<I, O, host>& g) {
  switch (wanted.method) {
    case reorder_method::degree:
      return degree_order(ctx, g);
    case reorder_method::random:
      return random_order<I>(ctx, g.vertices(), wanted.seed);
    default:
      return reverse_cuthill_mckee(ctx, g);
  }
}

// The entries of the permuted matrix, rows and columns ascending; of a symmetric one those of the lower triangle.
template <entry_type V, index_type I>
struct permuted_entries {
  std::vector<I> rows, cols;
  std::vector<V> values;
};

template <entry_type V, index_type I, index_type O>
permuted_entries<V, I> permute_entries(const csr_view<const V, I, O, host>& a, span<const I, host> order,
                                       symmetry_kind symmetry) {
  std::vector<I> position(static_cast<std::size_t>(a.rows));
  for (std::int64_t k = 0; k < a.rows; ++k) position[static_cast<std::size_t>(order[k])] = static_cast<I>(k);
  permuted_entries<V, I> made;
  std::vector<std::pair<I, O>> row;  // new column, place of the entry
  for (std::int64_t k = 0; k < a.rows; ++k) {
    row.clear();
    for (O e = a.offsets[order[k]]; e < a.offsets[std::int64_t{order[k]} + 1]; ++e) {
      row.emplace_back(position[static_cast<std::size_t>(a.indices[e])], e);
    }
    std::sort(row.begin(), row.end());
    for (const auto& [col, e] : row) {
      if (symmetry != symmetry_kind::general && col > k) break;
      if (symmetry == symmetry_kind::skew_symmetric && col == k) break;
      made.rows.push_back(static_cast<I>(k));
      made.cols.push_back(col);
      if constexpr (!is_pattern<V>) made.values.push_back(a.values[e]);
    }
  }
  return made;
}

// The order has every row once, and the bandwidth is that of the entries moved one by one.
template <index_type I, index_type O>
bool check_order(const csr_pattern_view<I, O, host>& a, span<const I, host> order, const matrix_envelope& reported) {
  std::vector<std::int64_t> position(static_cast<std::size_t>(a.rows), -1);
  if (order.size() != a.rows) return false;
  for (std::int64_t k = 0; k < a.rows; ++k) {
    if (order[k] < 0 || order[k] >= a.rows || position[static_cast<std::size_t>(order[k])] >= 0) return false;
    position[static_cast<std::size_t>(order[k])] = k;
  }
  std::int64_t width = 0;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    const std::int64_t to = position[static_cast<std::size_t>(row)];
    for (O e = a.offsets[row]; e < a.offsets[row + 1]; ++e) {
      width = std::max(width, std::abs(to - position[static_cast<std::size_t>(a.indices[e])]));
    }
  }
  return width == reported.bandwidth;
}

template <entry_type V, index_type I, index_type O>
void write_outputs(report& out, const reorder_flags& flags, const input_description& input,
                   const csr_view<const V, I, O, host>& a, span<const I, host> order) {
  if (!flags.permutation.empty()) {
    output_file file(flags.permutation);
    std::string text;
    for (const I row : order) text += fmt::format("{}\n", std::int64_t{row} + 1);
    file.write(text);
    file.commit();
    out.row("written", flags.permutation + " (line k is the row that becomes row k)");
  }
  if (flags.output.empty()) return;
  const permuted_entries<V, I> made = permute_entries<V, I, O>(a, order, input.symmetry);
  matrix_market_write_options options;
  options.symmetry = input.symmetry;
  if (input.field == matrix_market_field::integer) options.numbers = matrix_market_numbers::integers;
  write_matrix_market<V, I>(flags.output,
                            coo_view<const V, I, host>{{a.rows, a.cols, made.rows, made.cols}, made.values}, options);
  out.row("written", flags.output);
}

void report_change(report& out, const char* key, std::int64_t before, std::int64_t after) {
  out.keys()[key] = {{"before", before}, {"after", after}};
  out.row(key, fmt::format("{}, {} before", with_commas(after), with_commas(before)));
}

template <entry_type V, index_type I, index_type O>
exit_status reorder(report& out, const backend& where, const reorder_flags& flags, const input_description& input,
                    const csr_input<V, I, O>& read) {
  const context<host>& ctx = where.cpu;
  const csr_view<const V, I, O, host>& a = read.matrix;
  if (a.rows != a.cols) {
    throw error(error_code::invalid_data,
                fmt::format("{}: a matrix of {} x {} (expected a square one)", flags.file, a.rows, a.cols));
  }
  const wanted_order wanted = parse_method(flags);
  const stopwatch building;
  const graph<I, std::int64_t, host> g = graph_of<I, O>(ctx, a);
  const double build_ms = building.milliseconds();
  array<I, host> order;
  std::vector<double> times;
  {
    const busy ordering("reordering");
    for (std::int64_t k = 0; k < flags.repeat; ++k) {
      const stopwatch watch;
      order = order_of<I, std::int64_t>(ctx, wanted, g.view());
      times.push_back(watch.milliseconds());
    }
  }
  const span<const I, host> rows = std::as_const(order).view();
  const matrix_envelope before = envelope<I, O>(ctx, a);
  const matrix_envelope after = envelope<I, O>(ctx, a, rows);
  json& keys = out.keys();
  keys["rows"] = a.rows;
  keys["cols"] = a.cols;
  keys["nnz"] = a.nnz();
  keys["method"] = to_string(wanted.method);
  keys["load_ms"] = read.load_ms;
  keys["convert_ms"] = read.convert_ms;
  keys["build_ms"] = build_ms;
  out.row("matrix",
          fmt::format("{} x {}, {}", with_commas(a.rows), with_commas(a.cols), counted(a.nnz(), "entry", "entries")));
  out.row("method", std::string(to_string(wanted.method)));
  report_change(out, "bandwidth", before.bandwidth, after.bandwidth);
  report_change(out, "profile", before.profile, after.profile);
  const time_summary summary = summarize(std::move(times));
  keys["time_ms"] = to_json(summary);
  out.row("time", format_times(summary));
  std::optional<bool> valid;
  if (!flags.no_validate) {
    const stopwatch checking;
    valid = check_order<I, O>(a, rows, after);
    keys["validate_ms"] = checking.milliseconds();
    out.row("valid", *valid ? "yes: a permutation, and its bandwidth, checked independently" : "NO");
    out.row("check", format_milliseconds(checking.milliseconds()));
  } else {
    keys["validate_ms"] = nullptr;
    out.row("valid", "not checked (--no-validate)");
  }
  keys["valid"] = valid.has_value() ? json(*valid) : json();
  if (valid != false) write_outputs<V, I, O>(out, flags, input, a, rows);
  out.print();
  if (valid == false) print_error(flags.common.called, flags.file + ": the result failed validation");
  return status_of(valid);
}

template <class V>
exit_status run_valued(report& out, const backend& where, const reorder_flags& flags, const input_description& input) {
  const input_size size = least_size(input);
  expect_host_memory(input, size, least_matrix_bytes(input, size, is_pattern<V> ? 0 : sizeof(V), 0));
  input_cache cache(cache_mode::off, input, kind_of_values<V>());
  const any_csr<V> matrix = [&] {
    progress_bar bar("reading " + input.path, flags.common.quiet);
    return read_csr<V>(where.cpu, input, bar.options(), cache);
  }();
  return std::visit([&](const auto& read) { return reorder(out, where, flags, input, read); }, matrix);
}

exit_status run(const reorder_flags& flags) {
  const backend where = cpu_of(flags);
  const input_description input = describe_input(where.cpu, flags.file);
  expect_matrix(input);
  report out("reorder", flags.common);
  out.title("reorder " + flags.file);
  out.keys()["file"] = flags.file;
  report_backend(out, flags.common.device, where);
  out.row("device", describe(where));
  if (flags.output.empty() || input.field == matrix_market_field::pattern) {
    return run_valued<pattern>(out, where, flags, input);
  }
  if (input.field == matrix_market_field::complex) return run_valued<std::complex<double>>(out, where, flags, input);
  return run_valued<double>(out, where, flags, input);
}

// Nanoseconds per entry on one thread: read from text; the graph built and searched some four times.
struct expected_cost {
  static constexpr double read_ns = 50;
  static constexpr double order_ns = 60;
};

exit_status plan_order(const reorder_flags& flags, const plan_scale& scale) {
  expect_cpu(flags);
  if (scale.ranks > 0) throw usage_error("reorder does not run on several processes or GPUs");
  const backend where = cpu_of(flags);
  const input_description input = describe_input(where.cpu, flags.file);
  expect_matrix(input);
  expect_known_size(input);
  input_size size = least_size(input);
  if (size.listed == 0) size.listed = input.entries;
  work_plan plan{"reorder", input.path, input.format, size.rows, size.cols, size.listed};
  plan.threads = where.cpu.threads();
  plan.algorithm = to_string(parse_method(flags).method);
  plan.cpu_ms = expected_cpu_ms({size.listed, expected_cost::read_ns + expected_cost::order_ns, plan.threads});
  plan.host_bytes = least_matrix_bytes(input, size, 0, 0);
  // The pairs as listed and both ways with what sorts them, the graph, the orders.
  plan.host_running_bytes = plan.host_bytes + size.listed * (24 + 6 * size.index_bytes) + size.rows * 80;
  plan.runs_on_gpu = false;
  plan.device = "cpu";
  plan.device_reason = where.reason;
  return print_plan(flags.common, plan);
}

void add_flags(CLI::App& app, reorder_flags& flags) {
  app.add_option("FILE", flags.file, "a matrix: Matrix Market, snapshot or gen:NAME:key=value,... (see below)")
      ->required();
  app.add_option("--method", flags.method,
                 "rcm: reverse Cuthill-McKee, for small bandwidth; degree: by falling degree; random[:SEED]")
      ->check(suggests({"rcm", "degree", "random"}))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--output", flags.output, "write the permuted matrix as Matrix Market (.gz by name)")
      ->type_name("FILE");
  app.add_option("--permutation", flags.permutation, "write the order: line k is the row, from 1, that becomes row k")
      ->type_name("FILE");
  app.add_option("--repeat", flags.repeat, "find the order N times, for timing")
      ->check(positive_count())
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--no-validate", flags.no_validate, "skip the independent check");
}

command_body declare(CLI::App& app) {
  app.description(
      "Finds an order of the rows and columns of a square matrix A, by the pattern of A + A^T, and reports bandwidth "
      "and profile before and after.");
  const auto flags = std::make_shared<reorder_flags>();
  add_flags(app, *flags);
  add_common_flags(app, flags->common, app_kind::computes,
                   help_examples(app, {"matrix.mtx.gz", "matrix.mtx --output permuted.mtx --permutation order.txt",
                                       "gen:laplacian2d:n=1000 --method random:7"}) +
                       help_on_matrix_inputs);
  const auto does = [flags] {
    expect_cpu(*flags);
    (void)parse_method(*flags);
    prepare_outputs(flags->common, {flags->file}, {{"--output", flags->output}, {"--permutation", flags->permutation}});
    return run(*flags);
  };
  return {does, [flags](const plan_scale& scale) { return plan_order(*flags, scale); }};
}

}  // namespace

const command reorder_command{
    "reorder", "rows and columns for small bandwidth", declare, nullptr, false, command_kind::matrices};

}  // namespace spargo::apps
