#include "bench/native/algebra.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>
#pragma GCC diagnostic pop

namespace spargo::bench::native {

algebra_call::~algebra_call() = default;

namespace {

using matrix = Eigen::SparseMatrix<double, Eigen::RowMajor, std::int32_t>;
using vector = Eigen::VectorXd;

matrix copied(const csr_arrays<double>& a) {
  return Eigen::Map<const matrix>(a.rows, a.cols, a.nnz, a.offsets, a.indices, a.values);
}

class on_matrices final : public algebra_call {
 public:
  on_matrices(algebra operation, const csr_arrays<double>& a, const csr_arrays<double>& turned)
      : operation_(operation), a_(copied(a)), turned_(copied(turned)) {}
  void run() override {
    if (operation_ == algebra::transpose) {
      out_ = a_.transpose();
    } else if (operation_ == algebra::add) {
      out_ = a_ + turned_;
    } else {
      out_ = a_ * a_;
    }
    out_.makeCompressed();
  }
  csr_arrays<double> result() override {
    return {static_cast<std::int32_t>(out_.rows()),
            static_cast<std::int32_t>(out_.cols()),
            static_cast<std::int32_t>(out_.nonZeros()),
            out_.outerIndexPtr(),
            out_.innerIndexPtr(),
            out_.valuePtr()};
  }

 private:
  algebra operation_;
  matrix a_;
  matrix turned_;
  matrix out_;
};

class conjugate_gradients final : public algebra_call {
 public:
  conjugate_gradients(const csr_arrays<double>& a, const double* b, int iterations)
      : a_(copied(a)), b_(Eigen::Map<const vector>(b, a.rows)) {
    solver_.setMaxIterations(iterations);
    solver_.setTolerance(1e-300);
    solver_.compute(a_);
  }
  void run() override { x_ = solver_.solve(b_); }
  csr_arrays<double> result() override {
    const auto n = static_cast<std::int32_t>(x_.size());
    return {n, 1, n, nullptr, nullptr, x_.data()};
  }

 private:
  matrix a_;
  vector b_;
  vector x_;
  Eigen::ConjugateGradient<matrix, Eigen::Lower | Eigen::Upper, Eigen::IdentityPreconditioner> solver_;
};

}  // namespace

algebra_call* eigen_algebra(algebra operation, const csr_arrays<double>& a, const csr_arrays<double>& a_transposed,
                            const double* b, int iterations, int threads) {
  Eigen::setNbThreads(threads);
  if (operation == algebra::cg) return new conjugate_gradients(a, b, iterations);
  return new on_matrices(operation, a, a_transposed);
}

}  // namespace spargo::bench::native
