#include "watch/linux/armer.h"

#include <utility>

#include "system/linux/thread.h"

namespace evictd {

Armer::Armer(Waiter* waiter) : waiter_(waiter) { thread_ = StartThread("evictd-armer", &Run, this); }

Armer::~Armer() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  pthread_join(thread_, nullptr);
  // One by one: the chain's destructor would recurse.
  while (first_) first_ = std::move(first_->queue_.next);
}

void Armer::Arm(std::shared_ptr<WatchSource> source, uint64_t id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (source->queue_.released) return;
  source->queue_.armed_id = id;
  Append(std::move(source));
}

void Armer::Release(std::shared_ptr<WatchSource> source) {
  std::unique_lock<std::mutex> lock(mutex_);
  released_.wait(lock, [this] { return releases_ < kMaximumReleases; });
  source->queue_.armed_id = 0;
  source->queue_.released = true;
  releases_++;
  Append(std::move(source));
}

void Armer::Append(std::shared_ptr<WatchSource> source) {
  if (source->queue_.waits) return;
  source->queue_.waits = true;
  WatchSource* const added = source.get();
  (last_ == nullptr ? first_ : last_->queue_.next) = std::move(source);
  last_ = added;
  changed_.notify_one();
}

void* Armer::Run(void* armer) {
  static_cast<Armer*>(armer)->Loop();
  return nullptr;
}

void Armer::Loop() {
  for (;;) {
    std::shared_ptr<WatchSource> source;
    uint64_t id = 0;
    bool released = false;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || first_; });
      if (stopping_) return;
      source = std::move(first_);
      first_ = std::move(source->queue_.next);
      if (!first_) last_ = nullptr;
      source->queue_.waits = false;
      id = std::exchange(source->queue_.armed_id, 0);
      released = source->queue_.released;
    }
    if (id != 0) source->Arm(waiter_, id);
    source.reset();  // without the lock: this may close descriptors
    if (!released) continue;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      releases_--;
    }
    released_.notify_one();
  }
}

}  // namespace evictd
