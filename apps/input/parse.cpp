#include "input/parse.hpp"
#include "cli/choice.hpp"

#include "cli/cli.hpp"

namespace spargo::apps {

void add_parse_flag(flag_set app, std::string& where) {
  app.add_option("--parse", where, "where the text is parsed: auto (the GPU in use, for large files), cpu or gpu")
      ->check(one_of("a place to parse", {"auto", "cpu", "gpu"}))
      ->type_name("NAME")
      ->capture_default_str();
}

void expect_gpu_for(const std::string& where, const std::optional<context<device>>& gpu) {
  if (where != "gpu" || gpu.has_value()) return;
  throw usage_error("--parse gpu needs a GPU in use (expected --device cuda, or auto with one)");
}

parse_choice choose_parsing(const std::string& where, const std::optional<context<device>>& gpu,
                            const input_description& input) {
  parse_choice choice;
  expect_gpu_for(where, gpu);
  if (where == "gpu") choice.algorithm = device_read_algorithm::on_device;
  if (where == "cpu" || !gpu.has_value() || input.kind != input_kind::matrix_market) return choice;
  if (!input.can_be_read_again()) return choice;  // the device reader may read a file more than once
  if (where == "auto" && suggest_device_read(input.path) == device_read_algorithm::on_host) return choice;
  choice.gpu = gpu;
  return choice;
}

}  // namespace spargo::apps
