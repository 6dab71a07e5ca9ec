// SpMV on the device: every algorithm and format beside cuSPARSE. Times are CUDA events around one product, the L2
// cache overwritten before each, the median of 25.
#include "bench/device_timing.hpp"
#include "bench/spmv_cases.hpp"

#include <cusparse.h>

#include <memory>
#include <optional>

namespace spargo::bench {

namespace {

using index = std::int32_t;

void expect(cusparseStatus_t status) {
  if (status != CUSPARSE_STATUS_SUCCESS) throw std::runtime_error(cusparseGetErrorString(status));
}

template <class V>
struct problem {
  const context<device>& ctx = device_context();
  csr_matrix<V, index, index, device> matrix;
  array<V, device> x;
  array<V, device> y;

  explicit problem(const std::string& spec)
      : matrix(to_csr<index>(ctx, to_device(ctx, generated_as<V>(context<host>(), spec).view()).view())),
        x(ctx, matrix.cols()),
        y(ctx, matrix.rows()) {
    std::vector<V> there(static_cast<std::size_t>(x.size()));
    for (std::size_t i = 0; i < there.size(); ++i) there[i] = static_cast<V>(1) / static_cast<V>(1 + i);
    copy<V>(ctx, span<const V, host>(there), x.view());
    ctx.synchronize();
  }

  // The last one is kept; one at a time, over all types, so that memory holds large matrices.
  static problem& of(const std::string& spec);
};

std::function<void()>& drop_held_problem() {
  static std::function<void()> drop;
  return drop;
}

template <class V>
problem<V>& problem<V>::of(const std::string& spec) {
  static std::string held;
  static std::unique_ptr<problem> kept;
  if (held != spec || kept == nullptr) {
    if (drop_held_problem()) drop_held_problem()();
    kept = std::make_unique<problem>(spec);
    held = spec;
    drop_held_problem() = [] { kept.reset(); };
  }
  return *kept;
}

template <class V, class Run>
double measure(benchmark::State& state, const problem<V>& p, Run&& run) {
  const double seconds = device_seconds(p.ctx, run);
  report_rates(state, compulsory_bytes<V>(p.matrix.rows(), p.matrix.cols(), p.matrix.nnz()), seconds,
               device_copy_rate());
  return seconds;
}

template <class V, class Matrix>
double measure_plan(benchmark::State& state, problem<V>& p, const Matrix& matrix, spmv_algorithm algorithm) {
  const spmv_plan<V, index, index, device> plan(p.ctx, matrix.view(), {.algorithm = algorithm});
  state.SetLabel(std::string(to_string(plan.algorithm())));
  return measure(state, p, [&] { plan.run(V{1}, std::as_const(p.x).view(), V{0}, p.y.view()); });
}

// cuSPARSE's product, prepared as its documentation advises.
template <class V>
double measure_cusparse(benchmark::State& state, problem<V>& p, cusparseSpMVAlg_t algorithm) {
  constexpr cudaDataType type = std::same_as<V, float> ? CUDA_R_32F : CUDA_R_64F;
  const V one = 1;
  const V zero = 0;
  cusparseHandle_t handle = nullptr;
  cusparseSpMatDescr_t a = nullptr;
  cusparseDnVecDescr_t x = nullptr;
  cusparseDnVecDescr_t y = nullptr;
  expect(cusparseCreate(&handle));
  expect(cusparseSetStream(handle, p.ctx.stream()));
  expect(cusparseCreateCsr(&a, p.matrix.rows(), p.matrix.cols(), p.matrix.nnz(), p.matrix.offsets().data(),
                           p.matrix.indices().data(), p.matrix.values().data(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                           CUSPARSE_INDEX_BASE_ZERO, type));
  expect(cusparseCreateDnVec(&x, p.x.size(), p.x.data(), type));
  expect(cusparseCreateDnVec(&y, p.y.size(), p.y.data(), type));
  std::size_t bytes = 0;
  const auto op = CUSPARSE_OPERATION_NON_TRANSPOSE;
  expect(cusparseSpMV_bufferSize(handle, op, &one, a, x, &zero, y, type, algorithm, &bytes));
  array<char, device> buffer(p.ctx, static_cast<std::int64_t>(std::max<std::size_t>(bytes, 1)));
  expect(cusparseSpMV_preprocess(handle, op, &one, a, x, &zero, y, type, algorithm, buffer.data()));
  state.counters[is_peer] = 1;
  const double seconds = measure(
      state, p, [&] { expect(cusparseSpMV(handle, op, &one, a, x, &zero, y, type, algorithm, buffer.data())); });
  expect(cusparseDestroyDnVec(y));
  expect(cusparseDestroyDnVec(x));
  expect(cusparseDestroySpMat(a));
  expect(cusparseDestroy(handle));
  return seconds;
}

template <class V>
void add_matrix(const std::string& name, const std::string& spec) {
  const std::string group = "spmv/" + name + "/" + precision_name<V> + "/cuda/";
  for (const auto algorithm : {spmv_algorithm::automatic, spmv_algorithm::row_per_thread, spmv_algorithm::row_per_warp,
                               spmv_algorithm::row_blocks, spmv_algorithm::merge_path}) {
    add_case(group + "csr:" + std::string(to_string(algorithm)), [=](benchmark::State& state) {
      auto& p = problem<V>::of(spec);
      return measure_plan(state, p, p.matrix, algorithm);
    });
  }
  add_case(group + "ell", [=](benchmark::State& state) {
    auto& p = problem<V>::of(spec);
    return measure_plan(state, p, to_ell(p.ctx, p.matrix.view()), spmv_algorithm::ell);
  });
  add_case(group + "sell", [=](benchmark::State& state) {
    auto& p = problem<V>::of(spec);
    return measure_plan(state, p, to_sell(p.ctx, p.matrix.view()), spmv_algorithm::sell);
  });
  for (const auto algorithm : {spmv_algorithm::coo_segmented, spmv_algorithm::coo_atomic}) {
    add_case(group + std::string(to_string(algorithm)), [=](benchmark::State& state) {
      auto& p = problem<V>::of(spec);
      return measure_plan(state, p, to_coo(p.ctx, p.matrix.view()), algorithm);
    });
  }
  for (const auto& [peer, algorithm] :
       std::vector<std::pair<std::string, cusparseSpMVAlg_t>>{{"cusparse:default", CUSPARSE_SPMV_ALG_DEFAULT},
                                                              {"cusparse:csr_alg1", CUSPARSE_SPMV_CSR_ALG1},
                                                              {"cusparse:csr_alg2", CUSPARSE_SPMV_CSR_ALG2}}) {
    add_case(group + peer,
             [=](benchmark::State& state) { return measure_cusparse(state, problem<V>::of(spec), algorithm); });
  }
}

void add_all() {
  if (!current_settings().device) return;
  for (const auto& [name, spec] : std::vector<std::pair<std::string, std::string>>{
           {"laplacian2d_4096", "gen:laplacian2d:n=4096"},
           {"laplacian3d27_160", "gen:laplacian3d:n=160,points=27"},
           {"banded_8m_15", "gen:banded:rows=8388608,degree=15"},
           {"uniform_8m_16", "gen:uniform:rows=8388608,degree=16"},
           {"powerlaw_4m_16", "gen:powerlaw:rows=4194304,degree=16,max=1000000"},
           {"rmat_22_16", "gen:rmat:scale=22,degree=16"}}) {
    add_matrix<float>(name, spec);
    add_matrix<double>(name, spec);
  }
}

const registration here{add_all};

}  // namespace

}  // namespace spargo::bench
