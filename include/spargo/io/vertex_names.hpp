// Vertex names, for files that identify vertices by strings: vertex to name, and name to vertex.
//
// Names are bytes of any encoding. A table is immutable; copies share it; any number of threads may read it.
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
  vertex_name_table() = default;

  // names[v]: vertex v's name. Throws `invalid_argument` for a duplicate. Expected O(characters), parallel.
  vertex_name_table(const context<host>& ctx, span<const std::string_view, host> names);

  // Takes the arrays over: name v is characters [offsets[v], offsets[v + 1]). Names must differ and offsets ascend from
  // 0 to characters.size(); neither is checked. O(1).
  vertex_name_table(const context<host>& ctx, array<char, host> characters, array<std::int64_t, host> offsets);

  [[nodiscard]] std::int64_t size() const noexcept;
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }

  // 0 <= vertex < size(). Valid as long as a copy of the table. O(1).
  [[nodiscard]] std::string_view name(std::int64_t vertex) const noexcept;

  // None if no vertex has this name. Expected O(length). The first call builds an index of 8 to 16 bytes per name, in
  // expected O(characters) with the context's threads.
  [[nodiscard]] std::optional<std::int64_t> find(std::string_view name) const;

  // The concatenated names and their size() + 1 offsets; no offsets without names.
  [[nodiscard]] span<const char, host> characters() const noexcept;
  [[nodiscard]] span<const std::int64_t, host> offsets() const noexcept;

 private:
  struct [[gnu::visibility("hidden")]] state;
  std::shared_ptr<state> state_;
};

// Appends a name in the form of edge lists: unchanged, or in double quotes, with inner ones doubled, if it is empty,
// contains a blank, a tab, a comma, a semicolon, a brace { or a double quote, or begins like a comment (# or %).
SPARGO_EXPORT void append_name(std::string& text, std::string_view name);

}  // namespace spargo
