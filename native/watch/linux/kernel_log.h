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

// The kernel log from now on: fires when the OOM killer has killed, and drops the other records.
class KernelLog : public WatchSource {
 public:
  // Detail bit: something was lost.
  static constexpr unsigned kLost = 1;

  struct Records {
    std::vector<OomRecord> list;
    uint64_t overruns = 0;  // how often the kernel overwrote unread records
    uint64_t dropped = 0;   // records that were not taken in time
  };

  // Unread records. It outlives the watch, so a log that ends leaves its last records.
  class Inbox {
   public:
    void Add(OomRecord record, bool* dropped);
    void CountOverrun();
    // The records since the last call, in order.
    Records Take();

   private:
    std::mutex mutex_;  // guards records_
    Records records_;
  };

  // Throws SystemError: EPERM with dmesg_restrict and without CAP_SYSLOG.
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
