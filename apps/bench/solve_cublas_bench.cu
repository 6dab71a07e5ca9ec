// Conjugate gradients on the device: the time of an iteration, beside the textbook's loop out of cuSPARSE and cuBLAS
// calls in a captured graph. Both without a preconditioner, both warm; the residuals after 50 iterations are compared.
// And GMRES: the time of an iteration in a run of 200, which has as many restarts as it needs.
#include "bench/bench.hpp"
#include "bench/device_timing.hpp"

#include <spargo/formats/convert.hpp>
#include <spargo/io/generate.hpp>
#include <spargo/solvers/krylov.hpp>

#include <cublas_v2.h>
#include <cusparse.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>

namespace spargo::bench {

namespace {

using index = std::int32_t;

void expect_done(cusparseStatus_t status) {
  if (status != CUSPARSE_STATUS_SUCCESS) throw std::runtime_error(cusparseGetErrorString(status));
}
void expect_done(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) throw std::runtime_error(cublasGetStatusString(status));
}

// Weights between 0 and 1 of the nearest `side` neighbours on both sides, as a Laplacian plus a hundredth: no two
// values are equal.
csr_matrix<double, index, index, host> weighted_band(index rows, index side) {
  const context<host> ctx;
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<double> above(static_cast<std::size_t>(rows) * static_cast<std::size_t>(side));
  for (double& v : above) v = uniform(random);
  const auto weight = [&](index low, index high) {
    return above[static_cast<std::size_t>(low) * static_cast<std::size_t>(side) +
                 static_cast<std::size_t>(high - low - 1)];
  };
  const index most = (2 * side + 1) * rows;
  array<index, host> offsets(ctx, rows + 1);
  array<index, host> indices(ctx, most);
  array<double, host> values(ctx, most);
  index at = 0;
  for (index i = 0; i < rows; ++i) {
    offsets[i] = at;
    index diagonal = 0;
    double sum = 0.01;
    for (index j = std::max(0, i - side); j <= std::min(rows - 1, i + side); ++j) {
      indices[at] = j;
      if (j == i) {
        diagonal = at++;
        continue;
      }
      const double w = weight(std::min(i, j), std::max(i, j));
      values[at++] = -w;
      sum += w;
    }
    values[diagonal] = sum;
  }
  offsets[rows] = at;
  indices.truncate(at);
  values.truncate(at);
  return {rows, rows, std::move(offsets), std::move(indices), std::move(values)};
}

// The matrix on the device; one is held at a time.
struct solve_problem {
  const context<device>& ctx = device_context();
  csr_matrix<double, index, index, device> matrix;

  explicit solve_problem(const std::string& source) {
    const context<host> cpu;
    if (source.starts_with("band")) {
      matrix = to_device(ctx, weighted_band(1 << 20, 10).view());
    } else {
      matrix = to_csr<index>(ctx, to_device(ctx, generate<double, index>(cpu, source).view()).view());
    }
    ctx.synchronize();
  }
  static const solve_problem& of(const std::string& source) {
    static std::string held;
    static std::unique_ptr<solve_problem> kept;
    if (held != source) {
      kept.reset();
      kept = std::make_unique<solve_problem>(source);
      held = source;
    }
    return *kept;
  }
};

template <class V>
csr_matrix<V, index, index, device> matrix_as(const solve_problem& p) {
  const csr_matrix<double, index, index, host> a = to_host(p.ctx, p.matrix.view());
  array<V, host> values(context<host>(), a.nnz());
  for (std::int64_t k = 0; k < a.nnz(); ++k) values[k] = static_cast<V>(a.values()[k]);
  return {a.rows(), a.cols(), clone(p.ctx, p.matrix.offsets().view()), clone(p.ctx, p.matrix.indices().view()),
          to_device(p.ctx, values)};
}

template <class V>
array<V, device> right_side(const context<device>& ctx, std::int64_t n) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(-1, 1);
  array<V, host> b(context<host>(), n);
  for (V& v : b) v = static_cast<V>(uniform(random));
  return to_device(ctx, b);
}

