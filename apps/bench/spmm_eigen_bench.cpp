// Eigen's row-major sparse matrix times a row-major dense one, as a peer on the host (its OpenMP path).
#include "bench/spmm_cases.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#include <Eigen/SparseCore>
#pragma GCC diagnostic pop

namespace spargo::bench {

namespace {

template <class V>
spmm_host_peer<V> eigen() {
  return {"eigen", [](const csr_view<const V, std::int32_t, std::int32_t, host>& m, const V* x, V* y, std::int64_t k,
                      int threads) {
            using matrix = Eigen::Map<const Eigen::SparseMatrix<V, Eigen::RowMajor, std::int32_t>>;
            using dense = Eigen::Matrix<V, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
            Eigen::setNbThreads(threads);
            const matrix a(m.rows, m.cols, m.nnz(), m.offsets.data(), m.indices.data(), m.values.data());
            const Eigen::Map<const dense> in(x, m.cols, k);
            return std::function<void()>([a, in, y, k, rows = m.rows] {
              Eigen::Map<dense> out(y, rows, k);
              out.noalias() = a * in;
            });
          }};
}

template <class V>
bool add() {
  spmm_host_peers<V>().push_back(eigen<V>());
  return true;
}

const bool added = add<float>() && add<double>();

}  // namespace

}  // namespace spargo::bench
