// Preconditioners on the device: triangular solves beside cuSPARSE's SpSV, ILU(0) beside its csrilu02, and the blocks
// of block-Jacobi. Matrices with the entries of a generator's, -1, and the number of its entries on the diagonal of a
// row.
#include "bench/cusparse_peer.hpp"
#include "bench/spmv_cases.hpp"
#include "bench/spmv_device.hpp"
#include "solvers/preconditioners/preconditioner.hpp"

#include <spargo/sparse/triangular_solve.hpp>

#include <chrono>
#include <cmath>
#include <memory>

namespace spargo::bench {

namespace {

using index = std::int32_t;
using matrix = csr_matrix<double, index, index, device>;
namespace krylov = detail::krylov;

struct problem {
  matrix a;
  array<double, device> b;
  array<double, device> x;

  explicit problem(const std::string& source) {
    const context<host> cpu;
    auto here = to_csr<index>(cpu, generated(source).view());
    for (index row = 0; row < here.rows(); ++row) {
      const index length = here.offsets()[row + 1] - here.offsets()[row];
      for (index k = here.offsets()[row]; k < here.offsets()[row + 1]; ++k) {
        here.values()[k] = here.indices()[k] == row ? static_cast<double>(length) : -1;
      }
    }
    array<double, host> right(cpu, here.rows());
    for (std::int64_t k = 0; k < right.size(); ++k) right[k] = static_cast<double>(k % 1000) * 1e-3 - 0.5;
    a = to_device(device_context(), here.view());
    b = to_device(device_context(), right);
    x = {device_context(), right.size()};
    device_context().synchronize();
  }

