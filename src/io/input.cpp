#include "io/input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace spargo::detail {

namespace {

constexpr std::int64_t mib = std::int64_t{1} << 20;

std::int64_t block_size(const context<host>& ctx, const input_tuning& tuning) {
  if (tuning.block_bytes > 0) return tuning.block_bytes;
  return std::clamp(4 * mib * ctx.threads(), 8 * mib, 64 * mib);
}

std::string_view to_view(const char* first, std::int64_t bytes) { return {first, static_cast<std::size_t>(bytes)}; }

}  // namespace

text_source::text_source(const context<host>& ctx, const std::string& path, const read_options& options,
                         const input_tuning& tuning)
    : ctx_(ctx),
      path_(path),
      options_(options),
      block_bytes_(block_size(ctx, tuning)),
      max_line_bytes_(tuning.max_line_bytes) {
  opened_file file = open_for_reading(path);
  file_bytes_ = file.size;
  is_regular_ = file.is_regular;
  if (file.is_regular && file.size > 0) map_ = mapped_file(file, path);
  if (map_.size() > 0 && !looks_like_gzip(map_.bytes())) return;
  map_ = {};  // files of /proc say 0 bytes and are streamed, too
  stream_ = std::make_unique<read_ahead>(ctx, std::move(file), path);
  if (stream_->is_ahead() && tuning.block_bytes == 0) block_bytes_ = read_ahead::block_bytes;
  buffer_ = array<char, host>(ctx, block_bytes_ + max_line_bytes_ + 1);
}

text_source::~text_source() = default;

std::string_view text_source::next() {
  report();
  if (line_cut_) fail(current_.data(), {});
  const std::string_view block = stream_ ? next_streamed() : next_mapped();
  delivered_ += static_cast<std::int64_t>(block.size());
  return block;
}

// An unended last line, or the beginning of one that is too long: with an added '\n', which a mapping cannot hold.
std::string_view text_source::deliver_copy(std::string_view text) {
  copy_ = array<char, host>(ctx_, static_cast<std::int64_t>(text.size()) + 1);
  std::copy(text.begin(), text.end(), copy_.begin());
  copy_[copy_.size() - 1] = '\n';
  newline_added_ = true;
  return to_view(copy_.data(), copy_.size());
}

std::string_view text_source::next_mapped() {
  if (position_ == map_.size()) return {};  // `current_` stays: it says where the text ends
  map_.forget(origin_, position_);
  origin_ = position_;
  newline_added_ = false;
  const std::string_view rest = map_.bytes().substr(static_cast<std::size_t>(position_));
  const auto longest = static_cast<std::size_t>(max_line_bytes_) + 1;  // a line with its '\n'
  const auto size = std::min(rest.size(), static_cast<std::size_t>(block_bytes_));
  std::size_t newline = rest.substr(0, size).rfind('\n');
  if (newline == std::string_view::npos && size < longest) newline = rest.substr(0, longest).find('\n', size);
  if (newline != std::string_view::npos) {
    current_ = rest.substr(0, newline + 1);
    position_ += static_cast<std::int64_t>(current_.size());
    return current_;
  }
  line_cut_ = rest.size() >= longest;
  position_ += static_cast<std::int64_t>(std::min(rest.size(), longest));
  return current_ = deliver_copy(rest.substr(0, longest));
}

// Reads until the buffer holds `target` bytes; false when the stream ended before that.
bool text_source::fill_buffer(std::int64_t target) {
  while (end_ < target && !stream_ended_) {
    const std::int64_t got = stream_->read(buffer_.data() + end_, target - end_);
    end_ += got;
    stream_ended_ = got == 0;
  }
  return end_ >= target;
}

std::string_view text_source::next_streamed() {
  if (begin_ == end_ && stream_ended_ && stream_->failure().empty()) return {};
  lines_before_ += count_newlines(current_);
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
      return current_ = to_view(buffer_.data(), begin_);
    }
    searched = end_;
    line_cut_ = end_ > max_line_bytes_;
    if (line_cut_ || !more) break;
  }
  if (!line_cut_ && !stream_->failure().empty()) {
    throw error(error_code::io, {path_, lines_before_ + 1, end_ + 1}, stream_->failure());
  }
  if (end_ == 0) return current_;
  buffer_[end_] = '\n';
  newline_added_ = true;
  begin_ = end_;
  return current_ = to_view(buffer_.data(), end_ + 1);
}

void text_source::put_back(const char* line_start) {
  const std::int64_t kept = line_start - current_.data();
  const auto size = static_cast<std::int64_t>(current_.size());
  if (kept == size) return;
  delivered_ -= size - kept;
  (stream_ ? begin_ : position_) = (stream_ ? 0 : origin_) + kept;
  current_ = to_view(current_.data(), kept);
  newline_added_ = false;
  line_cut_ = false;
}

source_position text_source::position_of(const char* where) const {
  const char* const end = current_.data() + current_.size();
  if (where == end && newline_added_) --where;  // the text itself ends before the '\n'
  const std::string_view before = to_view(current_.data(), where - current_.data());
  const std::int64_t lines =
      count_newlines(before) +
      (stream_ ? lines_before_ : count_newlines(map_.bytes().substr(0, static_cast<std::size_t>(origin_))));
  const std::size_t newline = before.rfind('\n');
  const std::size_t column = newline == std::string_view::npos ? before.size() : before.size() - newline - 1;
  return {path_, lines + 1, static_cast<std::int64_t>(column) + 1};
}

void text_source::fail(const char* where, const std::string& message) const {
  const char* const end = current_.data() + current_.size();
  const std::size_t newline = to_view(current_.data(), where - current_.data()).rfind('\n');
  const char* const line = newline == std::string_view::npos ? current_.data() : current_.data() + newline + 1;
  const char* const line_end = std::find(where, end, '\n');
  if (line_end - line > max_line_bytes_) {
    throw error(error_code::parse, position_of(line + max_line_bytes_),
                fmt::format("the line is too long (expected at most {} bytes)", max_line_bytes_));
  }
  throw error(error_code::parse, position_of(where), message);
}

void text_source::fail_at_end(const std::string& message) const {
  throw error(error_code::parse, position_of(current_.data() + current_.size()), message);
}

std::int64_t text_source::bytes_left() const noexcept { return stream_ ? -1 : map_.size() - position_; }

std::int64_t text_source::expected_bytes_left() const noexcept {
  if (!stream_) return map_.size() - position_;
  const auto consumed = static_cast<double>(stream_->consumed());
  if (consumed <= 0 || file_bytes_ <= 0) return 0;
  const double growth = static_cast<double>(delivered_) / consumed;
  return static_cast<std::int64_t>(growth * std::max(0.0, static_cast<double>(file_bytes_) - consumed));
}

context<host> text_source::parsing_context() const {
  if (!stream_ || !stream_->is_ahead()) return ctx_;
  return context<host>({.threads = ctx_.threads() - 1, .resource = &ctx_.resource()});
}

void text_source::report() {
  if (!options_.progress) return;
  const std::int64_t done = stream_ ? stream_->consumed() : position_;
  if (done != reported_) options_.progress({done, file_bytes_});
  reported_ = done;
}

std::int64_t count_newlines(std::string_view text) noexcept {
  constexpr std::size_t lanes = 64;
  constexpr std::size_t most = 255;  // counts of a lane
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

std::vector<std::string_view> split_at_lines(std::string_view block, std::int64_t pieces) {
  std::vector<std::string_view> parts;
  parts.reserve(static_cast<std::size_t>(pieces));
  const std::size_t size = div_up(block.size(), static_cast<std::size_t>(pieces));
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
