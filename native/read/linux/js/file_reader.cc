#include <limits>
#include <memory>

#include "js/argument.h"
#include "js/error.h"
#include "js/linux/objects.h"
#include "read/linux/reader.h"

namespace evictd {

namespace {

// A typed array that JavaScript owns and a native object fills.
template <typename Array>
class HeldArray {
 public:
  // Creates an array of `length` zeros; JavaScript keeps the previous one.
  void Replace(Napi::Env env, size_t length) {
    reference_ = Napi::Persistent(Array::New(env, length).template As<Napi::Object>());
    length_ = length;
  }

  Napi::Value Value() const { return reference_.Value(); }

  // Checked at each use: writing to an array that JavaScript has transferred would corrupt memory.
  auto* Data() const {
    Array array = reference_.Value().template As<Array>();
    if (array.ElementLength() != length_) ThrowArgumentError(reference_.Env(), "the array was transferred away", true);
    return array.Data();
  }

 private:
  Napi::ObjectReference reference_;
  size_t length_ = 0;
};

class FileReaderObject : public Napi::ObjectWrap<FileReaderObject> {
 public:
  explicit FileReaderObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
    reader_ = std::make_unique<Reader>(FileSpecsArgument(info[0], "files"));
    values_.Replace(info.Env(), reader_->fields());
    errors_.Replace(info.Env(), reader_->files());
    std::fill_n(values_.Data(), reader_->fields(), std::numeric_limits<double>::quiet_NaN());
  }

  static Napi::Function Define(Napi::Env env) {
    return DefineClass(
        env, "FileReader",
        {InstanceAccessor("values", &FileReaderObject::Values, nullptr),
         InstanceAccessor("errors", &FileReaderObject::Errors, nullptr),
         InstanceMethod("read", &FileReaderObject::Read), InstanceMethod("close", &FileReaderObject::Close)});
  }

 private:
  Napi::Value Values(const Napi::CallbackInfo&) { return values_.Value(); }
  Napi::Value Errors(const Napi::CallbackInfo&) { return errors_.Value(); }

  void Read(const Napi::CallbackInfo& info) {
    if (!reader_) throw ToJavaScript(info.Env(), SystemError(EBADF, "read"));
    Guarded(info.Env(), [&] { reader_->Read(values_.Data(), errors_.Data()); });
  }

  void Close(const Napi::CallbackInfo&) { reader_.reset(); }

  std::unique_ptr<Reader> reader_;
  HeldArray<Napi::Float64Array> values_;
  HeldArray<Napi::Int32Array> errors_;
};

}  // namespace

Napi::Function DefineFileReader(Napi::Env env) { return FileReaderObject::Define(env); }

}  // namespace evictd
