// How commands declare their flags: handles to CLI11's objects, so that few files compile CLI11, a library of headers.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI

namespace spargo::apps {

// What a flag's value may be stored as; flags.cpp instantiates for each.
template <class T>
concept flag_value = std::same_as<T, std::string> || std::same_as<T, std::vector<std::string>> ||
    std::same_as<T, int> || std::same_as<T, std::int64_t> || std::same_as<T, std::uint64_t> ||
    std::same_as<T, double> || std::same_as<T, std::optional<double>>;

// Checks a value: `error` returns a message, or an empty string. `words`: values that help and completion offer.
struct value_check {
  std::function<std::string(const std::string&)> error;
  std::vector<std::string> words{};

  operator CLI::Validator() const;
};

// The words of an option's value_check; empty for others.
[[nodiscard]] std::vector<std::string> words_of(CLI::Option& option);

// Whether a value must follow; false for a flag without a value, or with one only after =.
[[nodiscard]] bool takes_value(const CLI::Option& option);

// A declared flag or argument, as long as its command's CLI::App lives; members as of CLI::Option.
class declared_flag {
 public:
  explicit declared_flag(CLI::Option& option) : option_(&option) {}

  const declared_flag* operator->() const { return this; }
  declared_flag check(const value_check& accepted) const;
  declared_flag type_name(const std::string& name) const;
  declared_flag group(const std::string& name) const;
  declared_flag required() const;
  declared_flag capture_default_str() const;
  declared_flag excludes(declared_flag other) const;
  declared_flag needs(declared_flag other) const;
  declared_flag expected(int values) const;
  declared_flag allow_extra_args(bool allowed) const;

 private:
  CLI::Option* option_;
};

// The flags of a command, as long as its CLI::App lives; members as of CLI::App.
class flag_set {
 public:
  flag_set(CLI::App& app) : app_(&app) {}
  operator CLI::App&() const { return *app_; }

  template <flag_value T>
  declared_flag add_option(const std::string& names, T& value, const std::string& help = {}) const;
  declared_flag add_option(const std::string& names, const std::string& help) const;  // no value is kept
  // Called with the value, or once with all of them.
  declared_flag add_option_function(const std::string& names, const std::function<void(const std::string&)>& set,
                                    const std::string& help) const;
  declared_flag add_option_function(const std::string& names,
                                    const std::function<void(const std::vector<std::string>&)>& set,
                                    const std::string& help) const;
  declared_flag add_flag(const std::string& names, bool& given, const std::string& help = {}) const;
  declared_flag add_flag_callback(const std::string& names, const std::function<void()>& set,
                                  const std::string& help) const;

  void description(const std::string& text) const;
  void footer(const std::string& text) const;
  [[nodiscard]] std::string help() const;
  void prefix_command() const;
  [[nodiscard]] std::string get_name() const;
  [[nodiscard]] std::vector<std::string> remaining() const;
  [[nodiscard]] std::vector<declared_flag> options() const;
  [[nodiscard]] bool has(const std::string& name) const;
  // The value on the command line, if there is one.
  [[nodiscard]] std::optional<std::string> given(const std::string& name) const;

 private:
  CLI::App* app_;
};

}  // namespace spargo::apps
