// Eigen's row-major sparse product as a peer on the host (its OpenMP path): over a matrix that Eigen holds, as its
// users have it, and over the caller's arrays, mapped.
#include "bench/spmv_cases.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#include <Eigen/SparseCore>
#pragma GCC diagnostic pop

#include <memory>

namespace spargo::bench {

namespace {

template <class V>
using view = csr_view<const V, std::int32_t, std::int32_t, host>;
template <class V>
using matrix = Eigen::SparseMatrix<V, Eigen::RowMajor, std::int32_t>;
template <class V>
using vector = Eigen::Matrix<V, Eigen::Dynamic, 1>;

template <class V>
Eigen::Map<const matrix<V>> mapped(const view<V>& m) {
  return {m.rows, m.cols, m.nnz(), m.offsets.data(), m.indices.data(), m.values.data()};
}

template <class V>
host_product own_arrays(const view<V>& m, const V* x, V* y, int threads) {
  struct held {
    matrix<V> a;
    vector<V> in;
    vector<V> out;
  };
  Eigen::setNbThreads(threads);
  const auto h = std::make_shared<held>(
      held{matrix<V>(mapped(m)), Eigen::Map<const vector<V>>(x, m.cols), vector<V>::Zero(m.rows)});
  return {[h] { h->out.noalias() = h->a * h->in; }, [h, y] { std::copy_n(h->out.data(), h->out.size(), y); }};
}

template <class V>
host_product same_arrays(const view<V>& m, const V* x, V* y, int threads) {
  Eigen::setNbThreads(threads);
  const Eigen::Map<const vector<V>> in(x, m.cols);
  return {[a = mapped(m), in, y, rows = m.rows] {
    Eigen::Map<vector<V>> out(y, rows);
    out.noalias() = a * in;
  }};
}

template <class V>
bool add() {
  host_peers<V>().push_back({"eigen", own_arrays<V>});
  host_peers<V>().push_back({"eigen:mapped", same_arrays<V>});
  return true;
}

const bool added = add<float>() && add<double>();

}  // namespace

}  // namespace spargo::bench
