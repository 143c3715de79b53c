// Runs all tests, or those whose file or name contains an argument, each in a child process, and ends with "N passed, N
// failed". A test fails with a check, a signal, a sanitizer's report, after two minutes, or if it leaves a descriptor
// or thread.

#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "cgroup.h"
#include "check.h"

namespace evictd::test {

namespace {

constexpr int kFailed = 1;
constexpr int kSkipped = 77;
constexpr unsigned kLimitSeconds = 120;

struct Test {
  std::string file;
  std::string name;
  Body body;
};

struct Failed {};

struct Skipped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Filled before main by the registrations of the files, in link order.
std::vector<Test>& Tests() {
  static std::vector<Test> tests;
  return tests;
}

size_t Entries(const char* directory) {
  size_t count = 0;
  DIR* listing = opendir(directory);
  while (readdir(listing) != nullptr) count++;
  closedir(listing);
  return count;
}

size_t Descriptors() { return Entries("/proc/self/fd"); }
size_t Threads() { return Entries("/proc/self/task"); }

int RunHere(const Test& test) {
  std::thread([] {}).join();  // the thread sanitizer starts its own thread with the first
  const size_t descriptors = Descriptors();
  const size_t threads = Threads();
  alarm(kLimitSeconds);
  try {
    test.body();
    // A thread may need a moment to end.
    EVENTUALLY(Threads() <= threads);
    EVENTUALLY(Descriptors() <= descriptors);
  } catch (const Skipped& reason) {
    printf("  skipped: %s\n", reason.what());
    return kSkipped;
  } catch (const Failed&) {
    return kFailed;
  } catch (const std::exception& error) {
    printf("  %s\n", error.what());
    return kFailed;
  }
  return 0;
}

// The status of the child as wait reports it.
int RunInChild(const Test& test) {
  fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) abort();
  // exit, not _exit: the leak sanitizer reports at exit.
  if (child == 0) exit(RunHere(test));
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
  }
  if (status != 0) RemoveCgroupsOf(child);
  return status;
}

bool Wanted(const Test& test, int count, char** words) {
  if (count == 0) return true;
  for (int i = 0; i < count; i++) {
    if (test.file.find(words[i]) != std::string::npos || test.name.find(words[i]) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

bool Register(const char* file, const char* name, Body body) {
  const char* slash = strrchr(file, '/');
  Tests().push_back({slash == nullptr ? file : slash + 1, name, body});
  return true;
}

void Fail(const char* file, int line, const std::string& message) {
  // At once: a check that fails in another thread ends the process.
  printf("  %s:%d: %s\n", file, line, message.c_str());
  fflush(stdout);
  throw Failed();
}

void Skip(const std::string& reason) { throw Skipped(reason); }

void Eventually(const char* file, int line, const char* what, const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) Fail(file, line, std::string("waited in vain for ") + what);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

int RunAll(int count, char** words) {
  int passed = 0;
  int failed = 0;
  int skipped = 0;
  for (const Test& test : Tests()) {
    if (!Wanted(test, count, words)) continue;
    printf("%s: %s\n", test.file.c_str(), test.name.c_str());
    const auto start = std::chrono::steady_clock::now();
    const int status = RunInChild(test);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (seconds > 1) printf("  %.1f s\n", seconds);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
      passed++;
    } else if (WIFEXITED(status) && WEXITSTATUS(status) == kSkipped) {
      skipped++;
    } else {
      failed++;
      if (WIFSIGNALED(status)) {
        printf("  FAILED: ended by signal %d%s\n", WTERMSIG(status), WTERMSIG(status) == SIGALRM ? " (too long)" : "");
      } else {
        printf("  FAILED\n");
      }
    }
  }
  if (skipped > 0) printf("%d skipped\n", skipped);
  printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}

}  // namespace evictd::test

int main(int argc, char** argv) { return evictd::test::RunAll(argc - 1, argv + 1); }