// --- The peer
// ------------------------------------------------------------------------------------------------------------

// alpha and -alpha, or beta, from the sums that the calls leave on the device.
template <class V>
struct scalars {
  V curvature, square, alpha, minus, beta, before;
};
template <class V>
__global__ void set_alpha(scalars<V>* s) {
  s->alpha = s->square / s->curvature;
  s->minus = -s->alpha;
  s->before = s->square;
}
template <class V>
__global__ void set_beta(scalars<V>* s) {
  s->beta = s->square / s->before;
}

template <class V>
class library_cg {
 public:
  library_cg(const context<device>& ctx, const csr_matrix<V, index, index, device>& a, cusparseSpMVAlg_t algorithm)
      : ctx_(ctx),
        n_(a.rows()),
        algorithm_(algorithm),
        x_(ctx, n_),
        r_(right_side<V>(ctx, n_)),
        p_(clone(ctx, std::as_const(r_).view())),
        q_(ctx, n_),
        s_(ctx, 1),
        one_(ctx, 2) {
    const V constants[] = {1, 0};
    copy<V>(ctx, span<const V, host>(constants, 2), one_.view());
    fill_zero(ctx, x_.view());
    expect_done(cusparseCreate(&sparse_));
    expect_done(cublasCreate(&blas_));
    expect_done(cusparseSetStream(sparse_, ctx.stream()));
    expect_done(cublasSetStream(blas_, ctx.stream()));
    expect_done(cusparseSetPointerMode(sparse_, CUSPARSE_POINTER_MODE_DEVICE));
    expect_done(cublasSetPointerMode(blas_, CUBLAS_POINTER_MODE_DEVICE));
    expect_done(cusparseCreateCsr(&a_, a.rows(), a.cols(), a.nnz(), const_cast<index*>(a.offsets().data()),
                                  const_cast<index*>(a.indices().data()), const_cast<V*>(a.values().data()),
                                  CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type));
    expect_done(cusparseCreateDnVec(&from_, n_, p_.data(), type));
    expect_done(cusparseCreateDnVec(&to_, n_, q_.data(), type));
    std::size_t bytes = 0;
    expect_done(cusparseSpMV_bufferSize(sparse_, op, one(), a_, from_, zero(), to_, type, algorithm_, &bytes));
    buffer_ = {ctx, static_cast<std::int64_t>(std::max<std::size_t>(bytes, 1))};
    expect_done(cusparseSpMV_preprocess(sparse_, op, one(), a_, from_, zero(), to_, type, algorithm_, buffer_.data()));
    dot(r_, r_, &s()->square);
  }
  library_cg(const library_cg&) = delete;
  library_cg& operator=(const library_cg&) = delete;
  ~library_cg() {
    cusparseDestroyDnVec(to_);
    cusparseDestroyDnVec(from_);
    cusparseDestroySpMat(a_);
    cublasDestroy(blas_);
    cusparseDestroy(sparse_);
  }

  void step() {
    expect_done(cusparseSpMV(sparse_, op, one(), a_, from_, zero(), to_, type, algorithm_, buffer_.data()));
    dot(p_, q_, &s()->curvature);
    set_alpha<<<1, 1, 0, ctx_.stream()>>>(s());
    add(&s()->alpha, p_, x_);
    add(&s()->minus, q_, r_);
    dot(r_, r_, &s()->square);
    set_beta<<<1, 1, 0, ctx_.stream()>>>(s());
    if constexpr (std::same_as<V, float>) {
      expect_done(cublasSscal(blas_, n_, &s()->beta, p_.data(), 1));
    } else {
      expect_done(cublasDscal(blas_, n_, &s()->beta, p_.data(), 1));
    }
    add(one(), r_, p_);
  }
  [[nodiscard]] double residual() {
    const auto now = to_host(ctx_, std::as_const(s_).view());
    return std::sqrt(static_cast<double>(now[0].square));
  }

