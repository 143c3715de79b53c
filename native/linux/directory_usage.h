#ifndef EVICTD_LINUX_DIRECTORY_USAGE_H_
#define EVICTD_LINUX_DIRECTORY_USAGE_H_

#include <memory>
#include <string>
#include <vector>

#include "common/bell.h"
#include "linux/directory_walk.h"

namespace evictd {

// The walks of one environment that are under way, those included that were cancelled and hang: at most kMaximum, a
// thread each. JavaScript's thread only.
class DirectoryWalks {
 public:
  static constexpr size_t kMaximum = 4;

  explicit DirectoryWalks(std::shared_ptr<Bell> bell) : bell_(std::move(bell)) {}

 private:
  friend class DirectoryUsage;

  const std::shared_ptr<Bell> bell_;
  std::vector<std::weak_ptr<void>> running_;
};

// One walk, on a thread of the lowest priority for the processor and the disk. Like the thread of statfs it is detached
// and shares its state, because a directory on a dead mount never answers.
class DirectoryUsage {
 public:
  // Throws SystemError (EAGAIN: kMaximum walks are under way, or no thread can be made).
  DirectoryUsage(std::string path, DirectoryWalks* walks);
  // Cancels; does not wait.
  ~DirectoryUsage();
  DirectoryUsage(const DirectoryUsage&) = delete;
  DirectoryUsage& operator=(const DirectoryUsage&) = delete;

  // True once, when the walk is over.
  bool TakeDone(DirectoryWalk::Usage* usage);

 private:
  struct State;
  static void* Run(void* shared);

  std::shared_ptr<State> state_;
};

}  // namespace evictd

#endif  // EVICTD_LINUX_DIRECTORY_USAGE_H_
