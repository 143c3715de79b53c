#pragma once

namespace evictd {

// How native threads wake JavaScript. Free of Node-API, so that threads can be tested without it.
class Waker {
 public:
  virtual ~Waker() = default;

  // Any thread. Does not block for long, and allocates nothing while an earlier notification is pending. Returns false
  // if it failed: notify again later. A closed waker returns true.
  virtual bool Notify() = 0;
};

}  // namespace evictd
