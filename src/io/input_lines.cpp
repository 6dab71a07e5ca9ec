#include "core/rethrow.hpp"
#include "io/text/blocks.hpp"

#include <cstring>
#include <new>

namespace spargo {

struct input_lines::state {
  explicit state(const input_file& file) : source(context<host>({.threads = 1}), file) {}

  detail::text_source source;
  const char* next = nullptr;
  const char* end = nullptr;
  std::int64_t number = 0;
};

input_lines::input_lines(const input_file& file) try : state_(std::make_unique<state>(file)) {
} catch (const std::bad_alloc&) {
  detail::throw_out_of_memory(file.name(), "host memory ran out while the file was opened");
}
input_lines::input_lines(input_lines&&) noexcept = default;
input_lines& input_lines::operator=(input_lines&&) noexcept = default;
input_lines::~input_lines() = default;

bool input_lines::next(std::string& line) {
  state& s = *state_;
  line.clear();
  ++s.number;
  if (s.next == s.end) {
    const std::string_view block = s.source.next();
    s.next = block.data();
    s.end = s.next + block.size();
    if (block.empty()) return false;
  }
  const char* const first = s.next;
  const auto* const newline =
      static_cast<const char*>(std::memchr(first, '\n', static_cast<std::size_t>(s.end - first)));
  s.next = newline + 1;
  if (newline - first > s.source.max_line_bytes()) s.source.fail(first, {});
  line.assign(first, newline);
  if (const std::size_t zero = line.find('\0'); zero != std::string::npos) {
    s.source.fail(first + zero, "a zero byte (expected text)");
  }
  if (line.ends_with('\r')) line.pop_back();
  return true;
}

source_position input_lines::at(std::int64_t column) const { return {state_->source.path(), state_->number, column}; }

}  // namespace spargo
