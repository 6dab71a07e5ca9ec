// Names of vertices, where a file calls its vertices by strings: vertex to name, and name to vertex.
//
// Names are bytes; the library does not look at their encoding. A table is immutable, copies share it, and any number
// of threads may read it.
#pragma once

#include <spargo/core/array.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace spargo {

class SPARGO_EXPORT vertex_name_table {
 public:
  // Without names.
  vertex_name_table() = default;

  // Vertex v is called names[v]. Throws `invalid_argument` where two vertices have the same name.
  // Expected O(characters), parallel.
  vertex_name_table(const context<host>& ctx, span<const std::string_view, host> names);

  // Takes over what it is made of: name v is characters [offsets[v], offsets[v + 1]). Names must differ, offsets must
  // ascend from 0 to characters.size(); neither is checked. O(1).
  vertex_name_table(const context<host>& ctx, array<char, host> characters, array<std::int64_t, host> offsets);

  [[nodiscard]] std::int64_t size() const noexcept;
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }

  // 0 <= vertex < size(). Lives as long as a copy of the table. O(1).
  [[nodiscard]] std::string_view name(std::int64_t vertex) const noexcept;

  // None: no vertex is called so. Expected O(length of the name). The first call builds an index, in expected
  // O(characters) with the context's threads; it has 8 to 16 bytes a name.
  [[nodiscard]] std::optional<std::int64_t> find(std::string_view name) const;

  // Names one after the other, and where each begins; size() + 1 offsets, or none without names.
  [[nodiscard]] span<const char, host> characters() const noexcept;
  [[nodiscard]] span<const std::int64_t, host> offsets() const noexcept;

 private:
  struct [[gnu::visibility("hidden")]] state;
  std::shared_ptr<state> state_;
};

// Appends a name as edge lists hold it: in double quotes, those within doubled, where it is empty, has a blank, a tab,
// a comma, a semicolon, a brace { or a double quote, or begins like a comment (# or %); else as it is.
SPARGO_EXPORT void append_name(std::string& text, std::string_view name);

}  // namespace spargo
