#include "cli/vertex_table.hpp"

#include "cli/choice.hpp"
#include "cli/cli.hpp"
#include "cli/printed_lines.hpp"
#include "cli/report.hpp"
#include "cli/text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

namespace spargo::apps {

namespace {

std::string with_blanks(const column_names& columns) {
  std::string text;
  for (const std::string& name : columns.all) text += (text.empty() ? "" : " ") + name;
  return text;
}

// A field of CSV, TSV or of columns between blanks.
std::string field_of(const std::string& text) {
  const bool breaks = text.find_first_of("\n\r") != std::string::npos;
  std::string field;
  append_name(field, breaks ? ' ' + text : text);  // a blank makes it quoted
  if (breaks) field.erase(1, 1);
  return field;
}

std::string check_top(const std::string& text) {
  std::int64_t count = 0;
  if (parse_integer(text, count) && count >= 1) return {};
  return fmt::format("{} is not a number of lines (expected 1 or more)", text);
}

// "CSV", for reports.
std::string_view name_of(table_format format) {
  switch (format) {
    case table_format::commas:
      return "CSV";
    case table_format::tabs:
      return "TSV";
    case table_format::objects:
      return "JSON";
    case table_format::aligned:
      return "table";
    case table_format::blanks:
      break;
  }
  return "text";
}

declared_flag add_print_flag(flag_set app, table_flags& flags, const std::string& lines) {
  return app
      .add_option_function(
          "--print",
          [&flags](const std::string& form) {
            flags.print = form;
            if (form != "report") flags.output = "-";
          },
          fmt::format(
              "print {}, not the report: as table, csv or json; columns of a table are aligned, and its numbers "
              "rounded",
              lines))
      ->check(one_of("a form", {"report", "table", "csv", "json"}))
      ->type_name("FORM");
}

}  // namespace

table_format table_format_of(const std::string& path) {
  std::filesystem::path name = std::filesystem::path(path).filename();
  if (name.extension() == ".gz") name = name.stem();
  const std::string ending = name.extension().string();
  if (ending == ".csv") return table_format::commas;
  if (ending == ".tsv") return table_format::tabs;
  if (ending == ".json") return table_format::objects;
  return table_format::blanks;
}

void add_table_flags(flag_set app, table_flags& flags, const table_texts& texts) {
  if (texts.columns.empty()) {
    const auto output = app.add_option("--output", flags.output, std::string(texts.notes))->type_name("FILE");
    add_print_flags(app, flags, texts.lines)->excludes(output);
    return;
  }
  const std::string notes = texts.notes.empty() ? "" : fmt::format("; {}", texts.notes);
  const auto output = app.add_option(
      "--output", flags.output,
      fmt::format("write one line per {}: {}{}. FILE.csv and FILE.tsv have a header line, FILE.json is an array "
                  "of objects, other names have blanks and no header (.gz after any); - is standard output",
                  texts.lines, with_blanks(column_names(texts.columns)), notes));
  output->type_name("FILE");
  add_print_flag(app, flags, "lines")->excludes(output);
  app.add_flag("--sort", flags.sort, fmt::format("order the lines of --output: {}; default: by id", texts.order));
  const auto top = app.add_option(
      "--top", flags.top,
      !texts.top.empty() ? std::string(texts.top)
      : texts.report_list.empty()
          ? fmt::format("keep the first K lines of --output, sorted: {}", texts.order)
          : fmt::format("list K vertices in the report (\"{}\"; default: 10), and keep the first K lines of --output, "
                        "sorted: {}",
                        texts.report_list, texts.order));
  top->check({check_top})->type_name("K");
  flags.top_needs_output = texts.report_list.empty() && texts.top.empty();
  add_join_flags(
      app, flags,
      texts.lines == "vertex" ? "at the end of each line and list entry" : "of both ends at the end of each line");
}

void add_join_flags(flag_set app, table_flags& flags, const std::string& use) {
  const auto join = app.add_option(
      "--join", flags.join,
      "attributes of vertices, from a CSV or TSV file with a header line, or a GML or GraphML file (also FILE "
      "itself), " +
          use);
  join->type_name("TABLE");
  app.add_option("--on", flags.on, "the column of TABLE that has the vertices' ids; default: id")
      ->type_name("COLUMN")
      ->needs(join);
}

declared_flag add_print_flags(flag_set app, table_flags& flags, std::string_view lines) {
  const declared_flag print = add_print_flag(app, flags, fmt::format("a line per {}", lines));
  app.add_option("--top", flags.top, "print the first K lines")->check({check_top})->type_name("K")->needs(print);
  flags.top_needs_output = true;
  return print;
}

std::int64_t printed_lines(const table_flags& flags, std::int64_t count) {
  return flags.top > 0 ? std::min(flags.top, count) : count;
}

void print_lines(report& out, const table_flags& flags, const column_names& columns, std::int64_t count,
                 const cell_writer& cells) {
  if (prints_lines(flags)) write_lines(out, flags, columns, printed_lines(flags, count), nullptr, cells);
}

void value_cells(table_writer& row, float value) { row.number(std::strtod(fmt::format("{}", value).c_str(), nullptr)); }

void check_table_flags(const table_flags& flags) {
  if (!flags.output.empty()) return;
  if (flags.sort) throw usage_error("--sort requires --output or --print");
  if (flags.top > 0 && flags.top_needs_output) throw usage_error("--top requires --output or --print");
  if (!flags.join.empty() && flags.top_needs_output) throw usage_error("--join requires --output or --print");
}

void read_joined_file(table_flags& flags) {
  if (flags.join.empty()) return;
  const context<host> ctx({.threads = 1});
  flags.attributes = std::make_shared<attribute_table>(read_attribute_table(ctx, flags.join, flags.on));
}

void report_attributes(report& out, const vertex_names& names) {
  if (names.attributes == nullptr) return;
  const vertex_attributes& joined = *names.attributes;
  const attribute_table& table = *joined.table;
  const std::int64_t missing = names.vertices - joined.matched;
  out.keys()["join"] = {{"file", table.path},
                        {"on", table.key},
                        {"matched", joined.matched},
                        {"missing", missing},
                        {"unknown", joined.unknown}};
  out.row("joined", fmt::format("{} on {}: {} of {}", table.path, table.key, with_commas(joined.matched),
                                counted(names.vertices, "vertex", "vertices")));
  if (missing > 0) {
    out.warn(fmt::format("{}: no line for {} of {} (the first: {})", table.path, with_commas(missing),
                         counted(names.vertices, "vertex", "vertices"), names.label(joined.first_missing)));
  }
  if (joined.unknown > 0) {
    out.warn(fmt::format("{}: {} no vertex of the graph (the first: {})", table.path,
                         counted(joined.unknown, "line names", "lines name"), joined.first_unknown));
  }
}

column_names::column_names(std::string_view by_commas) {
  while (!by_commas.empty()) {
    all.emplace_back(by_commas.substr(0, by_commas.find(',')));
    by_commas.remove_prefix(std::min(by_commas.size(), all.back().size() + 1));
  }
}

column_names with_attributes(report& out, const vertex_names& names, std::string_view columns,
                             const std::vector<std::string>& prefixes) {
  joined_columns joined{column_names(columns).all, {}};
  if (names.attributes == nullptr) return column_names(std::move(joined.names));
  for (const std::string& prefix : prefixes) add_attribute_columns(joined, *names.attributes, prefix);
  for (const std::string& change : joined.renamed) {
    out.warn(fmt::format("{}: {}, since the result has a column of this name", names.attributes->table->path, change));
  }
  return column_names(std::move(joined.names));
}

table_format table_format_of(const table_flags& flags) {
  if (flags.print == "table") return table_format::aligned;
  if (flags.print == "csv") return table_format::commas;
  return flags.print == "json" ? table_format::objects : table_format_of(flags.output);
}

table_writer::table_writer(const std::string& path, const column_names& columns, table_format format,
                           std::vector<column_layout> layout)
    : file_(path), format_(format), layout_(std::move(layout)) {
  begin(columns);
}

table_writer::table_writer(const column_names& columns) : format_(table_format::aligned) { begin(columns); }

void table_writer::begin(const column_names& columns) {
  if (format_ == table_format::aligned) {
    layout_.resize(columns.all.size());
    for (const std::string& name : columns.all) {
      before_.emplace_back(column_ == 0 ? "" : "  ");
      cell_ = (line_ += before_.back()).size();
      line_ += name;
      end_cell(layout_[column_].number);
    }
    return end_row();
  }
  const bool objects = format_ == table_format::objects;
  const char* const separator = format_ == table_format::blanks ? " " : format_ == table_format::tabs ? "\t" : ",";
  std::string header;
  for (const std::string& name : columns.all) {
    const char* const between = before_.empty() ? "" : separator;
    before_.push_back(objects ? fmt::format("{}{}:", before_.empty() ? "{" : ",", json_text(name)) : between);
    header += between;
    header += field_of(name);
  }
  if (objects) file_->write("[");
  if (!objects && format_ != table_format::blanks) file_->write(header + "\n");
}

void table_writer::begin_cell() {
  line_ += before_.at(column_);
  cell_ = line_.size();
}

// Pads the cell, or notes its width.
void table_writer::end_cell(bool number) {
  if (format_ == table_format::aligned) {
    column_layout& column = layout_.at(column_);
    const std::size_t width = characters_of(std::string_view(line_).substr(cell_));
    if (!file_.has_value()) {
      column = {std::max(column.width, width), column.number && number};
    } else if (width < column.width) {
      const std::size_t room = column.width - width;
      if (column.number) {
        line_.insert(cell_, room, ' ');
      } else if (column_ + 1 < layout_.size()) {
        line_.append(room, ' ');
      }
    }
  }
  ++column_;
}

void table_writer::label(const vertex_names& names, std::int64_t vertex) {
  begin_cell();
  if (format_ == table_format::objects && !names.are_integers()) {
    line_ += json_text(to_json(names, vertex));
  } else {
    names.append_label(vertex, line_);
  }
  end_cell(names.are_integers());
}

void table_writer::integer(std::int64_t value) {
  begin_cell();
  const fmt::format_int digits(value);
  line_.append(digits.data(), digits.size());
  end_cell(true);
}

void table_writer::number(double value) {
  if (format_ == table_format::objects && !std::isfinite(value)) return none("");
  begin_cell();
  char digits[32];
  const auto made = format_ == table_format::aligned ? fmt::format_to_n(digits, sizeof digits, "{:.6g}", value)
                                                     : fmt::format_to_n(digits, sizeof digits, "{}", value);
  line_.append(digits, made.size);
  end_cell(true);
}

void table_writer::none(std::string_view text) {
  begin_cell();
  line_ += format_ == table_format::objects ? "null" : text;
  end_cell(true);
}

void table_writer::text(const std::string& value, attribute_kind kind) {
  begin_cell();
  if (format_ == table_format::objects) {
    const bool plain = kind == attribute_kind::boolean ||
                       (kind != attribute_kind::text && kind_of_text(value) != attribute_kind::text);
    line_ += plain ? value : json_text(value);
  } else if (format_ == table_format::aligned) {
    std::string shown = printable_utf8(value);
    std::replace_if(
        shown.begin(), shown.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
    line_ += shown;
  } else {
    line_ += field_of(value);
  }
  end_cell(kind == attribute_kind::integer || kind == attribute_kind::real);
}

void table_writer::attributes(const vertex_names& names, std::int64_t vertex) {
  if (names.attributes == nullptr) return;
  for (const attribute_column& column : names.attributes->table->columns) {
    if (const std::string* const value = names.attributes->find(vertex, column)) {
      text(*value, column.kind);
    } else {
      none(format_ == table_format::blanks ? "\"\"" : "");
    }
  }
}

void table_writer::end_row() {
  if (format_ == table_format::objects) {
    file_->write(empty_ ? "\n" : ",\n");
    line_ += '}';
  } else {
    line_ += '\n';
  }
  if (file_.has_value()) file_->write(line_);
  line_.clear();
  column_ = 0;
  empty_ = false;
}

void table_writer::commit() {
  if (format_ == table_format::objects) file_->write(empty_ ? "]\n" : "\n]\n");
  file_->commit();
}

void write_lines(report& out, const table_flags& flags, const column_names& columns, std::int64_t count,
                 const vertex_order* order, const cell_writer& cells) {
  const std::int64_t lines = order == nullptr ? count : static_cast<std::int64_t>(order->size());
  {
    std::optional<busy> writing;  // not on a terminal that shows the lines
    if (!output_descriptor(flags.output).has_value()) writing.emplace("writing " + flags.output);
    const auto fill = [&](table_writer& table) {
      for (std::int64_t k = 0; k < lines; ++k) {
        cells(order == nullptr ? k : (*order)[static_cast<std::size_t>(k)], table);
        table.end_row();
      }
    };
    const table_format format = table_format_of(flags);
    table_writer measured(columns);
    if (format == table_format::aligned) fill(measured);
    table_writer table(flags.output, columns, format, measured.layout());
    fill(table);
    table.commit();
  }
  out.keys()["output"] = flags.output;
  out.row("written", fmt::format("{} ({}, {} of {}{})", flags.output, name_of(table_format_of(flags)),
                                 counted(lines, "line"), with_blanks(columns), order == nullptr ? "" : ", sorted"));
}

}  // namespace spargo::apps
