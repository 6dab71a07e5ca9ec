// A A on the device beside cuSPARSE's three algorithms: the whole product, from A to C with its memory from a pool, by
// CUDA events; `fill` alone; and the most memory beside A that was held at once, C included.
#include "bench/cached.hpp"
#include "bench/check_device.hpp"
#include "bench/cusparse_peer.hpp"
#include "bench/spmv_cases.hpp"

#include <spargo/sparse/spgemm.hpp>
#include <spargo/sparse/spmv.hpp>

#include <atomic>
#include <cmath>
#include <memory>

namespace spargo::bench {

namespace {

using index = std::int32_t;

// Forwards to the pool of device_context() and counts.
class counted_pool final : public memory_resource<device> {
 public:
  void* allocate(std::size_t bytes, stream_handle stream) override {
    void* const made = device_context().resource().allocate(bytes, stream);
    live_ += static_cast<std::int64_t>(bytes);
    peak = std::max(peak, live_);
    return made;
  }
  void deallocate(void* pointer, std::size_t bytes, stream_handle stream) noexcept override {
    live_ -= static_cast<std::int64_t>(bytes);
    device_context().resource().deallocate(pointer, bytes, stream);
  }

  std::int64_t peak = 0;

 private:
  std::int64_t live_ = 0;
};

template <class V>
struct problem {
  using matrix_type = csr_matrix<V, index, index, device>;
  counted_pool pool;
  context<device> ctx = context<device>(device_options{.resource = &pool});
  matrix_type a;

  explicit problem(const std::string& source)
      : a(to_csr<index>(ctx, to_device(ctx, generated_as<V>(context<host>(), source).view()).view())) {
    ctx.synchronize();
  }

  [[nodiscard]] std::vector<V> times(const matrix_type& m, const std::vector<V>& x) const {
    const auto in = to_device(ctx, span<const V, host>(x));
    array<V, device> out(ctx, m.rows());
    spmv_plan<V, index, index, device>(ctx, m.view()).run(V{1}, in.view(), V{0}, out.view());
    const auto back = to_host(ctx, std::as_const(out).view());
    return {back.begin(), back.end()};
  }

