#include "system/file_lock.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <thread>
#include <vector>

#include "cgroup.h"
#include "check.h"
#include "system/linux/directory_stream.h"

namespace evictd::test {

TEST("a lock is held by one owner until that is destroyed") {
  const TemporaryDirectory directory;
  const std::string path = directory.File("lock");
  {
    const FileLock held(path);
    CHECK_EQUAL(ErrorOf([&] { FileLock second(path); }), EAGAIN);
    struct stat status = {};
    CHECK(stat(path.c_str(), &status) == 0);
    CHECK_EQUAL(status.st_mode & 0777u, 0600u);
  }
  CHECK_EQUAL(ErrorOf([&] { FileLock again(path); }), 0);
}

TEST("of many threads one at a time has the lock") {
  const TemporaryDirectory directory;
  const std::string path = directory.File("lock");
  std::atomic<int> holders{0};
  std::atomic<int> taken{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; thread++) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; i++) {
        const int error = ErrorOf([&] {
          const FileLock lock(path);
          if (++holders != 1) Fail(__FILE__, __LINE__, "two hold the lock");
          taken++;
          holders--;
        });
        CHECK(error == 0 || error == EAGAIN);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(taken > 0);
}

TEST("the process has no descriptor of the file: threads that hang in the kernel would keep it") {
  const TemporaryDirectory directory;
  const std::string path = directory.File("lock");
  const FileLock held(path);
  const DirectoryStream entries = OpenDirectoryStream(AT_FDCWD, "/proc/self/fd");
  CHECK(entries != nullptr);
  int seen = 0;
  while (const dirent* entry = readdir(entries.get())) {
    char target[4096] = "";
    if (readlinkat(dirfd(entries.get()), entry->d_name, target, sizeof target - 1) < 0) continue;
    CHECK(path != target);
    seen++;
  }
  CHECK(seen >= 3);
}

TEST("a symbolic link is not followed") {
  const TemporaryDirectory directory;
  CHECK(symlink("/dev/null", directory.File("lock").c_str()) == 0);
  CHECK_EQUAL(ErrorOf([&] { FileLock lock(directory.File("lock")); }), ELOOP);
}

}  // namespace evictd::test
