#include "commands/spmv/product.hpp"

#include "cli/progress.hpp"
#include "cli/shortest.hpp"
#include "cli/text.hpp"
#include "input/random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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
                                   const spmv_job& job, std::string& why) {
  using plan = spmv_plan<V, I, O, Space>;
  const spmv_request& wanted = job.wanted;
  why = "as asked for";
  const spmv_operation operation = job.transposes ? spmv_operation::transpose : spmv_operation::none;
  if (wanted.algorithm != spmv_algorithm::automatic) {
    return plan(ctx, matrix, {.algorithm = wanted.algorithm, .operation = operation});
  }
  if (wanted.storage == spmv_storage::borrowed) return plan(ctx, matrix, {.operation = operation});
  if (wanted.storage == spmv_storage::copied) {
    plan made(ctx, matrix, {.storage = spmv_storage::copied, .operation = operation});
    if (made.storage() == spmv_storage::borrowed) why = "no copy is expected to be faster";
    return made;
  }
  try {
    plan made(ctx, matrix, {.storage = spmv_storage::copied, .products = job.repeat, .operation = operation});
    why = fmt::format("{} within {} (--repeat)",
                      made.storage() == spmv_storage::copied ? "the copy pays" : "no copy pays",
                      counted(job.repeat, "product"));
    return made;
  } catch (const error& e) {
    if (e.code() != error_code::out_of_memory) throw;
    why = "no memory for a copy";
    return plan(ctx, matrix, {.operation = operation});
  }
}

// Plans on CSR, or converts where neither CSR nor a copy of it is expected to be as fast; then times. Of a transposed
// product the transpose is converted. On return y holds A x or A^T x, synchronised.
template <class V, class I, class O, class Space>
void measure(const context<Space>& ctx, const csr_view<const V, I, O, Space>& matrix, span<const V, Space> x,
             span<V, Space> y, const spmv_job& job, spmv_product& result) {
  const busy multiplying("multiplying");
  using plan = spmv_plan<V, I, O, Space>;
  const auto time = [&](const plan& made) {
    result.algorithm = made.algorithm();
    result.reason = made.reason();
    result.storage = made.storage();
    result.workspace_bytes = made.workspace_bytes();
    result.times = time_calls(
        job.warmup, job.repeat, [&] { made.run(V(1), x, V(0), y); }, [&] { ctx.synchronize(); });
  };
  format_choice& format = result.format;
  std::optional<plan> on_csr;
  if (format.format == sparse_format::csr || !job.wanted.format.has_value()) {
    const stopwatch planning;
    on_csr.emplace(plan_csr<V, I, O, Space>(ctx, matrix, job, result.storage_reason));
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
    csr_matrix<V, I, O, Space> turned;
    if (job.transposes) turned = transpose(ctx, matrix);
    const csr_view<const V, I, O, Space> converted = job.transposes ? turned.view() : matrix;
    with_format(ctx, converted, format.format, [&](const auto& view) {
      ctx.synchronize();
      result.convert_ms = converting.milliseconds();
      const stopwatch planning;
      const plan made(ctx, view, {.algorithm = job.wanted.algorithm});
      ctx.synchronize();
      result.plan_ms += planning.milliseconds();
      result.storage_reason = "the matrix as converted";
      time(made);
    });
  }
  const bool by_columns = job.transposes && result.storage == spmv_storage::copied;
  result.bytes = compulsory_bytes<V, I, O>(format.format, by_columns ? matrix.cols : matrix.rows,
                                           by_columns ? matrix.rows : matrix.cols, matrix.nnz());
  result.copy_rate = copy_bytes_per_second(ctx, result.bytes);
}

// The format as asked for, or as pays for --repeat products.
template <class V, class I, class O>
format_choice choose_format(const backend& where, const csr_pattern_view<I, O, host>& matrix, const spmv_job& job) {
  if (job.wanted.format.has_value()) return {*job.wanted.format, job.wanted.format_reason};
  if (job.transposes) return {sparse_format::csr, "as read, for a transposed product"};
  if (job.wanted.storage == spmv_storage::copied) return {sparse_format::csr, "what copies are made of"};
  if (job.wanted.storage == spmv_storage::borrowed) return {sparse_format::csr, "as read"};
  const format_use use{.value_bytes = sizeof(V), .complex_values = complex_type<V>, .products = job.repeat};
  return where.gpu.has_value() ? suggest_format<device>(where.cpu, matrix, use)
                               : suggest_format<host>(where.cpu, matrix, use);
}

template <class V, class I, class O>
void multiply_on(const context<host>& ctx, const csr_input<V, I, O>& read, const array<V, host>& x, array<V, host>& y,
                 const spmv_job& job, spmv_product& result) {
  measure<V, I, O, host>(ctx, read.matrix, x.view(), y.view(), job, result);
}

template <class V, class I, class O>
void multiply_on(const context<device>& gpu, const csr_input<V, I, O>& read, const array<V, host>& x, array<V, host>& y,
                 const spmv_job& job, spmv_product& result) {
  const stopwatch uploading;
  csr_matrix<V, I, O, device> uploaded;
  csr_view<const V, I, O, device> there = read.on_device.view();
  if (there.offsets.empty()) {
    uploaded = to_device(gpu, read.matrix);
    there = uploaded.view();
  }
  const array<V, device> device_x = to_device(gpu, x.view());
  array<V, device> device_y(gpu, y.size());
  gpu.synchronize();
  result.upload_ms = uploading.milliseconds();
  measure<V, I, O, device>(gpu, there, device_x.view(), device_y.view(), job, result);
  copy<V>(gpu, device_y.view(), y.view());
  gpu.synchronize();
}

