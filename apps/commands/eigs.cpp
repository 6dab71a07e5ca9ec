// eigs FILE: the outermost eigenvalues of a symmetric matrix or of a graph's Laplacian, checked independently.
#include "cli/choice.hpp"
#include "cli/enum_words.hpp"
#include "commands/table.hpp"
#include "placement/matrix_driver.hpp"

#include <spargo/io/matrix_market.hpp>
#include <spargo/solvers/eigs.hpp>
#include <spargo/sparse/laplacian.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>

namespace spargo::apps {

namespace {

struct eigs_flags : matrix_flags {
  std::string which = "largest";
  std::string form = "adjacency";
  std::string output;
  eigs_options options;
};

[[nodiscard]] std::int64_t value_bytes(const input_description& input) {
  return input.field == matrix_market_field::complex ? 16 : 8;
}

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
    for (O k = a.offsets[row]; k < a.offsets[row + 1]; ++k) {
      if (std::imag(a.values[k]) != 0) {
        throw error(error_code::unsupported,
                    fmt::format("{}: row {}, column {} is a complex number (--operator {}: expected weights that are "
                                "real)",
                                flags.file, row + 1, std::int64_t{a.indices[k]} + 1, flags.form));
      }
      sum += std::real(a.values[k]);
    }
    if (flags.form == "laplacian") {
      form.diagonal[row] = sum;
      form.scale[row] = 1;
      continue;
    }
    if (sum < 0) {
      throw error(error_code::invalid_data, source_position{flags.file, 0, 0},
                  fmt::format("row {} has the sum {} (--operator normalized: expected 0 or more)", row + 1, sum));
    }
    form.diagonal[row] = sum > 0 ? 1 : 0;
    form.scale[row] = sum > 0 ? 1 / std::sqrt(sum) : 0;
  }
  return form;
}

// Whether A looks like the Laplacian of a graph: rows add up to 0 within rounding, and those that are not all 0 have a
// positive diagonal.
template <value_type V, index_type I, index_type O>
bool is_laplacian(const csr_view<const V, I, O, host>& a) {
  bool any = false;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    V sum{};
    double size = 0, diagonal = 0;
    for (O k = a.offsets[row]; k < a.offsets[row + 1]; ++k) {
      const V v = a.values[k];
      sum += v;
      size += static_cast<double>(std::abs(v));
      if (a.indices[k] == row) diagonal += static_cast<double>(std::real(v));
    }
    if (size > 0 && (static_cast<double>(std::abs(sum)) > 1e-9 * size || diagonal <= 0)) return false;
    any = any || size > 0;
  }
  return any;
}

// The operator, for people.
std::string formula_of(const std::string& form) {
  if (form == "laplacian") return "laplacian: D - A, with A's row sums D";
  return form == "normalized" ? "normalized: I - D^-1/2 A D^-1/2, with A's row sums D" : "A itself";
}

// sqrt(a^2 + b^2), whose squares may be beyond the range of double.
double joined(double a, double b) { return std::abs(std::complex<double>(a, b)); }

