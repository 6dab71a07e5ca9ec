#include "bench/interrupt.hpp"

#include <spargo/core/error.hpp>
#include <spargo/io/output.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

namespace spargo::bench {

namespace {

int pipe_ends[2] = {-1, -1};

extern "C" void send_signal(int signal) {
  const int kept = errno;
  const auto number = static_cast<unsigned char>(signal);
  if (::write(pipe_ends[1], &number, 1) != 1) ::_exit(128 + signal);
  errno = kept;
}

struct file_list {
  std::mutex mutex;
  std::set<std::string> paths;
};

// Never destroyed: the thread may outlive static destructors.
file_list& temporary_files() {
  static file_list& all = *new file_list;
  return all;
}

[[noreturn]] void end_by(int signal) {
  ::signal(signal, SIG_DFL);
  ::kill(::getpid(), signal);
  ::sleep(1);
  ::_exit(128 + signal);
}

void wait_for_signal(const std::function<void(int)>& save) {
  unsigned char number = 0;
  while (::read(pipe_ends[0], &number, 1) != 1) {
    if (errno != EINTR) return;
  }
  const int signal = number;
  save(signal);
  file_list& files = temporary_files();
  const std::lock_guard lock(files.mutex);  // held until the end, so that no file is created any more
  for (const std::string& path : files.paths) ::unlink(path.c_str());
  remove_unfinished_files();
  end_by(signal);
}

}  // namespace

void on_interrupt(std::function<void(int)> save) {
  if (::pipe2(pipe_ends, O_CLOEXEC) != 0) {
    throw error(error_code::io, "cannot make a pipe: " + std::generic_category().message(errno));
  }
  std::thread([save = std::move(save)] { wait_for_signal(save); }).detach();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU}) {
    struct sigaction old {};
    ::sigaction(signal, nullptr, &old);
    if (old.sa_handler != SIG_DFL) continue;
    struct sigaction action {};
    action.sa_handler = send_signal;
    action.sa_flags = SA_RESTART;
    ::sigfillset(&action.sa_mask);
    ::sigaction(signal, &action, nullptr);
  }
}

temporary_file::temporary_file() : path_((std::filesystem::temp_directory_path() / "spargo-bench-XXXXXX").string()) {
  file_list& files = temporary_files();
  const std::lock_guard lock(files.mutex);
  const int descriptor = ::mkstemp(path_.data());
  if (descriptor < 0) {
    throw error(error_code::io, {path_}, "cannot create: " + std::generic_category().message(errno));
  }
  ::close(descriptor);
  files.paths.insert(path_);
}

temporary_file::~temporary_file() {
  file_list& files = temporary_files();
  const std::lock_guard lock(files.mutex);
  ::unlink(path_.c_str());
  files.paths.erase(path_);
}

}  // namespace spargo::bench
