#include "kill/linux/standing_order.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <limits>
#include <new>
#include <thread>
#include <utility>

#include "system/clock.h"
#include "system/linux/shortage.h"
#include "system/system_error.h"
#include "walk/linux/cgroup_walk.h"

namespace evictd {

namespace {

constexpr size_t kMostPasses = 1000;
constexpr uint64_t kRetryNs = 1000000;
constexpr int kMostShortPasses = 20;  // JavaScript waits meanwhile if it uses this order

// Returns 0 or errno.
int WriteAll(int file, const void* bytes, size_t length, off_t at) {
  const ssize_t written = pwrite(file, bytes, length, at);
  return written == static_cast<ssize_t>(length) ? 0 : written < 0 ? errno : EIO;
}

// Updates the last value of a condition or candidate. Returns 0 or errno.
template <typename Valued>
int Read(Valued* valued) {
  double value = 0;
  const int error = valued->value->Take(&value);
  if (error == 0) valued->last = value;
  return error;
}

}  // namespace

StandingOrder::StandingOrder(const std::string& file, std::shared_ptr<MemoryReaper> reaper)
    : reaper_(std::move(reaper)) {
  static_assert(kInterest == EPOLLIN);
  file_.Reset(open(file.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file_) throw SystemError(errno, "open", file);
}

bool StandingOrder::Place(std::unique_ptr<Plan> plan, uint64_t seen_ns) {
  // The old plan is freed without the lock: the waiter's thread must not wait for this one.
  const std::lock_guard<std::mutex> lock(mutex_);
  if (result_) return false;
  plan_.swap(plan);
  not_before_ns_ = 0;
  if (plan_) seen_ns_ = seen_ns;
  Forget(plan_ ? seen_ns : std::numeric_limits<uint64_t>::max());
  if (plan_ && (crossed_ns_ != 0 || woken_ns_ != 0)) timer_.Set(plan_->after_ns);
  return true;
}

void StandingOrder::Seen(uint64_t seen_ns) {
  const std::lock_guard<std::mutex> lock(mutex_);
  seen_ns_ = seen_ns;
  Forget(seen_ns);
}

void StandingOrder::Forget(uint64_t before_ns) {
  if (crossed_ns_ < before_ns) crossed_ns_ = 0;
  if (woken_ns_ < before_ns) woken_ns_ = 0;
}

void StandingOrder::Postpone(uint64_t until_ns) {
  const std::lock_guard<std::mutex> lock(mutex_);
  not_before_ns_ = until_ns;
}

std::optional<StandingOrder::Result> StandingOrder::Take() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(result_, std::nullopt);
}

void StandingOrder::WatchWoke(uint64_t now_ns) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (now_ns < seen_ns_) return;  // it has waited for the lock while JavaScript looked
  if (!plan_) {
    woken_ns_ = now_ns;  // the next plan may be from a pass that began before
    return;
  }
  if (crossed_ns_ != 0) return;
  (Holds(&plan_->conditions.front()) ? crossed_ns_ : woken_ns_) = now_ns;
  timer_.Set(plan_->after_ns);
}

Wake StandingOrder::OnEvent(size_t, uint32_t) {
  const std::lock_guard<std::mutex> lock(mutex_);
  timer_.Acknowledge();
  const uint64_t now_ns = MonotonicNs();
  const bool first = crossed_ns_ == 0;
  if (!plan_ || (first && woken_ns_ == 0) || now_ns >= plan_->expires_ns) return Wake::kNothing;
  if (now_ns < not_before_ns_) {
    timer_.Set(not_before_ns_ - now_ns);
    return Wake::kNothing;
  }
  woken_ns_ = 0;
  if (!Holds(&plan_->conditions.front())) {
    crossed_ns_ = 0;  // the next wake counts
    return Wake::kNothing;
  }
  if (first) {
    crossed_ns_ = now_ns;
    timer_.Set(plan_->after_ns);
    return Wake::kNothing;
  }
  if (now_ns - crossed_ns_ < plan_->settles_ns && !OneOfOthersHolds()) {
    timer_.Set(std::max(plan_->after_ns, kRetryNs));  // for seconds at most: other threads need the processor, too
    return Wake::kNothing;
  }
  const bool complete = ReadCandidates();
  const uint64_t waited_ns = now_ns - crossed_ns_;
  if (complete && waited_ns < plan_->unexplained_ns && GrownOutside() > plan_->slack) {
    timer_.Set(plan_->unexplained_ns - waited_ns);
    return Wake::kNothing;
  }
  const Result result =
      complete ? CarryOut() : Result{kNone, plan_->conditions.front().last, 0, crossed_ns_, now_ns, 0, 0, 0};
  if (IsShortage(result.error)) {
    timer_.Set(kRetryNs);
    return Wake::kNothing;
  }
  result_ = result;
  plan_.reset();
  crossed_ns_ = 0;
  return Wake::kFired;
}

bool StandingOrder::Holds(Condition* condition) {
  return !HasVanished(Read(condition)) && condition->last >= condition->at_least;
}

