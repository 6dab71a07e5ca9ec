#include "support/gpu_turn.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace spargo::test {

namespace {

using clock = std::chrono::steady_clock;

// A turn is a lock on one of N files, whose descriptor is this; -1: none. A program that ends gives it back.
int turn = -1;
clock::time_point turn_start;
std::chrono::duration<double> waited{};
std::chrono::duration<double> held{};

class turn_ender : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo&) override {
    if (turn < 0) return;
    ::close(turn);
    turn = -1;
    held += clock::now() - turn_start;
  }
  void OnTestProgramEnd(const testing::UnitTest&) override {
    if (held.count() > 0) std::printf("GPU: waited %.1f s, held %.1f s\n", waited.count(), held.count());
  }
};

}  // namespace

void take_gpu_turn() {
  const char* const given = std::getenv("SPARGO_GPU_TURNS");
  if (given == nullptr || turn >= 0) return;
  const std::string text = given;
  const std::size_t colon = text.rfind(':');
  const int turns = std::atoi(text.c_str() + colon + 1);
  const char* const device = std::getenv("CUDA_VISIBLE_DEVICES");
  const std::string base = text.substr(0, colon) + "/gpu" + (device == nullptr ? "" : device) + ".";
  const auto start = clock::now();
  for (int k = 0;; k = (k + 1) % turns) {
    const std::string path = base + std::to_string(k);
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || turns < 1) {
      ADD_FAILURE() << "SPARGO_GPU_TURNS=" << text << ": expected an existing folder and a number";
      return;
    }
    if (::flock(file, LOCK_EX | LOCK_NB) == 0) {
      turn = file;
      turn_start = clock::now();
      waited += turn_start - start;
      return;
    }
    ::close(file);
    if (k + 1 == turns) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void end_gpu_turns_with_cases() { testing::UnitTest::GetInstance()->listeners().Append(new turn_ender); }

}  // namespace spargo::test
