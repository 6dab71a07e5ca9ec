// Recognises the format of a text.
//
// Idea: magic numbers and keywords come first, including those of unsupported formats, so that errors can name them.
// Everything else is treated as an edge list, whose reader reports the first line that is not an edge. The file's name
// decides only if a text could be either of two formats, or which reader should report a broken file. To add a format,
// add a test to `recognise_format` before the last line.
#include "io/text/input_format.hpp"

#include "io/text/graph_text_format.hpp"

#include <spargo/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

namespace spargo {

namespace detail {

namespace {

using namespace std::string_view_literals;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool starts_with_ignoring_case(std::string_view text, std::string_view word) {
  return text.size() >= word.size() &&
         std::equal(word.begin(), word.end(), text.begin(), [](char w, char c) { return w == lower(c); });
}

// The text from its first line that is neither blank nor a comment with one of these marks.
std::string_view without_comments(std::string_view text, std::string_view marks) {
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    if (text.empty() || marks.find(text.front()) == std::string_view::npos) return text;
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }
}

struct magic {
  std::string_view bytes;
  std::string_view name;
  std::string_view command;  // converts FILE to a readable file
};

constexpr std::array compressions = {
    magic{"\xfd"
          "7zXZ\0"sv,
          "xz", "xz -d"},
    magic{"BZh", "bzip2", "bzip2 -d"},
    magic{"\x28\xb5\x2f\xfd", "zstd", "zstd -d"},
    magic{"\x04\x22\x4d\x18", "lz4", "lz4 -d"},
    magic{"PK\x03\x04", "zip", "unzip"},
    magic{"7z\xbc\xaf\x27\x1c", "7z", "7z x"},
    magic{"\x1f\x9d", "compress", "uncompress"},
};

[[noreturn]] void refuse(const std::string& name, const std::string& message) {
  throw error(error_code::unsupported, {name}, message);
}

bool is_tar(std::string_view head) {
  constexpr std::size_t place = 257;
  return head.size() > place && head.substr(place).starts_with("ustar");
}

bool is_utf16(std::string_view head) {
  if (head.starts_with("\xff\xfe") || head.starts_with("\xfe\xff")) return true;
  if (head.size() < 4) return false;
  const auto prints = [](char c) { return c >= ' ' && c <= '~'; };
  return (prints(head[0]) && head[1] == '\0' && prints(head[2]) && head[3] == '\0') ||
         (head[0] == '\0' && prints(head[1]) && head[2] == '\0' && prints(head[3]));
}

std::string_view name_of_markup(std::string_view head) {
  if (head.find("<gexf") != std::string_view::npos) return "a GEXF file";
  if (starts_with_ignoring_case(head, "<!doctype html") || starts_with_ignoring_case(head, "<html")) {
    return "an HTML page";
  }
  return "an XML file";
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  return text;
}

// Removes a word, given in lower case, and the blanks after it.
bool take_word(std::string_view& text, std::string_view word) {
  if (!starts_with_ignoring_case(text, word)) return false;
  const std::string_view rest = text.substr(word.size());
  if (!rest.empty() && !is_blank(rest.front()) && rest.front() != '{' && rest.front() != '"') return false;
  text = without_blanks(rest);
  return true;
}

// Whether the text between { and } is a list of attributes as networkx writes them.
bool are_attributes(std::string_view inside) {
  inside = without_blanks(inside);
  if (inside.empty()) return true;
  if (inside.front() != '\'' && inside.front() != '"') return false;
  const std::size_t end = inside.find(inside.front(), 1);
  return end != std::string_view::npos && without_blanks(inside.substr(end + 1)).starts_with(':');
}

// DOT: [strict] graph|digraph [NAME] {. A line `graph G {...}` may also be an edge with attributes.
bool is_dot(std::string_view text) {
  while (text.starts_with("//") || text.starts_with("/*")) {
    const std::string_view end = text[1] == '/' ? "\n" : "*/";
    text.remove_prefix(std::min(text.find(end), text.size() - end.size()) + end.size());
    text = without_blanks(text);
  }
  (void)take_word(text, "strict");
  if (!take_word(text, "graph") && !take_word(text, "digraph")) return false;
  const bool quoted = text.starts_with('"');
  const std::size_t end = quoted ? text.find('"', 1) : text.find_first_of(" \t\r\n{");
  const bool named = end != 0;
  text = without_blanks(text.substr(std::min(end, text.size() - (quoted ? 1 : 0)) + (quoted ? 1 : 0)));
  if (!text.starts_with('{')) return false;
  const std::string_view line = text.substr(1, text.find('\n') - 1);
  const std::size_t close = line.rfind('}');
  return !named || close == std::string_view::npos || !are_attributes(line.substr(0, close));
}

// An object with a key, or a list of lists or objects.
bool is_json(std::string_view text) {
  const std::string_view rest = without_blanks(text.substr(1));
  if (text.starts_with('[')) return rest.starts_with('[') || rest.starts_with('{');
  if (!text.starts_with('{') || !rest.starts_with('"')) return false;
  const std::size_t end = rest.find('"', 1);
  return end != std::string_view::npos && without_blanks(rest.substr(end + 1)).starts_with(':');
}

// UCINET: DL N = 4.
bool is_dl(std::string_view text) {
  if (!take_word(text, "dl") || text.empty() || lower(text.front()) != 'n') return false;
  return without_blanks(text.substr(1)).starts_with('=');
}

// First words of files of other programs, in lower case.
struct foreign_word {
  std::string_view word;
  std::string_view name;
};

constexpr std::array foreign_words = {
    foreign_word{"adjacencygraph", "a Ligra (PBBS) adjacency graph file"},
    foreign_word{"weightedadjacencygraph", "a Ligra (PBBS) adjacency graph file"},
    foreign_word{"*vertices", "a Pajek file"},
    foreign_word{"*network", "a Pajek file"},
    foreign_word{"*arcs", "a Pajek file"},
    foreign_word{"*edges", "a Pajek file"},
    foreign_word{"nodedef>", "a GDF (GUESS) file"},
    foreign_word{">>graph6<<", "a graph6 file"},
    foreign_word{">>sparse6<<", "a sparse6 file"},
    foreign_word{"leda.graph", "a LEDA file"},
};

// GML begins with a list named graph, after optional keys about its creator.
bool is_gml(std::string_view text) {
  if (starts_with_ignoring_case(text, "creator \"")) return true;
  if (starts_with_ignoring_case(text, "version ")) text = without_comments(text.substr(text.find('\n') + 1), "#");
  if (!starts_with_ignoring_case(text, "graph")) return false;
  text.remove_prefix("graph"sv.size());
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return text.starts_with('[');
}

// GraphML's root element, after a declaration, comments and a document type.
bool is_graphml(std::string_view text) {
  return text.starts_with('<') &&
         (text.find("<graphml") != std::string_view::npos || text.find(":graphml") != std::string_view::npos);
}

std::optional<input_format> graph_document_format(std::string_view head) {
  const std::string_view text = without_comments(head, "#%");
  if (is_graphml(text)) return input_format::graphml;
  if (is_gml(text)) return input_format::gml;
  return std::nullopt;
}

std::uint64_t number_at(std::string_view head, std::size_t place) {
  std::uint64_t value = 0;
  std::memcpy(&value, head.data() + place, sizeof(value));
  return value;
}

// Whether the numbers at a place, as many of `count` as exist, ascend to `last`.
bool are_offsets(std::string_view head, std::size_t place, std::uint64_t count, std::uint64_t last) {
  std::uint64_t before = 0;
  for (std::uint64_t k = 0; k < count && place + 8 <= head.size(); ++k, place += 8) {
    const std::uint64_t offset = number_at(head, place);
    if (offset < before || offset > last) return false;
    before = offset;
  }
  return true;
}

// GAP (.sg, .wsg): directed flag, edges, vertices, offsets of vertices.
bool is_gap(std::string_view head) {
  constexpr std::size_t header = 1 + 8 + 8;
  if (head.size() < header + 8 || (head[0] != 0 && head[0] != 1)) return false;
  const std::uint64_t edges = number_at(head, 1);
  const std::uint64_t vertices = number_at(head, 9);
  return vertices > 0 && vertices < std::uint64_t{1} << 62 && number_at(head, header) == 0 &&
         are_offsets(head, header, vertices + 1, edges);
}

// Galois (.gr): version 1 or 2, bytes per edge value, vertices, edges, end of each vertex's edges.
bool is_galois(std::string_view head) {
  constexpr std::size_t header = 4 * 8;
  constexpr std::uint64_t largest_value = 64;
  if (head.size() < header || number_at(head, 0) < 1 || number_at(head, 0) > 2) return false;
  return number_at(head, 8) <= largest_value && are_offsets(head, header, number_at(head, 16), number_at(head, 24));
}

// Name of an unsupported format; empty if not recognised.
std::string_view name_of_foreign(std::string_view head) {
  if (is_tar(head)) return "a tar archive";
  if (head.starts_with("\x89HDF\r\n\x1a\n")) return "an HDF5 file";
  if (head.starts_with("MATLAB 7.3 MAT-file")) return "an HDF5 file";  // which scipy.io.loadmat does not read
  if (head.starts_with("MATLAB 5.0 MAT-file")) return "a MATLAB file";
  if (is_gap(head)) return "a GAP graph (.sg) file";
  if (is_galois(head)) return "a Galois graph (.gr) file";
  const std::string_view text = without_comments(head, "#%");
  if (text.starts_with('<')) return name_of_markup(text);
  if (is_dot(text)) return "a DOT (Graphviz) file";
  if (!text.empty() && is_json(text)) return "a JSON file";
  if (is_dl(text)) return "a UCINET (DL) file";
  for (const foreign_word& each : foreign_words) {
    if (starts_with_ignoring_case(text, each.word)) return each.name;
  }
  return {};
}

// Files that begin with other bytes than text; for zip archives by the names in them.
std::string_view name_of_binary(std::string_view head) {
  struct first_bytes {
    std::string_view bytes;
    std::string_view name;
  };
  constexpr std::array types = {
      first_bytes{"\x93NUMPY"sv, "a NumPy (.npy) file"},
      first_bytes{"\xd0\xcf\x11\xe0"sv, "an Excel (.xls) file"},
      first_bytes{"PAR1\x15"sv, "a Parquet file"},
      first_bytes{"ARROW1\0\0"sv, "an Arrow (Feather) file"},
      first_bytes{"FEA1\0"sv, "a Feather file"},
      first_bytes{"\x80\x02"sv, "a Python pickle (.pickle, .gpickle)"},
      first_bytes{"\x80\x03"sv, "a Python pickle (.pickle, .gpickle)"},
      first_bytes{"\x80\x04\x95"sv, "a Python pickle (.pickle, .gpickle)"},
      first_bytes{"\x80\x05\x95"sv, "a Python pickle (.pickle, .gpickle)"},
      first_bytes{"SQLite format 3\0"sv, "an SQLite file"},
      first_bytes{"RDX2\n"sv, "an R data file"},
      first_bytes{"RDX3\n"sv, "an R data file"},
      first_bytes{"%PDF-"sv, "a PDF file"},
  };
  for (const first_bytes& type : types) {
    if (head.starts_with(type.bytes)) return type.name;
  }
  if (!head.starts_with("PK\x03\x04")) return {};
  const auto holds = [&](std::string_view file) { return head.find(file) != std::string_view::npos; };
  if (holds("[Content_Types].xml") || holds("_rels/.rels")) return "an Excel (.xlsx) file";
  if (holds("opendocument")) return "an OpenDocument file";
  return holds(".npy") ? "a NumPy (.npz) file" : "";
}

// What to do instead; empty: nothing is known.
std::string_view instead_of(std::string_view format) {
  struct way_out {
    std::string_view part;  // of the format's name
    std::string_view text;
  };
  constexpr std::array ways = {
      way_out{"Excel", "; Excel saves sheets as CSV"},
      way_out{"Parquet", "; pandas and DuckDB write its table as CSV"},
      way_out{"Feather", "; pandas and DuckDB write its table as CSV"},
      way_out{"pickle", "; networkx.write_gml writes its graph as GML"},
      way_out{".npz", "; scipy.io.mmwrite writes what scipy.sparse.load_npz has read"},
      way_out{".npy", "; scipy.io.mmwrite writes an array as Matrix Market"},
      way_out{"MATLAB", "; scipy.io.mmwrite writes what scipy.io.loadmat has read"},
  };
  const auto found =
      std::find_if(ways.begin(), ways.end(), [&](const way_out& way) { return format.find(way.part) != format.npos; });
  return found == ways.end() ? std::string_view() : found->text;
}

[[noreturn]] void refuse_format(const std::string& name, std::string_view format) {
  refuse(name,
         fmt::format(
             "{} is not supported (expected Matrix Market, an edge list, METIS, DIMACS, GML, GraphML or a snapshot{})",
             format, instead_of(format)));
}

void refuse_other_bytes(std::string_view head, const std::string& name) {
  if (const std::string_view binary = name_of_binary(head); !binary.empty()) refuse_format(name, binary);
  for (const magic& each : compressions) {
    if (!head.starts_with(each.bytes)) continue;
    refuse(name, fmt::format("compressed with {}: only gzip is read ({} FILE)", each.name, each.command));
  }
  if (is_utf16(head)) refuse(name, "UTF-16 text (expected ASCII or UTF-8: iconv -f UTF-16 -t UTF-8 FILE)");
}

void refuse_return(std::string_view head, const std::string& name) {
  std::string_view line = head.substr(0, head.find('\n'));
  while (line.ends_with('\r')) line.remove_suffix(1);
  const std::size_t at = line.find('\r');
  if (at == std::string_view::npos) return;
  throw error(error_code::parse, {name, 1, static_cast<std::int64_t>(at) + 1}, std::string(return_alone));
}

// A graph without vertices has a header line or a comment; a file without either is one that was not written.
void refuse_nothing(std::string_view head, const std::string& name) {
  if (std::ssize(head) == head_bytes || head.find_first_not_of(" \t\r\n") != std::string_view::npos) return;
  throw error(error_code::parse, {name},
              fmt::format("the file {} (expected a graph or a matrix)", head.empty() ? "is empty" : "has only blanks"));
}

}  // namespace

void refuse_foreign_bytes(std::string_view head, const std::string& name) {
  refuse_other_bytes(head, name);
  refuse_return(head, name);
}

void refuse_foreign_text(std::string_view head, const std::string& name) {
  refuse_other_bytes(head, name);
  if (const auto document = graph_document_format(head)) {
    refuse(name, fmt::format("a {} file, and not an edge list", document == input_format::gml ? "GML" : "GraphML"));
  }
  if (const std::string_view foreign = name_of_foreign(head); !foreign.empty()) refuse_format(name, foreign);
  refuse_return(head, name);
}

}  // namespace detail

input_format recognise_format(std::string_view head, const std::string& name) {
  if (head.starts_with(detail::snapshot_magic)) return input_format::snapshot;
  if (detail::starts_with_ignoring_case(head, "%%matrixmarket")) return input_format::matrix_market;
  detail::refuse_foreign_bytes(head, name);
  if (const auto document = detail::graph_document_format(head)) return *document;
  detail::refuse_foreign_text(head, name);
  if (detail::is_named(name, {".mtx", ".mm"})) return input_format::matrix_market;
  detail::refuse_nothing(head, name);
  const auto extent = std::ssize(head) < detail::head_bytes ? detail::head_extent::whole : detail::head_extent::part;
  return detail::graph_text_format(head, extent, name).value_or(input_format::edge_list);
}

}  // namespace spargo
