// The table of names: one array of characters, one of offsets, and an index built by the first search by name.
//
// The index is a hash table with open addressing that holds only vertices; names are compared through them.
#include <spargo/io/vertex_names.hpp>

#include "core/parallel.hpp"
#include "io/text/name_hash.hpp"
#include "io/text/name_text.hpp"

#include <spargo/core/error.hpp>

#include <atomic>
#include <mutex>

namespace spargo {

using namespace detail;

struct vertex_name_table::state {
  context<host> ctx;
  array<char, host> characters;
  array<std::int64_t, host> offsets;
  std::uint64_t seed = name_hash::fresh_seed();
  std::once_flag indexed;
  array<std::int64_t, host> index;      // vertices; -1: free
  std::atomic<bool> has_twins = false;  // two vertices have the same name

  state(const context<host>& with, array<char, host> text, array<std::int64_t, host> begins)
      : ctx(with), characters(std::move(text)), offsets(std::move(begins)) {}

  [[nodiscard]] std::string_view name(std::int64_t v) const noexcept {
    return {characters.data() + offsets[v], static_cast<std::size_t>(offsets[v + 1] - offsets[v])};
  }

  // The slot of the vertex with this name, or a free one.
  [[nodiscard]] std::int64_t place(std::string_view wanted) const noexcept {
    std::int64_t at = name_hash::place_of(name_hash::of(wanted, seed), index.size());
    while (index[at] >= 0 && name(index[at]) != wanted) at = at + 1 == index.size() ? 0 : at + 1;
    return at;
  }

  void build_index() {
    const std::int64_t size = offsets.size() - 1;
    index = array<std::int64_t, host>(ctx, size + size / 2 + 16);
    parallel_for(ctx.threads(), index.size(), grain::elements, [&](std::int64_t k) { index[k] = -1; });
    parallel_for(ctx.threads(), size, grain::rows, [&](std::int64_t v) {
      std::int64_t at = name_hash::place_of(name_hash::of(name(v), seed), index.size());
      while (true) {
        std::int64_t there = -1;
        if (std::atomic_ref(index[at]).compare_exchange_strong(there, v)) return;
        if (name(there) == name(v)) has_twins = true;
        at = at + 1 == index.size() ? 0 : at + 1;
      }
    });
  }

  void ensure_index() {
    std::call_once(indexed, [this] { build_index(); });
  }
};

vertex_name_table::vertex_name_table(const context<host>& ctx, array<char, host> characters,
                                     array<std::int64_t, host> offsets)
    : state_(std::make_shared<state>(ctx, std::move(characters), std::move(offsets))) {}

vertex_name_table::vertex_name_table(const context<host>& ctx, span<const std::string_view, host> names) {
  array<std::int64_t, host> offsets(ctx, names.size() + 1);
  offsets[0] = 0;
  for (std::int64_t v = 0; v < names.size(); ++v) offsets[v + 1] = offsets[v] + std::ssize(names[v]);
  array<char, host> characters(ctx, offsets[names.size()]);
  parallel_for(ctx.threads(), names.size(), grain::rows,
               [&](std::int64_t v) { names[v].copy(characters.data() + offsets[v], names[v].size()); });
  *this = vertex_name_table(ctx, std::move(characters), std::move(offsets));
  state_->ensure_index();
  if (state_->has_twins) {
    throw error(error_code::invalid_argument,
                "vertex_name_table: two vertices have the same name (expected different names)");
  }
}

std::int64_t vertex_name_table::size() const noexcept { return state_ == nullptr ? 0 : state_->offsets.size() - 1; }

std::string_view vertex_name_table::name(std::int64_t vertex) const noexcept { return state_->name(vertex); }

std::optional<std::int64_t> vertex_name_table::find(std::string_view name) const {
  if (empty()) return std::nullopt;
  state_->ensure_index();
  const std::int64_t vertex = state_->index[state_->place(name)];
  return vertex < 0 ? std::nullopt : std::optional(vertex);
}

span<const char, host> vertex_name_table::characters() const noexcept {
  return state_ == nullptr ? span<const char, host>() : state_->characters.view();
}

span<const std::int64_t, host> vertex_name_table::offsets() const noexcept {
  return state_ == nullptr ? span<const std::int64_t, host>() : state_->offsets.view();
}

void append_name(std::string& text, std::string_view name) {
  const std::size_t before = text.size();
  text.resize(before + 2 * name.size() + 2);
  text.resize(static_cast<std::size_t>(put_name(text.data() + before, name) - text.data()));
}

}  // namespace spargo
