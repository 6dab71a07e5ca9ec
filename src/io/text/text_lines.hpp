// Sequential token reader for formats whose lines depend on earlier ones; and arrays that grow meanwhile.
#pragma once

#include "io/text/blocks.hpp"
#include "io/text/number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace spargo::detail {

class text_lines {
 public:
  // A line whose first nonblank character is `comment` may have any length.
  text_lines(text_source& source, const char* comment) : source_(source), comment_(*comment) {
    source_.set_comment_marks(comment);
  }

  // Moves to the next line; false at the end of the text.
  [[nodiscard]] bool next() {
    if (next_ == end_) {
      const std::string_view block = source_.next();
      next_ = block.data();
      end_ = next_ + block.size();
      if (block.empty()) return false;
    }
    line_ = next_;
    next_ = static_cast<const char*>(std::memchr(line_, '\n', static_cast<std::size_t>(end_ - line_))) + 1;
    if (next_ - 1 - line_ > source_.max_line_bytes() && *skip_blanks(line_) != comment_) source_.fail(line_, {});
    ++number_;
    token_ = {line_, 0};
    return true;
  }

  // The next token of the line; empty at its end.
  std::string_view token() {
    token_ = token_at(skip_blanks(token_.data() + token_.size()));
    return token_;
  }

  // Makes the last token, or the whole line, the next to be read.
  void put_back() { token_ = {token_.data(), 0}; }
  void rewind() { token_ = {line_, 0}; }

  // Reads an integer from `least` to `most`; `what` is its name in messages.
  [[nodiscard]] std::int64_t integer(const char* what, std::int64_t least, std::int64_t most) {
    std::int64_t value = 0;
    expect(what);
    if (parse_integer(token_, value) == number_status::malformed) {
      fail(fmt::format("{} is not {} (expected an integer)", quoted(token_), what));
    }
    if (parse_integer(token_, value) == number_status::out_of_range || value < least || value > most) {
      fail(fmt::format("{} cannot be {} (expected {} to {})", what, quoted(token_), least, most));
    }
    return value;
  }

  [[nodiscard]] double real(const char* what) {
    double value = 0;
    expect(what);
    const number_status status = parse_real(token_, value);
    if (status == number_status::malformed) {
      fail(fmt::format("{} is not {} (expected a real number)", quoted(token_), what));
    }
    if (status == number_status::out_of_range) fail(fmt::format("{} is beyond the range of float64", quoted(token_)));
    if (may_be_rounded(value) && is_rounded(token_, value)) ++rounded_;
    return value;
  }

  // Number of integers that `real` has rounded.
  [[nodiscard]] std::int64_t rounded() const { return rounded_; }

  void finish() {
    if (!token().empty()) fail(fmt::format("unexpected {} (expected the end of the line)", quoted(token_)));
  }

  // Reports an error at the last token, or at the end of the line.
  [[noreturn]] void fail(const std::string& message) const { source_.fail(token_.data(), message); }

  [[nodiscard]] std::int64_t line() const { return number_; }
  [[nodiscard]] std::int64_t column() const { return token_.data() - line_ + 1; }

 private:
  void expect(const char* what) {
    if (token().empty()) fail(fmt::format("the line ends (expected {})", what));
  }

  text_source& source_;
  const char comment_;
  const char* line_ = nullptr;
  const char* next_ = nullptr;
  const char* end_ = nullptr;
  std::string_view token_;
  std::int64_t number_ = 0;
  std::int64_t rounded_ = 0;
};

template <class T>
class growing_array {
 public:
  explicit growing_array(const context<host>& ctx) : ctx_(ctx) {}

  void push_back(T value) {
    if (size_ == room_.size()) grow();
    room_[size_++] = value;
  }
  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] const T& operator[](std::int64_t k) const { return room_[k]; }

  [[nodiscard]] array<T, host> release() {
    room_.truncate(size_);
    return std::move(room_);
  }

 private:
  void grow() {
    array<T, host> larger(ctx_, std::max<std::int64_t>(64, 2 * size_));
    std::copy_n(room_.data(), size_, larger.data());
    room_ = std::move(larger);
  }

  const context<host>& ctx_;
  array<T, host> room_;
  std::int64_t size_ = 0;
};

}  // namespace spargo::detail
