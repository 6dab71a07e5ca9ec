// Parses edges between names in a part of an edge list, line by line; one thread per part.
//
// A name is a field as read by take_field; in quotes it may contain separators and doubled quotes. Names are views of
// the text, or of the sink's memory if quotes were doubled. Sinks as in line.hpp, of names.
#pragma once

#include "io/edge_list/header.hpp"
#include "io/edge_list/line.hpp"
#include "io/text/name_interner.hpp"

#include <array>
#include <deque>
#include <string>

namespace spargo::detail::edge_text {

struct name_field {
  std::string_view text;            // without surrounding quotes
  bool has_doubled_quotes = false;  // each stands for one quote
};

struct named_edge {
  name_field source;
  name_field target;
  edge_fields values;  // only the weight is used
};

// Reads the name at `p` and moves behind it.
[[nodiscard]] inline name_field take_name(const char*& p, char separator, const char* what) {
  const char* const first = p;
  const std::string_view text = take_field(p, separator);
  const bool in_quotes = text.data() != first && text.data()[-1] == '"';
  if (!in_quotes) {
    if (const std::size_t at = text.find('\r'); at != std::string_view::npos) {
      throw bad_line{text.data() + at, std::string(return_alone)};
    }
    if (text.empty()) throw bad_line{text.data(), fmt::format("the {} vertex is missing (expected a name)", what)};
    return {text};
  }
  if (separator == ' ' && !is_blank(p[-1]) && !ends_line(p)) {
    throw bad_line{p, fmt::format("unexpected {} behind the closing quote (expected a blank or the end of the line)",
                                  quoted(field_at(p)))};
  }
  return {text, text.find('"') != std::string_view::npos};
}

// Reads a column with the weight, or with attributes that may include one; without a header line it may be missing.
template <class I>
const char* read_named_weight(const char* p, const edge_part<I>& part, edge_fields& edge) {
  const edge_list_header& header = *part.header;
  const char* const first = skip_blanks(p);
  if (*first == '{') {
    edge.weighted = read_attributes(first, edge.weight, edge.rounded);
    return first;
  }
  const std::string_view field = take_field(p, header.separator);
  edge.weighted = true;
  edge.weight = table_weight(field, header);
  edge.rounded = may_be_rounded(edge.weight) && is_rounded(field, edge.weight);
  return p;
}

// Number of fields of a line; 0 if quotes are wrong or a field is empty.
[[nodiscard]] inline std::size_t count_fields(const char* p, char separator) {
  try {
    for (std::size_t count = 1;; ++count) {
      if (take_field(p, separator).empty()) return 0;
      if (!next_field(p, separator)) return count;
    }
  } catch (const bad_line&) {
    return 0;
  }
}

// "#graph,#gpu" below a header line: an edge between hashtags, which a comment would lose, or one that is left out?
[[gnu::noinline]] inline void refuse_edge_in_comment(const char* p, const edge_list_header& header) {
  if (header.separator == ' ' || is_blank(p[1]) || is_comment(p + 1) || ends_line(p + 1)) return;
  if (count_fields(p, header.separator) != header.names.size() + (header.row_names ? 1 : 0)) return;
  throw bad_line{p, fmt::format("a comment with all columns of an edge (expected quotes around a name that begins with "
                                "{0}, or a blank behind the {0} of a comment)",
                                *p)};
}

// The header line once more, as where files were joined: its words would become vertices.
[[nodiscard]] inline bool is_header_again(const named_edge& edge, const edge_list_header& header) {
  const auto is_name_of = [&](const name_field& field, int column) {
    const int k = column - (header.row_names ? 1 : 0);
    return k >= 0 && k < std::ssize(header.names) && field.text == header.names[static_cast<std::size_t>(k)];
  };
  return is_name_of(edge.source, header.source) && is_name_of(edge.target, header.target);
}

// Reads any line; false if it has no edge.
template <class I>
[[nodiscard]] bool read_named_edge(const char* p, edge_part<I>& part, named_edge& edge) {
  const edge_list_header& header = *part.header;
  const char* const first = skip_blanks(p);
  if (is_without_edge(first)) {
    if (is_comment(first) && !header.names.empty()) refuse_edge_in_comment(first, header);
    return false;
  }
  const int last_end = std::max(header.source, header.target);
  const int last = std::max(last_end, std::max(header.weight, header.type));
  edge.values.weighted = false;
  edge.values.rounded = false;
  for (int column = 0;; ++column) {
    if (column == header.source) {
      edge.source = take_name(p, header.separator, "source");
    } else if (column == header.target) {
      edge.target = take_name(p, header.separator, "target");
    } else if (column == header.weight) {
      p = read_named_weight(p, part, edge.values);
    } else {
      const std::string_view field = take_field(p, header.separator);
      if (column == header.type) check_type(field, header);
    }
    if (column == last) {
      if (header.columns > 0) refuse_more_fields(p, header.separator, column + 1, header.columns);
      break;
    }
    if (!next_field(p, header.separator)) {
      if (column >= last_end && header.names.empty()) break;
      throw bad_line{p, fmt::format("too few columns: {} (expected {} or more)", column + 1, last + 1)};
    }
  }
  if (!header.names.empty() && is_header_again(edge, header)) {
    throw bad_line{first, "the names of the columns again (expected an edge)"};
  }
  check_weight(part, edge.values.weighted, p);
  return true;
}

template <class I, class Sink>
void parse_named_edges(edge_part<I>& part, Sink& sink, std::int64_t max_line_bytes) {
  const char* const end = part.text.data() + part.text.size();
  part.rounded = 0;
  named_edge edge;
  for (const char* line = part.text.data(); line != end;) {
    const auto* const next =
        static_cast<const char*>(std::memchr(line, '\n', static_cast<std::size_t>(end - line))) + 1;
    if (next - 1 - line > max_line_bytes && !is_comment(skip_blanks(line))) {
      throw bad_line{line, {}};  // `text_source::fail` supplies the message
    }
    const bool has_edge = read_named_edge(line, part, edge);
    line = next;
    if (!has_edge) continue;
    part.rounded += edge.values.rounded ? 1 : 0;
    if (edge.values.weighted && part.to.values != nullptr) part.to.values[part.count] = edge.values.weight;
    sink.put(edge.source, edge.target);
    ++part.count;
  }
  sink.finish();
}

// Stores an interner's numbers, batch by batch.
template <class I>
class interned_names {
 public:
  // For the names of a part that begins at byte `offset` of the text.
  interned_names(name_interner& interner, std::int64_t offset, const entry_sink<double, I>& to)
      : interner_(interner), memory_(interner.take_arena()), place_(offset), to_(to) {}
  interned_names(const interned_names&) = delete;
  interned_names& operator=(const interned_names&) = delete;
  ~interned_names() { interner_.give_back(memory_); }

