#pragma once

namespace evictd {

// How native threads ask JavaScript to look at what is pending. Free of Node-API, so that the threads can be tested
// without it.
class Bell {
 public:
  virtual ~Bell() = default;

  // Any thread, never blocks for long, allocates nothing while an earlier ring is unanswered. False: nobody will come,
  // ring again later. A bell that is closed for good returns true: there is nobody left to wake.
  virtual bool Ring() = 0;
};

}  // namespace evictd
