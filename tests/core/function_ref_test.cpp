#include "core/function_ref.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace {

using spargo::detail::function_ref;

int twice(function_ref<int(int)> f) { return f(f(1)); }

TEST(FunctionRef, CallsWhatItRefersTo) {
  int calls = 0;
  EXPECT_EQ(twice([&](int x) {
              ++calls;
              return 10 * x;
            }),
            100);
  EXPECT_EQ(calls, 2);
  const auto constant = [](int x) { return x + 1; };
  EXPECT_EQ(twice(constant), 3);
}

TEST(FunctionRef, PassesReferencesAndWhatOnlyMoves) {
  const auto call = [](function_ref<void(std::string&, std::unique_ptr<int>)> f) {
    std::string text = "a";
    f(text, std::make_unique<int>(7));
    return text;
  };
  EXPECT_EQ(call([](std::string& text, std::unique_ptr<int> number) { text += std::to_string(*number); }), "a7");
}

TEST(FunctionRef, ACopyRefersToTheSame) {
  int state = 0;
  auto count = [&state](int by) mutable { return state += by; };
  const function_ref<int(int)> first = count;
  const function_ref<int(int)> second = first;
  first(1);
  EXPECT_EQ(second(2), 3);
}

TEST(FunctionRef, LetsExceptionsThrough) {
  EXPECT_THROW(twice([](int) -> int { throw std::runtime_error("no"); }), std::runtime_error);
}

}  // namespace
