// Recognition of formats by first bytes; looking at a stream does not consume it.
#include "io/support/files.hpp"

#include <spargo/io/edge_list.hpp>
#include <spargo/io/input.hpp>
#include <spargo/io/matrix_market.hpp>
#include <spargo/io/snapshot.hpp>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <thread>

namespace spargo {
namespace {

using namespace std::string_literals;
using test::gzip;

const std::string matrix = "%%MatrixMarket matrix coordinate real general\n% of two\n2 2 2\n1 2 3\n2 1 4\n";
const std::string mark = "\xEF\xBB\xBF";

std::string refusal(std::string_view head, const std::string& name = "f") {
  try {
    (void)recognise_format(head, name);
  } catch (const error& e) {
    EXPECT_EQ(e.code(), error_code::unsupported);
    return e.what();
  }
  return "accepted";
}

TEST(InputFormat, IsSeenFromTheContent) {
  EXPECT_EQ(recognise_format(matrix, "f"), input_format::matrix_market);
  EXPECT_EQ(recognise_format("%%matrixmarket MATRIX", "f.el"), input_format::matrix_market);
  EXPECT_EQ(recognise_format("SPARGO\r\n\1\0\0\0"s, "f.mtx"), input_format::snapshot);
  for (const char* text : {"1 2\n", "# graph\n1 2\n", "% graph [\n1 2\n", "% sym\n1 2\n", "\n\n1,2\n", "-1",
                           "source,target\n", "0 1 {}\n", "graph\n"}) {
    EXPECT_EQ(recognise_format(text, "f"), input_format::edge_list) << text;
  }
}

TEST(InputFormat, ANameCountsOnlyForWhatItsReaderIsToExplain) {
  for (const char* name : {"f.mtx", "f.mm", "f.mtx.gz"}) {
    EXPECT_EQ(recognise_format("1 2\n", name), input_format::matrix_market);
  }
  EXPECT_EQ(refusal("PK\3\4", "f.mtx"), "f.mtx: compressed with zip: only gzip is read (unzip FILE)");
}

TEST(InputFormat, FilesWithoutTextHaveNone) {
  for (const auto& [text, says] :
       {std::pair("", "f: the file is empty (expected a graph or a matrix)"),
        std::pair(" \t\r\n\n", "f: the file has only blanks (expected a graph or a matrix)")}) {
    try {
      (void)recognise_format(text, "f");
      ADD_FAILURE() << "accepted";
    } catch (const error& e) {
      EXPECT_EQ(e.code(), error_code::parse);
      EXPECT_STREQ(e.what(), says);
    }
  }
  EXPECT_EQ(recognise_format("", "f.mtx"), input_format::matrix_market) << "whose reader says what is missing";
  EXPECT_EQ(recognise_format(std::string(1 << 16, '\n'), "f"), input_format::edge_list) << "more may follow";
  EXPECT_EQ(recognise_format("#\n", "f"), input_format::edge_list);
}

TEST(InputFormat, OtherCompressionsAreRefusedByName) {
  EXPECT_EQ(refusal("\xfd"
                    "7zXZ\0\0\4"s),
            "f: compressed with xz: only gzip is read (xz -d FILE)");
  EXPECT_EQ(refusal("BZh91AY&SY"), "f: compressed with bzip2: only gzip is read (bzip2 -d FILE)");
  EXPECT_EQ(refusal("\x28\xb5\x2f\xfd\4"), "f: compressed with zstd: only gzip is read (zstd -d FILE)");
  EXPECT_EQ(refusal("\x04\x22\x4d\x18"), "f: compressed with lz4: only gzip is read (lz4 -d FILE)");
  EXPECT_EQ(refusal("7z\xbc\xaf\x27\x1c"), "f: compressed with 7z: only gzip is read (7z x FILE)");
  EXPECT_EQ(refusal("\x1f\x9d\x90"), "f: compressed with compress: only gzip is read (uncompress FILE)");
}

TEST(InputFormat, OtherFormatsAreRefusedByName) {
  const auto expect = [](std::string_view head, const std::string& what, const std::string& instead = "") {
    EXPECT_EQ(refusal(head),
              "f: " + what +
                  " is not supported (expected Matrix Market, an edge list, METIS, DIMACS, GML, GraphML or a snapshot" +
                  instead + ")")
        << head;
  };
  const std::string table = "; pandas and DuckDB write its table as CSV";
  expect("<?xml version=\"1.0\"?>\n<gexf>", "a GEXF file");
  expect("<!DOCTYPE html>\n<html>", "an HTML page");
  expect("<note>", "an XML file");
  expect("*Vertices 34\n*Edges\n1 2\n", "a Pajek file");
  expect("% old\n\n*network karate\n*vertices 34\n", "a Pajek file");
  expect("*arcs\n", "a Pajek file");
  expect("MATLAB 5.0 MAT-file, Platform: GLNXA64", "a MATLAB file",
         "; scipy.io.mmwrite writes what scipy.io.loadmat has read");
  expect("\x89HDF\r\n\x1a\n", "an HDF5 file");
  expect("MATLAB 7.3 MAT-file, Platform: GLNXA64, Created on: Fri Nov 27 09:00:00 2026 HDF5", "an HDF5 file");
  expect("\x93NUMPY\1", "a NumPy (.npy) file", "; scipy.io.mmwrite writes an array as Matrix Market");
  expect("PK\3\4" + std::string(26, '\1') + "indices.npy", "a NumPy (.npz) file",
         "; scipy.io.mmwrite writes what scipy.sparse.load_npz has read");
  expect("PK\3\4" + std::string(26, '\1') + "mimetypeapplication/vnd.oasis.opendocument.spreadsheet",
         "an OpenDocument file");
  expect("PAR1\x15\4", "a Parquet file", table);
  expect("ARROW1\0\0"s, "an Arrow (Feather) file", table);
  expect("FEA1\0\0"s, "a Feather file", table);
  for (const std::string& pickle : {"\x80\x02}q"s, "\x80\x03}q"s, "\x80\x04\x95\x10"s, "\x80\x05\x95\x10"s}) {
    expect(pickle, "a Python pickle (.pickle, .gpickle)", "; networkx.write_gml writes its graph as GML");
  }
  expect("SQLite format 3\0"s, "an SQLite file");
  expect("RDX3\nX\n", "an R data file");
  for (const std::string& excel : {"PK\3\4" + std::string(26, '\1') + "[Content_Types].xml", "\xd0\xcf\x11\xe0\xa1"s}) {
    EXPECT_NE(refusal(excel).find(") file is not supported (expected Matrix Market, an edge list, METIS, DIMACS, GML, "
                                  "GraphML or a snapshot; Excel saves sheets as CSV)"),
              std::string::npos)
        << refusal(excel);
  }
  for (const char* names : {"PAR1 PARK7\nRDX CDK1\n", "FEA1 FEN1\n", "FEA1,FEN1\n", "FEA10\tFEN1\n"}) {
    EXPECT_EQ(recognise_format(names, "f"), input_format::edge_list) << names;
  }
  expect(std::string("a/a.mtx") + std::string(250, '\0') + "ustar  ", "a tar archive");
}

TEST(InputFormat, DocumentsAreRecognised) {
  for (const char* head : {"<?xml version=\"1.0\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n",
                           "<graphml>", "<!-- by hand -->\n<g:graphml xmlns:g=\"\">"}) {
    EXPECT_EQ(recognise_format(head, "f"), input_format::graphml) << head;
  }
  for (const char* head :
       {"Creator \"Mark Newman on Sat\"\ngraph\n[\n  directed 0\n", "graph [\n", "# a graph\nVersion 1\nGraph ["}) {
    EXPECT_EQ(recognise_format(head, "f"), input_format::gml) << head;
  }
}

TEST(InputFormat, Utf16IsRefusedByName) {
  const std::string expected = "f: UTF-16 text (expected ASCII or UTF-8: iconv -f UTF-16 -t UTF-8 FILE)";
  for (const std::string& head : {"\xff\xfe"s, "\xfe\xff\0001"s, "1\0 \0002\0"s, "\0001\0 \0002"s}) {
    EXPECT_EQ(refusal(head), expected);
  }
}

TEST(InputFormat, ReadersRefuseWhatIsNoTextAsWell) {
  const test::temporary_folder folder;
  const context<host> ctx;
  for (const std::string& bytes : {"\xfd"
                                   "7zXZ\0\0\4"s,
                                   "1\0 \0002\0\n\0"s}) {
    const std::string path = folder.write("f", bytes);
    EXPECT_THROW((void)read_edge_list<std::int32_t>(ctx, path), error);
    try {
      (void)read_matrix_market<double, std::int32_t>(ctx, path);
      ADD_FAILURE() << "accepted";
    } catch (const error& e) {
      EXPECT_EQ(e.code(), error_code::unsupported) << e.what();
    }
  }
}

TEST(InputFormat, AByteOrderMarkIsSkipped) {
  const test::temporary_folder folder;
  const context<host> ctx;
  for (const bool packed : {false, true}) {
    const auto write = [&](const std::string& text) {
      return folder.write("f", packed ? gzip(mark + text) : mark + text);
    };
    EXPECT_EQ(input_file(write(matrix)).format(), input_format::matrix_market);
    EXPECT_EQ((read_matrix_market<double, std::int32_t>(ctx, write(matrix)).nnz()), 2);
    EXPECT_EQ(read_matrix_market_header(write(matrix)).entries, 2);
    EXPECT_EQ(read_edge_list<std::int32_t>(ctx, write("1 2\n3 4\n")).edges.nnz(), 2);
    EXPECT_EQ(read_edge_list<std::int32_t>(ctx, write("")).edges.nnz(), 0);
    EXPECT_EQ(read_edge_list<std::int32_t>(ctx, write("# c\n3 4\n")).edges.nnz(), 1);
    const std::string bad = write("1 2\n3 x\n");
    try {
      (void)read_edge_list<std::int32_t>(ctx, bad);
      ADD_FAILURE() << "accepted";
    } catch (const error& e) {
      EXPECT_EQ(e.position().line, 2);
      EXPECT_EQ(e.position().column, 3);
    }
  }
}

// A pipe filled with some bytes, for the object's lifetime.
class fed_pipe {
 public:
  fed_pipe(const test::temporary_folder& folder, std::string bytes) : path_(folder.file("pipe")) {
    if (::mkfifo(path_.c_str(), 0600) != 0) ADD_FAILURE() << "no pipe";
    writer_ = std::thread([this, bytes = std::move(bytes)] { std::ofstream(path_, std::ios::binary) << bytes; });
  }
  fed_pipe(const fed_pipe&) = delete;
  fed_pipe& operator=(const fed_pipe&) = delete;
  ~fed_pipe() {
    writer_.join();
    ::unlink(path_.c_str());
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::thread writer_;
};

TEST(InputFile, AStreamIsLookedAtAndThenReadFromItsBeginning) {
  const test::temporary_folder folder;
  const context<host> ctx({.threads = 2});
  const std::string long_comment = matrix.substr(0, 46) + "%" + std::string(3'000'000, 'c') + "\n" + matrix.substr(46);
  for (const std::string& text : {matrix, mark + matrix, long_comment}) {
    for (const std::string& bytes : {text, gzip(text)}) {
      const fed_pipe pipe(folder, bytes);
      const input_file file(pipe.path());
      EXPECT_FALSE(file.can_be_read_again());
      EXPECT_EQ(file.format(), input_format::matrix_market);
      EXPECT_TRUE(file.head().starts_with("%%MatrixMarket")) << "the head is text";
      EXPECT_EQ(read_matrix_market_header(file).rows, 2);
      EXPECT_EQ(read_matrix_market_header(file).entries, 2) << "as often as wanted";
      const auto entries = read_matrix_market<double, std::int32_t>(ctx, file);
      ASSERT_EQ(entries.nnz(), 2);
      EXPECT_EQ(entries.values()[1], 4);
    }
  }
}

TEST(InputFile, AStreamIsReadOnce) {
  const test::temporary_folder folder;
  const context<host> ctx;
  const fed_pipe pipe(folder, "1 2\n");
  const input_file file(pipe.path());
  EXPECT_EQ(read_edge_list<std::int32_t>(ctx, file).edges.nnz(), 1);
  try {
    (void)read_edge_list<std::int32_t>(ctx, file);
    ADD_FAILURE() << "read twice";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), error_code::io);
    EXPECT_NE(std::string(e.what()).find("was already read"), std::string::npos);
  }
}

TEST(InputFile, ARegularFileIsReadAsOftenAsWanted) {
  const test::temporary_folder folder;
  const context<host> ctx;
  for (const std::string& bytes : {"1 2\n"s, gzip("1 2\n"), mark + "1 2\n"}) {
    const input_file file(folder.write("f", bytes));
    EXPECT_TRUE(file.can_be_read_again());
    EXPECT_EQ(file.head(), "1 2\n");
    EXPECT_EQ(read_edge_list<std::int32_t>(ctx, file).edges.nnz(), 1);
    EXPECT_EQ(read_edge_list<std::int32_t>(ctx, file).edges.nnz(), 1);
  }
}

// A file modified in place while it is read is an error, not a mixture.
TEST(InputFile, AFileThatChangesMeanwhileIsAnError) {
  const test::temporary_folder folder;
  const context<host> ctx;
  std::string text;
  for (int k = 0; k < 1000; ++k) text += "1 2\n";
  for (const std::string& now : {text.substr(4), text + "3 4\n", "x" + text.substr(1)}) {
    const input_file file(folder.write("f", text));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the file system's clock must advance
    (void)folder.write("f", now);
    try {
      (void)read_edge_list<std::int32_t>(ctx, file);
      ADD_FAILURE() << "accepted " << now.size();
    } catch (const error& e) {
      EXPECT_EQ(e.what(), folder.file("f") + ": was changed by another process while it was read");
    }
  }
}

}  // namespace
}  // namespace spargo
