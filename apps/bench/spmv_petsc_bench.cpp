// Peers on the host: PETSc's AIJ (CSR) and SELL products, in PETSc's precision.
//
// PETSc distributes work over processes, not threads. So each thread has sequential matrices for rows with equal
// numbers of entries, and all of x: PETSc's computation without its messages, which favours PETSc.
#include "bench/spmv_cases.hpp"

#include <petscmat.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <type_traits>

namespace spargo::bench {

namespace {

void expect(PetscErrorCode code) {
  if (code != 0) throw std::runtime_error("PETSc: error " + std::to_string(code));
}

void initialize_once() {
  static const bool done = [] {
    expect(PetscInitializeNoArguments());
    std::atexit([] { PetscFinalize(); });
    return true;
  }();
  (void)done;
}

using view = csr_view<const PetscScalar, std::int32_t, std::int32_t, host>;

// Rows first <= r < last of a matrix, with vectors over the caller's.
struct share {
  std::vector<PetscInt> offsets;
  std::vector<PetscInt> indices;
  std::vector<PetscScalar> values;
  Mat matrix = nullptr;
  Vec in = nullptr;
  Vec out = nullptr;

  share(const view& m, std::int32_t first, std::int32_t last, MatType type, const PetscScalar* x, PetscScalar* y)
      : indices(m.indices.data() + m.offsets[first], m.indices.data() + m.offsets[last]),
        values(m.values.data() + m.offsets[first], m.values.data() + m.offsets[last]) {
    for (std::int32_t r = first; r <= last; ++r) offsets.push_back(m.offsets[r] - m.offsets[first]);
    expect(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, last - first, m.cols, offsets.data(), indices.data(),
                                     values.data(), &matrix));
    expect(MatConvert(matrix, type, MAT_INPLACE_MATRIX, &matrix));
    expect(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, m.cols, x, &in));
    expect(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, last - first, y + first, &out));
    expect(MatMult(matrix, in, out));  // first-call setup, before threads run concurrently
  }
  share(const share&) = delete;
  share& operator=(const share&) = delete;
  ~share() {
    VecDestroy(&out);
    VecDestroy(&in);
    MatDestroy(&matrix);
  }
};

host_product make(MatType type, const view& m, const PetscScalar* x, PetscScalar* y, int threads) {
  initialize_once();
  auto shares = std::make_shared<std::vector<std::unique_ptr<share>>>();
  std::int32_t first = 0;
  for (int t = 0; t < threads; ++t) {
    const auto wanted = static_cast<std::int32_t>(m.nnz() * (t + 1) / threads);
    const auto* const at = std::lower_bound(m.offsets.data() + first, m.offsets.data() + m.rows, wanted);
    const auto last = t + 1 == threads ? m.rows : static_cast<std::int32_t>(at - m.offsets.data());
    shares->push_back(std::make_unique<share>(m, first, last, type, x, y));
    first = last;
  }
  return {[shares, threads] {
    PetscErrorCode worst = 0;
#pragma omp parallel for num_threads(threads) schedule(static, 1) reduction(max : worst)
    for (int t = 0; t < threads; ++t) {
      const share& mine = *(*shares)[static_cast<std::size_t>(t)];
      worst = std::max<PetscErrorCode>(worst, MatMult(mine.matrix, mine.in, mine.out));
    }
    expect(worst);
  }};
}

bool add() {
  static_assert(std::is_same_v<PetscInt, std::int32_t>, "a PETSc with 64-bit indices is not taken");
  const auto peer = [](const std::string& name, MatType type) {
    host_peers<PetscScalar>().push_back({name, [type](const view& m, const PetscScalar* x, PetscScalar* y,
                                                      int threads) { return make(type, m, x, y, threads); }});
  };
  peer("petsc:aij", MATSEQAIJ);
  peer("petsc:sell", MATSEQSELL);
  return true;
}

const bool added = add();

}  // namespace

}  // namespace spargo::bench