// |op(A) x - lambda x| of each pair, straight from the file's matrix, agrees with the reported one.
template <value_type V, index_type I, index_type O>
bool check_pairs(const csr_view<const V, I, O, host>& a, const operator_form<V>& form, const eigs_result<V>& found) {
  constexpr double eps = std::numeric_limits<double>::epsilon(), least = std::numeric_limits<double>::denorm_min();
  for (std::size_t p = 0; p < found.values.size(); ++p) {
    const V* const x = found.vectors.data() + static_cast<std::int64_t>(p) * a.rows;
    double residual = 0, rounding = 0, norm = 0;
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
      residual = joined(residual, std::abs(sum));
      norm += std::norm(x[row]);
      const double magnitudes = scale + std::abs(form.diagonal.empty() ? 0 : form.diagonal[row]) * std::abs(x[row]);
      const double of_row =
          8 * (static_cast<double>(a.offsets[row + 1] - a.offsets[row]) + 4) * (eps * magnitudes + least);
      rounding = joined(rounding, of_row);
    }
    if (!(std::abs(residual - found.residuals[p]) <= rounding + 1e-6 * residual) || std::isinf(rounding)) return false;
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

struct eigs_search : matrix_algorithm {
  using flags_type = eigs_flags;
  static constexpr const char* name = "eigs";
  static constexpr double expected_ns = 50 + 1000;  // text; 200 products

  static matrix_command_text text() {
    return {
        "Finds the largest or smallest eigenvalues of a symmetric matrix, or of the Laplacian of the graph that it is, "
        "by Lanczos' method. Not converged is exit status 3. With --device cuda a GPU does it.",
        "a symmetric matrix",
        "find them",
        {"matrix.mtx.gz", "graph.mtx --operator laplacian --which smallest --count 2",
         "gen:laplacian2d:n=300 --output vectors.mtx"},
        "FILE",
        "eigenvalue (number value residual)"};
  }
  static void add_flags(flag_set app, eigs_flags& flags) {
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
        ->check(non_negative_number())
        ->type_name("X")
        ->capture_default_str();
    app.add_option("--max-products", flags.options.max_products, "stop after some N products with the matrix")
        ->check(positive_count())
        ->type_name("N")
        ->capture_default_str();
    app.add_option("--seed", flags.options.seed, "of the start vector")
        ->check(seed_number())
        ->type_name("N")
        ->capture_default_str();
    app.add_option("--output", flags.output, "write the eigenvectors as columns of a Matrix Market array (.gz by name)")
        ->type_name("FILE");
  }
  static std::vector<output_request> outputs(const eigs_flags& flags) { return {{"--output", flags.output}}; }
  static backend place(const eigs_flags& flags, const input_description& input, backend cpu) {
    return place_as_asked(name, flags.common, input, std::move(cpu), value_bytes(input));
  }

  template <value_type V, index_type I, index_type O>
  static exit_status run(const matrix_job<eigs_flags>& job, const csr_input<V, I, O>& read) {
    report& out = job.out;
    const eigs_flags& flags = job.flags;
    const context<host>& ctx = job.cpu();
    const csr_view<const V, I, O, host>& a = read.matrix;
    expect_square(flags, a.rows, a.cols);
    expect_finite(flags, a);
    eigs_options options = flags.options;
    options.which = parse_enum<eigs_which>("eigs: unknown end", flags.which);
    options.count = std::min<std::int64_t>(options.count, a.rows);
    if (flags.form != "adjacency" && is_laplacian<V, I, O>(a)) {
      out.warn(fmt::format("{}: its rows' sums are 0: a Laplacian already? Then --operator adjacency takes it as it is",
                           flags.file));
    }
    const operator_form<V> form = form_of<V, I, O>(ctx, flags, a);
    csr_matrix<V, I, O, host> made;
    if (flags.form != "adjacency") {
      const bool normalized = flags.form == "normalized";
      made = laplacian<V, I, O>(ctx, a, normalized ? laplacian_kind::normalized : laplacian_kind::combinatorial);
    }
    const csr_view<const V, I, O, host> matrix = form.scale.empty() ? a : std::as_const(made).view();
    eigs_result<V> found;
    time_summary times;
    on_backend(job.where, [&]<class Space>(const context<Space>& space) {
      csr_matrix<V, I, O, device> copy;
      if constexpr (std::same_as<Space, device>) copy = to_device(space, matrix);
      const auto there = [&] {
        if constexpr (std::same_as<Space, device>) {
          return std::as_const(copy).view();
        } else {
          return matrix;
        }
      }();
      times = time_runs("finding eigenvalues", flags.repeat, [&] { found = eigs<V, I, O>(space, there, options); });
    });
    report_matrix(out, read);
    json& keys = out.keys();
    if (options.count < flags.options.count) {
      const bool one = options.count == 1;
      const std::string all =
          (one ? "the only eigenvalue" : "all " + counted(options.count, "eigenvalue")) + " of the matrix";
      if (flags.options.count != eigs_options{}.count) {
        out.warn(fmt::format("{}: --count {}: {} {} given", flags.file, flags.options.count, all, one ? "is" : "are"));
      }
      out.row("count", all);
    }
    keys["operator"] = flags.form;
    keys["which"] = flags.which;
    keys["count"] = options.count;
    keys["converged"] = found.converged;
    keys["products"] = found.products;
    keys["restarts"] = found.restarts;
    out.row("operator", formula_of(flags.form));
    out.row("wanted", options.count == 1 ? fmt::format("the {} eigenvalue", flags.which)
                                         : fmt::format("the {} {}", flags.which, counted(options.count, "eigenvalue")));
    report_values(out, found.values, found.residuals);
    out.row(found.converged ? "converged" : "NOT CONVERGED",
            fmt::format("{}, {}", counted(found.products, "product"), counted(found.restarts, "restart")));
    report_runs(out, times);
    const auto valid = job.validate("the residuals and norms, computed independently",
                                    [&] { return check_pairs<V, I, O>(a, form, found); });
    if (!flags.output.empty() && valid != false) {
      array<V, host> rows(ctx, found.vectors.size());  // vectors as columns
      for (std::int64_t i = 0; i < a.rows; ++i) {
        for (std::int64_t k = 0; k < options.count; ++k) rows[i * options.count + k] = found.vectors[k * a.rows + i];
      }
      write_matrix_market<V>(
          flags.output, dense_view<const V, host>{a.rows, options.count, options.count, std::as_const(rows).view()});
      out.row("written", flags.output + " (an eigenvector a column)");
    }
    if (valid != false) {
      print_lines(out, flags.rows, "number,value,residual", std::ssize(found.values), [&](std::int64_t k, auto& row) {
        row.number(k + 1);
        row.number(found.values[static_cast<std::size_t>(k)]);
        row.number(found.residuals[static_cast<std::size_t>(k)]);
      });
    }
    return conclude(out, flags, valid, found.converged ? "" : "raise --max-products or --tolerance");
  }

  static void expect(work_plan& plan, const eigs_flags& flags, const input_description& input, const input_size& size) {
    const std::int64_t value = value_bytes(input);
    plan.algorithm = "lanczos";
    plan.algorithm_reason = "there is no other";
    plan.host_bytes = least_matrix_bytes(input, size, value, value);
    const std::int64_t vectors = 3 * flags.options.count + 24;
    plan.host_running_bytes = plan.host_bytes + 3 * size.listed * 2 * (8 + value) + size.rows * vectors * value;
    // The matrix, a copy for its products, the basis.
    plan_as_asked(plan, flags.common, size,
                  2 * size.distinct * (size.index_bytes + value) + size.rows * (vectors * value + 16));
  }
};

}  // namespace

extern const command eigs_command = matrix_command<eigs_search>("eigenvalues of a symmetric matrix");

}  // namespace spargo::apps
