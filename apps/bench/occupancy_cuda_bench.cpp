// `bench occupancy`: every kernel in this program with its registers, shared and local memory, resident blocks per SM.
//
// Needs no list of kernels: nvcc records each device image in the ELF section .nvFatBinSegment, and the runtime loads
// an image and lists its kernels. Threads are those of the kernel's launch bounds. Dynamic shared memory is unknown
// here, so kernels with much of it show more resident blocks than they will have.
#include "bench/device_timing.hpp"

#include <cxxabi.h>
#include <elf.h>
#include <link.h>

#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <map>
#include <regex>

namespace spargo::bench {

namespace {

// Layout written by nvcc (fatbinary_section.h of the toolkit).
struct image_record {
  static constexpr int expected = 0x466243b1;
  int magic;
  int version;
  const void* image;
  void* unused;
};

template <class T>
T read_at(std::ifstream& file, std::uint64_t offset) {
  T value{};
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(&value), sizeof(T));
  if (!file) throw std::runtime_error("occupancy: this program's file cannot be read");
  return value;
}

// Load address of the program: the base of addresses in its file.
std::uintptr_t load_address() {
  std::uintptr_t base = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        *static_cast<std::uintptr_t*>(to) = static_cast<std::uintptr_t>(info->dlpi_addr);
        return 1;  // the first entry is the program itself
      },
      &base);
  return base;
}

std::vector<const image_record*> device_images() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  const auto header = read_at<ElfW(Ehdr)>(file, 0);
  const auto names = read_at<ElfW(Shdr)>(file, header.e_shoff + std::uint64_t{header.e_shstrndx} * header.e_shentsize);
  std::vector<const image_record*> images;
  for (unsigned k = 0; k < header.e_shnum; ++k) {
    const auto section = read_at<ElfW(Shdr)>(file, header.e_shoff + std::uint64_t{k} * header.e_shentsize);
    char name[sizeof(".nvFatBinSegment")] = {};
    file.clear();
    file.seekg(static_cast<std::streamoff>(names.sh_offset + section.sh_name));
    file.read(name, sizeof(name));
    if (std::memcmp(name, ".nvFatBinSegment", sizeof(name)) != 0) continue;
    const auto* records = reinterpret_cast<const image_record*>(load_address() + section.sh_addr);
    for (std::size_t r = 0; r < section.sh_size / sizeof(image_record); ++r) {
      if (records[r].magic == image_record::expected) images.push_back(records + r);
    }
  }
  return images;
}

std::string demangled(const char* name) {
  int status = 0;
  char* const text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string result = status == 0 ? text : name;
  std::free(text);
  for (const char* noise : {"(anonymous namespace)::", "spargo::detail::", "spargo::", "void "}) {
    for (std::size_t at = result.find(noise); at != std::string::npos; at = result.find(noise)) {
      result.erase(at, std::strlen(noise));
    }
  }
  return result.substr(0, result.find(")(") == std::string::npos ? result.find('(') : result.find('('));
}

void check(const char* call, cudaError_t status) {
  if (status != cudaSuccess)
    throw std::runtime_error(fmt::format("occupancy: {}: {}", call, cudaGetErrorString(status)));
}

struct kernel_facts {
  cudaFuncAttributes attributes{};
  int blocks = 0;
};

std::map<std::string, kernel_facts> facts_of_kernels(const std::regex& wanted) {
  std::map<std::string, kernel_facts> all;
  for (const image_record* record : device_images()) {
    cudaLibrary_t library = nullptr;
    check("cudaLibraryLoadData", cudaLibraryLoadData(&library, record, nullptr, nullptr, 0, nullptr, nullptr, 0));
    unsigned count = 0;
    check("cudaLibraryGetKernelCount", cudaLibraryGetKernelCount(&count, library));
    if (count == 0) continue;
    std::vector<cudaKernel_t> kernels(count);
    check("cudaLibraryEnumerateKernels", cudaLibraryEnumerateKernels(kernels.data(), count, library));
    for (const cudaKernel_t kernel : kernels) {
      const void* const function = reinterpret_cast<const void*>(kernel);
      const char* mangled = nullptr;
      check("cudaFuncGetName", cudaFuncGetName(&mangled, function));
      if (std::strstr(mangled, "spargo") == nullptr) continue;  // another library's
      const std::string name = demangled(mangled);
      if (!std::regex_search(name, wanted)) continue;
      kernel_facts facts;
      check("cudaFuncGetAttributes", cudaFuncGetAttributes(&facts.attributes, function));
      expect(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&facts.blocks, function, facts.attributes.maxThreadsPerBlock,
                                                           0));
      all.emplace(name, facts);
    }
  }
  return all;
}

void report_occupancy(std::ostream& out, const std::string& filter) {
  const device_properties& p = device_context().properties();
  const auto all = facts_of_kernels(std::regex(filter, std::regex::extended));
  if (all.empty()) throw std::runtime_error("occupancy: no kernel matches '" + filter + "'");
  out << fmt::format(
      "{}, compute capability {}.{}: {} SMs of {} threads, {} KiB of shared memory each ({} KiB per block), {} MiB of "
      "L2, {:.1f} GiB\n\n",
      p.name, p.compute_capability_major, p.compute_capability_minor, p.multiprocessors,
      p.max_threads_per_multiprocessor, p.shared_memory_per_multiprocessor >> 10, p.shared_memory_per_block >> 10,
      p.l2_bytes >> 20, static_cast<double>(p.total_bytes) / (1 << 30));
  out << fmt::format("{:>9} {:>9} {:>9} {:>8} {:>10} {:>10}  {}\n", "registers", "shared B", "local B", "threads",
                     "blocks/SM", "occupancy", "kernel");
  for (const auto& [name, facts] : all) {
    const cudaFuncAttributes& a = facts.attributes;
    out << fmt::format("{:>9} {:>9} {:>9} {:>8} {:>10} {:>9.0f}%  {}\n", a.numRegs, a.sharedSizeBytes, a.localSizeBytes,
                       a.maxThreadsPerBlock, facts.blocks,
                       100.0 * facts.blocks * a.maxThreadsPerBlock / p.max_threads_per_multiprocessor, name);
  }
  out << fmt::format("{} kernels; local: spilled registers and arrays; shared memory added at launch is not counted\n",
                     all.size());
}

const registration here{[] { reports()["occupancy"] = report_occupancy; }};

}  // namespace

}  // namespace spargo::bench
