// GoogleTest's main, with an option to run the cases of one source file:
//   --file=x_test          the cases of x_test.cpp or x_test.cu, further restricted by --gtest_filter
//   --only_files=x,y,...   runs nothing: reports cases that are in none of these files, and duplicate names
#include "support/gpu_turn.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

using testing::TestInfo;
using testing::TestSuite;
using testing::UnitTest;

std::string file_of(const TestInfo& test) { return std::filesystem::path(test.file()).stem().string(); }

// Patterns of all cases outside `file`: whole suites where possible.
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

// Restores the user's filter after selection, so that GoogleTest does not print the patterns of all other files.
class filter_note : public testing::EmptyTestEventListener {
 public:
  void OnTestProgramStart(const UnitTest&) override { GTEST_FLAG_SET(filter, given_); }

 private:
  std::string given_ = GTEST_FLAG_GET(filter);
};

// Also reports cases with equal names, which no filter can separate.
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

// With a resource file (see run_gpu.sh) ctest assigns each program a GPU, as "id:1,slots:1". The program and the
// commands it starts then use that one.
void use_assigned_gpu() {
  const char* assigned = std::getenv("CTEST_RESOURCE_GROUP_0_GPUS");
  if (assigned == nullptr) return;
  const std::string text = assigned;
  const std::size_t start = text.find(':') + 1;
  ::setenv("CUDA_VISIBLE_DEVICES", text.substr(start, text.find(',') - start).c_str(), 0);
}

}  // namespace

int main(int argc, char** argv) {
  use_assigned_gpu();
  testing::InitGoogleTest(&argc, argv);
  UnitTest::GetInstance()->listeners().Append(new filter_note);
  spargo::test::end_gpu_turns_with_cases();
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
