// SpMM on the device beside cuSPARSE: median of 25 by CUDA events, flushed L2 cache; X and Y row-major.
#include "bench/cached.hpp"
#include "bench/check_device.hpp"
#include "bench/cusparse_peer.hpp"
#include "bench/spmm_cases.hpp"

#include <chrono>
#include <utility>

namespace spargo::bench {

namespace {

using index = std::int32_t;

template <class V>
struct problem {
  const context<device>& ctx = device_context();
  csr_matrix<V, index, index, device> matrix;
  std::int64_t k = 0;
  dense_matrix<V, device> x;
  dense_matrix<V, device> y;

  explicit problem(const std::string& source)
      : matrix(to_csr<index>(ctx, to_device(ctx, generated_as<V>(context<host>(), source).view()).view())) {}

  void set_columns(std::int64_t columns) {
    if (k == columns) return;
    k = columns;
    x = {};
    y = {};
    x = dense_matrix<V, device>(ctx, matrix.cols(), k);
    y = dense_matrix<V, device>(ctx, matrix.rows(), k);
    std::vector<V> values(static_cast<std::size_t>(matrix.cols() * k));
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < x.rows(); ++i) {
      for (std::int64_t j = 0; j < k; ++j) values[static_cast<std::size_t>(i * k + j)] = spmm_input<V>(i, j);
    }
    copy<V>(ctx, span<const V, host>(values), x.view().data);
    ctx.synchronize();
  }

  void validate() const { expect_sparse_product_on_device<V>(matrix.view(), k, x.view().data, y.view().data); }

  static problem& of(const std::string& source, std::int64_t k) {
    auto& kept = cached<problem>(source);
    kept.set_columns(k);
    return kept;
  }
};

template <class V, class Run>
double measure(benchmark::State& state, problem<V>& p, Run&& run) {
  poison(p.ctx, p.y.view().data);
  const double seconds = device_seconds(p.ctx, run);
  p.validate();
  report_rates(state, spmm_bytes<V>(p.matrix.rows(), p.matrix.cols(), p.matrix.nnz(), p.k), seconds,
               device_copy_rate());
  state.counters[gflops] = 2.0 * static_cast<double>(p.matrix.nnz()) * static_cast<double>(p.k) / seconds * 1e-9;
  return seconds;
}

template <class V>
double measure_plan(benchmark::State& state, problem<V>& p, spmm_algorithm algorithm) {
  const auto start = std::chrono::steady_clock::now();
  const spmm_plan<V, index, index, device> plan(p.ctx, p.matrix.view(), p.k, {.algorithm = algorithm});
  p.ctx.synchronize();
  const double plan_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  state.SetLabel(std::string(to_string(plan.algorithm())) + ": " + plan.reason());
  state.counters["plan_ms"] = plan_seconds * 1e3;
  state.counters["plan_MB"] = static_cast<double>(plan.workspace_bytes()) * 1e-6;
  return measure(state, p, [&] { plan.run(V{1}, std::as_const(p.x).view(), V{0}, p.y.view()); });
}

// cuSPARSE's product, prepared as its documentation recommends.
template <class V>
class cusparse_spmm {
 public:
  cusparse_spmm(problem<V>& p, cusparseSpMMAlg_t algorithm) : algorithm_(algorithm) {
    auto& m = p.matrix;
    expect_done(cusparseCreate(&handle_));
    expect_done(cusparseSetStream(handle_, p.ctx.stream()));
    a_ = describe_csr(m);
    expect_done(cusparseCreateDnMat(&x_, m.cols(), p.k, p.k, p.x.view().data.data(), type, CUSPARSE_ORDER_ROW));
    expect_done(cusparseCreateDnMat(&y_, m.rows(), p.k, p.k, p.y.view().data.data(), type, CUSPARSE_ORDER_ROW));
    std::size_t bytes = 0;
    expect_done(cusparseSpMM_bufferSize(handle_, op, op, &one_, a_, x_, &zero_, y_, type, algorithm_, &bytes));
    buffer_ = {p.ctx, static_cast<std::int64_t>(std::max<std::size_t>(bytes, 1))};
    expect_done(cusparseSpMM_preprocess(handle_, op, op, &one_, a_, x_, &zero_, y_, type, algorithm_, buffer_.data()));
  }
  cusparse_spmm(const cusparse_spmm&) = delete;
  cusparse_spmm& operator=(const cusparse_spmm&) = delete;
  ~cusparse_spmm() {
    cusparseDestroyDnMat(y_);
    cusparseDestroyDnMat(x_);
    cusparseDestroySpMat(a_);
    cusparseDestroy(handle_);
  }

  void operator()() {
    expect_done(cusparseSpMM(handle_, op, op, &one_, a_, x_, &zero_, y_, type, algorithm_, buffer_.data()));
  }

 private:
  static constexpr cudaDataType type = cusparse_type<V>;
  static constexpr cusparseOperation_t op = not_transposed;

  V one_ = 1;
  V zero_ = 0;
  cusparseSpMMAlg_t algorithm_;
  cusparseHandle_t handle_ = nullptr;
  cusparseSpMatDescr_t a_ = nullptr;
  cusparseDnMatDescr_t x_ = nullptr;
  cusparseDnMatDescr_t y_ = nullptr;
  array<char, device> buffer_;
};

template <class V>
void add_group(const spmv_case& c, std::int64_t k) {
  const std::string group = spmm_group<V>(c.name, k, "cuda");
  for (const auto algorithm : {spmm_algorithm::automatic, spmm_algorithm::row_groups, spmm_algorithm::merge_path}) {
    add_case(group + std::string(to_string(algorithm)),
             [=](benchmark::State& state) { return measure_plan(state, problem<V>::of(c.source, k), algorithm); });
  }
  for (const auto& [name, algorithm] :
       std::vector<std::pair<std::string, cusparseSpMMAlg_t>>{{"cusparse:default", CUSPARSE_SPMM_ALG_DEFAULT},
                                                              {"cusparse:csr_alg1", CUSPARSE_SPMM_CSR_ALG1},
                                                              {"cusparse:csr_alg2", CUSPARSE_SPMM_CSR_ALG2},
                                                              {"cusparse:csr_alg3", CUSPARSE_SPMM_CSR_ALG3}}) {
    add_peer(group + name, [=](benchmark::State& state) {
      auto& p = problem<V>::of(c.source, k);
      cusparse_spmm<V> product(p, algorithm);
      return measure(state, p, product);
    });
  }
}

void add_all() {
  if (!current_settings().device) return;
  for (const spmv_case& c : spmv_cases_or_file({{"laplacian2d_4096", "gen:laplacian2d:n=4096"},
                                                {"laplacian3d27_160", "gen:laplacian3d:n=160,points=27"},
                                                {"banded_8m_15", "gen:banded:rows=8388608,degree=15"},
                                                {"uniform_8m_16", "gen:uniform:rows=8388608,degree=16"},
                                                {"powerlaw_4m_16", "gen:powerlaw:rows=4194304,degree=16,max=1000000"},
                                                {"rmat_22_16", "gen:rmat:scale=22,degree=16"}})) {
    for (const std::int64_t k : spmm_widths) add_group<float>(c, k);
    for (const std::int64_t k : spmm_widths) add_group<double>(c, k);
  }
}

const registration here{add_all};

}  // namespace

}  // namespace spargo::bench
