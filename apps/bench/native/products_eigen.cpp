// Eigen's row-major sparse products (OpenMP): over Eigen's own matrix, and over the caller's mapped arrays.
#include "bench/native/products.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#include <Eigen/SparseCore>
#pragma GCC diagnostic pop

namespace spargo::bench::native {

namespace {

template <class V>
using matrix = Eigen::SparseMatrix<V, Eigen::RowMajor, std::int32_t>;
template <class V>
using vector = Eigen::Matrix<V, Eigen::Dynamic, 1>;
template <class V>
using dense = Eigen::Matrix<V, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class V>
Eigen::Map<const matrix<V>> mapped(const csr_arrays<V>& a) {
  return {a.rows, a.cols, a.nnz, a.offsets, a.indices, a.values};
}

template <class V>
class own final : public product {
 public:
  own(const csr_arrays<V>& a, const V* x, V* y)
      : a_(mapped(a)), in_(Eigen::Map<const vector<V>>(x, a.cols)), out_(vector<V>::Zero(a.rows)), y_(y) {}
  void run() override { out_.noalias() = a_ * in_; }
  void fetch() override { Eigen::Map<vector<V>>(y_, out_.size()) = out_; }

 private:
  matrix<V> a_;
  vector<V> in_;
  vector<V> out_;
  V* y_;
};

template <class V, class Dense>
class borrowed final : public product {
 public:
  borrowed(const csr_arrays<V>& a, const V* x, V* y, std::int64_t k)
      : a_(mapped(a)), in_(x, a.cols, k), out_(y, a.rows, k) {}
  void run() override { out_.noalias() = a_ * in_; }
  void fetch() override {}

 private:
  Eigen::Map<const matrix<V>> a_;
  Eigen::Map<const Dense> in_;
  Eigen::Map<Dense> out_;
};

}  // namespace

template <class V>
product* eigen_own(const csr_arrays<V>& a, const V* x, V* y, int threads) {
  Eigen::setNbThreads(threads);
  return new own<V>(a, x, y);
}
template <class V>
product* eigen_mapped(const csr_arrays<V>& a, const V* x, V* y, int threads) {
  Eigen::setNbThreads(threads);
  return new borrowed<V, vector<V>>(a, x, y, 1);
}
template <class V>
product* eigen_multiple(const csr_arrays<V>& a, const V* x, V* y, std::int64_t k, int threads) {
  Eigen::setNbThreads(threads);
  return new borrowed<V, dense<V>>(a, x, y, k);
}

template product* eigen_own<float>(const csr_arrays<float>&, const float*, float*, int);
template product* eigen_own<double>(const csr_arrays<double>&, const double*, double*, int);
template product* eigen_mapped<float>(const csr_arrays<float>&, const float*, float*, int);
template product* eigen_mapped<double>(const csr_arrays<double>&, const double*, double*, int);
template product* eigen_multiple<float>(const csr_arrays<float>&, const float*, float*, std::int64_t, int);
template product* eigen_multiple<double>(const csr_arrays<double>&, const double*, double*, std::int64_t, int);

}  // namespace spargo::bench::native
