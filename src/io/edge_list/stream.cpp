// Edge list to edge list with unchanged ids or names and order. The driver is io/text/block_stream.hpp.
#include "core/rethrow.hpp"
#include "io/edge_list/header.hpp"
#include "io/edge_list/heading.hpp"
#include "io/edge_list/line.hpp"
#include "io/edge_list/name_line.hpp"
#include "io/opened_input.hpp"
#include "io/text/block_stream.hpp"
#include "io/text/line_writer.hpp"
#include "io/text/name_text.hpp"

#include <new>
#include <utility>

namespace spargo {

namespace {

using namespace detail;

// Two ids of 19 digits, a weight of 24, three separators.
constexpr std::int64_t longest_line = 2 * 19 + 24 + 3;

struct listed_ids {
  entry_sink<double, std::int64_t> to;
  bool put(std::int64_t k, std::int64_t source, std::int64_t target) const {
    to.rows[k] = source;
    to.cols[k] = target;
    return true;
  }
  void finish() const {}
};

enum class third_column { none, weight, one };

using stream_part = edge_text::edge_part<std::int64_t>;

// How an edge's weight is written, once its part's first edge is read.
struct edge_format {
  edge_weights weights;
  char separator;

  [[nodiscard]] char* end_line(char* to, const stream_part& part, std::int64_t k) const;
};

// Writes named edges as they are read; their weights are in the part.
struct named_lines {
  char* to;
  const stream_part& part;
  edge_format format;

  void put(const edge_text::name_field& source, const edge_text::name_field& target) {
    put_field(source);
    *to++ = format.separator;
    put_field(target);
    to = format.end_line(to, part, part.count);
  }
  void finish() const {}

 private:
  void put_field(const edge_text::name_field& name) {
    if (!name.has_doubled_quotes) {
      to = put_name(to, name.text);
      return;
    }
    *to++ = '"';
    to = std::copy(name.text.begin(), name.text.end(), to);
    *to++ = '"';
  }
};

third_column column_for(edge_weights wanted, bool weighted) {
  if (wanted == edge_weights::left_out) return third_column::none;
  if (weighted) return third_column::weight;
  return wanted == edge_weights::ones_if_none ? third_column::one : third_column::none;
}

char* edge_format::end_line(char* to, const stream_part& part, std::int64_t k) const {
  const third_column third = column_for(weights, part.weighted);
  if (third != third_column::none) {
    *to++ = separator;
    to = put_number(to, third == third_column::weight ? part.to.values[k] : 1.0);
  }
  *to++ = '\n';
  return to;
}

class edge_stream {
 public:
  edge_stream(const context<host>& ctx, const input_file& from, const std::string& to, const stream_options& options,
              const stream_tuning& tuning)
      : ctx_(ctx),
        from_(from.opened()),
        options_(options),
        tuning_(tuning),
        header_(read_edge_list_header(from, options.reading.columns, options.reading.ids)),
        source_(ctx, from, options.reading, streamed_input(ctx, tuning)),
        out_(to) {
    source_.set_comment_marks(edge_text::comment_marks);
  }

  stream_result run() {
    std::vector<stream_part> parts;
    std::vector<streamed_text> texts;
    edge_text::header_lines header(header_);
    bool first = true;
    for (std::string_view block = source_.next(); !block.empty(); block = source_.next()) {
      if (std::exchange(first, false) && edge_text::has_banner(block)) {
        source_.fail(block.data(), "a Matrix Market banner (expected an edge list)");
      }
      block = header.skip(source_, block);
      if (block.empty()) continue;
      if (delimiter_ == 0) delimiter_ = edge_text::delimiter_of(block, header_);
      make_texts(ctx_, block, tuning_, parts, texts, [&](auto& part, auto& text) { make(part, text); });
      for (std::size_t i = 0; i < parts.size(); ++i) check_and_write(parts[i], texts[i]);
    }
    if (result_.entries == 0) write_heading();
    out_.commit();
    from_.padded = padded_;
    return result_;
  }

 private:
  void make(stream_part& part, streamed_text& text) const {
    part.count = 0;
    part.header = &header_;
    if (delimiter_ != 0) part.delimiter = delimiter_;
    part.first_column = nullptr;
    part.padded = nullptr;
    part.own.ensure(ctx_, count_newlines(part.text));
    part.to = part.own.from(0);
    const edge_format format{options_.weights, separator_of(options_.style)};
    if (header_.ids == id_kind::names) {
      // A name takes at most twice its characters and two quotes.
      const auto bytes = static_cast<std::int64_t>(part.text.size());
      char* const first = text.ensure(ctx_, 2 * bytes + count_newlines(part.text) * longest_line);
      named_lines sink{first, part, format};
      edge_text::parse_named_edges(part, sink, source_.max_line_bytes());
      text.bytes = sink.to - first;
      return;
    }
    listed_ids sink{part.to};
    edge_text::parse_edges(part, sink, source_.max_line_bytes());
    char* const first = text.ensure(ctx_, part.count * longest_line);
    char* to = first;
    for (std::int64_t k = 0; k < part.count; ++k) {
      to = put_number(to, part.to.rows[k]);
      *to++ = format.separator;
      to = put_number(to, part.to.cols[k]);
      to = format.end_line(to, part, k);
    }
    text.bytes = to - first;
  }

  void check_and_write(const stream_part& part, const streamed_text& text) {
    if (text.exception) std::rethrow_exception(text.exception);
    if (part.first_column != nullptr) {
      if (result_.entries == 0) {
        result_.weighted = part.weighted;
        write_heading();
      }
      if (part.weighted != result_.weighted) {
        const bad_line bad = edge_text::uneven(part.first_column, part.weighted);
        source_.fail(bad.where, bad.message);
      }
    }
    if (text.bad) source_.fail(text.bad->where, text.bad->message);
    if (part.padded != nullptr && padded_.text.empty()) padded_ = edge_text::padded_at(source_, part.padded);
    write_text(out_, text);
    result_.entries += part.count;
    result_.rounded_integers += part.rounded;
  }

  void write_heading() {
    const bool three = column_for(options_.weights, result_.weighted) != third_column::none;
    out_.write(edge_list_heading(options_.style, three));
  }

  const context<host>& ctx_;
  opened_input& from_;
  const stream_options& options_;
  const stream_tuning tuning_;
  const edge_list_header header_;
  char delimiter_ = header_.delimiter;  // 0: not yet known
  text_source source_;
  output_file out_;
  stream_result result_;
  padded_id padded_;
};

}  // namespace

stream_result stream_edge_list(const context<host>& ctx, const input_file& from, const std::string& to,
                               const stream_options& options) {
  SPARGO_EXPECTS(options.to == text_format::edge_list, "stream_edge_list: to another format (expected an edge list)");
  try {
    return edge_stream(ctx, from, to, options, {}).run();
  } catch (const std::bad_alloc&) {
    detail::throw_out_of_memory(from.name(), "host memory ran out while the file was rewritten");
  }
}

}  // namespace spargo