 private:
  static constexpr cudaDataType type = std::same_as<V, float> ? CUDA_R_32F : CUDA_R_64F;
  static constexpr cusparseOperation_t op = CUSPARSE_OPERATION_NON_TRANSPOSE;

  [[nodiscard]] scalars<V>* s() { return s_.data(); }
  [[nodiscard]] const V* one() { return one_.data(); }
  [[nodiscard]] const V* zero() { return one_.data() + 1; }
  void dot(const array<V, device>& u, const array<V, device>& v, V* to) {
    if constexpr (std::same_as<V, float>) {
      expect_done(cublasSdot(blas_, n_, u.data(), 1, v.data(), 1, to));
    } else {
      expect_done(cublasDdot(blas_, n_, u.data(), 1, v.data(), 1, to));
    }
  }
  void add(const V* by, const array<V, device>& v, array<V, device>& to) {
    if constexpr (std::same_as<V, float>) {
      expect_done(cublasSaxpy(blas_, n_, by, v.data(), 1, to.data(), 1));
    } else {
      expect_done(cublasDaxpy(blas_, n_, by, v.data(), 1, to.data(), 1));
    }
  }

  context<device> ctx_;
  int n_;
  cusparseSpMVAlg_t algorithm_;
  array<V, device> x_, r_, p_, q_;
  array<scalars<V>, device> s_;
  array<V, device> one_;
  array<char, device> buffer_;
  cusparseHandle_t sparse_ = nullptr;
  cublasHandle_t blas_ = nullptr;
  cusparseSpMatDescr_t a_ = nullptr;
  cusparseDnVecDescr_t from_ = nullptr;
  cusparseDnVecDescr_t to_ = nullptr;
};

// Seconds of an iteration in a graph of 50, launched `launches` times.
template <class V>
double library_seconds(library_cg<V>& cg, const context<device>& ctx, int launches) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  constexpr int steps = 50;
  expect(cudaStreamBeginCapture(ctx.stream(), cudaStreamCaptureModeThreadLocal));
  for (int k = 0; k < steps; ++k) cg.step();
  expect(cudaStreamEndCapture(ctx.stream(), &graph));
  expect(cudaGraphInstantiate(&ready, graph, 0));
  const event start;
  const event stop;
  std::vector<double> seconds;
  for (int k = 0; k < launches; ++k) {
    expect(cudaEventRecord(start, ctx.stream()));
    expect(cudaGraphLaunch(ready, ctx.stream()));
    expect(cudaEventRecord(stop, ctx.stream()));
    expect(cudaEventSynchronize(stop));
    float milliseconds = 0;
    expect(cudaEventElapsedTime(&milliseconds, start, stop));
    seconds.push_back(static_cast<double>(milliseconds) * 1e-3 / steps);
  }
  expect(cudaGraphExecDestroy(ready));
  expect(cudaGraphDestroy(graph));
  return median(seconds);
}

// --- Ours
// ------------------------------------------------------------------------------------------------------------

