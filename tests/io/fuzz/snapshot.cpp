// Any bytes as a snapshot, also with corrected checksums; indices and offsets of an accepted one must be valid.
#include "io/fuzz/fuzz.hpp"

#include "io/snapshot/hash.hpp"

#include <spargo/io/snapshot.hpp>

#include <array>
#include <cstring>

using namespace spargo;

namespace {

template <class I, class O>
std::int64_t walk(const snapshot& read) {
  const auto& header = read.header();
  const auto sum = [](const auto& matrix) {
    std::int64_t all = 0;
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
      for (std::int64_t k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k) {
        if (matrix.indices[k] < 0 || matrix.indices[k] >= matrix.cols) std::abort();
        all += matrix.indices[k];
        if (!matrix.values.empty() &&
            std::memcmp(&matrix.values[k], &matrix.values[k], sizeof(matrix.values[k])) != 0) {
          std::abort();
        }
      }
    }
    return all;
  };
  switch (header.values) {
    case value_kind::pattern:
      return sum(read.matrix<pattern, I, O>());
    case value_kind::fp32:
      return sum(read.matrix<float, I, O>());
    case value_kind::fp64:
      return sum(read.matrix<double, I, O>());
    case value_kind::complex_fp32:
      return sum(read.matrix<std::complex<float>, I, O>());
    case value_kind::complex_fp64:
      return sum(read.matrix<std::complex<double>, I, O>());
  }
  std::abort();
}

void open(const std::string& bytes) {
  const fuzz::memory_file file(bytes.data(), bytes.size());
  (void)fuzz::outcome([&]() -> std::string {
    const snapshot read(context<host>({.threads = 1}), file.path());
    for (const std::int64_t id : read.ids()) {
      if (id < 0) std::abort();
    }
    if (std::string(read.notes()).size() != read.notes().size()) std::abort();  // reads every byte
    if (read.header().index_bytes == 8) return std::to_string(walk<std::int64_t, std::int64_t>(read));
    if (read.header().offset_bytes == 8) return std::to_string(walk<std::int32_t, std::int64_t>(read));
    return std::to_string(walk<std::int32_t, std::int32_t>(read));
  });
}

// Corrects the checksums of the header's sections, if in range (see src/io/snapshot/snapshot.cpp).
void mend(std::string& bytes) {
  if (bytes.size() < 128) return;
  const auto number = [&](std::size_t at) {
    std::int64_t value = 0;
    std::memcpy(&value, bytes.data() + at, 8);
    return value;
  };
  const auto kind = bytes[8] == 1 ? detail::hash_kind::xxh64 : detail::hash_kind::xxh3;
  bytes[8] = kind == detail::hash_kind::xxh64 ? 1 : 2;
  std::memcpy(bytes.data(), "SPARGO\r\n", 8);
  std::memcpy(bytes.data() + 9, "\0\0\0\x04\x03\x02\x01", 7);
  const auto size = static_cast<std::int64_t>(bytes.size());
  std::memcpy(bytes.data() + 80, &size, 8);
  constexpr std::array<std::int64_t, 5> value_bytes = {0, 4, 8, 8, 16};
  const std::int64_t rows = number(24) & 0xffff;
  const std::int64_t nnz = number(40) & 0xffff;
  const std::array<std::size_t, 5> sums = {48, 56, 64, 72, 96};
  const std::array<std::int64_t, 5> lengths = {(rows + 1) * bytes[18], nnz * bytes[17],
                                               nnz * value_bytes[static_cast<unsigned char>(bytes[16]) % 5],
                                               bytes[21] != 0 ? rows * 8 : 0, number(88) & 0xffff};
  std::int64_t at = 128;
  for (std::size_t k = 0; k < lengths.size(); ++k) {
    if (lengths[k] < 0 || at + lengths[k] > size) return;
    const bool absent = k == 4 && lengths[k] == 0;
    const std::uint64_t sum = absent ? 0
                                     : detail::chunked_hash(context<host>({.threads = 1}), kind, bytes.data() + at,
                                                            static_cast<std::size_t>(lengths[k]));
    std::memcpy(bytes.data() + sums[k], &sum, 8);
    at = (at + lengths[k] + 63) / 64 * 64;
  }
  const std::uint64_t own = detail::hash_of(kind, bytes.data(), 120);
  std::memcpy(bytes.data() + 120, &own, 8);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  open(bytes);
  mend(bytes);
  open(bytes);
  return 0;
}
