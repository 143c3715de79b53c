#pragma once

#include <string>

#include "cgroup.h"
#include "check.h"

namespace evictd::test {

// Members of a v1 freezer do not run, and so do not die, until it is thawed.
class Frozen {
 public:
  explicit Frozen(const Cgroup& cgroup) : state_(cgroup.File("freezer.state")) {
    CHECK(WriteText(state_, "FROZEN"));
    EVENTUALLY(ReadText(state_) == "FROZEN\n");
  }
  ~Frozen() { WriteText(state_, "THAWED"); }
  Frozen(const Frozen&) = delete;
  Frozen& operator=(const Frozen&) = delete;

 private:
  std::string state_;
};

}  // namespace evictd::test
