// eigs FILE: the outermost eigenvalues of a symmetric matrix or of a graph's Laplacian, checked independently.
#include "cli/choice.hpp"
#include "cli/cli.hpp"
#include "cli/enum_words.hpp"
#include "cli/help.hpp"
#include "cli/outputs.hpp"
#include "commands/table.hpp"
#include "placement/matrix_command.hpp"

#include <spargo/io/matrix_market.hpp>
#include <spargo/solvers/eigs.hpp>
#include <spargo/sparse/laplacian.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace spargo::apps {

namespace {

struct eigs_flags : matrix_flags {
  std::string which = "largest";
  std::string form = "adjacency";
  std::string output;
  eigs_options options;
};

// The operator, for its check: A, or a Laplacian (sparse/laplacian.hpp) as its diagonal, besides A's, and a scale of
// each row and column of -A; both empty: A.
template <value_type V>
struct operator_form {
  array<double, host> diagonal;
  array<double, host> scale;
};

template <value_type V, index_type I, index_type O>
operator_form<V> form_of(const context<host>& ctx, const eigs_flags& flags, const csr_view<const V, I, O, host>& a) {
  if (flags.form == "adjacency") return {};
  operator_form<V> form{{ctx, a.rows}, {ctx, a.rows}};
  for (std::int64_t row = 0; row < a.rows; ++row) {
    double sum = 0;
    for (O k = a.offsets[row]; k < a.offsets[row + 1]; ++k) sum += std::real(a.values[k]);
    if (flags.form == "laplacian") {
      form.diagonal[row] = sum;
      form.scale[row] = 1;
      continue;
    }
    if (sum < 0) {
      throw error(error_code::invalid_data,
                  fmt::format("{}: row {} has the sum {} (--operator normalized: expected 0 or more)", flags.file,
                              row + 1, sum));
    }
    form.diagonal[row] = sum > 0 ? 1 : 0;
    form.scale[row] = sum > 0 ? 1 / std::sqrt(sum) : 0;
  }
  return form;
}

// |op(A) x - lambda x| of each pair, straight from the file's matrix, agrees with the reported one.
template <value_type V, index_type I, index_type O>
bool check_pairs(const csr_view<const V, I, O, host>& a, const operator_form<V>& form, const eigs_result<V>& found) {
  constexpr double eps = std::numeric_limits<double>::epsilon();
  for (std::size_t p = 0; p < found.values.size(); ++p) {
    const V* const x = found.vectors.data() + static_cast<std::int64_t>(p) * a.rows;
    double square = 0, rounding = 0, norm = 0;
    for (std::int64_t row = 0; row < a.rows; ++row) {
      V sum = -found.values[p] * x[row];
      double scale = std::abs(sum);
      if (!form.diagonal.empty()) sum += form.diagonal[row] * x[row];
      for (O k = a.offsets[row]; k < a.offsets[row + 1]; ++k) {
        const std::int64_t col = a.indices[k];
        const double by = form.scale.empty() ? 1 : -form.scale[row] * form.scale[col];
        sum += by * a.values[k] * x[col];
        scale += std::abs(by * a.values[k] * x[col]);
      }
      square += std::norm(sum);
      norm += std::norm(x[row]);
      const double of_row = 8 * eps * (static_cast<double>(a.offsets[row + 1] - a.offsets[row]) + 4) *
                            (scale + std::abs(form.diagonal.empty() ? 0 : form.diagonal[row]) * std::abs(x[row]));
      rounding += of_row * of_row;
    }
    const double residual = std::sqrt(square);
    if (!(std::abs(residual - found.residuals[p]) <= std::sqrt(rounding) + 1e-6 * residual)) return false;
    if (!(std::abs(norm - 1) < 1e-8)) return false;
  }
  return true;
}

void report_values(report& out, const std::vector<double>& values, const std::vector<double>& residuals) {
  json listed = json::array(), errors = json::array();
  for (std::size_t k = 0; k < values.size(); ++k) {
    listed.push_back(values[k]);
    errors.push_back(residuals[k]);
    if (k < 10) out.row(k == 0 ? "values" : "", fmt::format("{:.12g}, residual {:.2g}", values[k], residuals[k]));
  }
  out.keys()["values"] = listed;
  out.keys()["residuals"] = errors;
}

template <value_type V, index_type I, index_type O>
exit_status find(report& out, const backend& where, const eigs_flags& flags, const csr_input<V, I, O>& read) {
  const context<host>& ctx = where.cpu;
  const csr_view<const V, I, O, host>& a = read.matrix;
  expect_square(flags, a.rows, a.cols);
  eigs_options options = flags.options;
  options.which = parse_enum<eigs_which>("eigs: unknown end", flags.which);
  options.count = std::min<std::int64_t>(options.count, a.rows);
  const operator_form<V> form = form_of<V, I, O>(ctx, flags, a);
  csr_matrix<V, I, O, host> made;
  if (flags.form != "adjacency") {
    const bool normalized = flags.form == "normalized";
    made = laplacian<V, I, O>(ctx, a, normalized ? laplacian_kind::normalized : laplacian_kind::combinatorial);
  }
  const csr_view<const V, I, O, host> matrix = form.scale.empty() ? a : std::as_const(made).view();
  eigs_result<V> found;
  const time_summary times =
      time_runs("finding eigenvalues", flags.repeat, [&] { found = eigs<V, I, O>(ctx, matrix, options); });
  report_matrix(out, read);
  json& keys = out.keys();
  keys["operator"] = flags.form;
  keys["which"] = flags.which;
  keys["count"] = options.count;
  keys["converged"] = found.converged;
  keys["products"] = found.products;
  keys["restarts"] = found.restarts;
  out.row("operator", flags.form);
  report_values(out, found.values, found.residuals);
  out.row(found.converged ? "converged" : "NOT CONVERGED",
          fmt::format("{}, {}", counted(found.products, "product"), counted(found.restarts, "restart")));
  report_runs(out, times);
  std::optional<bool> valid;
  const stopwatch checking;
  if (!flags.no_validate) valid = check_pairs<V, I, O>(a, form, found);
  report_validity(out, valid, "the residuals and norms, computed independently", checking.milliseconds());
  if (!flags.output.empty() && valid != false) {
    array<V, host> rows(ctx, found.vectors.size());  // vectors as columns
    for (std::int64_t i = 0; i < a.rows; ++i) {
      for (std::int64_t k = 0; k < options.count; ++k) rows[i * options.count + k] = found.vectors[k * a.rows + i];
    }
    write_matrix_market<V>(flags.output,
                           dense_view<const V, host>{a.rows, options.count, options.count, std::as_const(rows).view()});
    out.row("written", flags.output + " (an eigenvector a column)");
  }
  return conclude(out, flags, valid, found.converged ? "" : "raise --max-products or --tolerance");
}

exit_status run(const eigs_flags& flags) {
  const backend where = cpu_of("eigs", flags.common);
  const input_description input = describe_input(where.cpu, flags.file);
  expect_matrix(input);
  report out("eigs", flags.common);
  begin_report(out, "eigs", flags, where);
  return on_matrix(out, where, flags, input, [&](const auto& read) { return find(out, where, flags, read); });
}

// Nanoseconds per entry: read from text, and in 200 products on one thread.
struct expected_cost {
  static constexpr double read_ns = 50;
  static constexpr double products_ns = 1000;
};

exit_status plan_values(const eigs_flags& flags, const plan_scale& scale) {
  input_description input;
  input_size size;
  work_plan plan = plan_of("eigs", flags, scale, input, size, expected_cost::read_ns + expected_cost::products_ns);
  const std::int64_t value = input.field == matrix_market_field::complex ? 16 : 8;
  plan.algorithm = "lanczos";
  plan.algorithm_reason = "there is no other";
  plan.host_bytes = least_matrix_bytes(input, size, value, value);
  const std::int64_t vectors = 3 * flags.options.count + 24;
  plan.host_running_bytes = plan.host_bytes + 3 * size.listed * 2 * (8 + value) + size.rows * vectors * value;
  return print_plan(flags.common, plan);
}

void add_flags(CLI::App& app, eigs_flags& flags) {
  add_matrix_file(app, flags.file, "a symmetric matrix");
  app.add_option("--count", flags.options.count, "number of eigenvalues")
      ->check(positive_count())
      ->type_name("K")
      ->capture_default_str();
  app.add_option("--which", flags.which, "largest or smallest, by sign")
      ->check(one_of("an end", words_of<eigs_which>()))
      ->type_name("END")
      ->capture_default_str();
  app.add_option(
         "--operator", flags.form,
         "adjacency: the matrix A itself; laplacian: D - A with the row sums D; normalized: I - D^-1/2 A D^-1/2")
      ->check(one_of("an operator", {"adjacency", "laplacian", "normalized"}))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--tolerance", flags.options.tolerance, "of the residuals, relative to the largest eigenvalue found")
      ->check(CLI::Validator(CLI::NonNegativeNumber).description(""))
      ->type_name("X")
      ->capture_default_str();
  app.add_option("--max-products", flags.options.max_products, "stop after some N products with the matrix")
      ->check(positive_count())
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--seed", flags.options.seed, "of the start vector")->type_name("N")->capture_default_str();
  app.add_option("--output", flags.output, "write the eigenvectors as columns of a Matrix Market array (.gz by name)")
      ->type_name("FILE");
  add_matrix_runs(app, flags, "find them");
}

command_body declare(CLI::App& app) {
  app.description(
      "Finds the largest or smallest eigenvalues of a symmetric matrix, or of the Laplacian of the graph that it is, "
      "by Lanczos' method. Not converged is exit status 3.");
  const auto flags = std::make_shared<eigs_flags>();
  add_flags(app, *flags);
  add_common_flags(app, flags->common, app_kind::computes,
                   help_examples(app, {"matrix.mtx.gz", "graph.mtx --operator laplacian --which smallest --count 2",
                                       "gen:laplacian2d:n=300 --output vectors.mtx"}) +
                       help_on_matrix_inputs);
  const auto does = [flags] {
    (void)cpu_of("eigs", flags->common);
    prepare_outputs(flags->common, {flags->file}, {{"--output", flags->output}});
    return run(*flags);
  };
  return {does, [flags](const plan_scale& scale) { return plan_values(*flags, scale); }};
}

}  // namespace

const command eigs_command{
    "eigs", "eigenvalues of a symmetric matrix", declare, nullptr, false, command_kind::matrices};

}  // namespace spargo::apps
