// The one-definition rule over the library's sources: a type visible to several files is defined in one of them. The
// linker silently keeps one of two definitions.
#include "support/folders.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace spargo {
namespace {

namespace fs = std::filesystem;

// Names of the types that a text defines in a named namespace: `struct x {`, `struct x<T>::state {`.
std::set<std::string> types_defined(std::istream& text) {
  static const std::regex opens(R"(^namespace\s*(\S*)\s*\{)");
  static const std::regex closes(R"(^\}  // namespace)");
  static const std::regex type(
      R"(^(?:struct|class|enum class|union)\s+(?:alignas\([^)]*\)\s+|SPARGO_EXPORT\s+)?([\w:<>, ]+?)\s*(?:final\s*)?(?:\s:\s.*)?\{)");
  std::set<std::string> found;
  std::vector<std::string> spaces;
  std::smatch match;
  for (std::string line; std::getline(text, line);) {
    if (std::regex_search(line, match, opens)) {
      spaces.push_back(match[1]);
    } else if (std::regex_search(line, closes)) {
      if (!spaces.empty()) spaces.pop_back();
    } else if (std::regex_search(line, match, type)) {
      std::string scope;
      bool named = !spaces.empty();
      for (const std::string& s : spaces) {
        named = named && !s.empty();
        scope += s + "::";
      }
      // Template arguments tell specialisations apart; a member template's parameters do not.
      if (named) found.insert(scope + match[1].str());
    }
  }
  return found;
}

// Alternatives among which CMake chooses: with or without CUDA, Hopper or a library, by processor.
std::string without_alternative(const fs::path& file) {
  static const std::regex alternative(R"((_no)?(_?cuda|_?sm90a|_?xxhash)(?=\.)|/(x86|portable)(?=/)|\.\w+$)");
  return std::regex_replace(file.generic_string(), alternative, "");
}

std::map<std::string, std::set<std::string>> definitions(const fs::path& root) {
  std::map<std::string, std::set<std::string>> files_of;
  for (const char* folder : {"include", "src"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (!std::regex_search(entry.path().string(), std::regex(R"(\.(hpp|cpp|cuh|cu)$)"))) continue;
      std::ifstream text(entry.path());
      for (const std::string& name : types_defined(text)) files_of[name].insert(without_alternative(entry.path()));
    }
  }
  return files_of;
}

TEST(OneDefinition, ATypeIsDefinedInOneFile) {
  const auto files_of = definitions(test::source_folder());
  EXPECT_GT(files_of.size(), 300U);  // the test does find types
  for (const auto& [name, files] : files_of) {
    std::string all;
    for (const std::string& file : files) all += "\n  " + file;
    EXPECT_EQ(files.size(), 1U) << name << " is defined in" << all;
  }
}

TEST(OneDefinition, TwoDefinitionsAreFound) {
  std::istringstream text(
      "namespace spargo::detail {\n\nstruct shape {\n};\n\nnamespace {\n\nstruct local {\n};\n\n}  // namespace\n\n"
      "template <class T>\nstruct plan<T>::state {\n};\n\n}  // namespace spargo::detail\n");
  EXPECT_EQ(types_defined(text), (std::set<std::string>{"spargo::detail::shape", "spargo::detail::plan<T>::state"}));
}

}  // namespace
}  // namespace spargo
