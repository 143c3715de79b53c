#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "system/linux/unique_fd.h"
#include "watch/linux/oom_record.h"
#include "watch/linux/waiter.h"

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

  // What was read and not taken yet. It outlives the watch: a log that goes away leaves its last records.
  class Inbox {
   public:
    void Add(OomRecord record, bool* dropped);
    void CountOverrun();
    // What came since the last call, in order.
    Records Take();

   private:
    std::mutex mutex_;  // guards records_
    Records records_;
  };

  // Throws SystemError: EPERM where dmesg_restrict is on and CAP_SYSLOG is missing.
  explicit KernelLog(std::shared_ptr<Inbox> inbox);

  std::vector<Descriptor> Descriptors() const override;
  Wake OnEvent(size_t which, uint32_t events) override;

 private:
  UniqueFd log_;
  std::array<char, 16 * 1024> buffer_;  // a record has 8 KiB at most (PRINTKRB_RECORD_MAX, CONSOLE_EXT_LOG_MAX before)
  OomRecordParser parser_;
  std::shared_ptr<Inbox> inbox_;
};

}  // namespace evictd
