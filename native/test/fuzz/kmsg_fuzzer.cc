// /dev/kmsg: whatever the log says, what is put together is bounded, and a record is a kernel's only where its first
// line says so. One line of the input is one record.
#include <string>

#include "fuzz/keyed.h"
#include "linux/oom_record.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using evictd::fuzz::Require;
  const evictd::fuzz::Input input(data, size);
  evictd::OomRecordParser parser;
  std::string_view rest = input.text();
  while (!rest.empty()) {
    const size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end == std::string_view::npos ? rest.size() : end + 1);
    rest.remove_prefix(line.size());
    const auto record = evictd::ParseKernelLogRecord(line);
    if (!record) continue;
    Require(line[0] >= '0' && line[0] <= '9');
    Require(record->text.size() <= line.size());
    const auto kill = parser.Take(*record);
    if (!kill) continue;
    Require(kill->sequence == record->sequence && kill->time_us == record->time_us);
    Require(record->facility == 0);
    Require(kill->pid > 0);
    Require(!kill->global || kill->oom_memcg.empty());
    Require(kill->total_vm_bytes >= 0 && kill->anon_rss_bytes >= 0 && kill->file_rss_bytes >= 0);
    Require(kill->shmem_rss_bytes >= 0 && kill->pgtables_bytes >= 0);
  }
  return 0;
}
