// multiply A [B]: the product of two sparse matrices, checked independently.
#include "cli/choice.hpp"
#include "commands/multiply/check.hpp"
#include "commands/table.hpp"
#include "input/memory_limit.hpp"
#include "placement/matrix_driver.hpp"

#include <spargo/formats/convert.hpp>
#include <spargo/io/matrix_market.hpp>
#include <spargo/sparse/algebra.hpp>
#include <spargo/sparse/spgemm.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace spargo::apps {

namespace {

struct multiply_flags : matrix_flags {
  std::string b;  // empty: A again
  std::string transpose;
  std::string mask;
  std::string output;
  std::string max_workspace;
};

// Offsets of 64 bits, since C may have many more entries than A and B; one index type for all matrices.
template <class V, class I>
using factor = csr_matrix<V, I, std::int64_t, host>;

template <class V, class I>
using device_factor = csr_matrix<V, I, std::int64_t, device>;

// The factors and the mask where they are multiplied: copies on a device. `b` null: A again.
template <class V, class I, class Space>
struct placed_factors {
  using view = csr_view<const V, I, std::int64_t, Space>;
  using host_view = csr_view<const V, I, std::int64_t, host>;
  using host_mask = csr_pattern_view<I, std::int64_t, host>;

  placed_factors(const context<host>&, const host_view& left, const host_view* right, const host_mask* places)
      : a(left), b(right == nullptr ? left : *right), mask(places) {}
  placed_factors(const context<device>& ctx, const host_view& left, const host_view* right, const host_mask* places)
      : copy_of_a(to_device(ctx, left)), a(copy_of_a.view()), b(a) {
    if (right != nullptr) {
      copy_of_b = to_device(ctx, *right);
      b = copy_of_b.view();
    }
    if (places != nullptr) {
      copy_of_mask = to_device(ctx, csr_view<const pattern, I, std::int64_t, host>{*places, {}});
      mask_view = copy_of_mask.view();
      mask = &mask_view;
    }
  }
  placed_factors(const placed_factors&) = delete;
  placed_factors& operator=(const placed_factors&) = delete;

  [[nodiscard]] std::int64_t bytes() const {
    const auto of = [](const auto& m, std::size_t value) {
      return m.offsets().size() * std::int64_t{8} + m.nnz() * static_cast<std::int64_t>(sizeof(I) + value);
    };
    return of(copy_of_a, sizeof(V)) + of(copy_of_b, sizeof(V)) + of(copy_of_mask, 0);
  }

  csr_matrix<V, I, std::int64_t, Space> copy_of_a;
  csr_matrix<V, I, std::int64_t, Space> copy_of_b;
  csr_matrix<pattern, I, std::int64_t, Space> copy_of_mask;
  csr_pattern_view<I, std::int64_t, Space> mask_view;
  view a;
  view b;
  const csr_pattern_view<I, std::int64_t, Space>* mask = nullptr;
};
template <class V, class I, class Space>
placed_factors(const context<Space>&, const csr_view<const V, I, std::int64_t, host>&,
               const csr_view<const V, I, std::int64_t, host>*, const csr_pattern_view<I, std::int64_t, host>*)
    -> placed_factors<V, I, Space>;

template <class To, class From>
array<To, host> widened(const context<host>& ctx, const span<const From, host>& from) {
  array<To, host> to(ctx, from.size());
  std::copy(from.begin(), from.end(), to.begin());
  return to;
}

template <class I, class V>
factor<V, I> with_indices(const context<host>& ctx, const any_csr<V>& read) {
  return std::visit(
      [&](const auto& from) -> factor<V, I> {
        const auto& m = from.matrix;
        return {static_cast<I>(m.rows), static_cast<I>(m.cols), widened<std::int64_t>(ctx, m.offsets),
                widened<I>(ctx, m.indices), clone(ctx, m.values)};
      },
      read);
}

template <class V>
bool has_wide_indices(const any_csr<V>& read) {
  return std::visit([](const auto& from) { return sizeof(from.matrix.rows) == 8; }, read);
}

template <class V>
std::pair<std::int64_t, std::int64_t> size_of(const any_csr<V>& read) {
  return std::visit(
      [](const auto& from) { return std::pair<std::int64_t, std::int64_t>(from.matrix.rows, from.matrix.cols); }, read);
}

// What is reported of C.
struct product_summary {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  std::int64_t products = 0;
  std::int64_t blocks = 1;
  std::complex<double> sum = 0;
  double frobenius = 0;
  json first = json::array();
  double plan_ms = 0;
  time_summary times;
  std::optional<spmv_check> check;
  double check_ms = 0;
  std::int64_t device_bytes = 0;  // 0: on the CPU
};

json number(std::complex<double> v, bool is_complex) {
  return is_complex ? json::array({v.real(), v.imag()}) : json(v.real());
}

template <class V, class I>
void add_block(const context<host>& ctx, const csr_view<const V, I, std::int64_t, host>& c, std::int64_t first,
               product_summary& to) {
  constexpr std::size_t shown = 5;
  for (std::int64_t r = 0; r < c.rows; ++r) {
    std::complex<double> row_sum = 0;
    for (std::int64_t k = c.offsets[r]; k < c.offsets[r + 1]; ++k) {
      row_sum += std::complex<double>(c.values[k]);
      if (to.first.size() < shown) {
        to.first.push_back({first + r + 1, c.indices[k] + 1, number(c.values[k], complex_type<V>)});
      }
    }
    to.sum += row_sum;
  }
  to.nnz += c.nnz();
  to.frobenius = std::hypot(to.frobenius, norms(ctx, c).frobenius);
}

std::string describe_bytes(std::int64_t bytes) { return format_bytes(static_cast<double>(bytes)); }

// Multiplies whole, or in blocks of rows that take at most --max-workspace.
template <class V, class I>
class multiplication {
 public:
  multiplication(report& out, const backend& where, const multiply_flags& flags, factor<V, I> a,
                 std::optional<factor<V, I>> b, std::optional<factor<pattern, I>> mask)
      : out_(out),
        ctx_(where.cpu),
        where_(where),
        flags_(flags),
        a_(std::move(a)),
        b_(std::move(b)),
        mask_(std::move(mask)) {}

