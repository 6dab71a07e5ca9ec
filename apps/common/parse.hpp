// Where a Matrix Market file is parsed: on the host, or on the device that will work on it.
//
// On the device it is converted to CSR as well, and stays there beside the copy that is brought home (to be checked,
// described, cached); the host is spared both halves of the work.
#pragma once

#include "common/input.hpp"

#include <spargo/io/device_read.hpp>

#include <CLI/CLI.hpp>

#include <optional>
#include <string>

namespace spargo::apps {

struct parse_choice {
  std::optional<context<device>> gpu;  // none: on the host
  device_read_algorithm algorithm = device_read_algorithm::automatic;
};

// --parse: auto, cpu or gpu.
void add_parse_flag(CLI::App& app, std::string& where);

// The choice for a file: `auto` means what the library suggests where there is a GPU. Throws usage_error for `gpu`
// without one.
[[nodiscard]] parse_choice choose_parsing(const std::string& where, const std::optional<context<device>>& gpu,
                                          const input_description& input);

// The entries, read by the device, and what reading told.
template <entry_type V, index_type I>
[[nodiscard]] coo_matrix<V, I, device> read_coo_on_device(const context<host>& ctx, const parse_choice& parsing,
                                                          const input_description& input, const read_options& options,
                                                          input_facts& facts) {
  device_read_options how{options, parsing.algorithm};
  device_read_summary summary;
  auto entries = read_matrix_market<V, I>(*parsing.gpu, ctx, input.path, how, &summary);
  facts.stored = summary.stored;
  facts.expanded = entries.nnz();
  facts.rounded_integers = summary.rounded_integers;
  facts.parsed_on_device = summary.parsed == device_read_algorithm::on_device;
  facts.names.vertices = static_cast<std::int64_t>(entries.rows());
  I first = -1;
  if (entries.nnz() > 0) {
    copy<I>(*parsing.gpu, entries.row_indices().view().subspan(0, 1), span<I, host>(&first, 1));
    parsing.gpu->synchronize();
  }
  facts.first_vertex = static_cast<std::int64_t>(first);
  return entries;
}

// with_csr, or the same by way of the device: f(csr_input<V, I, O>&).
template <entry_type V, class F>
decltype(auto) with_parsed_csr(const context<host>& ctx, const parse_choice& parsing, const input_description& input,
                               const read_options& options, F&& f) {
  if (!parsing.gpu.has_value()) return with_csr<V>(ctx, input, options, std::forward<F>(f));
  return with_index(std::max(input.rows, input.cols), [&]<class I>(type_tag<I>) {
    const stopwatch loading;
    input_facts facts;
    coo_matrix<V, I, device> entries = read_coo_on_device<V, I>(ctx, parsing, input, options, facts);
    expect_reasonable_extent(input.path, input.rows, input.cols, entries.nnz());
    const double load_ms = loading.milliseconds();
    return with_offset<I>(entries.nnz(), [&]<class O>(type_tag<O>) {
      const stopwatch converting;
      csr_input<V, I, O> result;
      result.on_device = to_csr<O>(*parsing.gpu, entries.view());
      entries = {};
      result.owned = to_host(*parsing.gpu, result.on_device.view());
      result.matrix = result.owned.view();
      result.facts = std::move(facts);
      result.load_ms = load_ms;
      result.convert_ms = converting.milliseconds();
      return f(result);
    });
  });
}

}  // namespace spargo::apps
