// A^T, and A + 2 A^T, on the device beside cuSPARSE's csr2csc and csrgeam2, and the structure operations that cuSPARSE
// has not. fraction_of_copy: reading what an operation needs and writing the result once, at the rate of a copy.
#include "bench/cached.hpp"
#include "bench/check_device.hpp"
#include "bench/spmv_cases.hpp"

#include <spargo/graph/reorder.hpp>
#include <spargo/sparse/algebra.hpp>

#include <cusparse.h>

#include <functional>
#include <memory>

namespace spargo::bench {

namespace {

using index = std::int32_t;
using matrix = csr_matrix<double, index, index, device>;

void expect_done(cusparseStatus_t status) {
  if (status != CUSPARSE_STATUS_SUCCESS) throw std::runtime_error(cusparseGetErrorString(status));
}

std::int64_t bytes_of(const matrix& m) {
  return m.nnz() * static_cast<std::int64_t>(sizeof(double) + sizeof(index)) +
         m.offsets().size() * static_cast<std::int64_t>(sizeof(index));
}

struct problem {
  matrix a;
  matrix turned;

  explicit problem(const std::string& source)
      : a(to_csr<index>(device_context(),
                        to_device(device_context(), generated_as<double>(context<host>(), source).view()).view())),
        turned(transpose(device_context(), a.view())) {
    device_context().synchronize();
  }

  static const problem& of(const std::string& source) {
    static std::string held;
    static std::unique_ptr<problem> kept;
    if (held != source || kept == nullptr) {
      kept.reset();
      kept = std::make_unique<problem>(source);
      held = source;
    }
    return *kept;
  }
};

void expect_equal(const matrix& got, const matrix& expected) {
  const auto same = [&](const auto& x, const auto& y) {
    const auto a = to_host(device_context(), x.view());
    const auto b = to_host(device_context(), y.view());
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  };
  if (!same(got.offsets(), expected.offsets()) || !same(got.indices(), expected.indices()) ||
      !same(got.values(), expected.values())) {
    throw wrong_result("the result differs");
  }
}

double report(benchmark::State& state, std::int64_t bytes, double seconds) {
  state.counters[gbytes_per_second] = static_cast<double>(bytes) / seconds * 1e-9;
  state.counters[fraction_of_copy] = static_cast<double>(bytes) / seconds / device_copy_rate();
  return seconds;
}

double measure(benchmark::State& state, std::int64_t input_bytes, const matrix& expected,
               const std::function<matrix()>& make) {
  const matrix c = make();
  expect_equal(c, expected);
  const double seconds = device_seconds(device_context(), [&] { (void)make(); });
  return report(state, input_bytes + bytes_of(c), seconds);
}

matrix like(const matrix& shape, std::int64_t nnz) {
  const auto& ctx = device_context();
  return {shape.rows(), shape.cols(), {ctx, shape.offsets().size()}, {ctx, nnz}, {ctx, nnz}};
}

matrix cusparse_transpose(const problem& p, cusparseHandle_t handle) {
  const matrix& a = p.a;
  matrix c = like(a, a.nnz());
  std::size_t bytes = 0;
  const auto arguments = [&](auto call, auto last) {
    expect_done(call(handle, a.rows(), a.cols(), static_cast<int>(a.nnz()), a.values().data(), a.offsets().data(),
                     a.indices().data(), c.values().data(), c.offsets().data(), c.indices().data(), CUDA_R_64F,
                     CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_CSR2CSC_ALG1, last));
  };
  arguments(cusparseCsr2cscEx2_bufferSize, &bytes);
  array<char, device> buffer(device_context(), static_cast<std::int64_t>(bytes) + 1);
  arguments(cusparseCsr2cscEx2, static_cast<void*>(buffer.data()));
  return c;
}

matrix cusparse_sum(const problem& p, cusparseHandle_t handle) {
  const auto& ctx = device_context();
  const double one = 1;
  const double two = 2;
  const matrix& a = p.a;
  const matrix& b = p.turned;
  cusparseMatDescr_t general = nullptr;
  expect_done(cusparseCreateMatDescr(&general));
  const std::unique_ptr<cusparseMatDescr, cusparseStatus_t (*)(cusparseMatDescr_t)> held(general,
                                                                                         cusparseDestroyMatDescr);
  array<index, device> offsets(ctx, a.offsets().size());
  const auto nnz_a = static_cast<int>(a.nnz());
  const auto nnz_b = static_cast<int>(b.nnz());
  std::size_t bytes = 0;
  expect_done(cusparseDcsrgeam2_bufferSizeExt(handle, a.rows(), a.cols(), &one, general, nnz_a, a.values().data(),
                                              a.offsets().data(), a.indices().data(), &two, general, nnz_b,
                                              b.values().data(), b.offsets().data(), b.indices().data(), general,
                                              nullptr, offsets.data(), nullptr, &bytes));
  array<char, device> buffer(ctx, static_cast<std::int64_t>(bytes) + 1);
  int nnz = 0;
  expect_done(cusparseXcsrgeam2Nnz(handle, a.rows(), a.cols(), general, nnz_a, a.offsets().data(), a.indices().data(),
                                   general, nnz_b, b.offsets().data(), b.indices().data(), general, offsets.data(),
                                   &nnz, buffer.data()));
  matrix c(a.rows(), a.cols(), std::move(offsets), {ctx, nnz}, {ctx, nnz});
  expect_done(cusparseDcsrgeam2(handle, a.rows(), a.cols(), &one, general, nnz_a, a.values().data(), a.offsets().data(),
                                a.indices().data(), &two, general, nnz_b, b.values().data(), b.offsets().data(),
                                b.indices().data(), general, c.values().data(), c.offsets().data(), c.indices().data(),
                                buffer.data()));
  return c;
}

matrix our_sum(const problem& p) { return add(device_context(), 1.0, p.a.view(), 2.0, p.turned.view()); }

void add_peer_case(const std::string& name, const std::string& source,
                   const std::function<double(benchmark::State&, const problem&, cusparseHandle_t)>& time) {
  add_peer(name, [=](benchmark::State& state) {
    cusparseHandle_t handle = nullptr;
    expect_done(cusparseCreate(&handle));
    const std::unique_ptr<cusparseContext, cusparseStatus_t (*)(cusparseHandle_t)> held(handle, cusparseDestroy);
    expect_done(cusparseSetStream(handle, device_context().stream()));
    return time(state, problem::of(source), handle);
  });
}

// --- Structure operations
// ---------------------------------------------------------------------------------------------

enum class structure { rows_half, rows_list, permute, drop, triangle, stack_rows, stack_columns };

// A matrix in either space, with a random order of its rows.
template <class Space>
struct structure_operands {
  const context<Space>& ctx;
  csr_matrix<double, index, index, Space> a;
  array<index, Space> order;
  double threshold;

