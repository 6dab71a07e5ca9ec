// One driver for the commands on a matrix: flags, reading, timing, check, report, outputs and `spargo plan`. A command
// is a class derived from `matrix_algorithm`, and ends with
//   extern const command x_command = matrix_command<x>("what it does");
// commands/reorder.cpp is an example. It provides:
//   flags_type                      a struct derived from matrix_flags with the command's own flags
//   name                            "reorder"
//   text(), add_flags, check_flags  help, its own flags, and errors of usage before anything is read
//   outputs, other_inputs           files that are written, and those that are read besides FILE
//   place(flags, in, cpu)           the backend, once the input is described
//   run(job, read)                  on a csr_input of any types; the report has its title and the device; print_lines
//                                   with flags.rows for --print
// for `spargo plan`:
//   expected_ns                     per entry on one thread, reading included
//   expect(plan, flags, in, size)   algorithm and memory
// and where several processes run it:
//   takes_ranks, run_on_ranks       true; the whole command, or nothing in one process
#pragma once

#include "cli/command.hpp"
#include "cli/outputs.hpp"
#include "cli/progress.hpp"
#include "placement/matrix_command.hpp"

#include <spargo/core/rows_from_one.hpp>
#include <spargo/io/generate.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spargo::apps {

// What --help says of a command.
struct matrix_command_text {
  std::string about;
  std::string file;     // "a matrix"
  std::string repeats;  // --repeat does this N times
  std::vector<std::string> examples;
  std::string argument = "FILE";
  std::string lines;  // of --print: "eigenvalue: its number, ..."
};

// A command under way.
template <class Flags, class Input = input_description>
struct matrix_job {
  report& out;
  const backend& where;
  const Flags& flags;
  const Input& input;

  [[nodiscard]] const context<host>& cpu() const { return where.cpu; }
  // Reports whether f() finds the result right, or that --no-validate skipped it. `how`: what f compares, a clause.
  template <class F>
  [[nodiscard]] std::optional<bool> validate(const std::string& how, F&& f) const {
    std::optional<bool> valid;
    const busy validating("validating");
    const stopwatch checking;
    if (!flags.no_validate) valid = f();
    report_validity(out, valid, how, checking.milliseconds());
    return valid;
  }
};

// The defaults of a command.
struct matrix_algorithm {
  using input_type = input_description;  // or one that holds several
  static constexpr bool takes_ranks = false;

  static void check_flags(const matrix_flags&) {}
  static std::vector<std::string> other_inputs(const matrix_flags&) { return {}; }
  static input_description describe(const context<host>& ctx, const matrix_flags& flags) {
    return describe_matrix(ctx, flags.file);
  }
  // f(csr_input) with the file's matrix.
  template <class Job, class F>
  static exit_status read(const Job& job, F&& f) {
    return on_matrix(job.out, job.where, job.flags, job.input, f);
  }
};

template <class T>
exit_status run_matrix_command(const typename T::flags_type& flags) {
  using job_type = matrix_job<typename T::flags_type, typename T::input_type>;
  const backend cpu = cpu_of(T::name, flags.common);
  const typename T::input_type input = T::describe(cpu.cpu, flags);
  const backend where = T::place(flags, input, cpu);
  report out(T::name, flags.common);
  begin_report(out, T::name, flags, where);
  const job_type job{out, where, flags, input};
  std::optional<rows_from_one> counting;  // messages, as the file does
  if (!is_generator_spec(flags.file)) counting.emplace();
  return T::read(job, [&](const auto& read) {
    try {
      return T::run(job, read);
    } catch (const error&) {
      rethrow_with_file(T::name, flags.file);
    }
  });
}

template <class T>
concept has_matrix_plan = requires {
  T::expected_ns;
};

template <class T>
exit_status plan_matrix_command(const typename T::flags_type& flags, const plan_scale& scale) {
  input_description input;
  input_size size;
  if (scale.ranks > 0 && !T::takes_ranks) {
    throw usage_error(std::string(T::name) + " does not run on several processes or GPUs");
  }
  work_plan plan = plan_of(T::name, flags, cpu_of(T::name, flags.common), scale, input, size, T::expected_ns);
  T::expect(plan, flags, input, size);
  return print_plan(flags.common, plan, input);
}

// What does not depend on the command's types.
void declare_matrix(flag_set app, matrix_flags& flags, const matrix_command_text& text,
                    const std::function<void()>& add_own);

template <class T>
command_body declare_matrix_command(flag_set app) {
  const auto flags = std::make_shared<typename T::flags_type>();
  declare_matrix(app, *flags, T::text(), [&] { T::add_flags(app, *flags); });
  const auto does = [flags] {
    T::check_flags(*flags);
    check_table_flags(flags->rows);
    const auto prepare = [&flags] {
      std::vector<std::string> inputs = T::other_inputs(*flags);
      inputs.push_back(flags->file);
      std::vector<output_request> outputs = T::outputs(*flags);
      outputs.push_back({"--print", flags->rows.output});
      prepare_outputs(flags->common, inputs, std::move(outputs));
    };
    if constexpr (T::takes_ranks) {
      if (const std::optional<exit_status> done = T::run_on_ranks(*flags, prepare)) return *done;
    }
    prepare();
    return run_matrix_command<T>(*flags);
  };
  if constexpr (has_matrix_plan<T>) {
    return {does, [flags](const plan_scale& scale) { return plan_matrix_command<T>(*flags, scale); }};
  } else {
    return does;
  }
}

template <class T>
[[nodiscard]] constexpr command matrix_command(const char* summary) {
  return {T::name, summary, declare_matrix_command<T>, nullptr, T::takes_ranks, command_kind::matrices};
}

}  // namespace spargo::apps
