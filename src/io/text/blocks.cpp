#include "io/text/blocks.hpp"

#include "core/parallel.hpp"
#include "io/opened_input.hpp"
#include "io/text/input_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

namespace spargo::detail {

namespace {

constexpr std::int64_t mib = std::int64_t{1} << 20;

std::int64_t block_size(const context<host>& ctx, const input_tuning& tuning) {
  if (tuning.block_bytes > 0) return tuning.block_bytes;
  return std::clamp(4 * mib * ctx.threads(), 8 * mib, 64 * mib);
}

// Copying from the page cache takes 0.1 ms per MiB.
constexpr std::int64_t chunk_bytes = mib / 2;

std::string_view to_view(const char* first, std::int64_t bytes) { return {first, static_cast<std::size_t>(bytes)}; }

}  // namespace

text_source::text_source(const context<host>& ctx, const input_file& input, const read_options& options,
                         const input_tuning& tuning)
    : text_source(ctx, input.opened().file, input.name(), input.opened().mark_bytes, input.opened().take_text(),
                  options, tuning) {
  refuse_foreign_bytes(input.head(), path_);
}

text_source::text_source(const context<host>& ctx, std::shared_ptr<const opened_file> file, std::string path,
                         std::int64_t mark_bytes, std::unique_ptr<byte_stream> stream, const read_options& options,
                         const input_tuning& tuning)
    : ctx_(ctx),
      file_(std::move(file)),
      path_(std::move(path)),
      options_(options),
      tuning_(tuning),
      block_bytes_(block_size(ctx, tuning)),
      max_line_bytes_(tuning.max_line_bytes),
      mark_bytes_(mark_bytes),
      position_(tuning.range.is_all() ? mark_bytes : tuning.range.first),
      last_(tuning.range.is_all() ? file_->size : tuning.range.last) {
  if (stream != nullptr) {
    stream_ = std::make_unique<read_ahead>(ctx, std::move(stream));
    if (stream_->is_ahead() && tuning.block_bytes == 0) block_bytes_ = read_ahead::block_bytes;
  } else {
    block_bytes_ = std::min(block_bytes_, std::max<std::int64_t>(last_ - position_, 1));
  }
  buffer_ = array<char, host>(ctx, block_bytes_ + max_line_bytes_ + 1);
}

text_source::~text_source() = default;

void text_source::hand_over(const context<host>& ctx, const read_options& options) {
  ctx_ = ctx;
  options_ = options;
}

std::unique_ptr<text_source> text_source::again() const {
  if (!file_->is_regular) return nullptr;
  auto stream = stream_ ? std::make_unique<byte_stream>(file_, path_) : nullptr;
  input_tuning all = tuning_;
  all.range = {};
  return std::unique_ptr<text_source>(new text_source(ctx_, file_, path_, mark_bytes_, std::move(stream), {}, all));
}

// Bytes of a regular file, copied by all threads.
std::int64_t text_source::read_file(char* to, std::int64_t bytes) {
  const std::int64_t wanted = std::min(bytes, last_ - position_);
  const std::int64_t chunks = div_up(wanted, chunk_bytes);
  std::atomic<std::int64_t> got{0};
  parallel_parts(ctx_.threads(), chunks, [&](std::int64_t i) {
    const std::int64_t first = i * chunk_bytes;
    got += read_up_to(*file_, path_, to + first, std::min(chunk_bytes, wanted - first), position_ + first);
  });
  if (wanted == 0 || got < wanted) expect_unchanged(*file_, path_);
  if (got < wanted) throw error(error_code::io, {path_}, "ends before the size that the system states");
  position_ += wanted;
  return wanted;
}

// Reads until the buffer holds `target` bytes; false if the text ended first.
bool text_source::fill_buffer(std::int64_t target) {
  while (end_ < target && !ended_) {
    char* const to = buffer_.data() + end_;
    const std::int64_t got = stream_ ? stream_->read(to, target - end_) : read_file(to, target - end_);
    end_ += got;
    ended_ = got == 0;
  }
  return end_ >= target;
}

std::string_view text_source::next() {
  report();
  if (line_cut_) fail(current_.data(), {});
  const bool failed = stream_ && !stream_->failure().empty();
  if (begin_ == end_ && ended_ && !failed && !dropping_) return {};  // keeps `current_`, which says where the text ends
  if (dropping_) {
    drop_rest_of_line();
  } else if (stream_) {
    lines_before_ += count_newlines(current_);
  }
  std::memmove(buffer_.data(), buffer_.data() + begin_, static_cast<std::size_t>(end_ - begin_));
  end_ -= begin_;
  begin_ = 0;
  newline_added_ = false;
  current_ = to_view(buffer_.data(), 0);
  for (std::int64_t searched = 0, target = block_bytes_;; target = end_ + block_bytes_) {
    const bool more = fill_buffer(target);
    const auto newline = to_view(buffer_.data() + searched, end_ - searched).rfind('\n');
    if (newline != std::string_view::npos) {
      begin_ = searched + static_cast<std::int64_t>(newline) + 1;
      delivered_ += begin_;
      return current_ = to_view(buffer_.data(), begin_);
    }
    searched = end_;
    if (end_ > max_line_bytes_ && begins_with_comment(to_view(buffer_.data(), end_))) {
      dropping_ = true;
      begin_ = end_;
      return deliver_added_newline(max_line_bytes_ + 1);
    }
    line_cut_ = end_ > max_line_bytes_;
    if (line_cut_ || !more) break;
  }
  if (!line_cut_ && stream_ && !stream_->failure().empty()) {
    throw error(error_code::io, {path_, lines_before_ + 1, end_ + 1}, stream_->failure());
  }
  if (end_ == 0) return current_;
  begin_ = end_;
  return deliver_added_newline(end_);
}

// The last line of a text that lacks its '\n', or the beginning of an overlong line.
std::string_view text_source::deliver_added_newline(std::int64_t bytes) {
  buffer_[bytes] = '\n';
  newline_added_ = true;
  delivered_ += bytes + 1;
  return current_ = to_view(buffer_.data(), bytes + 1);
}

bool text_source::begins_with_comment(std::string_view line) const {
  const std::size_t first = line.find_first_not_of(" \t");
  return first != std::string_view::npos && comment_marks_.find(line[first]) != std::string_view::npos;
}

// Skips the rest of a comment, up to its '\n' or the end of the text.
void text_source::drop_rest_of_line() {
  dropping_ = false;
  std::size_t newline = std::string_view::npos;
  do {
    end_ = 0;
    (void)fill_buffer(block_bytes_);
    newline = to_view(buffer_.data(), end_).find('\n');
  } while (newline == std::string_view::npos && end_ > 0);
  begin_ = newline == std::string_view::npos ? end_ : static_cast<std::int64_t>(newline) + 1;
  lines_before_ += begin_ > 0 ? 1 : 0;
}

void text_source::put_back(const char* line_start) {
  const std::int64_t kept = line_start - current_.data();
  const auto size = static_cast<std::int64_t>(current_.size());
  if (kept == size) return;
  delivered_ -= size - kept;
  begin_ = kept;
  current_ = to_view(current_.data(), kept);
  newline_added_ = false;
  line_cut_ = false;
}

// For a regular file: reads it again up to the current block.
std::int64_t text_source::count_lines_before() const {
  if (stream_) return lines_before_;
  const std::int64_t last = position_ - end_;
  std::vector<char> text(static_cast<std::size_t>(chunk_bytes));
  std::int64_t lines = 0;
  for (std::int64_t at = mark_bytes_; at < last;) {
    const std::int64_t got = read_up_to(*file_, path_, text.data(), std::min(chunk_bytes, last - at), at);
    if (got == 0) break;
    lines += count_newlines(to_view(text.data(), got));
    at += got;
  }
  return lines;
}

source_position text_source::position_of(const char* where) const {
  const char* const end = current_.data() + current_.size();
  if (where == end && newline_added_) --where;  // the text ends before the added '\n'
  const std::string_view before = to_view(current_.data(), where - current_.data());
  const std::int64_t lines = count_newlines(before) + count_lines_before();
  const std::size_t newline = before.rfind('\n');
  const std::size_t column = newline == std::string_view::npos ? before.size() : before.size() - newline - 1;
  return {path_, lines + 1, static_cast<std::int64_t>(column) + 1};
}

void text_source::fail(const char* where, const std::string& message) const {
  expect_unchanged(*file_, path_);
  const char* const end = current_.data() + current_.size();
  const std::size_t newline = to_view(current_.data(), where - current_.data()).rfind('\n');
  const char* const line = newline == std::string_view::npos ? current_.data() : current_.data() + newline + 1;
  const char* const line_end = std::find(where, end, '\n');
  const bool may_be_long = !message.empty() && begins_with_comment(to_view(line, line_end - line));
  if (line_end - line > max_line_bytes_ && !may_be_long) {
    throw error(error_code::parse, position_of(line + max_line_bytes_),
                fmt::format("the line is too long (expected at most {} bytes)", max_line_bytes_));
  }
  throw error(error_code::parse, position_of(where), message);
}

void text_source::fail_at_end(const std::string& message) const {
  expect_unchanged(*file_, path_);
  throw error(error_code::parse, position_of(current_.data() + current_.size()), message);
}

std::int64_t text_source::bytes_left() const noexcept { return stream_ ? -1 : last_ - position_ + end_ - begin_; }

std::int64_t text_source::expected_bytes_left() const noexcept {
  if (!stream_) return bytes_left();
  const auto consumed = static_cast<double>(stream_->consumed());
  if (consumed <= 0 || file_->size <= 0) return 0;
  const double growth = static_cast<double>(delivered_) / consumed;
  return static_cast<std::int64_t>(growth * std::max(0.0, static_cast<double>(file_->size) - consumed));
}

context<host> text_source::parsing_context() const {
  if (!stream_ || !stream_->is_ahead()) return ctx_;
  return context<host>({.threads = ctx_.threads() - 1, .resource = &ctx_.resource()});
}

void text_source::report() {
  if (!options_.progress) return;
  const std::int64_t done = stream_ ? stream_->consumed() : position_ - (end_ - begin_);
  if (done != reported_) options_.progress({done, file_->size});
  reported_ = done;
}

std::int64_t count_newlines(std::string_view text) noexcept {
  constexpr std::size_t lanes = 64;
  constexpr std::size_t most = 255;  // maximum of a lane's counter
  std::int64_t total = 0;
  while (text.size() >= lanes) {
    std::array<std::uint8_t, lanes> counts{};
    const std::size_t rounds = std::min(most, text.size() / lanes);
    for (std::size_t round = 0; round < rounds; ++round) {
      const char* const p = text.data() + round * lanes;
      for (std::size_t i = 0; i < lanes; ++i) counts[i] = static_cast<std::uint8_t>(counts[i] + (p[i] == '\n' ? 1 : 0));
    }
    for (const std::uint8_t count : counts) total += count;
    text.remove_prefix(rounds * lanes);
  }
  return total + std::count(text.begin(), text.end(), '\n');
}

std::int64_t find_line(const opened_file& file, const std::string& path, std::int64_t at, std::int64_t last) {
  std::vector<char> text(static_cast<std::size_t>(chunk_bytes));
  for (--at; at < last;) {  // the previous line may end exactly there
    const std::int64_t got = read_up_to(file, path, text.data(), std::min(chunk_bytes, last - at), at);
    if (got == 0) break;
    const auto newline = to_view(text.data(), got).find('\n');
    if (newline != std::string_view::npos) return at + static_cast<std::int64_t>(newline) + 1;
    at += got;
  }
  return last;
}

std::vector<std::string_view> split_at_lines(std::string_view block, std::int64_t chunks) {
  std::vector<std::string_view> parts;
  parts.reserve(static_cast<std::size_t>(chunks));
  const std::size_t size = div_up(block.size(), static_cast<std::size_t>(chunks));
  while (!block.empty()) {
    const std::size_t newline = size < block.size() ? block.find('\n', size - 1) : std::string_view::npos;
    const std::size_t end = newline == std::string_view::npos ? block.size() : newline + 1;
    parts.push_back(block.substr(0, end));
    block.remove_prefix(end);
  }
  return parts;
}

std::string quoted(std::string_view token) {
  constexpr std::size_t longest = 32;
  std::string shown = "'";
  for (const char c : token.substr(0, longest)) {
    if (c >= ' ' && c <= '~') {
      shown += c;
    } else {
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return shown + (token.size() > longest ? "...'" : "'");
}

}  // namespace spargo::detail
