#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "kill/linux/cgroup_handle.h"
#include "kill/linux/memory_reaper.h"
#include "sample/linux/sampled_value.h"
#include "system/linux/timer.h"
#include "system/linux/unique_fd.h"
#include "watch/linux/waiter.h"

namespace evictd {

// An eviction that JavaScript has decided in advance. The waiter thread carries it out if the node's value is at its
// limit when a watch wakes, and JavaScript has not answered after a time. This class compares the numbers that it is
// given and writes the bytes that it is given: which workloads, which limits and how long is JavaScript's decision.
class StandingOrder : public WatchSource {
 public:
  // Holds while `value` >= `at_least`.
  struct Condition {
    std::unique_ptr<SampledValue> value;
    double at_least;
    double last;                                             // the value if it cannot be read, for want of memory say
    double first = std::numeric_limits<double>::infinity();  // when the plan was made; infinity: not known
  };

  // A candidate's cgroup in another hierarchy.
  struct Elsewhere {
    std::unique_ptr<CgroupHandle> cgroup;
    CgroupHandle::Contents contents;
  };

  struct Candidate {
    std::unique_ptr<CgroupHandle> cgroup;  // opened in advance, so never another cgroup of its name
    std::unique_ptr<SampledValue> value;
    double offset = 0;   // added to `value` for the comparison with other candidates
    double last = 0;     // as in Condition
    std::string record;  // written before the signal
    double first = 0;    // as in Condition
    // What it contained when the plan was made: it must be the same. Of other hierarchies, too, as `elsewhere`.
    CgroupHandle::Contents contents{};
    std::vector<Elsewhere> elsewhere{};
  };

  struct Plan {
    std::vector<Condition> conditions;  // the first, which is the node's value, and one of the others must hold
    uint64_t settles_ns;                // from the wake, until the others do not count any more
    std::vector<Candidate> candidates;  // the largest is killed, of equals the first
    uint64_t after_ns;                  // from the wake until it is carried out
    uint64_t unexplained_ns;            // the same where the node has grown by more than the candidates and `slack`
    double slack;
    std::vector<std::string> attributes;  // extended ones: where one has changed, the plan is out of date
    uint64_t expires_ns;                  // monotonic clock
    bool by_file;                         // by cgroup.kill, where that exists
    bool apart = false;                   // this process is in none of the candidates, as far as JavaScript knows
  };

  struct Result {
    size_t candidate;  // kNone: the plan is out of date, or the largest has no process or has changed
    double node;       // the values that were compared
    double value;
    uint64_t crossed_ns;  // the wake
    uint64_t at_ns;       // the last signal, or the refusal
    size_t processes;     // found before the signal, in the first CgroupWalk::kMostCgroups cgroups
    int error;            // why no process got a signal; 0: at least one did
    int unrecorded;       // why the record could not be written; 0: it was
  };
  static constexpr size_t kNone = SIZE_MAX;

  // The record of a carried out order lies in the file at kRecordAt. Before that: crossed_ns and the time of the
  // decision (u64 each), then `node` and `value` (f64 each). They are written after the record: crossed_ns 0 says that
  // there is none. JavaScript clears it.
  static constexpr off_t kRecordAt = 64;

  // `file` exists and has its full size. Throws SystemError.
  StandingOrder(const std::string& file, std::shared_ptr<MemoryReaper> reaper);

  // JavaScript's thread. Replaces the standing plan; null: withdraws it. Keeps a wake after `seen_ns`, when JavaScript
  // began the pass that this plan is from; `after_ns` counts from now then. Returns false, without effect, if a result
  // waits for Take.
  bool Place(std::unique_ptr<Plan> plan, uint64_t seen_ns);
  // JavaScript has looked at `seen_ns` and keeps the plan.
  void Seen(uint64_t seen_ns);
  // JavaScript runs, and looks later on purpose: nothing is carried out before.
  void Postpone(uint64_t until_ns);
  std::optional<Result> Take();

  std::vector<Descriptor> Descriptors() const override { return {{timer_.descriptor(), kInterest}}; }
  Wake OnEvent(size_t which, uint32_t events) override;
  bool Follows() const override { return true; }
  void WatchWoke(uint64_t now_ns) override;

 private:
  static constexpr uint32_t kInterest = 1;  // EPOLLIN

  // All with mutex_ held.
  void Forget(uint64_t before_ns);  // wakes before it
  static bool Holds(Condition* condition);
  bool OneOfOthersHolds();
  // Returns false if one has vanished: the plan is out of date, because what took its place is unknown.
  bool ReadCandidates();
  // Kills by the values that were read last. If descriptors or memory are short (`error`), it leaves no record.
  Result CarryOut();
  void Evict(Result* result);
  // kNone: the plan is out of date. The node has grown by more than the candidates have and the largest holds: what has
  // grown may be larger, and is none of them.
  size_t Largest() const;
  double GrownOutside() const;
  // Whether it has other attributes than when the plan was made, or a new cgroup. `error`: 0 or why that is not known.
  bool HasChanged(const Candidate& candidate, int* error) const;
  int Record(const Candidate& candidate, const Result& result);
  void Kill(const Candidate& candidate, bool by_file, Result* result);

  Timer timer_;
  UniqueFd file_;
  std::shared_ptr<MemoryReaper> reaper_;
  std::mutex mutex_;  // guards the rest
  std::unique_ptr<Plan> plan_;
  uint64_t crossed_ns_ = 0;  // when the first condition held; 0: not since JavaScript looked
  uint64_t woken_ns_ = 0;    // a wake at which it did not, or without a plan: it is read once more; 0: none
  uint64_t seen_ns_ = 0;     // when JavaScript looked last
  uint64_t not_before_ns_ = 0;
  std::optional<Result> result_;
};

}  // namespace evictd
