#include <spargo/core/error.hpp>
#include <spargo/io/output.hpp>

#include "io/support/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <optional>
#include <thread>

namespace spargo {
namespace {

using test::read_file;

TEST(Output, NothingIsThereBeforeTheCommit) {
  const test::temporary_folder folder;
  const std::string path = folder.file("new");
  output_file out(path);
  out.write("hello\n");
  EXPECT_FALSE(std::filesystem::exists(path));
  out.commit();
  EXPECT_EQ(read_file(path), "hello\n");
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(Output, WithoutACommitTheOldFileStays) {
  const test::temporary_folder folder;
  const std::string path = folder.write("file", "old");
  try {
    output_file out(path);
    out.write(std::string(5 << 20, 'x'));
    throw std::runtime_error("the caller failed");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(Output, ManySmallAndAFewLargeWritesKeepTheirOrder) {
  const test::temporary_folder folder;
  for (const char* name : {"plain", "packed.gz"}) {
    const std::string path = folder.file(name);
    std::string expected;
    output_file out(path);
    for (int i = 0; i < 300; ++i) {
      const std::string chunk(i % 50 == 7 ? std::size_t{3} << 20 : static_cast<std::size_t>(i * 100),
                              static_cast<char>('a' + i % 26));
      out.write(chunk);
      expected += chunk;
    }
    out.commit();
    EXPECT_EQ(test::gunzip(path), expected);  // zlib reads uncompressed files unchanged
    EXPECT_EQ(read_file(path) == expected, std::string(name) == "plain");
  }
}

// Limits the file size during its lifetime, so that writes fail as on a full disk.
class file_size_limit {
 public:
  explicit file_size_limit(rlim_t bytes) {
    old_handler_ = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit{bytes, old_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  file_size_limit(const file_size_limit&) = delete;
  file_size_limit& operator=(const file_size_limit&) = delete;
  ~file_size_limit() {
    setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, old_handler_);
  }

 private:
  rlimit old_{};
  void (*old_handler_)(int) = SIG_DFL;
};

TEST(Output, AFailedWriteLeavesTheOldFile) {
  const test::temporary_folder folder;
  const std::string path = folder.write("file", "old");
  for (const std::size_t size : {std::size_t{5000}, std::size_t{5} << 20}) {  // fails in `commit`, fails in `write`
    const file_size_limit limit(4096);
    try {
      output_file out(path);
      out.write(std::string(size, 'x'));
      out.commit();
      FAIL() << "the write went through";
    } catch (const error& e) {
      EXPECT_EQ(e.code(), error_code::io);
      EXPECT_EQ(std::string(e.what()), path + ": cannot write: File too large");
    }
  }
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(Output, AFullDeviceIsReported) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  output_file out("/dev/full");
  out.write("x");
  try {
    out.commit();
    FAIL() << "the write went through";
  } catch (const error& e) {
    EXPECT_STREQ(e.what(), "/dev/full: cannot write: No space left on device");
  }
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

TEST(Output, WhereNoFileCanBeIsAnError) {
  const test::temporary_folder folder;
  for (const std::string& path : {folder.path(), folder.file("none/file")}) {
    try {
      const output_file out(path);
      FAIL() << path;
    } catch (const error& e) {
      EXPECT_EQ(e.code(), error_code::io);
      EXPECT_EQ(std::string(e.what()).rfind(path + ": cannot ", 0), 0U) << e.what();
    }
  }
}

TEST(Output, FollowsALinkAndKeepsPermissions) {
  const test::temporary_folder folder;
  const std::string path = folder.write("file", "old");
  std::filesystem::permissions(path, std::filesystem::perms(0640));
  std::filesystem::create_symlink("file", folder.file("link"));
  output_file out(folder.file("link"));
  out.write("new");
  out.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("link")));
  EXPECT_EQ(read_file(path), "new");
  EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms(0640));
}

TEST(Output, ADescriptorIsWrittenWhereItStands) {
  const test::temporary_folder folder;
  const std::string path = folder.write("log", "old\n");
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  ASSERT_GE(descriptor, 0);
  for (const std::string& name : {fmt::format("/dev/fd/{}", descriptor), fmt::format("/proc/self/fd/{}", descriptor),
                                  fmt::format("/proc/{}/fd/{}", ::getpid(), descriptor)}) {
    EXPECT_EQ(output_descriptor(name), descriptor) << name;
    output_file out(name);
    out.write("new\n");
    out.commit();
  }
  EXPECT_EQ(::write(descriptor, "mine\n", 5), 5) << "the caller's descriptor stays open";
  ::close(descriptor);
  EXPECT_EQ(read_file(path), "old\nnew\nnew\nnew\nmine\n");
  EXPECT_EQ(output_descriptor("-"), 1);
  EXPECT_EQ(output_descriptor("/dev/stderr"), 2);
  EXPECT_EQ(output_descriptor(path), std::nullopt);
  EXPECT_EQ(output_descriptor("/dev/null"), std::nullopt);
  EXPECT_THROW(output_file(fmt::format("/dev/fd/{}", descriptor)), error) << "closed";
}

TEST(Output, APipeThatIsFullIsWaitedFor) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
  const std::string text(std::size_t{3} << 20, 'x');
  std::thread writer([&] {
    output_file out(fmt::format("/dev/fd/{}", ends[1]));
    out.write(text);
    out.commit();
    ::close(ends[1]);
  });
  ::fcntl(ends[0], F_SETFL, 0);
  std::string got;
  char chunk[4096];
  for (ssize_t n = 0; (n = ::read(ends[0], chunk, sizeof(chunk))) > 0;) got.append(chunk, static_cast<std::size_t>(n));
  writer.join();
  ::close(ends[0]);
  EXPECT_TRUE(got == text) << got.size();
}

TEST(Output, ACheckTouchesNothing) {
  const test::temporary_folder folder;
  const std::string path = folder.write("file", "old");
  check_output(path);
  check_output(folder.file("new"));
  check_output("-");
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(folder.entries(), 1U);
  for (const std::string& bad :
       {folder.path(), folder.file("none/file"), path + "/below", std::string("/dev/fd/999")}) {
    try {
      check_output(bad);
      FAIL() << bad;
    } catch (const error& e) {
      EXPECT_EQ(e.code(), error_code::io);
      EXPECT_EQ(std::string(e.what()).rfind(bad + ": cannot ", 0), 0U) << e.what();
    }
  }
}

TEST(Output, ALinkAndItsPermissionsAreReplacedIfAskedFor) {
  const test::temporary_folder folder;
  const std::string victim = folder.write("victim", "precious");
  std::filesystem::permissions(victim, std::filesystem::perms(0666));
  std::filesystem::create_symlink("victim", folder.file("link"));
  const mode_t old = ::umask(077);
  for (const char* name : {"link", "link"}) {
    output_file out(folder.file(name), {.links = output_links::replaced});
    out.write("new");
    out.commit();
    std::filesystem::permissions(folder.file(name), std::filesystem::perms(0644));
  }
  output_file out(folder.file("link"), {.links = output_links::replaced});
  out.commit();
  ::umask(old);
  EXPECT_EQ(read_file(victim), "precious");
  EXPECT_FALSE(std::filesystem::is_symlink(folder.file("link")));
  EXPECT_EQ(std::filesystem::status(folder.file("link")).permissions(), std::filesystem::perms(0600));
}

TEST(Output, TwoWritersOfOneFileDoNotMix) {
  const test::temporary_folder folder;
  const std::string path = folder.file("file");
  output_file first(path);
  output_file second(path);
  first.write("first");
  second.write("second");
  first.commit();
  second.commit();
  EXPECT_EQ(read_file(path), "second");
  EXPECT_EQ(folder.entries(), 1U);
}

}  // namespace
}  // namespace spargo
