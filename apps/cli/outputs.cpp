#include "cli/outputs.hpp"

#include "cli/exit_status.hpp"

#include <spargo/io/output.hpp>

#include <fmt/format.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>

namespace spargo::apps {

namespace {

// Status of a regular file under any name; none for other kinds and missing files.
std::optional<struct stat> regular_file(const std::string& path, std::optional<int> descriptor) {
  struct stat status {};
  const int found = descriptor.has_value() ? ::fstat(*descriptor, &status) : ::stat(path.c_str(), &status);
  if (found != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return status;
}

std::optional<struct stat> input_file(const std::string& path) {
  return regular_file(path, path == "-" ? std::optional<int>(STDIN_FILENO) : std::nullopt);
}

bool same_file(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

bool same_output(const output_request& a, const output_request& b) {
  const std::optional<int> first = output_descriptor(a.path), second = output_descriptor(b.path);
  if (first.has_value() || second.has_value()) return first == second;
  const std::optional<struct stat> one = regular_file(a.path, first), other = regular_file(b.path, second);
  if (one.has_value() && other.has_value()) return same_file(*one, *other);
  std::error_code failure;
  return !one.has_value() && !other.has_value() && !std::filesystem::exists(a.path, failure) &&
         std::filesystem::weakly_canonical(a.path, failure) == std::filesystem::weakly_canonical(b.path, failure);
}

void refuse_input(const output_request& output, const std::vector<std::string>& inputs) {
  const std::optional<struct stat> written = regular_file(output.path, output_descriptor(output.path));
  if (!written.has_value()) return;
  for (const std::string& input : inputs) {
    const std::optional<struct stat> read = input_file(input);
    if (!read.has_value() || !same_file(*read, *written)) continue;
    throw usage_error(fmt::format("{} {}: this is the input {} itself (expected another file, or --force)", output.flag,
                                  output.path, input));
  }
}

gid_t group_of_new_file(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  struct stat status {};
  const bool inherited = ::stat(parent.empty() ? "." : parent.c_str(), &status) == 0 && (status.st_mode & S_ISGID) != 0;
  return inherited ? status.st_gid : ::getegid();
}

// Extends the umask by what the inputs deny to others and to the group of the new files.
void restrict_new_files(const std::vector<std::string>& inputs, const std::vector<output_request>& outputs) {
  mode_t denied = 0;
  for (const std::string& input : inputs) {
    const std::optional<struct stat> file = input_file(input);
    if (!file.has_value()) continue;
    const auto elsewhere = [&](const std::string& path) { return group_of_new_file(path) != file->st_gid; };
    const bool other_group = elsewhere(input) || std::any_of(outputs.begin(), outputs.end(), [&](const auto& output) {
                               return elsewhere(output.path);
                             });
    const bool for_all = (file->st_mode & S_IROTH) != 0;
    if (!for_all) denied |= S_IRWXO;
    if ((file->st_mode & S_IRGRP) == 0 || (!for_all && other_group)) denied |= S_IRWXG;
  }
  ::umask(::umask(S_IRWXG | S_IRWXO) | denied);
}

}  // namespace

void prepare_outputs(common_flags& flags, const std::vector<std::string>& inputs, std::vector<output_request> outputs) {
  outputs.push_back({"--json", flags.json});
  outputs.push_back({"--report", flags.report});
  std::erase_if(outputs, [](const output_request& output) { return output.path.empty(); });
  for (auto output = outputs.begin(); output != outputs.end(); ++output) {
    const auto twin = std::find_if(outputs.begin(), output, [&](const auto& o) { return same_output(o, *output); });
    if (twin != output) {
      throw usage_error(fmt::format("{} {} and {} {}: the same output (expected one for each)", twin->flag, twin->path,
                                    output->flag, output->path));
    }
    if (!flags.force) refuse_input(*output, inputs);
    check_output(output->path);
    flags.stdout_taken = flags.stdout_taken || output_descriptor(output->path) == STDOUT_FILENO;
  }
  restrict_new_files(inputs, outputs);
}

}  // namespace spargo::apps
