#include "cli/signals.hpp"

#include "cli/exit_status.hpp"
#include "cli/progress.hpp"

#include <spargo/io/output.hpp>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>

namespace spargo::apps {

namespace {

// Signals that end the process by default, also those of a crashing program. SIGBUS and SIGXFSZ are handled separately.
constexpr int ending[] = {SIGINT,  SIGTERM, SIGHUP, SIGQUIT,   SIGPIPE, SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU, SIGPROF,
                          SIGPOLL, SIGPWR,  SIGSYS, SIGVTALRM, SIGTRAP, SIGABRT, SIGSEGV, SIGILL,  SIGFPE};

// The message for SIGBUS, formatted in advance: a handler must not format.
char cut_short[256];
std::size_t cut_short_size = 0;

// SA_RESETHAND has restored the default action: the raised signal ends the process after this returns.
extern "C" void end_cleanly(int signal) {
  wipe_progress_at_end();
  remove_unfinished_files();
  ::raise(signal);
}

// Several threads may access the truncated part at once. The first ends the process, the others wait.
extern "C" void end_with_a_line(int) {
  static std::atomic_flag begun = ATOMIC_FLAG_INIT;
  while (begun.test_and_set()) ::pause();
  wipe_progress_at_end();
  remove_unfinished_files();
  if (::write(STDERR_FILENO, cut_short, cut_short_size) < 0) ::_exit(static_cast<int>(exit_status::failed));
  ::_exit(static_cast<int>(exit_status::failed));
}

void install(int signal, void (*handler)(int), int flags) {
  struct sigaction old {};
  ::sigaction(signal, nullptr, &old);
  // Ignored or handled by others; but for SIGBUS our message takes precedence (AddressSanitizer has its own handler).
  if (old.sa_handler == SIG_IGN || (old.sa_handler != SIG_DFL && signal != SIGBUS)) return;
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  ::sigfillset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

void handle_signals(const std::string& app) {
  const std::string line = app + ": the input was cut short by another process while it was being read\n";
  cut_short_size = std::min(line.size(), sizeof(cut_short));
  std::memcpy(cut_short, line.data(), cut_short_size);
  for (const int signal : ending) install(signal, end_cleanly, static_cast<int>(SA_RESETHAND));
  install(SIGBUS, end_with_a_line, 0);
  ::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace spargo::apps
