// The binary snapshot, `.spg`: a CSR matrix ready to be mapped. Little-endian, versioned, checksummed.
//
// A 128-byte header (magic, version, byte-order mark, kinds, counts, checksums, its own checksum), then 64-byte aligned
// sections: offsets, indices, values, vertex ids, notes. src/io/snapshot.cpp has the table.
#pragma once

#include <spargo/formats/convert.hpp>
#include <spargo/io/options.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace spargo {

enum class value_kind { pattern, fp32, fp64, complex_fp32, complex_fp64 };

struct SPARGO_EXPORT snapshot_header {
  value_kind values = value_kind::fp64;
  int index_bytes = 4;
  int offset_bytes = 4;
  symmetry_kind symmetry = symmetry_kind::general;  // of the source; the entries are always expanded
  bool directed = true;                             // when it is a graph
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  bool has_ids = false;
};

// Whether the file begins like a snapshot. False for files that cannot be read.
[[nodiscard]] SPARGO_EXPORT bool is_snapshot(const std::string& path);

// A mapped, verified snapshot. The views borrow the mapping and live as long as the object.
class SPARGO_EXPORT snapshot {
 public:
  // Maps `path`, checks sizes, checksums and every index, in one pass. Throws with the file's name: `io`, `parse` for
  // what is damaged or no snapshot, `invalid_data` for a matrix or ids that break the rules of their types.
  explicit snapshot(const context<host>& ctx, const std::string& path);
  snapshot(snapshot&&) noexcept;
  snapshot& operator=(snapshot&&) noexcept;
  ~snapshot();

  [[nodiscard]] const snapshot_header& header() const noexcept;
  [[nodiscard]] span<const std::int64_t, host> ids() const noexcept;  // empty without
  [[nodiscard]] std::string_view notes() const noexcept;              // empty without

  // The types must be the stored ones (else `unsupported`); see `header`.
  template <entry_type V, index_type I, index_type O>
  [[nodiscard]] csr_view<const V, I, O, host> matrix() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

struct SPARGO_EXPORT snapshot_options {
  symmetry_kind symmetry = symmetry_kind::general;
  bool directed = true;
  span<const std::int64_t, host> ids{};  // one for each row, 0 or more and ascending; or none
  std::string_view notes{};              // anything the writer wants to say about the matrix, of any size; or nothing
};

// Written whole or not at all, the same bytes for any number of threads. Throws `invalid_data` for a matrix or ids that
// a reader would refuse, `invalid_argument` for a name that ends in .gz or a wrong number of ids. O(rows + nnz).
template <entry_type V, index_type I, index_type O>
SPARGO_EXPORT void write_snapshot(const context<host>& ctx, const std::string& path,
                                  const csr_view<const V, I, O, host>& matrix, const snapshot_options& options = {});

}  // namespace spargo
