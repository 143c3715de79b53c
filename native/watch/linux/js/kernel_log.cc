#include "watch/linux/kernel_log.h"

#include <optional>
#include <string>
#include <utility>

#include "js/argument.h"
#include "js/error.h"
#include "js/linux/objects.h"
#include "js/value.h"
#include "watch/linux/js/watch.h"

namespace evictd {

namespace {

Napi::Value TextOrUndefined(Napi::Env env, const std::string& text) {
  return text.empty() ? env.Undefined() : TextOf(env, text);
}

Napi::Object ToJs(Napi::Env env, const OomRecord& record) {
  return ObjectOf(env, {{"sequence", NumberOf(env, record.sequence)},
                        {"timeUs", NumberOf(env, record.time_us)},
                        {"constraint", Napi::String::New(env, record.global ? "global" : "memcg")},
                        {"oomMemcg", TextOrUndefined(env, record.oom_memcg)},
                        {"taskMemcg", TextOrUndefined(env, record.task_memcg)},
                        {"pid", NumberOf(env, record.pid)},
                        {"name", TextOf(env, record.name)},
                        {"uid", record.uid < 0 ? env.Undefined() : NumberOf(env, record.uid).As<Napi::Value>()},
                        {"anonRssBytes", NumberOf(env, record.anon_rss_bytes)},
                        {"oomScoreAdj", NumberOf(env, record.oom_score_adj)}});
}

Napi::Array ToJs(Napi::Env env, const std::vector<OomRecord>& records) {
  return ArrayOf(env, records, [env](const OomRecord& record) { return ToJs(env, record); });
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
    return ObjectOf(env, {{"list", ToJs(env, records.list)},
                          {"overruns", NumberOf(env, records.overruns)},
                          {"dropped", NumberOf(env, records.dropped)}});
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
  return ToJs(info.Env(), kills);
}

}  // namespace evictd
