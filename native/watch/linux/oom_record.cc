#include "watch/linux/oom_record.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "read/linux/digits.h"

namespace evictd {

namespace {

constexpr std::string_view kLine = "oom-kill:constraint=";
constexpr std::string_view kGroup = "Tasks in ";
constexpr std::string_view kGroupEnd = " are going to be killed due to memory.oom.group set";
constexpr std::string_view kKilled = "Killed process ";
constexpr std::string_view kMemcg = "Memory cgroup out of memory";
constexpr std::string_view kGlobal = "Out of memory";
// The log does not mark the end of a group kill, which takes less than this.
constexpr uint64_t kGroupUs = 1'000'000;
constexpr size_t kLongestLine = 16 * 1024;  // two paths of at most 4 KiB

bool StartsWith(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

bool EndsWith(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

std::optional<uint64_t> TakeNumber(std::string_view* text) {
  return TakeDigits(text, static_cast<uint64_t>(std::numeric_limits<int64_t>::max()));
}

// The number after the last `key`.
std::optional<int64_t> NumberAfter(std::string_view text, std::string_view key) {
  const size_t at = text.rfind(key);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + key.size());
  const bool negative = TakeText(&text, "-");
  const std::optional<uint64_t> number = TakeNumber(&text);
  if (!number) return std::nullopt;
  return negative ? -static_cast<int64_t>(*number) : static_cast<int64_t>(*number);
}

int64_t KilobytesAfter(std::string_view text, std::string_view key) {
  const int64_t kilobytes = NumberAfter(text, key).value_or(0);
  return kilobytes < 0 || kilobytes > std::numeric_limits<int64_t>::max() / 1024 ? 0 : kilobytes * 1024;
}

int HexDigit(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

// /dev/kmsg escapes unprintable bytes and the backslash as \xNN (kernel/printk, msg_add_ext_text).
std::string Unescape(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (size_t i = 0; i < text.size(); i++) {
    if (text[i] == '\\' && i + 3 < text.size() && text[i + 1] == 'x') {
      const int high = HexDigit(text[i + 2]);
      const int low = HexDigit(text[i + 3]);
      if (high >= 0 && low >= 0) {
        plain.push_back(static_cast<char>(high * 16 + low));
        i += 3;
        continue;
      }
    }
    plain.push_back(text[i]);
  }
  return plain;
}

// "oom-kill:constraint=…,oom_memcg=/a,task_memcg=/a/b,task=comm,pid=1,uid=0" of a kill whose pid and name are known
// from its other line. Names of cgroups and processes may contain any of these words, so the line is parsed from its
// end.
void ApplyVictimLine(std::string_view line, OomRecord* record) {
  const size_t uid = line.rfind(",uid=");
  if (uid == std::string_view::npos) return;
  const std::string end = ",task=" + record->name + ",pid=" + std::to_string(record->pid);
  const std::string_view before = line.substr(0, uid);
  if (!EndsWith(before, end)) return;  // another process
  record->uid = NumberAfter(line, ",uid=").value_or(-1);
  const std::string_view where = before.substr(0, before.size() - end.size());
  constexpr std::string_view kOom = ",oom_memcg=";
  constexpr std::string_view kTask = ",task_memcg=";
  const size_t oom = where.find(kOom);
  record->global = oom == std::string_view::npos;
  if (record->global) {
    const size_t task = where.find(kTask);
    if (task != std::string_view::npos) record->task_memcg = std::string(where.substr(task + kTask.size()));
    return;
  }
  const std::string_view paths = where.substr(oom + kOom.size());
  // The process was in the limited cgroup or below it: that selects one of several ",task_memcg=".
  for (size_t at = paths.find(kTask); at != std::string_view::npos; at = paths.find(kTask, at + 1)) {
    const std::string_view limited = paths.substr(0, at);
    const std::string_view lived = paths.substr(at + kTask.size());
    const bool below =
        limited == "/" || lived == limited || (StartsWith(lived, limited) && lived[limited.size()] == '/');
    if (!below) continue;
    record->oom_memcg = std::string(limited);
    record->task_memcg = std::string(lived);
    return;
  }
}

// "Memory cgroup out of memory: Killed process 12 (comm) total-vm:1kB, anon-rss:1kB, …, UID:0 pgtables:1kB
// oom_score_adj:0"; kernels before 5.10 write "(comm), UID 0, total-vm:".
std::optional<OomRecord> KillOf(std::string_view text) {
  const bool memcg = StartsWith(text, kMemcg);
  if (!memcg && !StartsWith(text, kGlobal)) return std::nullopt;
  const size_t at = text.find(kKilled);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + kKilled.size());
  OomRecord record;
  record.global = !memcg;
  const std::optional<uint64_t> pid = TakeNumber(&text);
  if (!pid || *pid == 0 || !TakeText(&text, " (")) return std::nullopt;
  record.pid = static_cast<int64_t>(*pid);
  const size_t numbers = text.rfind(" total-vm:");
  if (numbers == std::string_view::npos) return std::nullopt;
  // The name may contain brackets: the last one before the numbers ends it.
  const size_t name_end = text.rfind(')', numbers);
  if (name_end == std::string_view::npos) return std::nullopt;
  record.name = std::string(text.substr(0, name_end));
  const std::string_view rest = text.substr(name_end);
  record.anon_rss_bytes = KilobytesAfter(rest, " anon-rss:");
  record.oom_score_adj = NumberAfter(rest, " oom_score_adj:").value_or(0);
  record.uid = NumberAfter(rest, " UID:").value_or(NumberAfter(rest, " UID ").value_or(-1));
  return record;
}

}  // namespace

std::optional<KernelLogRecord> ParseKernelLogRecord(std::string_view text) {
  KernelLogRecord record;
  const std::optional<uint64_t> priority = TakeNumber(&text);
  if (!priority || !TakeText(&text, ",")) return std::nullopt;
  record.facility = static_cast<unsigned>(*priority >> 3);
  const std::optional<uint64_t> sequence = TakeNumber(&text);
  if (!sequence || !TakeText(&text, ",")) return std::nullopt;
  const std::optional<uint64_t> time_us = TakeNumber(&text);
  if (!time_us || !TakeText(&text, ",")) return std::nullopt;
  record.sequence = *sequence;
  record.time_us = *time_us;
  const size_t head = text.find(';');
  if (head == std::string_view::npos) return std::nullopt;
  // Flags, then optional fields (the caller's thread).
  const std::string_view more = text.substr(0, head);
  const std::string_view flags = more.substr(0, more.find(','));
  record.fragment = flags == "c" || flags == "+";
  text.remove_prefix(head + 1);
  record.text = Unescape(text.substr(0, text.find('\n')));
  return record;
}

std::optional<OomRecord> OomRecordParser::Take(const KernelLogRecord& record) {
  if (record.facility != 0) return std::nullopt;  // processes can write to /dev/kmsg
  const std::string_view text = record.text;
  if (StartsWith(text, kLine)) {
    line_ = record.text;
    return std::nullopt;
  }
  if (StartsWith(text, kGroup) && EndsWith(text, kGroupEnd)) {
    group_ = std::string(text.substr(kGroup.size(), text.size() - kGroup.size() - kGroupEnd.size()));
    group_us_ = record.time_us;
    if (!last_had_line_) last_ = OomRecord();  // the limited cgroup is unknown
    return std::nullopt;
  }
  std::optional<OomRecord> kill = KillOf(text);
  if (!kill) {
    // The line is printed in pieces, which become separate records if another processor prints meanwhile.
    const bool piece = record.fragment || StartsWith(text, ",");
    if (piece && !line_.empty() && line_.find(",uid=") == std::string::npos) {
      line_.append(text.substr(0, kLongestLine - std::min(kLongestLine, line_.size())));
    }
    return std::nullopt;
  }
  kill->sequence = record.sequence;
  kill->time_us = record.time_us;
  if (!line_.empty()) {
    const bool global = kill->global;
    ApplyVictimLine(line_, &*kill);
    kill->global = global;
    if (global) kill->oom_memcg.clear();
    line_.clear();
    group_.clear();
    last_ = *kill;
    last_had_line_ = true;
    return kill;
  }
  last_had_line_ = false;
  if (OfGroup(*kill)) {
    // The kernel names the limited cgroup only for the first kill. All victims are in the group or below it.
    kill->oom_memcg = last_.oom_memcg;
    kill->task_memcg = group_;
  } else {
    group_.clear();
  }
  return kill;
}

bool OomRecordParser::OfGroup(const OomRecord& kill) const {
  return !group_.empty() && kill.global == last_.global && kill.time_us - group_us_ < kGroupUs;
}

}  // namespace evictd