  [[nodiscard]] product_summary run() {
    arrange();
    const auto a = std::as_const(a_).view();
    const auto b = right();
    product_summary result;
    result.rows = a.rows;
    result.cols = b.cols;
    result.products = count_products<I, std::int64_t>(ctx_, a, b);
    std::optional<product_check<V, I>> check;
    if (mask_.has_value()) mask_view_ = std::as_const(*mask_).view();
    const stopwatch preparing;
    if (!flags_.no_validate) check.emplace(a, b, mask_.has_value() ? &mask_view_ : nullptr);
    result.check_ms = preparing.milliseconds();
    const std::vector<std::int64_t> bounds = blocks(result.products);
    result.blocks = std::max<std::int64_t>(std::ssize(bounds) - 1, 1);
    if (result.blocks > 1 && (!flags_.output.empty() || prints_lines(flags_.rows))) {
      throw error(
          error_code::out_of_memory,
          fmt::format("C may take {0} bytes, more than --max-workspace, and {1} needs all of it (expected no {1}, "
                      "or a larger workspace)",
                      result.products * entry_bytes, flags_.output.empty() ? "--print" : "--output"));
    }
    on_backend(where_, [&](const auto& ctx) {
      const placed_factors factors(ctx, a, b_.has_value() ? &b : nullptr, mask_.has_value() ? &mask_view_ : nullptr);
      for (std::size_t k = 0; k + 1 < bounds.size(); ++k) {
        multiply_rows(ctx, factors, bounds[k], bounds[k + 1], result, check);
      }
    });
    if (check.has_value()) result.check = check->result();
    return result;
  }

 private:
  static constexpr auto entry_bytes = static_cast<std::int64_t>(sizeof(I) + sizeof(V));

  // Without B: A A, or A A^T where A is not square or --transpose b is given, or A^T A.
  void arrange() {
    const bool turns_a = flags_.transpose == "a";
    const bool turns_b = flags_.transpose == "b";
    if (!b_.has_value() && (turns_a || turns_b || a_.rows() != a_.cols())) {
      factor<V, I> turned = spargo::transpose(ctx_, a_.view());
      b_ = turns_a ? std::exchange(a_, std::move(turned)) : std::move(turned);
      return;
    }
    if (turns_a) a_ = spargo::transpose(ctx_, a_.view());
    if (turns_b) b_ = spargo::transpose(ctx_, b_->view());
  }
  [[nodiscard]] csr_view<const V, I, std::int64_t, host> right() const {
    return b_.has_value() ? b_->view() : a_.view();
  }

  [[nodiscard]] std::vector<std::int64_t> blocks(std::int64_t products) const {
    std::int64_t limit = 0;
    if (flags_.max_workspace.empty() || !parse_bytes(flags_.max_workspace, limit) || products <= limit / entry_bytes) {
      return {0, a_.rows()};
    }
    return spgemm_row_blocks<I, std::int64_t>(ctx_, a_.view(), right(), limit / entry_bytes);
  }