  [[nodiscard]] csr_matrix<double, index, index, Space> run(structure operation) const {
    using selection = index_selection<index, Space>;
    const index half = a.rows() / 2;
    switch (operation) {
      case structure::rows_half:
        return extract(ctx, a.view(), selection::range(half / 2, half / 2 + half), {});
      case structure::rows_list:
        return extract(ctx, a.view(), selection::of(order.view().subspan(0, half)), {});
      case structure::permute:
        return permute(ctx, a.view(), order, order);
      case structure::drop:
        return drop_below(ctx, a.view(), threshold);
      case structure::triangle:
        return part_of(ctx, a.view(), matrix_part::lower);
      case structure::stack_rows:
        return stack_rows(ctx, std::vector{a.view(), a.view()});
      case structure::stack_columns:
        return stack_columns(ctx, std::vector{a.view(), a.view()});
    }
    throw std::logic_error("not a structure operation");
  }
};

// Half of the values are dropped.
struct structure_problem {
  context<host> cpu;
  structure_operands<host> on_host;
  structure_operands<device> on_device;

  explicit structure_problem(const std::string& source)
      : on_host{cpu, to_csr<index>(cpu, generated_as<double>(cpu, source).view()), {}, 0.5},
        on_device{device_context(), {}, {}, 0.5} {
    for (std::int64_t k = 0; k < on_host.a.nnz(); ++k) on_host.a.values()[k] = static_cast<double>(k % 17) / 17;
    on_device.a = to_device(device_context(), on_host.a.view());
    on_host.order = random_order<index>(cpu, on_host.a.rows(), 1);
    on_device.order = to_device(device_context(), on_host.order.view());
  }
};

double time_structure(benchmark::State& state, const structure_problem& p, structure operation) {
  const matrix c = p.on_device.run(operation);
  expect_equal(c, to_device(device_context(), p.on_host.run(operation).view()));
  const double seconds = device_seconds(device_context(), [&] { (void)p.on_device.run(operation); });
  const bool reads_result = operation == structure::rows_half || operation == structure::rows_list ||
                            operation == structure::stack_rows || operation == structure::stack_columns;
  return report(state, (reads_result ? bytes_of(c) : bytes_of(p.on_device.a)) + bytes_of(c), seconds);
}

// Signs, so that repeated scaling changes no magnitude.
double time_scaling(benchmark::State& state, const structure_problem& p) {
  const auto& ctx = device_context();
  array<double, host> signs(p.cpu, p.on_host.a.rows());
  for (std::int64_t r = 0; r < signs.size(); ++r) signs[r] = r % 3 == 0 ? -1 : 1;
  const auto factors = to_device(ctx, signs.view());
  const auto copy_of = [&](const auto& in, const auto& m) {
    return csr_matrix(m.rows(), m.cols(), clone(in, m.offsets().view()), clone(in, m.indices().view()),
                      clone(in, m.values().view()));
  };
  auto expected = copy_of(p.cpu, p.on_host.a);
  scale_rows(p.cpu, signs, expected);
  auto scaled = copy_of(ctx, p.on_device.a);
  scale_rows(ctx, factors, scaled);
  expect_equal(scaled, to_device(ctx, expected.view()));
  const double seconds = device_seconds(ctx, [&] { scale_rows(ctx, factors, scaled); });
  const std::int64_t numbers = 2 * scaled.nnz() + scaled.rows();
  return report(state, numbers * std::int64_t{sizeof(double)} + scaled.offsets().size() * std::int64_t{sizeof(index)},
                seconds);
}

double time_diagonal(benchmark::State& state, const structure_problem& p) {
  const auto& ctx = device_context();
  const auto& a = p.on_device.a;
  const array<double, host> expected = diagonal(p.cpu, p.on_host.a.view());
  const array<double, host> got = to_host(ctx, diagonal(ctx, a.view()).view());
  if (!std::equal(got.begin(), got.end(), expected.begin(), expected.end())) throw wrong_result("the diagonal differs");
  const double seconds = device_seconds(ctx, [&] { (void)diagonal(ctx, a.view()); });
  return report(state, (a.nnz() + a.rows()) * std::int64_t{sizeof(index)} + a.rows() * std::int64_t{sizeof(double)},
                seconds);
}

double time_norms(benchmark::State& state, const structure_problem& p) {
  const auto& a = p.on_device.a;
  const matrix_norms expected = norms(p.cpu, p.on_host.a.view());
  const matrix_norms got = norms(device_context(), a.view());
  if (got.one != expected.one || got.infinity != expected.infinity || got.frobenius != expected.frobenius ||
      got.largest != expected.largest) {
    throw wrong_result("the norms differ");
  }
  return report(state, bytes_of(a), device_seconds(device_context(), [&] { (void)norms(device_context(), a.view()); }));
}

void add_structure_cases() {
  const std::vector<std::pair<const char*, structure>> operations{{"extract_half", structure::rows_half},
                                                                  {"extract_list", structure::rows_list},
                                                                  {"permute", structure::permute},
                                                                  {"drop_below", structure::drop},
                                                                  {"triangle", structure::triangle},
                                                                  {"stack_rows", structure::stack_rows},
                                                                  {"stack_columns", structure::stack_columns}};
  for (const spmv_case& c : spmv_cases_or_file({{"laplacian2d_2048", "gen:laplacian2d:n=2048"},
                                                {"uniform_1m_8", "gen:uniform:rows=1048576,degree=8"},
                                                {"rmat_18_16", "gen:rmat:scale=18,degree=16"}})) {
    const auto add = [&](const std::string& name, const auto& time) {
      add_case(name + "/" + c.name + "/double/cuda/spargo",
               [=](benchmark::State& state) { return time(state, cached<structure_problem>(c.source)); });
    };
    for (const auto& [name, operation] : operations) {
      add(name, [which = operation](benchmark::State& state, const structure_problem& p) {
        return time_structure(state, p, which);
      });
    }
    add("scale_rows", time_scaling);
    add("diagonal", time_diagonal);
    add("norms", time_norms);
  }
}

void add_all() {
  if (!current_settings().device) return;
  add_structure_cases();
  for (const spmv_case& c : spmv_cases_or_file({{"laplacian2d_2048", "gen:laplacian2d:n=2048"},
                                                {"banded_1m_21", "gen:banded:rows=1048576,degree=21"},
                                                {"uniform_1m_8", "gen:uniform:rows=1048576,degree=8"},
                                                {"rmat_20_16", "gen:rmat:scale=20,degree=16"}})) {
    const std::string turning = "transpose/" + c.name + "/double/cuda/";
    add_case(turning + "spargo", [=](benchmark::State& state) {
      const problem& p = problem::of(c.source);
      return measure(state, bytes_of(p.a), p.turned, [&] { return transpose(device_context(), p.a.view()); });
    });
    add_peer_case(turning + "cusparse", c.source, [](benchmark::State& state, const problem& p, cusparseHandle_t h) {
      return measure(state, bytes_of(p.a), p.turned, [&] { return cusparse_transpose(p, h); });
    });
    const std::string adding = "add/" + c.name + "/double/cuda/";
    add_case(adding + "spargo", [=](benchmark::State& state) {
      const problem& p = problem::of(c.source);
      return measure(state, 2 * bytes_of(p.a), our_sum(p), [&] { return our_sum(p); });
    });
    add_peer_case(adding + "cusparse", c.source, [](benchmark::State& state, const problem& p, cusparseHandle_t h) {
      return measure(state, 2 * bytes_of(p.a), our_sum(p), [&] { return cusparse_sum(p, h); });
    });
  }
}

const registration here{add_all};

}  // namespace

}  // namespace spargo::bench
