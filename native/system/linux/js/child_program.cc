#include "system/linux/child_program.h"

#include <memory>

#include "js/linux/objects.h"
#include "js/value.h"
#include "walk/linux/js/background_object.h"

namespace evictd {

namespace {

struct ChildProgramKind {
  static constexpr const char* kName = "ChildProgram";
  using Result = ChildProgram::End;
  using Reading = ChildProgram;

  static std::unique_ptr<Reading> Begin(const Napi::CallbackInfo& info, Environment* environment) {
    const Napi::Object command = ObjectArgument(info[0], "command");
    std::vector<std::string> arguments = {TextArgument(command.Get("program"), "program")};
    for (std::string& argument : TextsArgument(command.Get("arguments"), "arguments", true))
      arguments.push_back(std::move(argument));
    std::vector<std::string> variables = TextsArgument(command.Get("environment"), "environment");
    return Guarded(info.Env(), [&] {
      return std::make_unique<ChildProgram>(ChildProgram::Command{std::move(arguments), std::move(variables)},
                                            environment->child_programs());
    });
  }

  static Napi::Object ToJs(Napi::Env env, const Result& end) {
    return ObjectOf(env, {{"errno", NumberOf(env, end.error)},
                          {"exitCode", NumberOf(env, end.exit_code)},
                          {"signal", NumberOf(env, end.signal)}});
  }
};

}  // namespace

Napi::Function DefineChildProgram(Napi::Env env) { return BackgroundObject<ChildProgramKind>::Define(env); }

}  // namespace evictd
