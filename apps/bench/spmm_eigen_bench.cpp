// Peer on the host: Eigen's row-major sparse matrix times a row-major dense one (native/products_eigen.cpp).
#include "bench/native_products.hpp"
#include "bench/spmm_cases.hpp"

namespace spargo::bench {

namespace {

template <class V>
bool add() {
  spmm_host_peers<V>().push_back(
      {"eigen",
       [](const csr_view<const V, std::int32_t, std::int32_t, host>& m, const V* x, V* y, std::int64_t k, int threads) {
         const std::shared_ptr<native::product> p(native::eigen_multiple<V>(native_arrays(m), x, y, k, threads));
         return std::function<void()>([p] { p->run(); });
       }});
  return true;
}

const bool added = add<float>() && add<double>();

}  // namespace

}  // namespace spargo::bench
