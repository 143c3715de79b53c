#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace evictd {

// One process that the kernel's OOM killer killed.
struct OomRecord {
  uint64_t sequence = 0;   // of the record of the kernel log that says so
  uint64_t time_us = 0;    // since boot, the kernel log's clock (CLOCK_MONOTONIC, roughly)
  bool global = false;     // the machine was out of memory; else a cgroup was at its limit
  std::string oom_memcg;   // whose limit it was; empty: global, or not said
  std::string task_memcg;  // where the process lived; empty: not said
  int64_t pid = 0;         // in the kernel's first pid namespace
  std::string name;        // comm: at most 15 bytes, chosen by the process
  int64_t uid = -1;        // -1: not said
  int64_t total_vm_bytes = 0;
  int64_t anon_rss_bytes = 0;
  int64_t file_rss_bytes = 0;
  int64_t shmem_rss_bytes = 0;
  int64_t pgtables_bytes = 0;
  int64_t oom_score_adj = 0;
};

// One record of /dev/kmsg: "priority,sequence,time,flags;text\n" and lines that begin with a space.
struct KernelLogRecord {
  unsigned facility = 0;  // 0: the kernel; what a process wrote into /dev/kmsg has another
  uint64_t sequence = 0;
  uint64_t time_us = 0;
  bool fragment = false;  // it is continued, or continues the one before
  std::string text;       // of the first line, \xNN decoded
};

// Nothing where it is no such record.
std::optional<KernelLogRecord> ParseKernelLogRecord(std::string_view text);

// Puts together what the OOM killer says of one kill in several lines (mm/oom_kill.c: dump_oom_victim,
// __oom_kill_process). Memory is bounded whatever it is told.
class OomRecordParser {
 public:
  // The kill that the record completes.
  std::optional<OomRecord> Take(const KernelLogRecord& record);

 private:
  bool OfGroup(const OomRecord& kill) const;

  std::string line_;   // the last "oom-kill:…" line, without a kill so far
  std::string group_;  // the cgroup that is being killed as a whole (memory.oom.group)
  uint64_t group_us_ = 0;
  OomRecord last_;              // the last kill with a line, whose limit it was that the group pays for
  bool last_had_line_ = false;  // the kill before; the kernel says ten lines in five seconds at most
};

}  // namespace evictd
