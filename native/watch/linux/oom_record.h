#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace evictd {

// One process that the kernel's OOM killer killed.
struct OomRecord {
  uint64_t sequence = 0;   // of its record in the kernel log
  uint64_t time_us = 0;    // since boot, the kernel log's clock (about CLOCK_MONOTONIC)
  bool global = false;     // the machine was out of memory; else a cgroup was at its limit
  std::string oom_memcg;   // the limited cgroup; empty: global, or unknown
  std::string task_memcg;  // the process's cgroup; empty: unknown
  int64_t pid = 0;         // in the initial pid namespace
  std::string name;        // comm: at most 15 bytes, chosen by the process
  int64_t uid = -1;        // -1: unknown
  int64_t anon_rss_bytes = 0;
  int64_t oom_score_adj = 0;
};

// A record of /dev/kmsg: "priority,sequence,time,flags;text\n" and lines that begin with a space.
struct KernelLogRecord {
  unsigned facility = 0;  // 0: the kernel; records written by processes have another
  uint64_t sequence = 0;
  uint64_t time_us = 0;
  bool fragment = false;  // continues a record, or is continued
  std::string text;       // the first line, \xNN decoded
};

// Nothing if it is not a record.
std::optional<KernelLogRecord> ParseKernelLogRecord(std::string_view text);

// Combines the lines that the OOM killer prints for one kill (mm/oom_kill.c: dump_oom_victim, __oom_kill_process).
// Memory is bounded for any input.
class OomRecordParser {
 public:
  // Returns the kill that the record completes.
  std::optional<OomRecord> Take(const KernelLogRecord& record);

 private:
  bool OfGroup(const OomRecord& kill) const;

  std::string line_;   // the last "oom-kill:…" line, without a kill so far
  std::string group_;  // the cgroup that is being killed as a whole (memory.oom.group)
  uint64_t group_us_ = 0;
  OomRecord last_;              // the last kill with a line: its limited cgroup is the group's
  bool last_had_line_ = false;  // of the previous kill; the kernel prints at most ten lines in five seconds
};

}  // namespace evictd
