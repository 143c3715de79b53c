#include "linux/cgroup_table.h"

#include <sys/resource.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "common/js_argument.h"
#include "common/js_error.h"
#include "linux/js/file_spec.h"
#include "linux/js/held_array.h"
#include "linux/js/objects.h"

namespace evictd {

namespace {

constexpr int64_t kMaximumRow = std::numeric_limits<int32_t>::max();
constexpr size_t kInitialRows = 16;

size_t DefaultMaximumOpen() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  return limit.rlim_cur == RLIM_INFINITY ? std::numeric_limits<size_t>::max() : limit.rlim_cur / 2;
}

class CgroupTableObject : public Napi::ObjectWrap<CgroupTableObject> {
 public:
  explicit CgroupTableObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
    std::vector<FileSpec> files = FileSpecsArgument(info[0], "files");
    size_t maximum_open = DefaultMaximumOpen();
    if (!info[1].IsUndefined()) {
      const Napi::Value chosen = ObjectArgument(info[1], "options").Get("maxOpenFiles");
      if (!chosen.IsUndefined())
        maximum_open = static_cast<size_t>(IntegerArgument(chosen, "maxOpenFiles", 0, kMaximumRow));
    }
    table_ = std::make_unique<CgroupTable>(std::move(files), maximum_open);
    columns_ = table_->columns();
    Grow(info.Env(), kInitialRows);
  }

  static Napi::Function Define(Napi::Env env) {
    return DefineClass(
        env, "CgroupTable",
        {InstanceAccessor("columns", &CgroupTableObject::Columns, nullptr),
         InstanceAccessor("size", &CgroupTableObject::Size, nullptr),
         InstanceAccessor("values", &CgroupTableObject::Values, nullptr),
         InstanceAccessor("errors", &CgroupTableObject::Errors, nullptr),
         InstanceMethod("add", &CgroupTableObject::Add), InstanceMethod("id", &CgroupTableObject::Id),
         InstanceMethod("remove", &CgroupTableObject::Remove), InstanceMethod("read", &CgroupTableObject::Read),
         InstanceMethod("close", &CgroupTableObject::Close)});
  }

 private:
  Napi::Value Columns(const Napi::CallbackInfo& info) {
    return Napi::Number::New(info.Env(), static_cast<double>(columns_));
  }
  Napi::Value Size(const Napi::CallbackInfo& info) {
    return Napi::Number::New(info.Env(), table_ ? static_cast<double>(table_->size()) : 0);
  }
  Napi::Value Values(const Napi::CallbackInfo&) { return values_.Value(); }
  Napi::Value Errors(const Napi::CallbackInfo&) { return errors_.Value(); }

  Napi::Value Add(const Napi::CallbackInfo& info) {
    const std::string cgroup = TextArgument(info[0], "cgroup");
    const size_t row = Guarded(info.Env(), [&] { return Open(info.Env()).Add(cgroup); });
    if (row >= capacity_) Grow(info.Env(), capacity_ * 2);
    Clear(row, 0);
    return Napi::Number::New(info.Env(), static_cast<double>(row));
  }

  Napi::Value Id(const Napi::CallbackInfo& info) { return Napi::BigInt::New(info.Env(), table_->Id(Row(info[0]))); }

  void Remove(const Napi::CallbackInfo& info) {
    const size_t row = Row(info[0]);
    table_->Remove(row);
    Clear(row, ENODEV);
  }

  void Read(const Napi::CallbackInfo& info) {
    CgroupTable& table = Open(info.Env());
    if (info[0].IsUndefined()) {
      double* const values = values_.Data();
      int32_t* const errors = errors_.Data();
      Guarded(info.Env(), [&] {
        for (size_t row = 0; row < table.rows(); row++) {
          if (table.Has(row)) errors[row] = table.Read(row, values + row * columns_);
        }
      });
      return;
    }
    if (!info[0].IsArray()) ThrowArgumentError(info.Env(), "rows must be an array");
    const Napi::Array rows = info[0].As<Napi::Array>();
    const uint32_t count = rows.Length();
    for (uint32_t i = 0; i < count; i++) {
      const Napi::HandleScope scope(info.Env());
      const size_t row = Row(rows.Get(i));
      // After Row, which may run JavaScript (an accessor in the array): the arrays are those of now.
      Guarded(info.Env(), [&] { errors_.Data()[row] = Open(info.Env()).Read(row, values_.Data() + row * columns_); });
    }
  }

  void Close(const Napi::CallbackInfo&) { table_.reset(); }

  CgroupTable& Open(Napi::Env env) {
    if (!table_) throw ToJavaScript(env, SystemError(EBADF, "read"));
    return *table_;
  }

  // The number of a row in use. Throws a RangeError.
  size_t Row(const Napi::Value& value) {
    const size_t row = static_cast<size_t>(IntegerArgument(value, "row", 0, kMaximumRow));
    if (!Open(value.Env()).Has(row)) ThrowArgumentError(value.Env(), "no cgroup in row " + std::to_string(row), true);
    return row;
  }

  void Clear(size_t row, int error) {
    std::fill_n(values_.Data() + row * columns_, columns_, std::numeric_limits<double>::quiet_NaN());
    errors_.Data()[row] = error;
  }

  // New arrays with the old content; unused rows are NaN and ENODEV.
  void Grow(Napi::Env env, size_t capacity) {
    std::vector<double> values(capacity * columns_, std::numeric_limits<double>::quiet_NaN());
    std::vector<int32_t> errors(capacity, ENODEV);
    if (capacity_ > 0) {
      std::copy_n(values_.Data(), capacity_ * columns_, values.begin());
      std::copy_n(errors_.Data(), capacity_, errors.begin());
    }
    values_.Replace(env, values.size());
    errors_.Replace(env, errors.size());
    std::copy(values.begin(), values.end(), values_.Data());
    std::copy(errors.begin(), errors.end(), errors_.Data());
    capacity_ = capacity;
  }

  std::unique_ptr<CgroupTable> table_;
  size_t columns_ = 0;
  size_t capacity_ = 0;
  HeldArray<Napi::Float64Array> values_;
  HeldArray<Napi::Int32Array> errors_;
};

}  // namespace

Napi::Function DefineCgroupTable(Napi::Env env) { return CgroupTableObject::Define(env); }

}  // namespace evictd
