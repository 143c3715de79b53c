#include "watch/linux/kernel_log.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "js/argument.h"
#include "js/error.h"
#include "js/linux/objects.h"
#include "watch/linux/js/watch.h"

namespace evictd {

namespace {

Napi::Object ToJavaScript(Napi::Env env, const OomRecord& record) {
  Napi::Object reported = Napi::Object::New(env);
  const auto number = [&](const char* name, int64_t value) {
    reported.Set(name, Napi::Number::New(env, static_cast<double>(value)));
  };
  const auto text = [&](const char* name, const std::string& value) {
    reported.Set(name, value.empty() ? env.Undefined() : Napi::String::New(env, value).As<Napi::Value>());
  };
  number("sequence", static_cast<int64_t>(record.sequence));
  number("timeUs", static_cast<int64_t>(record.time_us));
  reported.Set("constraint", Napi::String::New(env, record.global ? "global" : "memcg"));
  text("oomMemcg", record.oom_memcg);
  text("taskMemcg", record.task_memcg);
  number("pid", record.pid);
  reported.Set("name", Napi::String::New(env, record.name));
  reported.Set("uid", record.uid < 0 ? env.Undefined()
                                     : Napi::Number::New(env, static_cast<double>(record.uid)).As<Napi::Value>());
  number("totalVmBytes", record.total_vm_bytes);
  number("anonRssBytes", record.anon_rss_bytes);
  number("fileRssBytes", record.file_rss_bytes);
  number("shmemRssBytes", record.shmem_rss_bytes);
  number("pgtablesBytes", record.pgtables_bytes);
  number("oomScoreAdj", record.oom_score_adj);
  return reported;
}

Napi::Array ToJavaScript(Napi::Env env, const std::vector<OomRecord>& records) {
  Napi::Array list = Napi::Array::New(env, records.size());
  uint32_t next = 0;
  for (const OomRecord& record : records) list.Set(next++, ToJavaScript(env, record));
  return list;
}

class KernelLogObject : public WatchObject<KernelLogObject> {
 public:
  static constexpr const char* kName = "KernelLog";
  static constexpr const char* kMechanism = "kmsg";

  explicit KernelLogObject(const Napi::CallbackInfo& info) : WatchObject(info) {
    const Napi::Function on_wake = FunctionArgument(info[0], "onWake");
    Guarded(info.Env(), [&] {
      inbox_ = std::make_shared<KernelLog::Inbox>();
      Start(info, std::make_shared<KernelLog>(inbox_), on_wake, "/dev/kmsg");
    });
  }

  Napi::Value Records(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    KernelLog::Records records;
    if (inbox_) records = inbox_->Take();
    Napi::Object result = Napi::Object::New(env);
    result.Set("list", ToJavaScript(env, records.list));
    result.Set("overruns", Napi::Number::New(env, static_cast<double>(records.overruns)));
    result.Set("dropped", Napi::Number::New(env, static_cast<double>(records.dropped)));
    return result;
  }

  void Close(const Napi::CallbackInfo&) {
    inbox_.reset();
    Stop();
  }

  static Napi::Function Define(Napi::Env env) {
    return WatchObject::Define(env, {InstanceMethod("records", &KernelLogObject::Records)});
  }

 private:
  std::shared_ptr<KernelLog::Inbox> inbox_;  // null: closed
};

}  // namespace

Napi::Function DefineKernelLog(Napi::Env env) { return KernelLogObject::Define(env); }

Napi::Value ParseOomRecords(const Napi::CallbackInfo& info) {
  const Napi::Array records = info[0].IsArray() ? info[0].As<Napi::Array>() : Napi::Array::New(info.Env());
  OomRecordParser parser;
  std::vector<OomRecord> kills;
  for (uint32_t i = 0; i < records.Length(); i++) {
    const std::optional<KernelLogRecord> record = ParseKernelLogRecord(TextArgument(records.Get(i), "record"));
    if (!record) continue;
    std::optional<OomRecord> kill = parser.Take(*record);
    if (kill) kills.push_back(std::move(*kill));
  }
  return ToJavaScript(info.Env(), kills);
}

}  // namespace evictd
