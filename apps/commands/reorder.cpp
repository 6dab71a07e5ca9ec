// reorder FILE: an order of a square matrix's rows and columns for small bandwidth or locality.
#include "cli/choice.hpp"
#include "cli/enum_words.hpp"
#include "commands/info/figures.hpp"
#include "commands/table.hpp"
#include "placement/matrix_driver.hpp"

#include <spargo/formats/convert.hpp>
#include <spargo/graph/reorder.hpp>
#include <spargo/io/matrix_market.hpp>
#include <spargo/io/output.hpp>
#include <spargo/sparse/algebra.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <utility>
#include <vector>

namespace spargo::apps {

namespace {

struct reorder_flags : matrix_flags {
  std::string method = "rcm";
  std::string output;
  std::string permutation;
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
  } else if (flags.method == "rabbit") {
    wanted.method = reorder_method::rabbit;
  } else if (flags.method != "rcm") {
    throw usage_error(
        fmt::format("--method: {} is not a method (expected rcm, degree, rabbit or random[:SEED])", flags.method));
  }
  return wanted;
}

// The graph of A + A^T, without loops.
template <index_type I, index_type O, class Space>
graph<I, std::int64_t, Space> graph_of(const context<Space>& ctx, const csr_pattern_view<I, O, host>& a) {
  const csr_view<const pattern, I, O, host> here{a, {}};
  const graph_options options{.direction = direction_kind::undirected};
  if constexpr (std::same_as<Space, host>) {
    return build_graph(ctx, to_coo(ctx, here), options);
  } else {
    const csr_matrix<pattern, I, O, device> copy = to_device(ctx, here);
    return build_graph(ctx, to_coo(ctx, copy.view()), options);
  }
}

template <index_type I, index_type O, class Space>
array<I, Space> order_of(const context<Space>& ctx, const wanted_order& wanted, const graph_view<I, O, Space>& g) {
  if constexpr (std::same_as<Space, host>) {
    if (wanted.method == reorder_method::rabbit) return rabbit_order(ctx, g);
  }
  if (wanted.method == reorder_method::degree) return degree_order(ctx, g);
  if (wanted.method == reorder_method::random) return random_order<I>(ctx, g.vertices(), wanted.seed);
  return reverse_cuthill_mckee(ctx, g);
}

struct found_order {
  double build_ms = 0;
  time_summary times;
};

// In the memory of `ctx`, and copied to the host.
template <index_type I, index_type O, class Space>
found_order find_order(const context<Space>& ctx, const reorder_flags& flags, const csr_pattern_view<I, O, host>& a,
                       array<I, host>& order) {
  found_order found;
  const wanted_order wanted = parse_method(flags);
  const stopwatch building;
  const graph<I, std::int64_t, Space> g = graph_of<I, O>(ctx, a);
  ctx.synchronize();
  found.build_ms = building.milliseconds();
  array<I, Space> there;
  found.times = time_runs("reordering", flags.repeat, [&] {
    there = order_of<I, std::int64_t>(ctx, wanted, g.view());
    ctx.synchronize();
  });
  if constexpr (std::same_as<Space, host>) {
    order = std::move(there);
  } else {
    order = to_host(ctx, there);
  }
  return found;
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
void write_permuted(const context<host>& ctx, const reorder_flags& flags, const input_description& input,
                    const csr_view<const V, I, O, host>& a, span<const I, host> order) {
  csr_matrix<V, I, O, host> made = permute(ctx, a, order, order);
  if (input.symmetry != symmetry_kind::general) {
    made = part_of(ctx, made.view(),
                   input.symmetry == symmetry_kind::skew_symmetric ? matrix_part::strictly_lower : matrix_part::lower);
  }
  matrix_market_write_options options;
  options.symmetry = input.symmetry;
  // Ones that a pattern lists more than once have sums.
  const bool whole = input.field == matrix_market_field::integer || input.field == matrix_market_field::pattern;
  if (whole && !is_pattern<V>) options.numbers = matrix_market_numbers::integers;
  write_matrix_market(flags.output, to_coo(ctx, std::as_const(made).view()), options);
}

template <entry_type V, index_type I, index_type O>
void write_outputs(const context<host>& ctx, report& out, const reorder_flags& flags, const input_description& input,
                   const csr_input<V, I, O>& read, span<const I, host> order) {
  if (!flags.permutation.empty()) {
    output_file file(flags.permutation);
    std::string text;
    for (const I row : order) text += fmt::format("{}\n", std::int64_t{row} + 1);
    file.write(text);
    file.commit();
    out.row("written", flags.permutation + " (line k is the row that becomes row k)");
  }
  print_lines(out, flags.rows, "number,row", order.size(), [&](std::int64_t k, table_writer& row) {
    row.number(k + 1);
    row.number(std::int64_t{order[k]} + 1);
  });
  if (flags.output.empty()) return;
  const busy writing("writing " + flags.output);
  const bool repeats = read.facts.expanded > read.matrix.nnz();
  if (input.field == matrix_market_field::pattern && !repeats) {
    write_permuted<pattern, I, O>(ctx, flags, input, {read.matrix, {}}, order);
  } else {
    write_permuted<V, I, O>(ctx, flags, input, read.matrix, order);
  }
  out.row("written", flags.output);
}

void report_change(report& out, const char* key, std::int64_t before, std::int64_t after) {
  out.keys()[key] = {{"before", before}, {"after", after}};
  out.row(key, fmt::format("{}, {} before", with_commas(after), with_commas(before)));
}

struct reordering : matrix_algorithm {
  using flags_type = reorder_flags;
  static constexpr const char* name = "reorder";
  static constexpr double expected_ns = 50 + 60;  // text; the graph is built and searched some four times

  static matrix_command_text text() {
    return {
        "Finds an order of the rows and columns of a square matrix A, by the pattern of A + A^T, and reports bandwidth "
        "and profile before and after. With --device cuda a GPU computes the same order "
        "(not rabbit; random orders are made by the CPU).",
        "a matrix",
        "find the order",
        {"matrix.mtx.gz", "matrix.mtx --output permuted.mtx --permutation order.txt",
         "graph.mtx --method rabbit --output permuted.mtx"},
        "FILE",
        "row (its new number, row: the number in FILE)"};
  }
  static void add_flags(flag_set app, reorder_flags& flags) {
    app.add_option(
           "--method", flags.method,
           "rcm: reverse Cuthill-McKee, for small bandwidth; degree: by falling degree; rabbit: communities side "
           "by side; random[:SEED]")
        ->check(suggests({"rcm", "degree", "rabbit", "random"}))
        ->type_name("NAME")
        ->capture_default_str();
    app.add_option("--output", flags.output, "write the permuted matrix as Matrix Market (.gz by name)")
        ->type_name("FILE");
    app.add_option("--permutation", flags.permutation, "write the order: line k is the row, from 1, that becomes row k")
        ->type_name("FILE");
  }
  static void check_flags(const reorder_flags& flags) {
    if (parse_method(flags).method != reorder_method::rabbit || !flags.common.device.starts_with("cuda")) return;
    throw usage_error(
        fmt::format("--device {}: --method rabbit runs on the CPU (expected auto or cpu)", flags.common.device));
  }
  static std::vector<output_request> outputs(const reorder_flags& flags) {
    return {{"--output", flags.output}, {"--permutation", flags.permutation}};
  }

  static backend place(const reorder_flags& flags, const input_description& input, backend cpu) {
    return place_as_asked(name, flags.common, input, std::move(cpu), 0);
  }

  // Values are read only to be written.
  template <class F>
  static exit_status read(const matrix_job<reorder_flags>& job, F&& f) {
    if (!job.flags.output.empty()) return matrix_algorithm::read(job, f);
    return std::visit(f, read_factor<pattern>(job.out, job.cpu(), job.flags.common, job.input));
  }

  template <entry_type V, index_type I, index_type O>
  static exit_status run(const matrix_job<reorder_flags>& job, const csr_input<V, I, O>& read) {
    report& out = job.out;
    const reorder_flags& flags = job.flags;
    const context<host>& ctx = job.cpu();
    const csr_view<const V, I, O, host>& a = read.matrix;
    expect_square(flags, a.rows, a.cols);
    array<I, host> order;
    found_order found;
    on_backend(job.where, [&](const auto& space) { found = find_order<I, O>(space, flags, a, order); });
    const span<const I, host> rows = std::as_const(order).view();
    const matrix_envelope before = envelope<I, O>(ctx, a);
    const matrix_envelope after = envelope<I, O>(ctx, a, rows);
    report_matrix(out, read);
    const std::string method(to_string(parse_method(flags).method));
    out.keys()["method"] = method;
    out.keys()["build_ms"] = found.build_ms;
    out.row("method", method);
    report_change(out, "bandwidth", before.bandwidth, after.bandwidth);
    report_change(out, "profile", before.profile, after.profile);
    if (out.writes_page()) {
      add_spy<I, O>(out, a);
      add_spy<I, O>(out, permute(ctx, csr_view<const pattern, I, O, host>{a, {}}, rows, rows).view(), "spy_reordered");
    }
    report_runs(out, found.times);
    const auto valid = job.validate("a permutation, and its bandwidth, checked independently",
                                    [&] { return check_order<I, O>(a, rows, after); });
    if (valid != false) write_outputs<V, I, O>(ctx, out, flags, job.input, read, rows);
    return conclude(out, flags, valid);
  }

  static void expect(work_plan& plan, const reorder_flags& flags, const input_description& input,
                     const input_size& size) {
    check_flags(flags);
    plan.algorithm = to_string(parse_method(flags).method);
    plan.host_bytes = least_matrix_bytes(input, size, 0, 0);
    // The pairs as listed and both ways with what sorts them, the graph, the orders.
    plan.host_running_bytes = plan.host_bytes + size.listed * (24 + 6 * size.index_bytes) + size.rows * 80;
    // The pattern, its pairs, the graph with what builds it, the orders.
    plan_as_asked(plan, flags.common, size, size.distinct * (16 + 5 * size.index_bytes) + size.rows * 140);
  }
};

}  // namespace

extern const command reorder_command = matrix_command<reordering>("rows and columns for small bandwidth");

}  // namespace spargo::apps
