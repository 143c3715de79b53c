#include "kill/linux/standing_order.h"

#include <cmath>
#include <memory>

#include "js/argument.h"
#include "js/error.h"
#include "js/linux/objects.h"
#include "watch/linux/js/watch.h"

namespace evictd {

namespace {

template <typename Element, typename Read>
std::vector<Element> Elements(const Napi::Object& plan, const char* name, const Read& read) {
  const Napi::Value list = plan.Get(name);
  if (!list.IsArray() || list.As<Napi::Array>().Length() == 0) {
    ThrowArgumentError(plan.Env(), std::string(name) + " must be an array with an element");
  }
  const Napi::Array array = list.As<Napi::Array>();
  std::vector<Element> elements;
  for (uint32_t i = 0; i < array.Length(); i++) elements.push_back(read(ObjectArgument(array.Get(i), name)));
  return elements;
}

// Opens the value and reads it once: later first readings may fail for want of memory.
template <typename Valued>
Valued AsRead(Valued valued) {
  if (const int error = valued.value->Take(&valued.last)) throw SystemError(error, "read");
  valued.first = valued.last;
  return valued;
}

StandingOrder::Condition ConditionOf(const Napi::Object& object) {
  const bool grows = object.Get("atLeast").IsUndefined();
  auto condition = AsRead<StandingOrder::Condition>(
      {FileSumArgument(ObjectArgument(object.Get("value"), "value")),
       grows ? NumberArgument(object.Get("grownBy"), "grownBy") : NumberArgument(object.Get("atLeast"), "atLeast"), 0});
  if (grows) condition.at_least += condition.last;
  return condition;
}

CgroupHandle::Contents ContentsOf(const CgroupHandle& cgroup, const std::vector<std::string>& attributes,
                                  const std::string& directory) {
  CgroupHandle::Contents contents = cgroup.Read(attributes);
  if (contents.error != 0) throw SystemError(contents.error, "read", directory);
  return contents;
}

// The same cgroup in other hierarchies, if it exists there.
std::vector<StandingOrder::Elsewhere> ElsewhereOf(const std::vector<std::string>& directories,
                                                  const std::vector<std::string>& attributes) {
  std::vector<StandingOrder::Elsewhere> elsewhere;
  for (const std::string& directory : directories) {
    try {
      auto cgroup = std::make_unique<CgroupHandle>(directory);
      CgroupHandle::Contents contents = ContentsOf(*cgroup, attributes, directory);
      elsewhere.push_back({std::move(cgroup), std::move(contents)});
    } catch (const SystemError& error) {
      if (!HasVanished(error.error())) throw;
    }
  }
  return elsewhere;
}

StandingOrder::Candidate CandidateOf(const Napi::Object& object, const std::vector<std::string>& attributes) {
  const Napi::Value record = object.Get("record");
  if (!record.IsBuffer()) ThrowArgumentError(object.Env(), "record must be a Buffer");
  const auto bytes = record.As<Napi::Buffer<char>>();
  StandingOrder::Candidate candidate;
  const std::string directory = TextArgument(object.Get("cgroup"), "cgroup");
  candidate.cgroup = std::make_unique<CgroupHandle>(directory, BigIntArgument(object.Get("id"), "id"));
  candidate.value = FileSumArgument(ObjectArgument(object.Get("value"), "value"));
  candidate.offset = NumberArgument(object.Get("offset"), "offset");
  candidate.record.assign(bytes.Data(), bytes.Length());
  candidate.contents = ContentsOf(*candidate.cgroup, attributes, directory);
  candidate.elsewhere = ElsewhereOf(TextsArgument(object.Get("elsewhere"), "elsewhere"), attributes);
  return AsRead(std::move(candidate));
}

class StandingOrderObject : public WatchObject<StandingOrderObject> {
 public:
  static constexpr const char* kName = "StandingOrder";
  static constexpr const char* kMechanism = "standing_order";

