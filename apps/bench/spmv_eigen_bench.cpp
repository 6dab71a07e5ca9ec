// Peer on the host: Eigen's row-major sparse product (native/products_eigen.cpp).
#include "bench/native_products.hpp"

namespace spargo::bench {

namespace {

template <class V>
bool add() {
  host_peers<V>().push_back({"eigen", native_peer<V>(native::eigen_own<V>)});
  host_peers<V>().push_back({"eigen:mapped", native_peer<V>(native::eigen_mapped<V>)});
  return true;
}

const bool added = add<float>() && add<double>();

}  // namespace

}  // namespace spargo::bench
