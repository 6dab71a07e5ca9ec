// GoogleTest's main, and the cases of one source file alone:
//   --file=x_test          those of x_test.cpp or x_test.cu, of which --gtest_filter may choose some
//   --only_files=x,y,...   runs nothing: an error names the cases that are in none of these files, or have one name
#include <spargo/io/snapshot.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

using testing::TestInfo;
using testing::TestSuite;
using testing::UnitTest;

std::string file_of(const TestInfo& test) { return std::filesystem::path(test.file()).stem().string(); }

// The cases that `file` does not hold, as patterns: whole suites where it can be.
std::vector<std::string> others(const std::string& file) {
  std::vector<std::string> patterns;
  for (int s = 0; s < UnitTest::GetInstance()->total_test_suite_count(); ++s) {
    const TestSuite& suite = *UnitTest::GetInstance()->GetTestSuite(s);
    std::vector<std::string> names;
    for (int t = 0; t < suite.total_test_count(); ++t) {
      const TestInfo& test = *suite.GetTestInfo(t);
      if (file_of(test) != file) names.push_back(std::string(suite.name()) + "." + test.name());
    }
    if (static_cast<int>(names.size()) == suite.total_test_count()) names = {std::string(suite.name()) + ".*"};
    patterns.insert(patterns.end(), names.begin(), names.end());
  }
  return patterns;
}

bool holds_cases(const std::string& file) {
  for (int s = 0; s < UnitTest::GetInstance()->total_test_suite_count(); ++s) {
    const TestSuite& suite = *UnitTest::GetInstance()->GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t) {
      if (file_of(*suite.GetTestInfo(t)) == file) return true;
    }
  }
  return false;
}

void leave_out(const std::vector<std::string>& patterns) {
  std::string filter = GTEST_FLAG_GET(filter);
  for (const std::string& pattern : patterns) {
    filter += (filter.find('-') == std::string::npos ? "-" : ":") + pattern;
  }
  GTEST_FLAG_SET(filter, filter);
}

// GoogleTest would print the patterns of all other files: once the cases are chosen, the filter is what the user gave.
class filter_note : public testing::EmptyTestEventListener {
 public:
  void OnTestProgramStart(const UnitTest&) override { GTEST_FLAG_SET(filter, given_); }

 private:
  std::string given_ = GTEST_FLAG_GET(filter);
};

// Tests of other things that write or read a snapshot on the way; those of snapshots alone are not built without them.
constexpr const char* tests_with_snapshots =
    "BfsFile.ConvertedFilesGiveTheSameSearch:Calls.WritersTakeOwners:Cases/Allocation.*/*snapshot:"
    "changing_snapshot.*:convert.between_all_pairs_of_formats_keeps_every_answer:"
    "convert.keeps_the_file_where_the_format_is_the_same:convert.says_so_where_it_cannot_stream:"
    "failing_write.leaves_the_old_file_and_nothing_else:InfoFile.AFailedConversionKeepsTheOldFile:"
    "InfoFile.ConversionsKeepTheMatrix:InfoFile.TakesADeviceAndSaysWhatWorked:"
    "memory_limit.ends_every_app_in_one_line:outputs.are_readable_by_nobody_who_may_not_read_the_input:"
    "outputs.on_standard_output_are_alone:recognise.dimacs_graphs_are_searched:signals/ended_by.*:"
    "streams.of_every_kind_and_format_are_read_as_files:streams.serve_every_command:"
    "streams.that_end_early_are_refused:SymmetricFile.IsConvertedAsTheTriangleOfTheWholeMatrix";

void leave_out_snapshots() try { spargo::check_snapshots("a snapshot"); } catch (const spargo::error& e) {
  leave_out({tests_with_snapshots});
  std::cout << "[  SKIPPED ] whatever needs a snapshot: " << e.what() << std::endl;
}

// An error too: two cases of one name, which no filter tells apart.
int report_cases_outside(const std::vector<std::string>& files) {
  std::set<std::string> names;
  int wrong = 0;
  for (int s = 0; s < UnitTest::GetInstance()->total_test_suite_count(); ++s) {
    const TestSuite& suite = *UnitTest::GetInstance()->GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t) {
      const TestInfo& test = *suite.GetTestInfo(t);
      const std::string name = std::string(suite.name()) + "." + test.name();
      if (std::find(files.begin(), files.end(), file_of(test)) == files.end()) {
        std::fprintf(stderr, "%s is in %s, which has no entry\n", name.c_str(), test.file());
        ++wrong;
      }
      if (!names.insert(name).second) {
        std::fprintf(stderr, "%s in %s is the name of another case\n", name.c_str(), test.file());
        ++wrong;
      }
    }
  }
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  UnitTest::GetInstance()->listeners().Append(new filter_note);
  leave_out_snapshots();
  for (int k = 1; k < argc; ++k) {
    const std::string argument = argv[k];
    const std::string value = argument.substr(argument.find('=') + 1);
    if (argument.rfind("--file=", 0) == 0) {
      if (!holds_cases(value)) {
        std::fprintf(stderr, "no case is in a file '%s'\n", value.c_str());
        return 2;
      }
      leave_out(others(value));
    } else if (argument.rfind("--only_files=", 0) == 0) {
      std::vector<std::string> files;
      std::istringstream list(value);
      for (std::string file; std::getline(list, file, ',');) files.push_back(file);
      for (const std::string& file : files) {
        if (holds_cases(file)) continue;
        std::fprintf(stderr, "no case is in a file '%s'\n", file.c_str());
        return 1;
      }
      return report_cases_outside(files);
    } else {
      std::fprintf(stderr, "unknown argument '%s'\n", argv[k]);
      return 2;
    }
  }
  return RUN_ALL_TESTS();
}