  template <class Space>
  [[nodiscard]] spgemm_plan<V, I, std::int64_t, Space> make_plan(const context<Space>& ctx,
                                                                 const placed_factors<V, I, Space>& factors,
                                                                 const spgemm_options& options) const try {
    if (factors.mask == nullptr) return {ctx, factors.a, factors.b, options};
    return {ctx, factors.a, factors.b, *factors.mask, options};
  } catch (const error& e) {
    if (e.code() != error_code::out_of_memory || !flags_.max_workspace.empty()) throw;
    throw error(error_code::out_of_memory,
                fmt::format("{}; --max-workspace multiplies in blocks of rows", message_for("spgemm", e)));
  }

  static std::int64_t available(const context<host>&) { return host_memory().available(); }
  static std::int64_t available(const context<device>& ctx) { return ctx.memory().free_bytes; }
  static factor<V, I> on_host(const context<host>&, factor<V, I> c) { return c; }
  static factor<V, I> on_host(const context<device>& ctx, const device_factor<V, I>& c) {
    return to_host(ctx, c.view());
  }

  // C's rows from `first` to `last`, on the host.
  template <class Space>
  [[nodiscard]] factor<V, I> rows_of_product(const context<Space>& ctx, const placed_factors<V, I, Space>& factors,
                                             std::int64_t first, std::int64_t last, product_summary& to) const {
    const busy multiplying("multiplying");
    const stopwatch planning;
    auto plan = make_plan(
        ctx, factors,
        {.max_result_bytes = std::max<std::int64_t>(available(ctx), 1), .first_row = first, .last_row = last});
    ctx.synchronize();
    to.plan_ms += planning.milliseconds();
    std::vector<double> samples;
    if (flags_.repeat > 1) {
      array<V, Space> values(ctx, plan.result_nnz());
      for (std::int64_t k = 1; k < flags_.repeat; ++k) {
        const stopwatch watch;
        plan.fill(values);
        ctx.synchronize();
        samples.push_back(watch.milliseconds());
      }
    }
    if (std::same_as<Space, device>) {
      to.device_bytes = std::max(to.device_bytes, factors.bytes() + plan.workspace_bytes() +
                                                      plan.result_nnz() * static_cast<std::int64_t>(sizeof(V)));
    }
    const stopwatch watch;
    auto c = plan.take();
    ctx.synchronize();
    samples.push_back(watch.milliseconds());
    const time_summary times = summarize(std::move(samples));
    to.times = {to.times.min + times.min, to.times.median + times.median, to.times.max + times.max, times.runs};
    return on_host(ctx, std::move(c));
  }

  template <class Space>
  void multiply_rows(const context<Space>& ctx, const placed_factors<V, I, Space>& factors, std::int64_t first,
                     std::int64_t last, product_summary& to, std::optional<product_check<V, I>>& check) {
    const factor<V, I> c = rows_of_product(ctx, factors, first, last, to);
    {
      const busy summing("summing up");
      add_block<V, I>(ctx_, c.view(), first, to);
    }
    if (check.has_value()) {
      const busy validating("validating");
      const stopwatch checking;
      check->add(c.view(), first);
      to.check_ms += checking.milliseconds();
    }
    if (check.has_value() && !check->result().valid) return;
    if (!flags_.output.empty()) {
      const busy writing("writing " + flags_.output);
      write_matrix_market(flags_.output, to_coo(ctx_, c.view()));
    }
    const std::int64_t* const offsets = c.offsets().data();
    std::int64_t r = 0;
    print_lines(out_, flags_.rows, value_columns<V>("row,column"), c.nnz(), [&](std::int64_t k, table_writer& row) {
      r = std::upper_bound(offsets, offsets + c.rows() + 1, k) - offsets;
      row.number(r);
      row.number(std::int64_t{c.indices()[k]} + 1);
      value_cells(row, c.values()[k]);
    });
  }

