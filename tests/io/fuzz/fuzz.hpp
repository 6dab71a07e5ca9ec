// Common to the fuzz targets: bytes as a file without a name on disk, and comparable outcomes.
#pragma once

#include <spargo/core/error.hpp>
#include <spargo/formats/coo.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace spargo::fuzz {

class memory_file {
 public:
  memory_file(const void* data, std::size_t size) : descriptor_(::memfd_create("fuzz", 0)) {
    if (descriptor_ < 0 || ::write(descriptor_, data, size) != static_cast<ssize_t>(size)) std::abort();
  }
  memory_file(const memory_file&) = delete;
  memory_file& operator=(const memory_file&) = delete;
  ~memory_file() { ::close(descriptor_); }
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

template <class V, class I>
std::string text_of(const coo_matrix<V, I, host>& a) {
  std::string text = std::to_string(a.rows()) + " " + std::to_string(a.cols());
  for (std::int64_t k = 0; k < a.nnz(); ++k) {
    text += "\n" + std::to_string(a.row_indices()[k]) + " " + std::to_string(a.col_indices()[k]);
    if constexpr (!is_pattern<V>) text += " " + std::to_string(std::bit_cast<std::uint64_t>(a.values()[k]));
  }
  return text;
}

// The result of `read` as text, or its error. Any other exception is a finding.
template <class Read>
std::string outcome(const Read& read) {
  try {
    return read();
  } catch (const error& e) {
    return e.what();
  }
}

inline void expect_same(const std::string& one, const std::string& other) {
  if (one == other) return;
  std::fprintf(stderr, "outcomes differ:\n%s\n---\n%s\n", one.c_str(), other.c_str());
  std::abort();
}

}  // namespace spargo::fuzz
