// Processes started by a launcher: the environment it sets, and MPI loaded at run time.
#include <spargo/distributed/communicator.hpp>

#include <fmt/format.h>

#include <dlfcn.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

namespace spargo {

namespace {

constexpr const char* plugin_name = "libspargo_mpi.so";

// The number in an environment variable; -1 if there is none.
int number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  int value = -1;
  if (text == nullptr) return -1;
  return std::from_chars(text, text + std::strlen(text), value).ec == std::errc{} ? value : -1;
}

// Looks where it is installed, beside this library (in a build tree), then in the system's search path.
void* load_plugin(std::string& why) {
  Dl_info own_library{};
  if (::dladdr(reinterpret_cast<const void*>(&query_launcher), &own_library) != 0 && own_library.dli_fname != nullptr) {
    const std::string path = own_library.dli_fname;
    const std::string own_folder = fmt::format("spargo-{}.{}/", SPARGO_VERSION_MAJOR, SPARGO_VERSION_MINOR);
    for (const std::string& folder : {own_folder, std::string(), "../lib/" + own_folder, std::string("../lib/")}) {
      const std::string place = path.substr(0, path.rfind('/') + 1) + folder + plugin_name;  // ../: of a static program
      if (void* const found = ::dlopen(place.c_str(), RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE)) return found;
    }
  }
  // RTLD_GLOBAL: MPI's own plugins look up its symbols.
  void* const found = ::dlopen(plugin_name, RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
  if (found == nullptr) why = ::dlerror();
  return found;
}

std::shared_ptr<detail::communicator_backend> open_world(const launched_process& launched) {
  std::string why;
  void* const plugin = load_plugin(why);
  const std::string started = fmt::format("{} processes were started ({})", launched.size, launched.variable);
  if (plugin == nullptr) {
    throw error(error_code::unsupported,
                fmt::format("{}, but Spargo's plugin for MPI cannot be loaded: {}", started, why));
  }
  using open_function = detail::communicator_backend*(const char*);
  auto* const open = reinterpret_cast<open_function*>(::dlsym(plugin, "spargo_mpi_world"));
  std::shared_ptr<detail::communicator_backend> world(open == nullptr ? nullptr : open(SPARGO_VERSION_STRING));
  if (world == nullptr) {
    throw error(error_code::unsupported,
                fmt::format("{}, but {} is not of Spargo {}", started, plugin_name, SPARGO_VERSION_STRING));
  }
  if (world->size != launched.size) {
    throw error(error_code::unsupported,
                fmt::format("{}, but MPI knows of {} (expected the launcher of the MPI that {} was built with)",
                            started, world->size, plugin_name));
  }
  return world;
}

}  // namespace

launched_process query_launcher() {
  // Open MPI, MPICH and srun's PMI, MVAPICH, srun without PMI (only in a step: a batch script is no rank).
  static constexpr std::array<std::pair<const char*, const char*>, 4> launchers{
      {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
       {"PMI_SIZE", "PMI_RANK"},
       {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"},
       {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}}};
  for (const auto& [size, rank] : launchers) {
    const int processes = number_in(size);
    if (processes > 1) return {std::max(0, number_in(rank)), processes, size};
  }
  return {};
}

communicator communicator::world() {
  static std::mutex mutex;
  static std::weak_ptr<detail::communicator_backend> known;
  const launched_process launched = query_launcher();
  if (launched.size == 1) return communicator();
  const std::lock_guard lock(mutex);
  std::shared_ptr<detail::communicator_backend> world = known.lock();
  if (world == nullptr) known = world = open_world(launched);
  return communicator(world);
}

}  // namespace spargo
