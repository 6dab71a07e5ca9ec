// Inputs that are opened once, inspected, and read from the same stream, so that pipes work like files.
//
// A name is a path, or `-` for standard input. Readers of an `input_file` also accept a name. Gzip is recognised from
// the content, a UTF-8 byte-order mark skipped. A regular file can be read again; a pipe, a terminal or `-` only once.
#pragma once

#include <spargo/core/config.hpp>
#include <spargo/core/error.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace spargo {

// DIMACS: shortest paths (arcs) or colouring (edges).
enum class input_format { matrix_market, edge_list, metis, dimacs_arcs, dimacs_edges, snapshot, gml, graphml };

// Recognises a format from the first bytes of the text (`input_file::head`) and, if ambiguous, from the name. Throws
// `unsupported`, with the name, for known formats that are not supported: other compressions, GEXF, UTF-16; `parse` for
// a file without text, unless the name decides.
[[nodiscard]] SPARGO_EXPORT input_format recognise_format(std::string_view head, const std::string& name);

namespace detail {
struct opened_input;
}

// An open file. Copies share it. One thread at a time.
class SPARGO_EXPORT input_file {
 public:
  // Opens `path` and waits for its first bytes. Throws `error` (io) if it cannot be opened or is a directory.
  input_file(const std::string& path);  // NOLINT(google-explicit-constructor): a name stands for its file
  input_file(const char* path) : input_file(std::string(path)) {}

  [[nodiscard]] const std::string& path() const noexcept;  // as given
  [[nodiscard]] const std::string& name() const noexcept;  // for messages: the path or <stdin>

  // The first 64 KiB of uncompressed text, or all if there is less.
  [[nodiscard]] std::string_view head() const noexcept;

  // Throws as `recognise_format` does.
  [[nodiscard]] input_format format() const { return recognise_format(head(), name()); }

  // True for a regular file.
  [[nodiscard]] bool can_be_read_again() const noexcept;

  // For the library's readers.
  [[nodiscard]] detail::opened_input& opened() const noexcept { return *opened_; }

 private:
  std::shared_ptr<detail::opened_input> opened_;
};

// The lines of a text, one at a time: for lists beside a graph or matrix. One thread at a time.
class SPARGO_EXPORT input_lines {
 public:
  // Throws `error`: `unsupported` for bytes that are not text, `io` for a stream that was read before.
  explicit input_lines(const input_file& file);
  input_lines(input_lines&&) noexcept;
  input_lines& operator=(input_lines&&) noexcept;
  ~input_lines();

  // Sets the next line, without its end; false after the last one. Throws `error`: `parse` at a zero byte and at a line
  // longer than 1 MiB, `io` where the file cannot be read.
  [[nodiscard]] bool next(std::string& line);
  [[nodiscard]] source_position at(std::int64_t column) const;  // in that line, from 1

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace spargo
