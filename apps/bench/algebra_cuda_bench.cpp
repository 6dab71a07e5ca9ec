// A^T, and A + 2 A^T, on the device beside cuSPARSE's csr2csc and csrgeam2. fraction_of_copy: reading the inputs and
// writing the result once, at the rate of a copy.
#include "bench/check_device.hpp"
#include "bench/spmv_cases.hpp"

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

double measure(benchmark::State& state, std::int64_t input_bytes, const matrix& expected,
               const std::function<matrix()>& make) {
  const matrix c = make();
  expect_equal(c, expected);
  const double seconds = device_seconds(device_context(), [&] { (void)make(); });
  const auto bytes = static_cast<double>(input_bytes + bytes_of(c));
  state.counters[gbytes_per_second] = bytes / seconds * 1e-9;
  state.counters[fraction_of_copy] = bytes / seconds / device_copy_rate();
  return seconds;
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

void add_all() {
  if (!current_settings().device) return;
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