  void put(const name_field& source, const name_field& target) {
    names_[static_cast<std::size_t>(waiting_++)] = text_of(source);
    names_[static_cast<std::size_t>(waiting_++)] = text_of(target);
    if (waiting_ == name_interner::batch) finish();
  }

  void finish() {
    std::array<std::int64_t, name_interner::batch> numbers;
    interner_.number(names_.data(), waiting_, place_, memory_, numbers.data());
    for (std::int64_t k = 0; k < waiting_; k += 2, ++done_) {
      to_.rows[done_] = static_cast<I>(numbers[static_cast<std::size_t>(k)]);
      to_.cols[done_] = static_cast<I>(numbers[static_cast<std::size_t>(k + 1)]);
    }
    place_ += waiting_;  // a name has at least one byte of text, so places of the next part are larger
    waiting_ = 0;
    unquoted_.clear();
  }

 private:
  std::string_view text_of(const name_field& field) {
    if (!field.has_doubled_quotes) return field.text;
    std::string& name = unquoted_.emplace_back();
    for (std::size_t k = 0; k < field.text.size(); ++k) {
      name += field.text[k];
      k += field.text[k] == '"' ? 1 : 0;
    }
    return name;
  }

  name_interner& interner_;
  name_interner::arena& memory_;
  std::int64_t place_;
  entry_sink<double, I> to_;
  std::array<std::string_view, name_interner::batch> names_;
  std::deque<std::string> unquoted_;
  std::int64_t waiting_ = 0;
  std::int64_t done_ = 0;
};

}  // namespace spargo::detail::edge_text
