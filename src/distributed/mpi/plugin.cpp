// libspargo_mpi.so: loaded by communicator::world() under mpirun or srun; nothing else links MPI.
#include <spargo/distributed/mpi.hpp>

#include <cstring>

// The processes of MPI_COMM_WORLD; null for a library of another version.
extern "C" SPARGO_EXPORT spargo::detail::communicator_backend* spargo_mpi_world(const char* version) {
  if (std::strcmp(version, SPARGO_VERSION_STRING) != 0) return nullptr;
  int initialized = 0;
  MPI_Initialized(&initialized);
  int provided = MPI_THREAD_SINGLE;
  if (initialized == 0) MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  return new spargo::detail::mpi_backend(MPI_COMM_WORLD, initialized == 0);
}
