// Peer on the host: SuiteSparse:GraphBLAS. y = A x over the plus-times semiring with a row-major A, and y += A x in
// place, which it computes by dot products without a new vector (y is cleared before, untimed).
#include "bench/graphblas_peer.hpp"
#include "bench/spmv_cases.hpp"

#include <memory>

namespace spargo::bench {

namespace {

template <class V>
using view = csr_view<const V, std::int32_t, std::int32_t, host>;

template <class V>
struct problem_copy {
  GrB_Type type = std::same_as<V, float> ? GrB_FP32 : GrB_FP64;
  GrB_Semiring semiring = std::same_as<V, float> ? GrB_PLUS_TIMES_SEMIRING_FP32 : GrB_PLUS_TIMES_SEMIRING_FP64;
  GrB_BinaryOp plus = std::same_as<V, float> ? GrB_PLUS_FP32 : GrB_PLUS_FP64;
  GrB_Matrix matrix = nullptr;
  GrB_Vector in = nullptr;
  GrB_Vector out = nullptr;

  problem_copy(const view<V>& m, const V* x, int threads) {
    start_graphblas(threads);
    std::vector<GrB_Index> offsets(m.offsets.begin(), m.offsets.end());
    std::vector<GrB_Index> indices(m.indices.begin(), m.indices.end());
    import(m, offsets, indices, m.values.data());
    expect_done(GrB_Vector_new(&in, type, static_cast<GrB_Index>(m.cols)));
    expect_done(GrB_Vector_new(&out, type, static_cast<GrB_Index>(m.rows)));
    for (std::int32_t i = 0; i < m.cols; ++i) set(in, i, x[i]);
    clear();
    expect_done(GrB_Vector_wait(in, GrB_MATERIALIZE));
  }
  problem_copy(const problem_copy&) = delete;
  problem_copy& operator=(const problem_copy&) = delete;
  ~problem_copy() {
    GrB_Matrix_free(&matrix);
    GrB_Vector_free(&in);
    GrB_Vector_free(&out);
  }

  // y = 0, with every element present.
  void clear() {
    if constexpr (std::same_as<V, float>) {
      expect_done(GrB_Vector_assign_FP32(out, nullptr, nullptr, 0, GrB_ALL, 0, nullptr));
    } else {
      expect_done(GrB_Vector_assign_FP64(out, nullptr, nullptr, 0, GrB_ALL, 0, nullptr));
    }
    expect_done(GrB_Vector_wait(out, GrB_MATERIALIZE));
  }

  // Rows without entries are absent from the result: they are 0.
  void fetch(V* y, std::int64_t rows) const {
    for (std::int64_t i = 0; i < rows; ++i) {
      y[i] = V{};
      if constexpr (std::same_as<V, float>) {
        (void)GrB_Vector_extractElement_FP32(&y[i], out, static_cast<GrB_Index>(i));
      } else {
        (void)GrB_Vector_extractElement_FP64(&y[i], out, static_cast<GrB_Index>(i));
      }
    }
  }

 private:
  void import(const view<V>& m, const std::vector<GrB_Index>& offsets, const std::vector<GrB_Index>& indices,
              const V* values) {
    const auto rows = static_cast<GrB_Index>(m.rows);
    const auto cols = static_cast<GrB_Index>(m.cols);
    const auto nnz = static_cast<GrB_Index>(m.nnz());
    if constexpr (std::same_as<V, float>) {
      expect_done(GrB_Matrix_import_FP32(&matrix, type, rows, cols, offsets.data(), indices.data(), values, rows + 1,
                                         nnz, nnz, GrB_CSR_FORMAT));
    } else {
      expect_done(GrB_Matrix_import_FP64(&matrix, type, rows, cols, offsets.data(), indices.data(), values, rows + 1,
                                         nnz, nnz, GrB_CSR_FORMAT));
    }
    expect_done(GrB_Matrix_wait(matrix, GrB_MATERIALIZE));
  }

  static void set(GrB_Vector v, std::int32_t i, V value) {
    if constexpr (std::same_as<V, float>) {
      expect_done(GrB_Vector_setElement_FP32(v, value, static_cast<GrB_Index>(i)));
    } else {
      expect_done(GrB_Vector_setElement_FP64(v, value, static_cast<GrB_Index>(i)));
    }
  }
};

template <class V>
host_product assigned(const view<V>& m, const V* x, V* y, int threads) {
  const auto p = std::make_shared<problem_copy<V>>(m, x, threads);
  return {[p] { expect_done(GrB_mxv(p->out, nullptr, nullptr, p->semiring, p->matrix, p->in, nullptr)); },
          [p, y, rows = m.rows] { p->fetch(y, rows); }};
}

// y holds the sum of all timed products, so one more product with y = 0 is run at the end.
template <class V>
host_product added_up(const view<V>& m, const V* x, V* y, int threads) {
  const auto p = std::make_shared<problem_copy<V>>(m, x, threads);
  const auto run = [p] { expect_done(GrB_mxv(p->out, nullptr, p->plus, p->semiring, p->matrix, p->in, nullptr)); };
  return {run, [p, run, y, rows = m.rows] {
            p->clear();
            run();
            p->fetch(y, rows);
          }};
}

template <class V>
bool add() {
  host_peers<V>().push_back({"graphblas:mxv", assigned<V>});
  host_peers<V>().push_back({"graphblas:mxv_accum", added_up<V>});
  return true;
}

const bool added = add<float>() && add<double>();

}  // namespace

}  // namespace spargo::bench