  report& out_;
  const context<host>& ctx_;
  const backend& where_;
  const multiply_flags& flags_;
  factor<V, I> a_;
  std::optional<factor<V, I>> b_;
  std::optional<factor<pattern, I>> mask_;
  csr_pattern_view<I, std::int64_t, host> mask_view_;
};

exit_status conclude_product(report& out, const multiply_flags& flags, const product_summary& result, bool is_complex) {
  json& keys = out.keys();
  keys["rows"] = result.rows;
  keys["cols"] = result.cols;
  keys["nnz"] = result.nnz;
  keys["products"] = result.products;
  keys["sum"] = number(result.sum, is_complex);
  keys["frobenius"] = result.frobenius;
  keys["first"] = result.first;
  keys["blocks"] = result.blocks;
  keys["plan_ms"] = result.plan_ms;
  keys["time_ms"] = to_json(result.times);
  keys["peak_bytes"] = host_memory().most_used();
  keys["device_bytes"] = result.device_bytes > 0 ? json(result.device_bytes) : json();
  const double ratio = result.nnz > 0 ? static_cast<double>(result.products) / static_cast<double>(result.nnz) : 1;
  out.row("C", fmt::format("{} x {}, {}", with_commas(result.rows), with_commas(result.cols),
                           counted(result.nnz, "entry", "entries")));
  out.row("products", fmt::format("{}, {:.3g} per entry{}", with_commas(result.products), ratio,
                                  result.blocks > 1 ? fmt::format("; {} blocks of rows", with_commas(result.blocks))
                                                    : std::string()));
  out.row("sum",
          fmt::format("{:.17g}{}, Frobenius norm {:.17g}", result.sum.real(),
                      is_complex ? fmt::format(" {:+.17g}i", result.sum.imag()) : std::string(), result.frobenius));
  out.row("time",
          fmt::format("pattern {}, values {}", format_milliseconds(result.plan_ms), format_times(result.times)));
  out.row("memory", describe_bytes(host_memory().most_used()) + " at most" +
                        (result.device_bytes > 0 ? "; GPU " + describe_bytes(result.device_bytes) : std::string()));
  std::optional<bool> valid;
  if (result.check.has_value()) valid = result.check->valid;
  report_validity(out, valid,
                  valid == false ? fmt::format("row {}", result.check->worst_row + 1)
                                 : "rows, and a product with a vector, computed independently",
                  result.check_ms);
  if (!flags.output.empty() && valid != false) {
    keys["output"] = flags.output;
    out.row("written", flags.output);
  }
  return conclude(out, flags, valid);
}

struct multiply_inputs {
  input_description a;
  std::optional<input_description> b;
  std::optional<input_description> mask;
};

std::string product_of(const multiply_flags& flags, bool square) {
  if (!flags.b.empty())
    return fmt::format("A{} B{}", flags.transpose == "a" ? "^T" : "", flags.transpose == "b" ? "^T" : "");
  if (flags.transpose == "a") return "A^T A";
  return flags.transpose == "b" || !square ? "A A^T" : "A A";
}

// The factors and the mask as read.
template <class V>
struct read_factors {
  any_csr<V> a;
  std::optional<any_csr<V>> b{};
  std::optional<any_csr<pattern>> mask{};
};

// Nanoseconds per product on one thread: its pattern and its value. ego-Twitter takes 27, stencils less.
constexpr double product_ns = 20;

// Products if rows of B are used as often as others; more where long rows meet long columns.
std::int64_t likely_products(const multiply_inputs& in) {
  const input_size a = least_size(in.a);
  const input_size b = in.b.has_value() ? least_size(*in.b) : a;
  const auto entries = [](const input_description& input, const input_size& size) {
    return static_cast<double>(std::max(size.listed, input.entries));
  };
  const double of_b = entries(in.b.has_value() ? *in.b : in.a, b);
  return static_cast<std::int64_t>(
      std::min(entries(in.a, a) * of_b / static_cast<double>(std::max<std::int64_t>(b.rows, 1)), 1e15));
}

struct multiplying : matrix_algorithm {
  using flags_type = multiply_flags;
  using input_type = multiply_inputs;
  using job_type = matrix_job<flags_type, input_type>;
  static constexpr const char* name = "multiply";

