#include "watch/windows/waiter.h"

#include <utility>

namespace evictd {

namespace {

// An id is a number and the index of its thread.
constexpr unsigned kThreadBits = 16;

}  // namespace

Waiter::Waiter(std::shared_ptr<Waker> waker) : waker_(std::move(waker)) {
  threads_.push_back(std::make_unique<WaitThread>(waker_));
}

uint64_t Waiter::Add(std::shared_ptr<WatchSource> source) {
  const uint64_t number = ++last_ << kThreadBits;
  for (size_t i = 0; i < threads_.size(); i++) {
    if (threads_[i]->Add(number | i, source)) return number | i;
  }
  threads_.push_back(std::make_unique<WaitThread>(waker_));
  const uint64_t id = number | (threads_.size() - 1);
  threads_.back()->Add(id, std::move(source));
  return id;
}

void Waiter::Remove(uint64_t id) { threads_[id & ((1u << kThreadBits) - 1)]->Remove(id); }

}  // namespace evictd
