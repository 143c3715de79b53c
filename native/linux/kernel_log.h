#ifndef EVICTD_LINUX_KERNEL_LOG_H_
#define EVICTD_LINUX_KERNEL_LOG_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "linux/oom_record.h"
#include "linux/unique_fd.h"
#include "linux/waiter.h"

namespace evictd {

// The kernel's log from now on: fires when the OOM killer has killed. Everything else in it is read and dropped, on the
// waiter's thread.
class KernelLog : public WatchSource {
 public:
  // Detail bit: something was lost.
  static constexpr unsigned kLost = 1;

  struct Records {
    std::vector<OomRecord> list;
    uint64_t overruns = 0;  // how often the kernel wrote over what was not read yet
    uint64_t dropped = 0;   // records that nobody took in time
  };

  // Throws SystemError: EPERM where dmesg_restrict is on and CAP_SYSLOG is missing.
  KernelLog();

  std::vector<Descriptor> Descriptors() const override;
  Wake OnEvent(size_t which, uint32_t events) override;

  // Any thread: what came since the last call, in order.
  Records TakeRecords();

 private:
  UniqueFd log_;
  std::array<char, 16 * 1024> buffer_;  // a record has 8 KiB at most (PRINTKRB_RECORD_MAX, CONSOLE_EXT_LOG_MAX before)
  OomRecordParser parser_;

  std::mutex mutex_;  // guards records_
  Records records_;
};

}  // namespace evictd

#endif  // EVICTD_LINUX_KERNEL_LOG_H_
