// Errors of the operating system on files.
#pragma once

#include <spargo/core/error.hpp>

namespace spargo {

// Code `io`, with the errno of the call that failed.
class SPARGO_EXPORT system_error : public error {
 public:
  system_error(int number, const std::string& file, const std::string& message);
  ~system_error() override;

  [[nodiscard]] int number() const noexcept { return number_; }

 private:
  int number_;
};

}  // namespace spargo