template <class V>
krylov_result solve(const context<device>& ctx, const csr_matrix<V, index, index, device>& a, std::int64_t iterations,
                    double* seconds, krylov_method method = krylov_method::cg, std::int64_t restart = 1) {
  const krylov_plan<V, device> plan(ctx, a.view(),
                                    {.method = method,
                                     .preconditioner = krylov_preconditioner::none,
                                     .tolerance = 0,
                                     .max_iterations = iterations,
                                     .restart = restart});
  const array<V, device> b = right_side<V>(ctx, a.rows());
  array<V, device> x(ctx, a.rows());
  krylov_result found;
  std::vector<double> times;
  for (int k = 0; k < (seconds == nullptr ? 1 : 4); ++k) {
    fill_zero(ctx, x.view());
    ctx.synchronize();
    const auto start = std::chrono::steady_clock::now();
    found = plan.run(b.view(), x.view());
    times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  times.erase(times.begin());
  if (seconds != nullptr) *seconds = median(times);
  return found;
}

// An iteration is the difference between two runs.
template <class V>
void add_ours(const std::string& group, const std::string& source) {
  add_case(group + "cg", [=](benchmark::State& state) {
    const solve_problem& p = solve_problem::of(source);
    const auto a = matrix_as<V>(p);
    constexpr std::int64_t few = 64;
    constexpr std::int64_t many = 320;
    double short_run = 0;
    double long_run = 0;
    (void)solve<V>(p.ctx, a, few, &short_run);
    const krylov_result found = solve<V>(p.ctx, a, many, &long_run);
    if (found.iterations != many) throw std::runtime_error("cg ended early: " + found.reason);
    const double seconds = (long_run - short_run) / static_cast<double>(many - few);
    state.counters["iteration_us"] = seconds * 1e6;
    state.counters["run_of_64_us"] = short_run * 1e6;
    return seconds;
  });
}

template <class V>
void add_gmres(const std::string& group, const std::string& source, std::int64_t restart) {
  add_case(group + "restart_" + std::to_string(restart), [=](benchmark::State& state) {
    const solve_problem& p = solve_problem::of(source);
    constexpr std::int64_t steps = 200;
    double run = 0;
    const krylov_result found = solve<V>(p.ctx, matrix_as<V>(p), steps, &run, krylov_method::gmres, restart);
    if (found.iterations != steps) throw std::runtime_error("gmres ended early: " + found.reason);
    state.counters["iteration_us"] = run / steps * 1e6;
    state.counters["relative_residual"] = found.relative_residual;
    return run / steps;
  });
}

template <class V>
void add_library(const std::string& group, const std::string& source, const std::string& name,
                 cusparseSpMVAlg_t algorithm) {
  add_peer(group + name, [=](benchmark::State& state) {
    const solve_problem& p = solve_problem::of(source);
    const auto a = matrix_as<V>(p);
    library_cg<V> cg(p.ctx, a, algorithm);
    (void)library_seconds(cg, p.ctx, 1);
    const double residual = cg.residual();
    const krylov_result ours = solve<V>(p.ctx, a, 50, nullptr);
    const auto b = to_host(p.ctx, right_side<V>(p.ctx, a.rows()));
    double square = 0;
    for (const V v : b) square += static_cast<double>(v) * static_cast<double>(v);
    const double want = ours.history.back() * std::sqrt(square);
    const double slack = std::same_as<V, float> ? 0.05 : 1e-3;
    if (!(std::abs(residual - want) <= slack * want)) {
      throw std::runtime_error("|r| after 50 iterations is " + std::to_string(residual) + ", of ours " +
                               std::to_string(want));
    }
    const double seconds = library_seconds(cg, p.ctx, 5);
    state.counters["iteration_us"] = seconds * 1e6;
    return seconds;
  });
}

template <class V>
void add_system(const std::string& name, const std::string& source) {
  const std::string of = name + (std::same_as<V, float> ? "/fp32" : "/fp64") + "/cuda/";
  const std::string group = "solve/" + of;
  for (const std::int64_t restart : {20, 30}) add_gmres<V>("gmres/" + of, source, restart);
  add_ours<V>(group, source);
  add_library<V>(group, source, "cusparse_cublas:csr_alg1", CUSPARSE_SPMV_CSR_ALG1);
  add_library<V>(group, source, "cusparse_cublas:csr_alg2", CUSPARSE_SPMV_CSR_ALG2);
}

const registration here{[] {
  if (!current_settings().device) return;
  constexpr const char* systems[][2] = {{"laplacian2d_2048", "gen:laplacian2d:n=2048"},
                                        {"laplacian3d27_100", "gen:laplacian3d:n=100,points=27"},
                                        {"band_1m_21", "band"},
                                        {"laplacian2d_1024", "gen:laplacian2d:n=1024"},
                                        {"laplacian2d_100", "gen:laplacian2d:n=100"}};
  for (const auto& [name, source] : systems) {
    add_system<double>(name, source);
    add_system<float>(name, source);
  }
}};

}  // namespace

}  // namespace spargo::bench
