#include "js/linux/environment.h"

namespace evictd {

Waiter& Environment::waiter() {
  armer();
  return *waiter_;
}

// Both or none: where a watch exists, the armer exists too.
Armer& Environment::armer() {
  if (!waiter_) waiter_ = std::make_unique<Waiter>(waker());
  if (!armer_) armer_ = std::make_unique<Armer>(waiter_.get());
  return *armer_;
}

void Environment::Drop(std::shared_ptr<WatchSource> source, uint64_t id) {
  if (id != 0 && source->LeftToArmer()) armer().Release(std::move(source));
}

void Environment::Release(std::shared_ptr<WatchSource> source) {
  if (armer_) armer_->Release(std::move(source));
}

void Environment::StopThreads() {
  armer_.reset();  // uses the waiter; waits for at most one call
  waiter_.reset();
}

}  // namespace evictd
