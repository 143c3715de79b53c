#pragma once

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cgroup.h"
#include "check.h"
#include "kill/linux/standing_order.h"
#include "sample/linux/file_sum.h"
#include "waker.h"

namespace evictd::test {

constexpr uint64_t kMillisecond = 1000000;
constexpr uint64_t kForever = UINT64_MAX;
constexpr double kLimit = 100;
constexpr char kAttribute[] = "user.evictd_test";

// A watch that fires when a test calls Fire().
class ManualWatch : public WatchSource {
 public:
  std::vector<Descriptor> Descriptors() const override { return {{event_.get(), EPOLLIN}}; }
  Wake OnEvent(size_t, uint32_t) override {
    eventfd_t count = 0;
    eventfd_read(event_.get(), &count);
    fired++;
    return Wake::kFired;
  }
  void Fire() { eventfd_write(event_.get(), 1); }

  std::atomic<int> fired{0};

 private:
  const UniqueFd event_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
};

// A value that a test sets: the number in a file.
inline std::unique_ptr<SampledValue> NumberIn(const std::string& file) {
  return std::make_unique<FileSum>(std::vector<FileSpec>{{file, TextFormat::kNumber, {}}}, std::vector<double>{1});
}

inline ino_t IdOf(const std::string& directory) {
  struct stat status = {};
  CHECK(stat(directory.c_str(), &status) == 0);
  return status.st_ino;
}

// A standing order with its waiter. Values are files that a test writes; cgroups and processes are real.
struct OrderScene {
  explicit OrderScene(std::shared_ptr<MemoryReaper> reaper = nullptr) {
    CHECK(WriteText(directory.File("node"), "0\n"));
    CHECK(WriteText(directory.File("sound"), "1\n"));
    CHECK(WriteText(directory.File("record"), std::string(4096, '\0')));
    order = std::make_shared<StandingOrder>(directory.File("record"), std::move(reaper));
    waiter.Add(watch);
    waiter.Add(order);
  }

  void Node(const char* value) { CHECK(WriteText(directory.File("node"), std::string(value) + "\n")); }
  void Sound(const char* value) { CHECK(WriteText(directory.File("sound"), std::string(value) + "\n")); }

  StandingOrder::Candidate Candidate(const Cgroup& cgroup, const char* name, const char* value, double offset = 0) {
    const std::string file = directory.File(name);
    CHECK(WriteText(file, std::string(value) + "\n"));
    auto handle = std::make_unique<CgroupHandle>(cgroup.path(), IdOf(cgroup.path()));
    CgroupHandle::Contents contents = handle->Read({kAttribute});
    return {std::move(handle), NumberIn(file), offset, 0, std::string("record of ") + name, 0, std::move(contents)};
  }

  std::unique_ptr<StandingOrder::Plan> Plan(uint64_t after_ns = 2 * kMillisecond, uint64_t expires_ns = kForever) {
    auto plan = std::make_unique<StandingOrder::Plan>();
    plan->conditions.push_back({NumberIn(directory.File("node")), kLimit, 0});
    plan->conditions.push_back({NumberIn(directory.File("sound")), 1, 0});
    plan->settles_ns = kForever;
    plan->after_ns = after_ns;
    plan->unexplained_ns = after_ns;
    plan->slack = 0;
    plan->attributes = {kAttribute};
    plan->expires_ns = expires_ns;
    plan->by_file = false;
    return plan;
  }

  // Places an order whose only candidate is this cgroup.
  bool Place(const Cgroup& cgroup, std::unique_ptr<StandingOrder::Plan> plan, uint64_t seen_ns = 0) {
    plan->candidates.push_back(Candidate(cgroup, "one", "10"));
    return order->Place(std::move(plan), seen_ns);
  }

  // The waiter's thread has handled a wake.
  void Fire() {
    const int before = watch->fired;
    watch->Fire();
    EVENTUALLY(watch->fired > before);
    waiter.Remove(0);  // waits for the lock that the thread holds until the order has seen the wake
  }

  StandingOrder::Result Done() {
    std::optional<StandingOrder::Result> result;
    EVENTUALLY((result = order->Take()).has_value());
    EVENTUALLY(order->wakes().Take().bits == 1u);
    return *result;
  }

  // Wakes the order and waits several times as long as it may take.
  bool NothingHappens() {
    for (int i = 0; i < 5; i++) {
      Fire();
      usleep(3000);
    }
    return !order->Take().has_value();
  }

  const TemporaryDirectory directory;
  const std::shared_ptr<CountingWaker> waker = std::make_shared<CountingWaker>();
  Waiter waiter{waker};
  const std::shared_ptr<ManualWatch> watch = std::make_shared<ManualWatch>();
  std::shared_ptr<StandingOrder> order;
};

constexpr char kSleeps[] = "sleep 1000";

}  // namespace evictd::test
