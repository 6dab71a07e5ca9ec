// Stands in for openblas.cpp in a library built without OpenBLAS.
#include "primitives/matmul/backend.hpp"

namespace spargo::detail {

template <class V>
bool matmul_openblas(const context<host>&, const matmul_job<V>&) {
  return false;
}

template bool matmul_openblas(const context<host>&, const matmul_job<float>&);
template bool matmul_openblas(const context<host>&, const matmul_job<double>&);

}  // namespace spargo::detail
