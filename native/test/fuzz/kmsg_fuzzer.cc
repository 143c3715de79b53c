// /dev/kmsg: combined lines are bounded, a record is the kernel's only if its first line says so, and every number is
// what the C library reads there. One line of the input is one record.
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "fuzz/keyed.h"
#include "watch/linux/oom_record.h"

namespace {

using evictd::fuzz::Require;

// 0 if there is none after the last `key`, or if it does not fit.
int64_t NumberAfter(const std::string& text, const std::string& key, int64_t unit) {
  const size_t at = text.rfind(key);
  if (at == std::string::npos) return 0;
  const char* number = text.c_str() + at + key.size();
  const bool negative = *number == '-';
  if (isdigit(static_cast<unsigned char>(number[negative ? 1 : 0])) == 0) return 0;
  errno = 0;
  const int64_t value = strtoll(number, nullptr, 10);
  const bool fits = errno == 0 && value != INT64_MIN && value <= INT64_MAX / unit;
  return !fits || (negative && unit != 1) ? 0 : value * unit;
}

void CheckHead(const std::string& line, const evictd::KernelLogRecord& record) {
  unsigned long long priority = 0;
  unsigned long long sequence = 0;
  unsigned long long time_us = 0;
  Require(isdigit(static_cast<unsigned char>(line[0])) != 0);
  Require(sscanf(line.c_str(), "%llu,%llu,%llu,", &priority, &sequence, &time_us) == 3);
  Require(record.facility == static_cast<unsigned>(priority >> 3));
  Require(record.sequence == sequence && record.time_us == time_us);
  Require(record.text.size() <= line.size());
}

void CheckKill(const std::string& text, const evictd::OomRecord& kill) {
  const std::string killed = "Killed process ";
  const size_t at = text.find(killed);
  Require(at != std::string::npos && kill.pid > 0);
  char* end = nullptr;
  Require(strtoll(text.c_str() + at + killed.size(), &end, 10) == kill.pid);
  Require(text.compare(static_cast<size_t>(end - text.c_str()), kill.name.size() + 3, " (" + kill.name + ")") == 0);
  const std::string numbers = text.substr(text.rfind(')', text.rfind(" total-vm:")));
  Require(kill.anon_rss_bytes == NumberAfter(numbers, " anon-rss:", 1024));
  Require(kill.oom_score_adj == NumberAfter(numbers, " oom_score_adj:", 1));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const evictd::fuzz::Input input(data, size);
  evictd::OomRecordParser parser;
  std::string_view rest = input.text();
  while (!rest.empty()) {
    const size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end == std::string_view::npos ? rest.size() : end + 1);
    rest.remove_prefix(line.size());
    const auto record = evictd::ParseKernelLogRecord(line);
    if (!record) continue;
    CheckHead(std::string(line), *record);
    const auto kill = parser.Take(*record);
    if (!kill) continue;
    Require(record->facility == 0);
    Require(kill->sequence == record->sequence && kill->time_us == record->time_us);
    Require(!kill->global || kill->oom_memcg.empty());
    CheckKill(record->text, *kill);
  }
  return 0;
}
