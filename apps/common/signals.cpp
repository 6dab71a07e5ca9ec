#include "common/signals.hpp"

#include "common/exit_status.hpp"

#include <spargo/io/output.hpp>

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>

namespace spargo::apps {

namespace {

// The line for SIGBUS, made beforehand: a handler must not format.
char cut_short[256];
std::size_t cut_short_size = 0;

// SA_RESETHAND has restored the default: raised again, the signal ends the process when this returns.
extern "C" void end_cleanly(int signal) {
  remove_unfinished_files();
  ::raise(signal);
}

extern "C" void end_with_a_line(int) {
  remove_unfinished_files();
  if (::write(STDERR_FILENO, cut_short, cut_short_size) < 0) ::_exit(static_cast<int>(exit_status::failed));
  ::_exit(static_cast<int>(exit_status::failed));
}

void install(int signal, void (*handler)(int)) {
  struct sigaction old {};
  ::sigaction(signal, nullptr, &old);
  if (old.sa_handler == SIG_IGN) return;
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigfillset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

void handle_signals(const std::string& app) {
  const std::string line = app + ": the input was cut short by another process while it was being read\n";
  cut_short_size = std::min(line.size(), sizeof(cut_short));
  std::memcpy(cut_short, line.data(), cut_short_size);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) install(signal, end_cleanly);
  install(SIGBUS, end_with_a_line);
  ::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace spargo::apps
