// Eigen's row-major sparse product as a peer on the host (its OpenMP path).
#include "bench/spmv_cases.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#include <Eigen/SparseCore>
#pragma GCC diagnostic pop

namespace spargo::bench {

namespace {

template <class V>
host_peer<V> eigen() {
  return {"eigen", [](const csr_view<const V, std::int32_t, std::int32_t, host>& m, const V* x, V* y, int threads) {
            using matrix = Eigen::Map<const Eigen::SparseMatrix<V, Eigen::RowMajor, std::int32_t>>;
            using vector = Eigen::Matrix<V, Eigen::Dynamic, 1>;
            Eigen::setNbThreads(threads);
            const matrix a(m.rows, m.cols, m.nnz(), m.offsets.data(), m.indices.data(), m.values.data());
            const Eigen::Map<const vector> in(x, m.cols);
            return std::function<void()>([a, in, y, rows = m.rows] {
              Eigen::Map<vector> out(y, rows);
              out.noalias() = a * in;
            });
          }};
}

template <class V>
bool add() {
  host_peers<V>().push_back(eigen<V>());
  return true;
}

const bool added = add<float>() && add<double>();

}  // namespace

}  // namespace spargo::bench
