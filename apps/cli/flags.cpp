#include "cli/flags.hpp"

#include <CLI/CLI.hpp>

#include <sstream>

namespace spargo::apps {

// The words are the validator's name, where words_of finds them.
value_check::operator CLI::Validator() const { return {error, "", CLI::detail::join(words, " ")}; }

std::vector<std::string> words_of(CLI::Option& option) {
  std::vector<std::string> words;
  try {
    for (int k = 0; words.empty(); ++k) {
      std::istringstream name(option.get_validator(k)->get_name());
      for (std::string word; name >> word;) words.push_back(word);
    }
  } catch (const CLI::OptionNotFound&) {  // no more validators
  }
  return words;
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_min() > 0; }

declared_flag declared_flag::check(const value_check& accepted) const {
  return declared_flag(*option_->check(CLI::Validator(accepted)));
}
declared_flag declared_flag::type_name(const std::string& name) const {
  return declared_flag(*option_->type_name(name));
}
declared_flag declared_flag::group(const std::string& name) const { return declared_flag(*option_->group(name)); }
declared_flag declared_flag::required() const { return declared_flag(*option_->required()); }
declared_flag declared_flag::capture_default_str() const { return declared_flag(*option_->capture_default_str()); }
declared_flag declared_flag::excludes(declared_flag other) const {
  return declared_flag(*option_->excludes(other.option_));
}
declared_flag declared_flag::needs(declared_flag other) const { return declared_flag(*option_->needs(other.option_)); }
declared_flag declared_flag::expected(int values) const { return declared_flag(*option_->expected(values)); }
declared_flag declared_flag::allow_extra_args(bool allowed) const {
  return declared_flag(*option_->allow_extra_args(allowed));
}

template <flag_value T>
declared_flag flag_set::add_option(const std::string& names, T& value, const std::string& help) const {
  return declared_flag(*app_->add_option(names, value, help));
}
template declared_flag flag_set::add_option(const std::string&, std::string&, const std::string&) const;
template declared_flag flag_set::add_option(const std::string&, std::vector<std::string>&, const std::string&) const;
template declared_flag flag_set::add_option(const std::string&, int&, const std::string&) const;
template declared_flag flag_set::add_option(const std::string&, std::int64_t&, const std::string&) const;
template declared_flag flag_set::add_option(const std::string&, std::uint64_t&, const std::string&) const;
template declared_flag flag_set::add_option(const std::string&, double&, const std::string&) const;
template declared_flag flag_set::add_option(const std::string&, std::optional<double>&, const std::string&) const;

declared_flag flag_set::add_option(const std::string& names, const std::string& help) const {
  return declared_flag(*app_->add_option(names, help));
}
declared_flag flag_set::add_option_function(const std::string& names,
                                            const std::function<void(const std::string&)>& set,
                                            const std::string& help) const {
  return declared_flag(*app_->add_option_function<std::string>(names, set, help));
}
declared_flag flag_set::add_option_function(const std::string& names,
                                            const std::function<void(const std::vector<std::string>&)>& set,
                                            const std::string& help) const {
  return declared_flag(*app_->add_option_function<std::vector<std::string>>(names, set, help));
}
declared_flag flag_set::add_flag(const std::string& names, bool& given, const std::string& help) const {
  return declared_flag(*app_->add_flag(names, given, help));
}
declared_flag flag_set::add_flag_callback(const std::string& names, const std::function<void()>& set,
                                          const std::string& help) const {
  return declared_flag(*app_->add_flag_callback(names, set, help));
}

void flag_set::description(const std::string& text) const { app_->description(text); }
void flag_set::footer(const std::string& text) const { app_->footer(text); }
std::string flag_set::help() const { return app_->help(); }
void flag_set::prefix_command() const { app_->prefix_command(); }
std::string flag_set::get_name() const { return app_->get_name(); }
std::vector<std::string> flag_set::remaining() const { return app_->remaining(); }

std::vector<declared_flag> flag_set::options() const {
  std::vector<declared_flag> all;
  for (CLI::Option* option : app_->get_options()) all.emplace_back(*option);
  return all;
}

namespace {

// CLI11's get_option_no_throw is noexcept and allocates: out of memory, it ends the program.
const CLI::Option* find_option(const CLI::App& app, const std::string& name) {
  const auto found = app.get_options([&](const CLI::Option* option) { return option->check_name(name); });
  return found.empty() ? nullptr : found.front();
}

}  // namespace

bool flag_set::has(const std::string& name) const { return find_option(*app_, name) != nullptr; }

std::optional<std::string> flag_set::given(const std::string& name) const {
  const CLI::Option* const option = find_option(*app_, name);
  if (option == nullptr || option->count() == 0) return std::nullopt;
  return option->as<std::string>();
}

}  // namespace spargo::apps
