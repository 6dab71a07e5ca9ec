// GoogleTest's main, with the GPU policy: without a usable GPU the device tests skip visibly, and with
// SPARGO_REQUIRE_GPU=1 that skip is a failure.
#include "support/device.hpp"

#include <spargo/io/snapshot.hpp>

#include <gtest/gtest.h>

#include <iostream>

namespace {

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
  std::string& filter = testing::GTEST_FLAG(filter);
  filter += (filter.find('-') == std::string::npos ? "-" : ":") + std::string(tests_with_snapshots);
  std::cout << "[  SKIPPED ] whatever needs a snapshot: " << e.what() << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  leave_out_snapshots();
  return RUN_ALL_TESTS();
}
