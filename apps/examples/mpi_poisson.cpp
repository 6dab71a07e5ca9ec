// mpirun -n P mpi_poisson [N]: Poisson's equation on an N x N grid by CG, in a program with MPI; no rank has all of it.
#include <spargo/distributed/cg.hpp>
#include <spargo/distributed/mpi.hpp>
#include <spargo/io/generate.hpp>

#include <cstdio>
#include <string>
#include <vector>

namespace {

void solve(const spargo::communicator& comm, const std::string& n) {
  using namespace spargo;
  const context<host> ctx({.threads = 1});
  const auto part = generate_part<double, std::int64_t>(ctx, "gen:laplacian2d:n=" + n, comm.rank(), comm.size());
  const distributed_matrix<double> a(comm, ctx, part.view());
  const distributed_spmv_plan<double, host> plan(comm, ctx, a);
  const std::vector<double> b(static_cast<std::size_t>(plan.own_rows()), 1.0);
  std::vector<double> x(b.size(), 0.0);
  const cg_result found = distributed_cg(plan, b, x, {.tolerance = 1e-10});

  double sum = 0;
  for (const double each : x) sum += each;
  sum = comm.all_reduce(sum, reduction::sum);
  if (comm.rank() == 0) {
    std::printf("%s after %lld iterations, mean %.6f\n", found.converged ? "converged" : "not converged",
                static_cast<long long>(found.iterations), sum / static_cast<double>(a.rows()));
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 0;
  try {
    solve(spargo::communicator::from_mpi(MPI_COMM_WORLD), argc > 1 ? argv[1] : "100");
  } catch (const spargo::agreed_error& e) {  // thrown on all ranks: one prints it
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) std::fprintf(stderr, "%s\n", e.what());
    status = 1;
  } catch (const std::exception& e) {  // thrown on this rank only
    std::fprintf(stderr, "%s\n", e.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return status;
}