  explicit StandingOrderObject(const Napi::CallbackInfo& info) : WatchObject(info) {
    const std::string file = TextArgument(info[0], "file");
    const std::shared_ptr<MemoryReaper> reaper = MemoryReaperArgument(info[1], "reaper");
    const Napi::Function on_wake = FunctionArgument(info[2], "onWake");
    Guarded(info.Env(), [&] { Start(info, std::make_shared<StandingOrder>(file, reaper), on_wake, file); });
  }

  static Napi::Function Define(Napi::Env env) {
    return WatchObject::Define(env, {InstanceMethod("place", &StandingOrderObject::Place),
                                     InstanceMethod("withdraw", &StandingOrderObject::Withdraw),
                                     InstanceMethod("seen", &StandingOrderObject::Seen),
                                     InstanceMethod("postpone", &StandingOrderObject::Postpone),
                                     InstanceMethod("take", &StandingOrderObject::Take)});
  }

 private:
  StandingOrder* order() { return source_as<StandingOrder>(); }

  Napi::Value Place(const Napi::CallbackInfo& info) {
    const Napi::Object object = ObjectArgument(info[0], "plan");
    const uint64_t seen_ns = BigIntArgument(info[1], "seenNs");
    auto plan = std::make_unique<StandingOrder::Plan>();
    plan->attributes = TextsArgument(object.Get("attributes"), "attributes");
    Guarded(info.Env(), [&] {
      plan->conditions = Elements<StandingOrder::Condition>(object, "conditions", ConditionOf);
      plan->candidates = Elements<StandingOrder::Candidate>(
          object, "candidates", [&](const Napi::Object& one) { return CandidateOf(one, plan->attributes); });
    });
    plan->settles_ns = BigIntArgument(object.Get("settlesNs"), "settlesNs");
    plan->after_ns = BigIntArgument(object.Get("afterNs"), "afterNs");
    plan->unexplained_ns = BigIntArgument(object.Get("unexplainedNs"), "unexplainedNs");
    plan->slack = NumberArgument(object.Get("slack"), "slack");
    plan->expires_ns = BigIntArgument(object.Get("expiresNs"), "expiresNs");
    plan->by_file = object.Get("byFile").ToBoolean();
    plan->apart = object.Get("apart").ToBoolean();
    return Napi::Boolean::New(info.Env(), order() != nullptr && order()->Place(std::move(plan), seen_ns));
  }

  Napi::Value Withdraw(const Napi::CallbackInfo& info) {
    return Napi::Boolean::New(info.Env(), order() == nullptr || order()->Place(nullptr, 0));
  }

  void Seen(const Napi::CallbackInfo& info) {
    if (order() != nullptr) order()->Seen(BigIntArgument(info[0], "seenNs"));
  }

  void Postpone(const Napi::CallbackInfo& info) {
    if (order() != nullptr) order()->Postpone(BigIntArgument(info[0], "untilNs"));
  }

  Napi::Value Take(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    if (order() == nullptr) return env.Undefined();
    const std::optional<StandingOrder::Result> result = order()->Take();
    if (!result) return env.Undefined();
    const bool none = result->candidate == StandingOrder::kNone;
    return ObjectOf(env, {{"candidate", none ? env.Undefined() : NumberOf(env, result->candidate)},
                          {"node", NumberOf(env, result->node)},
                          {"value", NumberOf(env, result->value)},
                          {"crossedNs", Napi::BigInt::New(env, result->crossed_ns)},
                          {"atNs", Napi::BigInt::New(env, result->at_ns)},
                          {"processes", NumberOf(env, result->processes)},
                          {"errno", NumberOf(env, result->error)},
                          {"unrecorded", NumberOf(env, result->unrecorded)}});
  }
};

}  // namespace

Napi::Function DefineStandingOrder(Napi::Env env) { return StandingOrderObject::Define(env); }

}  // namespace evictd
