// --help of every command: at most 80 columns, with common texts about inputs and generators.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace spargo::apps {

struct help_style {
  static constexpr std::size_t width = 80;
  static constexpr std::size_t names = 24;  // width of the flags' names
  static constexpr const char* shared_group = "Shared by all commands";
  static constexpr const char* graph_group = "Shared by commands on graphs";
};

// Appends `text` in lines of at most `width` columns, indented but for the first, which has `used` columns taken.
void append_wrapped(std::string& to, std::string_view text, std::size_t indent, std::size_t used,
                    std::size_t width = help_style::width);

// Appends the words that the flag takes (`words_of`) and its text does not name.
[[nodiscard]] std::string with_words(std::string text, const CLI::Option& option);

void use_help_format(CLI::App& app);

// The flags of one command, or those that all commands share, as " --output --sort"; without hidden ones.
enum class flag_owner { command, all };
[[nodiscard]] std::string flags_in_line(const CLI::App& app, flag_owner owner);

// The first closing paragraph; each line follows the command's name.
[[nodiscard]] std::string help_examples(const CLI::App& app, const std::vector<std::string>& arguments);

// The other closing paragraphs.
inline constexpr const char* help_on_graph_inputs =
    "Inputs, recognised by their content; text may be gzip:\n"
    "  Matrix Market         coordinate and array; of a graph rows are vertices\n"
    "  edge list             two ids per line, then perhaps a weight: SNAP, .el,\n"
    "                        .wel, networkx; .csv, .tsv with or without a header\n"
    "                        line; ids are integers or names, quoted or not\n"
    "  METIS                 .graph, an undirected graph\n"
    "  GML, GraphML          with the nodes' labels or ids, and the edges' weights\n"
    "  DIMACS                .gr (shortest paths) and .col (colouring)\n"
    "  snapshot              .spg, as convert writes it\n"
    "  gen:NAME:key=value    a generated one\n";

inline constexpr const char* help_on_matrix_inputs =
    "Inputs, recognised by their content:\n"
    "  Matrix Market         coordinate and array, .gz too\n"
    "  snapshot              .spg, as convert writes it (from graphs, say)\n"
    "  gen:NAME:key=value    a generated one\n";

inline constexpr const char* help_on_generators =
    "Generators, with values for example; parts in [] are optional:\n"
    "  gen:rmat:scale=20[,degree=16,seed=1,a=0.57,b=0.19,c=0.19]\n"
    "                                     2^scale vertices, Graph500's Kronecker\n"
    "  gen:uniform:rows=1000,degree=16[,cols=1000,seed=1]\n"
    "                                     random columns, as many in every row\n"
    "  gen:powerlaw:rows=1000,degree=16[,max=125,alpha=1,seed=1]\n"
    "                                     row lengths fall as rank^-alpha\n"
    "  gen:banded:rows=1000,degree=15[,seed=1]\n"
    "                                     consecutive diagonals, an odd number\n"
    "  gen:laplacian2d:n=100[,m=100]      5-point Laplacian of a grid\n"
    "  gen:laplacian3d:n=50[,m=50,k=50,points=7]\n"
    "                                     7- or 27-point Laplacian of a grid\n"
    "  gen:grid2d:n=100[,m=100]           grid graph, 4 neighbours\n"
    "  gen:grid3d:n=50[,m=50,k=50]        grid graph, 6 neighbours\n"
    "  gen:path:n=1000  gen:star:n=1000  gen:complete:n=1000\n";

inline constexpr const char* help_on_outputs =
    "Outputs, whose names decide the format; .gz after any but .spg:\n"
    "  convert IN OUT        .mtx, .el, .wel, .csv, .tsv, .txt, .edges, .snap,\n"
    "                        .graph, .metis, .gml, .graphml, .spg; or --to FORMAT\n"
    "  --output FILE         .csv and .tsv with a header line, .json an array of\n"
    "                        objects, other names blanks and no header\n"
    "  --print FORM          the lines of --output on the terminal: table, csv, json\n"
    "  --json FILE           the report as JSON\n"
    "  --report OUT.html     the report with charts, one file\n"
    "  -                     standard output\n";

inline constexpr const char* help_on_exit_codes =
    "Exit codes: 0 success; 1 the run failed (file, memory, device);\n"
    "            2 the command line is wrong; 3 the result failed validation";

}  // namespace spargo::apps
