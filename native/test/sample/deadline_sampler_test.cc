#include "sample/linux/deadline_sampler.h"

#include <cerrno>
#include <memory>
#include <thread>

#include "cgroup.h"
#include "check.h"
#include "sample/linux/file_sum.h"
#include "waker.h"

namespace evictd::test {

namespace {

constexpr uint64_t kMillisecond = 1000000;

constexpr SamplingPeriod kOften = {kMillisecond, 2 * kMillisecond};

FileSpec NumberIn(const std::string& path) { return {path, TextFormat::kNumber, {}}; }

std::shared_ptr<DeadlineSampler> Sample(const FileSpec& spec, const std::vector<double>& limits) {
  return std::make_shared<DeadlineSampler>(
      std::make_unique<FileSum>(std::vector<FileSpec>{spec}, std::vector<double>{1}), 1, kOften, limits);
}

}  // namespace

TEST("a value that crosses a limit wakes, in both directions, and not in between") {
  const TemporaryDirectory directory;
  const std::string file = directory.File("number");
  CHECK(WriteText(file, "1\n"));
  const auto waker = std::make_shared<CountingWaker>();
  Waiter waiter(waker);
  const auto sampler = Sample(NumberIn(file), {5});
  waiter.Add(sampler);
  for (const char* value : {"9\n", "2\n", "5\n"}) {
    CHECK(WriteText(file, value));
    EVENTUALLY((sampler->wakes().Take().detail & DeadlineSampler::kCrossed) != 0);
  }
}

TEST("limits are set by several threads while the sampler compares with them") {
  const auto waker = std::make_shared<CountingWaker>();
  Waiter waiter(waker);
  const FileSpec meminfo = {"/proc/meminfo", TextFormat::kKeyed, {"MemAvailable"}};
  const auto sampler = Sample(meminfo, {});
  waiter.Add(sampler);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; thread++) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 200; i++) {
        sampler->SetLimits(std::vector<double>(static_cast<size_t>(i % 5), thread == 0 ? 1 : 1e18));
        sampler->Seen(i % 2);
        sampler->wakes().Take();
        CHECK(sampler->period_ns() <= kOften.maximum_ns);
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  sampler->SetLimits({1});
  EVENTUALLY(sampler->wakes().Take().bits == 1);
}

TEST("samplers start and end while others sample") {
  const auto waker = std::make_shared<CountingWaker>();
  Waiter waiter(waker);
  const auto sample = [&] {
    for (int i = 0; i < 100; i++) waiter.Remove(waiter.Add(Sample({"/proc/loadavg", TextFormat::kLoadavg, {}}, {1})));
  };
  std::thread other(sample);
  sample();
  other.join();
}

TEST("of what can be reclaimed a half is kept, but no more than the given amount") {
  const TemporaryDirectory directory;
  const std::string file = directory.File("number");
  double value = 0;
  for (const auto& [text, expected] : {std::pair{"0\n", 0.0}, {"7\n", 3.0}, {"8\n", 4.0}, {"30\n", 10.0}}) {
    CHECK(WriteText(file, text));
    FileSum sum({NumberIn(file)}, {1}, {{{1}, 10}});
    CHECK_EQUAL(sum.Take(&value), 0);
    CHECK_EQUAL(value, expected);
  }
}

TEST("a file that cannot be read when the sampler starts") {
  CHECK_EQUAL(ErrorOf([] { FileSum({NumberIn("/proc/none")}, {1}); }), ENOENT);
  CHECK_EQUAL(ErrorOf([] { FileSum({NumberIn("/proc/version")}, {1}); }), EBADMSG);
}

TEST("a sampler whose cgroup is removed is gone") {
  Cgroup cgroup(MemoryV1());
  const auto waker = std::make_shared<CountingWaker>();
  Waiter waiter(waker);
  const auto sampler = Sample(NumberIn(cgroup.File("memory.usage_in_bytes")), {});
  waiter.Add(sampler);
  cgroup.Remove();
  EVENTUALLY(sampler->wakes().Take().bits == 2);
}

}  // namespace evictd::test