  static matrix_command_text text() {
    return {"C = A B for sparse matrices: finds C's pattern, computes its values and checks the result.",
            "a matrix",
            "compute the values",
            {"matrix.mtx.gz", "a.mtx b.mtx --output c.mtx", "a.mtx --transpose b --json -",
             "gen:laplacian2d:n=1000 --repeat 5"},
            "A",
            "entry of C (row column value; complex: row column real imaginary)"};
  }
  static void add_flags(flag_set app, multiply_flags& flags) {
    app.add_option("B", flags.b, "another; without it A A if A is square, else A A^T");
    app.add_option("--transpose", flags.transpose,
                   "a: multiply by A^T in place of A; b: by B^T in place of B (complex: without conjugation)")
        ->check(one_of("a matrix", {"a", "b"}))
        ->type_name("a|b");
    app.add_option("--mask", flags.mask, "compute entries of C only where this matrix has entries")->type_name("FILE");
    app.add_option("--max-workspace", flags.max_workspace,
                   "C may take this many bytes at a time (2G, 2GiB); beyond it rows are multiplied in blocks")
        ->check({check_bytes})
        ->type_name("SIZE");
    app.add_option("--output", flags.output, "write C as Matrix Market (.gz by name); - is standard output")
        ->type_name("FILE");
  }
  static std::vector<std::string> other_inputs(const multiply_flags& flags) { return {flags.b, flags.mask}; }
  static std::vector<output_request> outputs(const multiply_flags& flags) { return {{"--output", flags.output}}; }
  static multiply_inputs describe(const context<host>& ctx, const multiply_flags& flags) {
    multiply_inputs in{describe_matrix(ctx, flags.file), {}, {}};
    if (!flags.b.empty()) in.b = describe_matrix(ctx, flags.b);
    if (!flags.mask.empty()) in.mask = describe_matrix(ctx, flags.mask);
    return in;
  }
  // `auto` opens a GPU only for products that take longer on the CPU.
  static backend place(const multiply_flags& flags, const multiply_inputs& in, backend cpu) {
    if (flags.common.device == "auto") {
      cpu.reason = reason_against_opening({likely_products(in), product_ns, cpu.cpu.threads()});
      if (!cpu.reason.empty()) return cpu;
    }
    return choose_backend(flags.common.device, flags.common.threads);
  }

  template <class F>
  static exit_status read(const job_type& job, F&& f) {
    const multiply_flags& flags = job.flags;
    if (!flags.b.empty()) job.out.title("multiply " + flags.file + " " + flags.b);
    job.out.keys()["file_b"] = flags.b.empty() ? json() : json(flags.b);
    job.out.keys()["transpose"] = flags.transpose.empty() ? json() : json(flags.transpose);
    const auto is_complex = [](const input_description& input) { return input.field == matrix_market_field::complex; };
    if (is_complex(job.input.a) || (job.input.b.has_value() && is_complex(*job.input.b))) {
      return f(read_valued<std::complex<double>>(job));
    }
    return f(read_valued<double>(job));
  }
  template <class V>
  static read_factors<V> read_valued(const job_type& job) {
    const auto& [out, where, flags, in] = job;
    read_factors<V> read{read_factor<V>(out, where.cpu, flags.common, in.a)};
    if (in.b.has_value()) read.b = read_factor<V>(out, where.cpu, flags.common, *in.b);
    if (in.mask.has_value()) read.mask = read_factor<pattern>(out, where.cpu, flags.common, *in.mask);
    return read;
  }

  template <class V>
  static exit_status run(const job_type& job, const read_factors<V>& read) {
    report& out = job.out;
    const auto report_factor = [&out](const char* label, const input_description& input, const auto& matrix) {
      const auto [rows, cols] = size_of(matrix);
      out.row(label, fmt::format("{}, {} x {}", input.path, with_commas(rows), with_commas(cols)));
    };
    report_factor("A", job.input.a, read.a);
    if (read.b.has_value()) report_factor("B", *job.input.b, *read.b);
    if (read.mask.has_value()) report_factor("mask", *job.input.mask, *read.mask);
    const auto [rows, cols] = size_of(read.a);
    out.keys()["product"] = product_of(job.flags, rows == cols);
    out.row("product", product_of(job.flags, rows == cols));
    const auto multiply_with = [&]<class I>(type_tag<I>) {
      std::optional<factor<V, I>> right;
      std::optional<factor<pattern, I>> places;
      if (read.b.has_value()) right = with_indices<I>(job.cpu(), *read.b);
      if (read.mask.has_value()) places = with_indices<I>(job.cpu(), *read.mask);
      return multiplication<V, I>(out, job.where, job.flags, with_indices<I>(job.cpu(), read.a), std::move(right),
                                  std::move(places))
          .run();
    };
    const bool wide = has_wide_indices(read.a) || (read.b.has_value() && has_wide_indices(*read.b)) ||
                      (read.mask.has_value() && has_wide_indices(*read.mask));
    return conclude_product(out, job.flags,
                            wide ? multiply_with(type_tag<std::int64_t>{}) : multiply_with(type_tag<std::int32_t>{}),
                            complex_type<V>);
  }
};

}  // namespace

extern const command multiply_command = matrix_command<multiplying>("product of two sparse matrices");

}  // namespace spargo::apps