template <class V>
void summarise(const array<V, host>& y, spmv_product& result) {
  using wide = typename detail::reference_of<V>::type;
  wide sum{};
  double largest = 0;
  for (const V& v : y) {
    sum += wide(v);
    largest = std::max<double>(largest, std::abs(wide(v)));
    result.not_finite += detail::is_finite(wide(v)) ? 0 : 1;
  }
  double squares = 0;  // scaled: the square of a large entry would overflow
  const double scale = largest > 0 && std::isfinite(largest) ? largest : 1.0;
  for (const V& v : y) squares += std::norm(wide(v) / scale);
  // inf - inf has the sign bit set on x86; printed, it has no sign.
  const auto unsigned_nan = [](double v) { return std::isnan(v) ? std::abs(v) : v; };
  result.y_sum = {unsigned_nan(std::real(sum)), unsigned_nan(std::imag(sum))};
  result.y_norm = unsigned_nan(scale * std::sqrt(squares));
  for (std::int64_t i = 0; i < std::min<std::int64_t>(y.size(), 5); ++i) {
    if constexpr (std::same_as<V, float>) {
      result.y_first.emplace_back(as_printed(y[i]));
    } else {
      result.y_first.emplace_back(wide(y[i]));
    }
  }
}

}  // namespace

template <value_type V>
array<V, host> make_x(const context<host>& ctx, const spmv_x& wanted, std::int64_t size, const vector_use& use) {
  if (!wanted.file.empty()) return read_vector<V>(ctx, wanted.file, size, use);
  array<V, host> x(ctx, size);
  for (std::int64_t i = 0; i < size; ++i) {
    double value = 1.0;
    if (wanted.values == spmv_x::random) value = random_symmetric(wanted.seed, static_cast<std::uint64_t>(i));
    if (wanted.values == spmv_x::reciprocal) value = 1.0 / (1.0 + static_cast<double>(i));
    if constexpr (std::same_as<V, float>) {
      x[i] = static_cast<float>(value);
    } else {
      x[i] = V(value);
    }
  }
  return x;
}

template array<float, host> make_x(const context<host>&, const spmv_x&, std::int64_t, const vector_use&);
template array<double, host> make_x(const context<host>&, const spmv_x&, std::int64_t, const vector_use&);
template array<std::complex<double>, host> make_x(const context<host>&, const spmv_x&, std::int64_t, const vector_use&);

void summarise_y(spmv_product& result) {
  std::visit([&](const auto& y) { summarise(y, result); }, result.y);
}

template <value_type V, index_type I, index_type O>
spmv_product multiply(const backend& where, const csr_input<V, I, O>& read, const spmv_job& job) {
  const csr_view<const V, I, O, host>& matrix = read.matrix;
  const array<V, host> x = make_x<V>(where.cpu, job.x, job.transposes ? matrix.rows : matrix.cols,
                                     {"--x", job.transposes ? "rows" : "columns"});
  spmv_product result;
  result.transposed = job.transposes;
  result.rows = matrix.rows;
  result.cols = matrix.cols;
  result.nnz = matrix.nnz();
  result.values = kind_of_values<V>();
  result.index_bits = 8 * sizeof(I);
  result.offset_bits = 8 * sizeof(O);
  result.stored = read.facts.stored;
  result.rounded_integers = read.facts.rounded_integers;
  result.parsed_on_device = read.facts.parsed_on_device;
  result.load_ms = read.load_ms;
  result.format = choose_format<V, I, O>(where, matrix, job);
  array<V, host> y(where.cpu, result.elements());
  on_backend(where, [&](const auto& ctx) { multiply_on<V, I, O>(ctx, read, x, y, job, result); });
  result.convert_ms += read.convert_ms;
  summarise(y, result);
  if (job.verify) {
    const busy checking("checking the product");
    const stopwatch watch;
    const auto check = job.transposes ? check_transposed_spmv<V, I, O> : check_spmv<V, I, O>;
    result.check = check(matrix, x.view(), std::as_const(y).view());
    result.check_ms = watch.milliseconds();
  }
  result.y = std::move(y);
  return result;
}

void write_y(const std::string& path, const spmv_product& result) {
  const busy writing("writing " + path);
  std::visit(
      [&]<class V>(const array<V, host>& y) {
        write_matrix_market<V>(path, dense_view<const V, host>{y.size(), 1, 1, y.view()});
      },
      result.y);
}

template spmv_product multiply(const backend&, const csr_input<float, std::int32_t, std::int32_t>&, const spmv_job&);
template spmv_product multiply(const backend&, const csr_input<float, std::int32_t, std::int64_t>&, const spmv_job&);
template spmv_product multiply(const backend&, const csr_input<float, std::int64_t, std::int64_t>&, const spmv_job&);
template spmv_product multiply(const backend&, const csr_input<double, std::int32_t, std::int32_t>&, const spmv_job&);
template spmv_product multiply(const backend&, const csr_input<double, std::int32_t, std::int64_t>&, const spmv_job&);
template spmv_product multiply(const backend&, const csr_input<double, std::int64_t, std::int64_t>&, const spmv_job&);
template spmv_product multiply(const backend&, const csr_input<std::complex<double>, std::int32_t, std::int32_t>&,
                               const spmv_job&);
template spmv_product multiply(const backend&, const csr_input<std::complex<double>, std::int32_t, std::int64_t>&,
                               const spmv_job&);
template spmv_product multiply(const backend&, const csr_input<std::complex<double>, std::int64_t, std::int64_t>&,
                               const spmv_job&);

}  // namespace spargo::apps
