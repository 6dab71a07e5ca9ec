// Edge attributes as networkx writes them: `{}`, `{'weight': 3.0, 'color': 'red'}`, a Python dictionary or JSON.
//
// Only the value of 'weight' is used. NumPy 2's `np.float64(3.0)` counts as the number.
#pragma once

#include "io/edge_list/fields.hpp"

namespace spargo::detail::edge_text {

class attribute_reader {
 public:
  explicit attribute_reader(const char* brace) : brace_(brace), p_(brace) {}

  // Returns whether there is a weight; `rounded`: an integer that float64 cannot represent.
  [[nodiscard]] bool read(double& weight, bool& rounded) {
    bool weighted = false;
    next();
    while (*p_ != '}') {
      const std::string_view key = value();
      if (*p_ != ':') fail(p_, "a colon and the value of the attribute");
      next();
      const char* const place = p_;
      const std::string_view given = value();
      if (key == "'weight'" || key == "\"weight\"") {
        weight = number(place, given);
        rounded = may_be_rounded(weight) && is_rounded(given, weight);
        weighted = true;
      }
      if (*p_ == ',') {
        next();
      } else if (*p_ != '}') {
        fail(p_, "a comma or }");
      }
    }
    return weighted;
  }

 private:
  [[noreturn]] void fail(const char* where, const char* expected) const {
    if (ends_line(where)) throw bad_line{brace_, "the attributes of the edge do not end (expected a }, as in {})"};
    throw bad_line{where, fmt::format("unexpected {} among the attributes of the edge (expected {})",
                                      quoted({where, 1}), expected)};
  }

  void next() { p_ = skip_blanks(p_ + 1); }

  void skip_string() {
    const char quote = *p_;
    for (++p_; *p_ != quote; ++p_) {
      if (*p_ == '\\' && p_[1] != '\n') ++p_;
      if (*p_ == '\n') fail(p_, "");
    }
    ++p_;
  }

  // Reads a string, a bare word, or a bracketed value, and skips following blanks.
  std::string_view value() {
    const char* const first = p_;
    std::int64_t depth = 0;
    for (;; ++p_) {
      while (*p_ == '\'' || *p_ == '"') skip_string();
      const bool closes = *p_ == '}' || *p_ == ']' || *p_ == ')';
      if (ends_line(p_) || (depth == 0 && (closes || *p_ == ',' || *p_ == ':' || is_blank(*p_)))) break;
      depth += *p_ == '{' || *p_ == '[' || *p_ == '(' ? 1 : closes ? -1 : 0;
    }
    const std::string_view taken(first, static_cast<std::size_t>(p_ - first));
    p_ = skip_blanks(p_);
    if (taken.empty() || ends_line(p_)) fail(p_, "a name or a value");
    return taken;
  }

  static double number(const char* place, std::string_view token) {
    if (token.starts_with("np.") && token.ends_with(')')) {
      token.remove_suffix(1);
      token.remove_prefix(std::min(token.find('('), token.size() - 1) + 1);
    }
    return weight_of(place, token);
  }

  const char* const brace_;
  const char* p_;
};

// Reads the attributes at `p`, a brace; returns whether they include a weight. Ignores the rest of the line.
[[nodiscard, gnu::noinline]] inline bool read_attributes(const char* p, double& weight, bool& rounded) {
  return attribute_reader(p).read(weight, rounded);
}

}  // namespace spargo::detail::edge_text
