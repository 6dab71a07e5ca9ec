#include "io/opened_input.hpp"

#include "core/rethrow.hpp"
#include "io/text/input_format.hpp"

#include <algorithm>
#include <new>

namespace spargo {

namespace {

// An uncompressed regular file needs no stream: it can be read at any offset.
void look_at_plain(detail::opened_input& input) {
  constexpr std::int64_t wanted = detail::head_bytes + std::ssize(detail::byte_order_mark);
  input.head.resize(static_cast<std::size_t>(std::min(wanted, input.file->size)));
  const std::int64_t got = detail::read_up_to(*input.file, input.name, input.head.data(), std::ssize(input.head), 0);
  input.head.resize(static_cast<std::size_t>(got));
  if (detail::has_byte_order_mark(input.head)) {
    input.mark_bytes = detail::byte_order_mark.size();
    input.head.erase(0, detail::byte_order_mark.size());
  }
  input.head.resize(std::min(input.head.size(), static_cast<std::size_t>(detail::head_bytes)));
}

}  // namespace

namespace detail {

std::unique_ptr<byte_stream> opened_input::take_stream() {
  if (file->is_regular) return std::make_unique<byte_stream>(file, name);
  if (stream == nullptr)
    throw error(error_code::io, {name}, "was already read (expected a regular file, which can be read again)");
  return std::move(stream);
}

}  // namespace detail

input_file::input_file(const std::string& path) try : opened_(std::make_shared<detail::opened_input>()) {
  opened_->path = path;
  opened_->name = detail::input_name(path);
  opened_->file = std::make_shared<const detail::opened_file>(detail::open_for_reading(path));
  const detail::opened_file& file = *opened_->file;
  if (file.is_regular && file.size > 0) look_at_plain(*opened_);
  opened_->is_compressed = detail::looks_like_gzip(opened_->head);
  if (opened_->is_plain()) return;
  auto stream = std::make_unique<detail::byte_stream>(opened_->file, opened_->name);
  opened_->is_compressed = stream->is_compressed();
  opened_->head = stream->look_ahead(detail::head_bytes);
  if (!file.is_regular) opened_->stream = std::move(stream);
} catch (const std::bad_alloc&) {
  detail::throw_out_of_memory(path, "host memory ran out while the file was opened");
}

const std::string& input_file::path() const noexcept { return opened_->path; }
const std::string& input_file::name() const noexcept { return opened_->name; }
std::string_view input_file::head() const noexcept { return opened_->head; }
bool input_file::can_be_read_again() const noexcept { return opened_->file->is_regular; }

}  // namespace spargo