  static problem& of(const std::string& source) {
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

// Of a call that synchronises at its end, warm.
template <class Make>
double host_seconds(const Make& make) {
  double best = HUGE_VAL;
  for (int k = 0; k < 3; ++k) {
    const auto start = std::chrono::steady_clock::now();
    make();
    device_context().synchronize();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

template <class Run>
double few_runs(const Run& run) {
  return device_seconds(device_context(), run, 5, 1);
}

void report_solve(benchmark::State& state, const problem& p, double analysis, double seconds) {
  state.counters["analysis_ms"] = analysis * 1e3;
  state.counters["solve_ms"] = seconds * 1e3;
  report_rates(state, compulsory_bytes<double>(p.a.rows(), p.a.cols(), p.a.nnz() / 2), seconds, device_copy_rate());
}

// --- SpSV ------------------------------------------------------------------------------------------------------------

class spsv {
 public:
  explicit spsv(problem& p) : p_(p) {
    expect_done(cusparseCreate(&handle_));
    expect_done(cusparseSetStream(handle_, device_context().stream()));
    a_ = describe_csr(p.a);
    cusparseFillMode_t fill = CUSPARSE_FILL_MODE_LOWER;
    cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
    expect_done(cusparseSpMatSetAttribute(a_, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof(fill)));
    expect_done(cusparseSpMatSetAttribute(a_, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof(diagonal)));
    expect_done(cusparseCreateDnVec(&b_, p.b.size(), p.b.data(), CUDA_R_64F));
    expect_done(cusparseCreateDnVec(&x_, p.x.size(), p.x.data(), CUDA_R_64F));
    expect_done(cusparseSpSV_createDescr(&plan_));
    std::size_t bytes = 0;
    expect_done(cusparseSpSV_bufferSize(handle_, not_transposed, &one_, a_, b_, x_, CUDA_R_64F,
                                        CUSPARSE_SPSV_ALG_DEFAULT, plan_, &bytes));
    buffer_ = {device_context(), static_cast<std::int64_t>(bytes) + 1};
  }
  spsv(const spsv&) = delete;
  spsv& operator=(const spsv&) = delete;
  ~spsv() {
    device_context().synchronize();
    cusparseSpSV_destroyDescr(plan_);
    cusparseDestroyDnVec(x_);
    cusparseDestroyDnVec(b_);
    cusparseDestroySpMat(a_);
    cusparseDestroy(handle_);
  }

  void analyse() {
    expect_done(cusparseSpSV_analysis(handle_, not_transposed, &one_, a_, b_, x_, CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT,
                                      plan_, buffer_.data()));
  }
  void solve() {
    expect_done(
        cusparseSpSV_solve(handle_, not_transposed, &one_, a_, b_, x_, CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT, plan_));
  }

 private:
  problem& p_;
  double one_ = 1;
  cusparseHandle_t handle_ = nullptr;
  cusparseSpMatDescr_t a_ = nullptr;
  cusparseDnVecDescr_t b_ = nullptr;
  cusparseDnVecDescr_t x_ = nullptr;
  cusparseSpSVDescr_t plan_ = nullptr;
  array<char, device> buffer_;
};

void expect_close(const array<double, device>& got, const array<double, device>& expected) {
  const auto x = to_host(device_context(), got.view());
  const auto y = to_host(device_context(), expected.view());
  for (std::int64_t k = 0; k < x.size(); ++k) {
    if (!(std::abs(x[k] - y[k]) <= 1e-12)) throw wrong_result("x differs in row " + std::to_string(k));
  }
}

void add_solves(const std::string& group, const std::string& source) {
  add_case(group + "spargo", [=](benchmark::State& state) {
    problem& p = problem::of(source);
    const double analysis = host_seconds([&] { (void)triangular_solve_plan(device_context(), p.a); });
    const triangular_solve_plan plan(device_context(), p.a);
    state.counters["levels"] = static_cast<double>(plan.levels());
    const double seconds = few_runs([&] { plan.run(p.b.view(), p.x.view()); });
    report_solve(state, p, analysis, seconds);
    return seconds;
  });
  for (const std::int64_t sweeps : {1, 3}) {
    add_case(group + "sweeps_" + std::to_string(sweeps), [=](benchmark::State& state) {
      problem& p = problem::of(source);
      const triangular_solve_options options{.sweeps = sweeps};
      const double analysis = host_seconds([&] { (void)triangular_solve_plan(device_context(), p.a, options); });
      const triangular_solve_plan plan(device_context(), p.a, options);
      const double seconds = few_runs([&] { plan.run(p.b.view(), p.x.view()); });
      report_solve(state, p, analysis, seconds);
      return seconds;
    });
  }
  add_peer(group + "cusparse_spsv", [=](benchmark::State& state) {
    problem& p = problem::of(source);
    const triangular_solve_plan ours(device_context(), p.a);
    array<double, device> expected(device_context(), p.x.size());
    ours.run(p.b.view(), expected.view());
    const double analysis = host_seconds([&] { spsv(p).analyse(); });
    spsv plan(p);
    plan.analyse();
    const double seconds = few_runs([&] { plan.solve(); });
    expect_close(p.x, expected);
    report_solve(state, p, analysis, seconds);
    return seconds;
  });
}

// --- ILU(0) ----------------------------------------------------------------------------------------------------------

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // cuSPARSE has no other ILU(0)

// Analysis and factors, of a copy of the values.
void cusparse_ilu0(problem& p) {
  const auto& ctx = device_context();
  cusparseHandle_t handle = nullptr;
  expect_done(cusparseCreate(&handle));
  const std::unique_ptr<cusparseContext, cusparseStatus_t (*)(cusparseHandle_t)> held(handle, cusparseDestroy);
  expect_done(cusparseSetStream(handle, ctx.stream()));
  cusparseMatDescr_t general = nullptr;
  expect_done(cusparseCreateMatDescr(&general));
  const std::unique_ptr<cusparseMatDescr, cusparseStatus_t (*)(cusparseMatDescr_t)> held_type(general,
                                                                                              cusparseDestroyMatDescr);
  csrilu02Info_t info = nullptr;
  expect_done(cusparseCreateCsrilu02Info(&info));
  const std::unique_ptr<csrilu02Info, cusparseStatus_t (*)(csrilu02Info_t)> held_info(info,
                                                                                      cusparseDestroyCsrilu02Info);
  array<double, device> values = clone(ctx, std::as_const(p.a).values().view());
  const auto nnz = static_cast<int>(p.a.nnz());
  const index* const offsets = p.a.offsets().data();
  const index* const indices = p.a.indices().data();
  int bytes = 0;
  expect_done(
      cusparseDcsrilu02_bufferSize(handle, p.a.rows(), nnz, general, values.data(), offsets, indices, info, &bytes));
  array<char, device> buffer(ctx, std::int64_t{bytes} + 1);
  constexpr auto by_levels = CUSPARSE_SOLVE_POLICY_USE_LEVEL;
  expect_done(cusparseDcsrilu02_analysis(handle, p.a.rows(), nnz, general, values.data(), offsets, indices, info,
                                         by_levels, buffer.data()));
  expect_done(cusparseDcsrilu02(handle, p.a.rows(), nnz, general, values.data(), offsets, indices, info, by_levels,
                                buffer.data()));
  ctx.synchronize();
}

#pragma GCC diagnostic pop

void add_factors(const std::string& group, const std::string& source) {
  // With the plans of both triangles, which cuSPARSE's lacks.
  add_case(group + "spargo", [=](benchmark::State& state) {
    const problem& p = problem::of(source);
    array<int, device> active(device_context(), 1);
    const double seconds = host_seconds([&] {
      (void)krylov::build_preconditioner<double, index, index>(device_context(), p.a.view(), {}, active.data());
    });
    state.counters["factors_and_plans_ms"] = seconds * 1e3;
    return seconds;
  });
  add_peer(group + "cusparse_csrilu02", [=](benchmark::State& state) {
    problem& p = problem::of(source);
    const double seconds = host_seconds([&] { cusparse_ilu0(p); });
    state.counters["factors_ms"] = seconds * 1e3;
    return seconds;
  });
}

void add_blocks(const std::string& group, const std::string& source) {
  for (const std::int64_t size : {2, 8, 32}) {
    add_case(group + "blocks_of_" + std::to_string(size), [=](benchmark::State& state) {
      problem& p = problem::of(source);
      array<int, device> active(device_context(), 1);
      expect(cudaMemsetAsync(active.data(), 1, sizeof(int), device_context().stream()));
      krylov::built_preconditioner<double, device> m;
      const double building = host_seconds([&] {
        m = krylov::block_jacobi<double, index, index>(
            device_context(), p.a.view(), {.kind = krylov_preconditioner::block_jacobi, .block_size = size},
            active.data());
      });
      const double seconds =
          device_seconds(device_context(), [&] { m.inverse.run(std::as_const(p.b).view(), p.x.view()); });
      state.counters["building_ms"] = building * 1e3;
      report_rates(state, static_cast<double>(m.bytes + 16 * p.b.size()), seconds, device_copy_rate());
      return seconds;
    });
  }
}

const registration here{[] {
  if (!current_settings().device) return;
  for (const spmv_case& c : spmv_cases_or_file({{"laplacian2d_2048", "gen:laplacian2d:n=2048"},
                                                {"laplacian3d27_100", "gen:laplacian3d:n=100,points=27"},
                                                {"banded_1m_21", "gen:banded:rows=1048576,degree=21"}})) {
    const std::string of = "/" + c.name + "/double/cuda/";
    add_solves("triangular" + of, c.source);
    add_factors("ilu0" + of, c.source);
    add_blocks("block_jacobi" + of, c.source);
  }
}};

}  // namespace

}  // namespace spargo::bench
