// The binary snapshot, `.spg`: a CSR matrix ready to be mapped. Little-endian, versioned, checksummed.
//
// A 128-byte header (magic, version, byte-order mark, kinds, counts, checksums, its own checksum), then 64-byte aligned
// sections: offsets, indices, values, vertex ids or names, notes. src/io/snapshot/snapshot.cpp has the table. Files of
// version 2 are written, whose checksums are XXH3's; those of version 1 (XXH64) are read as well.
#pragma once

#include <spargo/formats/convert.hpp>
#include <spargo/io/input.hpp>
#include <spargo/io/options.hpp>
#include <spargo/io/output.hpp>
#include <spargo/io/vertex_names.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <spargo/core/macros_push.hpp>

namespace spargo {

enum class value_kind { pattern, fp32, fp64, complex_fp32, complex_fp64 };

// What the values are where they do not say it themselves: numbers; integers, as the source's field was; or how often
// each place of a pattern was listed, which is what its entries sum to.
enum class value_origin { numbers, integers, counts };

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
  value_origin origin = value_origin::numbers;
  std::int64_t first_vertex = -1;  // the first one named in the source; -1: not told
  bool has_names = false;
};

// Throws `unsupported`, with the name, in a library that was built without xxHash, as the constructor and
// `write_snapshot` below do: before work whose result would be lost.
SPARGO_EXPORT void check_snapshots(const std::string& path);

// Whether the file begins like a snapshot. False for what cannot be read, or only once.
[[nodiscard]] SPARGO_EXPORT bool is_snapshot(const std::string& path);

// A verified snapshot, mapped, or in memory where it comes from a pipe or is compressed by gzip. The views borrow it
// and live as long as the object. A mapped file must stay as it is: who shortens one in place has its readers end by
// SIGBUS (the apps turn that into an error), as all users of mmap; `write_snapshot` and mv replace it safely.
class SPARGO_EXPORT snapshot {
 public:
  // Opens `file`, checks sizes, checksums and every index, in one pass. Throws with the file's name: `io`, `parse` for
  // what is damaged or no snapshot, `invalid_data` for a matrix or ids that break the rules of their types.
  explicit snapshot(const context<host>& ctx, const input_file& file);
  snapshot(snapshot&&) noexcept;
  snapshot& operator=(snapshot&&) noexcept;
  ~snapshot();

  [[nodiscard]] const snapshot_header& header() const noexcept;
  [[nodiscard]] span<const std::int64_t, host> ids() const noexcept;  // empty without
  [[nodiscard]] const vertex_name_table& names() const noexcept;      // empty without; a copy
  [[nodiscard]] std::string_view notes() const noexcept;              // empty without

  // The types must be the stored ones (else `unsupported`); see `header`.
  template <entry_type V, index_type I, index_type O>
  [[nodiscard]] csr_view<const V, I, O, host> matrix() const;

 private:
  struct [[gnu::visibility("hidden")]] state;
  std::unique_ptr<state> state_;
};

struct SPARGO_EXPORT snapshot_options {
  symmetry_kind symmetry = symmetry_kind::general;
  bool directed = true;
  span<const std::int64_t, host> ids{};         // one for each row, 0 or more and ascending; or none
  value_origin origin = value_origin::numbers;  // another one needs real values
  std::int64_t first_vertex = -1;               // a row, or -1: not told
  std::string_view notes{};  // anything the writer wants to say about the matrix, of any size; or nothing
  output_options output{};
  vertex_name_table names{};  // one for each row, in place of ids; or none
};

// Written whole or not at all, the same bytes for any number of threads. Throws `invalid_data` for a matrix or ids that
// a reader would refuse, `invalid_argument` for a name that ends in .gz, a wrong number of ids, an origin that such
// values cannot have, or a first vertex that is no row. O(rows + nnz).
template <entry_type V, index_type I, index_type O>
SPARGO_EXPORT void write_snapshot(const context<host>& ctx, const std::string& path,
                                  const csr_view<const V, I, O, host>& matrix, const snapshot_options& options = {});
template <detail::viewable Matrix>
void write_snapshot(const context<host>& ctx, const std::string& path, const Matrix& matrix,
                    const snapshot_options& options = {}) {
  write_snapshot(ctx, path, detail::view_of(matrix), options);
}

}  // namespace spargo

#include <spargo/core/macros_pop.hpp>