bool StandingOrder::OneOfOthersHolds() {
  const auto others = plan_->conditions.begin() + 1;
  return others == plan_->conditions.end() ||
         std::any_of(others, plan_->conditions.end(), [](Condition& condition) { return Holds(&condition); });
}

StandingOrder::Result StandingOrder::CarryOut() {
  Result result = {kNone, plan_->conditions.front().last, 0, crossed_ns_, MonotonicNs(), 0, 0, 0};
  try {
    Evict(&result);
  } catch (const std::bad_alloc&) {
    result.error = ENOMEM;  // before any signal: CgroupHandle::Signal reports it
  }
  if (IsShortage(result.error) && result.candidate != kNone) {
    const uint64_t none = 0;
    WriteAll(file_.get(), &none, sizeof none, 0);  // it is tried again, or withdrawn
  }
  return result;
}

void StandingOrder::Evict(Result* result) {
  const size_t largest = Largest();
  if (largest == kNone) return;
  const Candidate& candidate = plan_->candidates[largest];
  int error = 0;
  if (HasChanged(candidate, &error)) {
    if (error == 0) return;
    result->candidate = largest;
    result->error = error;
    return;
  }
  // Not all of a large one: JavaScript waits meanwhile if it uses this order.
  const std::vector<pid_t> pids = candidate.cgroup->Processes(&error, CgroupWalk::kMostCgroups);
  if (pids.empty() && error == 0) return;
  result->candidate = largest;
  result->value = candidate.last;
  result->processes = pids.size();
  if (std::binary_search(pids.begin(), pids.end(), getpid())) {
    result->error = EPERM;  // cgroup.kill would end this process, too
    return;
  }
  result->unrecorded = Record(candidate, *result);
  // cgroup.kill would end this process, too, if it is among those that were not listed; signals spare it.
  Kill(candidate, plan_->by_file && (plan_->apart || error == 0), result);
}

bool StandingOrder::ReadCandidates() {
  return std::none_of(plan_->candidates.begin(), plan_->candidates.end(),
                      [](Candidate& candidate) { return HasVanished(Read(&candidate)); });
}

size_t StandingOrder::Largest() const {
  size_t largest = kNone;
  double most = -std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < plan_->candidates.size(); i++) {
    const Candidate& candidate = plan_->candidates[i];
    if (!(candidate.last + candidate.offset > most)) continue;
    most = candidate.last + candidate.offset;
    largest = i;
  }
  return largest == kNone || GrownOutside() > plan_->candidates[largest].last ? kNone : largest;
}

double StandingOrder::GrownOutside() const {
  double grown = plan_->conditions.front().last - plan_->conditions.front().first;
  for (const Candidate& candidate : plan_->candidates) grown -= candidate.last - candidate.first;
  return grown;
}

bool StandingOrder::HasChanged(const Candidate& candidate, int* error) const {
  const auto differs = [&](const CgroupHandle& cgroup, const CgroupHandle::Contents& before) {
    const CgroupHandle::Contents now = cgroup.Read(plan_->attributes);
    if (*error == 0) *error = now.error;
    return now.error != 0 || now.newest > before.newest || now.marked != before.marked;
  };
  return differs(*candidate.cgroup, candidate.contents) ||
         std::any_of(candidate.elsewhere.begin(), candidate.elsewhere.end(),
                     [&](const Elsewhere& other) { return differs(*other.cgroup, other.contents); });
}

int StandingOrder::Record(const Candidate& candidate, const Result& result) {
  const struct {
    uint64_t crossed_ns;
    uint64_t decided_ns;
    double node;
    double value;
  } commit = {result.crossed_ns, MonotonicNs(), result.node, result.value};
  const int error = WriteAll(file_.get(), candidate.record.data(), candidate.record.size(), kRecordAt);
  return error != 0 ? error : WriteAll(file_.get(), &commit, sizeof commit, 0);
}

void StandingOrder::Kill(const Candidate& candidate, bool by_file, Result* result) {
  if (by_file) {
    try {
      candidate.cgroup->Kill();
      result->at_ns = MonotonicNs();
      candidate.cgroup->Signal(0, reaper_.get());  // frees what they have until they are scheduled
      return;
    } catch (const SystemError&) {
      // Kernels before 5.14 have no such file, and it may be read-only: signals may still work.
    }
  }
  // No event loop waits for this thread: all passes at once.
  size_t signalled = 0;
  int error = 0;
  int short_passes = 0;
  for (size_t pass = 0; pass < kMostPasses; pass++) {
    const CgroupHandle::Signalled sent = candidate.cgroup->Signal(SIGKILL, reaper_.get());
    signalled += sent.signalled;
    if (sent.signalled > 0) result->at_ns = sent.at_ns;
    if (error == 0) error = sent.error;
    if (!IsShortage(sent.error)) {
      if (sent.complete) break;
      continue;  // what cannot be signalled must not protect the other processes
    }
    // No later try would follow a partial kill.
    if (signalled == 0 || ++short_passes == kMostShortPasses) break;
    std::this_thread::sleep_for(std::chrono::nanoseconds(kRetryNs));
  }
  if (signalled == 0) result->at_ns = MonotonicNs();
  result->error = signalled > 0 ? 0 : error != 0 ? error : ESRCH;
}

}  // namespace evictd