  // C x against A (A x), for positive x and |A| where entries cancel.
  void validate(const matrix_type& c) const {
    std::vector<V> x(static_cast<std::size_t>(a.cols()));
    for (std::size_t j = 0; j < x.size(); ++j) x[j] = static_cast<V>(1 + static_cast<double>(j * 7919 % 1000) / 1000);
    const auto expected = times(a, times(a, x));
    const auto got = times(c, x);
    double largest = 0;
    for (const V v : expected) largest = std::max(largest, std::abs(static_cast<double>(v)));
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double gap = std::abs(static_cast<double>(got[i]) - static_cast<double>(expected[i]));
      if (!(gap <= (std::same_as<V, float> ? 1e-3 : 1e-9) * largest)) {
        throw wrong_result("row " + std::to_string(i) + " of C x is " + std::to_string(got[i]));
      }
    }
  }
};

// The peak of `make` alone, which returns C.
template <class V, class Make>
double measure(benchmark::State& state, problem<V>& p, Make&& make) {
  p.ctx.synchronize();
  const std::int64_t before = p.pool.peak;
  p.pool.peak = 0;
  const auto c = make();
  p.ctx.synchronize();
  const std::int64_t of_a = p.a.nnz() * static_cast<std::int64_t>(sizeof(V) + sizeof(index)) +
                            (std::int64_t{p.a.rows()} + 1) * static_cast<std::int64_t>(sizeof(index));
  state.counters["peak_MB"] = static_cast<double>(p.pool.peak - of_a) * 1e-6;
  state.counters["C_MB"] = static_cast<double>(c.nnz() * static_cast<std::int64_t>(sizeof(V) + sizeof(index)) +
                                               c.offsets().size() * static_cast<std::int64_t>(sizeof(index))) *
                           1e-6;
  p.pool.peak = std::max(before, p.pool.peak);
  p.validate(c);
  return c.nnz() >= 0 ? device_seconds(p.ctx, [&] { (void)make(); }) : 0;
}

template <class V>
double measure_product(benchmark::State& state, problem<V>& p) {
  const auto view = std::as_const(p.a).view();
  const double seconds = measure(state, p, [&] { return spgemm(p.ctx, view, view); });
  state.counters["plan_ms"] =
      device_seconds(p.ctx, [&] { (void)spgemm_plan<V, index, index, device>(p.ctx, view, view); }) * 1e3;
  const spgemm_plan<V, index, index, device> plan(p.ctx, view, view);
  array<V, device> values(p.ctx, plan.result_nnz());
  state.counters["fill_ms"] = device_seconds(p.ctx, [&] { plan.fill(values); }) * 1e3;
  state.counters[gflops] = 2.0 * static_cast<double>(plan.products()) / seconds * 1e-9;
  return seconds;
}

// cuSPARSE's product as its documentation has it; 2 and 3 with a fifth of the products at a time.
template <class V>
csr_matrix<V, index, index, device> cusparse_product(problem<V>& p, cusparseHandle_t handle,
                                                     cusparseSpGEMMAlg_t algorithm) {
  constexpr cudaDataType type = cusparse_type<V>;
  constexpr cusparseOperation_t op = not_transposed;
  constexpr float share = 0.2F;
  const V one = 1;
  const V zero = 0;
  const auto buffer = [&](std::size_t bytes) {
    return array<char, device>(p.ctx, static_cast<std::int64_t>(std::max<std::size_t>(bytes, 1)));
  };
  cusparseSpMatDescr_t a = describe_csr(p.a);
  cusparseSpMatDescr_t c = nullptr;
  cusparseSpGEMMDescr_t product = nullptr;
  expect_done(cusparseCreateCsr(&c, p.a.rows(), p.a.cols(), 0, nullptr, nullptr, nullptr, CUSPARSE_INDEX_32I,
                                CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type));
  expect_done(cusparseSpGEMM_createDescr(&product));
  const auto arguments = [&](auto call, auto... rest) {
    expect_done(call(handle, op, op, &one, a, a, &zero, c, type, algorithm, product, rest...));
  };
  std::size_t first_bytes = 0;
  std::size_t bytes = 0;
  arguments(cusparseSpGEMM_workEstimation, &first_bytes, nullptr);
  auto first = buffer(first_bytes);
  arguments(cusparseSpGEMM_workEstimation, &first_bytes, static_cast<void*>(first.data()));
  if (algorithm == CUSPARSE_SPGEMM_ALG2 || algorithm == CUSPARSE_SPGEMM_ALG3) {
    std::size_t estimate_bytes = 0;
    arguments(cusparseSpGEMM_estimateMemory, share, &estimate_bytes, nullptr, nullptr);
    auto estimate = buffer(estimate_bytes);
    arguments(cusparseSpGEMM_estimateMemory, share, &estimate_bytes, static_cast<void*>(estimate.data()), &bytes);
  } else {
    arguments(cusparseSpGEMM_compute, &bytes, nullptr);
  }
  auto second = buffer(bytes);
  arguments(cusparseSpGEMM_compute, &bytes, static_cast<void*>(second.data()));
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  expect_done(cusparseSpMatGetSize(c, &rows, &cols, &nnz));
  csr_matrix<V, index, index, device> made(p.a.rows(), p.a.cols(), {p.ctx, rows + 1}, {p.ctx, nnz}, {p.ctx, nnz});
  expect_done(cusparseCsrSetPointers(c, made.offsets().data(), made.indices().data(), made.values().data()));
  arguments(cusparseSpGEMM_copy);
  cusparseSpGEMM_destroyDescr(product);
  cusparseDestroySpMat(c);
  cusparseDestroySpMat(a);
  return made;
}

template <class V>
void add_group(const spmv_case& c) {
  const std::string group = "spgemm/" + c.name + "/" + precision_name<V> + "/cuda/";
  add_case(group + "spargo",
           [=](benchmark::State& state) { return measure_product(state, cached<problem<V>>(c.source)); });
  for (const auto& [name, algorithm] :
       std::vector<std::pair<std::string, cusparseSpGEMMAlg_t>>{{"cusparse:alg1", CUSPARSE_SPGEMM_ALG1},
                                                                {"cusparse:alg2", CUSPARSE_SPGEMM_ALG2},
                                                                {"cusparse:alg3", CUSPARSE_SPGEMM_ALG3}}) {
    add_peer(group + name, [=](benchmark::State& state) {
      auto& p = cached<problem<V>>(c.source);
      cusparseHandle_t handle = nullptr;
      expect_done(cusparseCreate(&handle));
      const std::unique_ptr<cusparseContext, cusparseStatus_t (*)(cusparseHandle_t)> held(handle, cusparseDestroy);
      expect_done(cusparseSetStream(handle, p.ctx.stream()));
      return measure(state, p, [&] { return cusparse_product(p, handle, algorithm); });
    });
  }
}

void add_all() {
  if (!current_settings().device) return;
  for (const spmv_case& c : spmv_cases_or_file({{"laplacian2d_2048", "gen:laplacian2d:n=2048"},
                                                {"laplacian3d27_100", "gen:laplacian3d:n=100,points=27"},
                                                {"banded_1m_21", "gen:banded:rows=1048576,degree=21"},
                                                {"uniform_1m_8", "gen:uniform:rows=1048576,degree=8"},
                                                {"rmat_16_8", "gen:rmat:scale=16,degree=8"},
                                                {"rmat_18_8", "gen:rmat:scale=18,degree=8"}})) {
    add_group<double>(c);
    add_group<float>(c);
  }
}

const registration here{add_all};

}  // namespace

}  // namespace spargo::bench
