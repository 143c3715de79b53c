#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <utility>

#include "check.h"
#include "system/linux/unique_fd.h"

namespace evictd::test {

// Holds each system call of one kind on this thread until another thread has run a step. Then the call fails with the
// errno that the step returned, or goes on if that is 0. After the destructor this thread makes no such call.
class HeldCalls {
 public:
  HeldCalls(uint32_t call, std::function<int(int call)> step) : step_(std::move(step)) {
    sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program = {4, filter};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    requested_.Reset(
        static_cast<int>(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program)));
    if (!requested_) Skip("no system call can be held here");
    thread_ = std::thread([this] { Answer(); });
  }
  ~HeldCalls() {
    over_ = true;
    thread_.join();
  }
  HeldCalls(const HeldCalls&) = delete;
  HeldCalls& operator=(const HeldCalls&) = delete;

 private:
  void Answer() {
    pollfd ready = {requested_.get(), POLLIN, 0};
    for (int call = 0; !over_;) {
      seccomp_notif asked = {};
      if (poll(&ready, 1, 10) != 1 || ioctl(requested_.get(), SECCOMP_IOCTL_NOTIF_RECV, &asked) != 0) continue;
      seccomp_notif_resp answer = {};
      answer.id = asked.id;
      answer.error = -step_(call++);
      if (answer.error == 0) answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
      ioctl(requested_.get(), SECCOMP_IOCTL_NOTIF_SEND, &answer);
    }
  }

  std::function<int(int)> step_;
  UniqueFd requested_;
  std::atomic<bool> over_{false};
  std::thread thread_;
};

}  // namespace evictd::test
