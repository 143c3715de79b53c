#pragma once

#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>

#include "system/system_error.h"

// The test framework of the kernel-facing code. Each test runs in its own process (runner.cc), so a sanitizer's report,
// a crash or a hang fails only that test, and descriptors and threads can be counted.

namespace evictd::test {

using Body = void (*)();

// Called before main, by TEST.
bool Register(const char* file, const char* name, Body body);

// The runner reports it as a failure.
[[noreturn]] void Fail(const char* file, int line, const std::string& message);

// The runner reports the test as skipped: the machine lacks something.
[[noreturn]] void Skip(const std::string& reason);

// Checks every millisecond. Fails after 20 s, which only bounds a hang.
void Eventually(const char* file, int line, const char* what, const std::function<bool()>& condition);

template <typename Left, typename Right>
void Equal(const char* file, int line, const char* expression, const Left& actual, const Right& expected) {
  if (actual == expected) return;
  std::ostringstream message;
  message << expression << " is " << actual << ", expected " << expected;
  Fail(file, line, message.str());
}

// The errno of the SystemError that `attempt` throws, else 0.
template <typename Attempt>
int ErrorOf(Attempt&& attempt) {
  try {
    attempt();
  } catch (const SystemError& error) {
    return error.error();
  }
  return 0;
}

}  // namespace evictd::test

#define EVICTD_TEST_NAMED(body, name)                                                                     \
  static void body();                                                                                     \
  [[maybe_unused]] static const bool body##_registered = evictd::test::Register(__FILE__, name, &(body)); \
  static void body()
#define EVICTD_TEST_EXPANDED(line, name) EVICTD_TEST_NAMED(TestInLine##line, name)
#define EVICTD_TEST_IN(line, name) EVICTD_TEST_EXPANDED(line, name)
#define TEST(name) EVICTD_TEST_IN(__LINE__, name)

#define CHECK(expression) \
  if (!(expression)) evictd::test::Fail(__FILE__, __LINE__, #expression)
#define CHECK_EQUAL(actual, expected) evictd::test::Equal(__FILE__, __LINE__, #actual, actual, expected)
#define EVENTUALLY(condition) evictd::test::Eventually(__FILE__, __LINE__, #condition, [&] { return condition; })
