// Inputs: opened once, looked at, and read from the same stream, so that a pipe serves as well as a file.
//
// A name is a path, or `-` for standard input. A reader that takes an `input_file` takes a name as well. Gzip is
// recognised from the content, and a byte-order mark of UTF-8 is skipped. A regular file may be read any number of
// times; a pipe, a terminal or `-` only once, by the reader that comes first.
#pragma once

#include <spargo/core/config.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace spargo {

// DIMACS: of shortest paths (arcs) or of colouring (edges).
enum class input_format { matrix_market, edge_list, metis, dimacs_arcs, dimacs_edges, snapshot };

// What a file is, from the first bytes of its (uncompressed) text, as `input_file::head` has them, and, where these
// leave it open, its name. Throws `unsupported`, with the name, for what is recognised and not read: other
// compressions, GraphML, UTF-16 and the like.
[[nodiscard]] SPARGO_EXPORT input_format recognise_format(std::string_view head, const std::string& name);

namespace detail {
struct opened_input;
}

// An open file. Copies share it. Not for two threads at once.
class SPARGO_EXPORT input_file {
 public:
  // Opens `path` and waits for its first bytes. Throws `error` (io) for what cannot be opened or is a directory.
  input_file(const std::string& path);  // NOLINT(google-explicit-constructor): a name stands for its file
  input_file(const char* path) : input_file(std::string(path)) {}

  [[nodiscard]] const std::string& path() const noexcept;  // as given
  [[nodiscard]] const std::string& name() const noexcept;  // for messages: the path, or <stdin>

  // The first bytes, uncompressed: 64 KiB, or all where there are fewer.
  [[nodiscard]] std::string_view head() const noexcept;

  // Throws as `recognise_format`.
  [[nodiscard]] input_format format() const { return recognise_format(head(), name()); }

  // Whether this is a regular file.
  [[nodiscard]] bool can_be_read_again() const noexcept;

  // For the library's readers.
  [[nodiscard]] detail::opened_input& opened() const noexcept { return *opened_; }

 private:
  std::shared_ptr<detail::opened_input> opened_;
};

}  // namespace spargo
