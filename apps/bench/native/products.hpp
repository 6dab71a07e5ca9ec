// Peers whose code is compiled here: for this machine's processor (-march=native), as who builds them for speed does,
// where our library chooses its vector code at run time.
//
// Nothing inline of Spargo's or of the standard library's containers is used in those files: what one of them compiled
// with wider vectors could be what the linker keeps for all.
#pragma once

#include <cstdint>

namespace spargo::bench::native {

// A matrix in CSR, borrowed.
template <class V>
struct csr_arrays {
  std::int32_t rows, cols, nnz;
  const std::int32_t* offsets;
  const std::int32_t* indices;
  const V* values;
};

// A product as prepared for a matrix, owned by whoever made it.
class product {
 public:
  product() = default;
  product(const product&) = delete;
  product& operator=(const product&) = delete;
  virtual ~product();
  virtual void run() = 0;
  virtual void fetch() = 0;  // puts the result where it was wanted, if it is not there by itself
};

// y = A x; V: float, double.
template <class V>
product* openmp_loop(const csr_arrays<V>& a, const V* x, V* y, int threads);
template <class V>
product* eigen_own(const csr_arrays<V>& a, const V* x, V* y, int threads);  // Eigen's own matrix and vectors
template <class V>
product* eigen_mapped(const csr_arrays<V>& a, const V* x, V* y, int threads);  // the caller's

// Y = A X for row-major X and Y of k columns.
template <class V>
product* eigen_multiple(const csr_arrays<V>& a, const V* x, V* y, std::int64_t k, int threads);

}  // namespace spargo::bench::native
