#include "read/linux/cgroup_table.h"

#include <sys/resource.h>

#include <cerrno>
#include <limits>
#include <memory>
#include <utility>

#include "js/argument.h"
#include "js/error.h"
#include "js/linux/objects.h"
#include "js/value.h"

namespace evictd {

namespace {

constexpr int64_t kMaximumRow = std::numeric_limits<int32_t>::max();

size_t DefaultMaximumOpen() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  return limit.rlim_cur == RLIM_INFINITY ? std::numeric_limits<size_t>::max() : limit.rlim_cur / 2;
}

template <typename Array>
Array ArrayArgument(const Napi::Value& value, napi_typedarray_type type, const char* message) {
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != type)
    ThrowArgumentError(value.Env(), message);
  return value.As<Array>();
}

class CgroupTableObject : public Napi::ObjectWrap<CgroupTableObject> {
 public:
  explicit CgroupTableObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
    std::vector<FileSpec> files = FileSpecsArgument(info[0], "files");
    if (files.size() > CgroupTable::kMaximumFiles)
      ThrowArgumentError(info.Env(), "files must be at most " + std::to_string(CgroupTable::kMaximumFiles), true);
    size_t maximum_open = DefaultMaximumOpen();
    if (!info[1].IsUndefined()) {
      const Napi::Value chosen = ObjectArgument(info[1], "options").Get("maxOpenFiles");
      if (!chosen.IsUndefined())
        maximum_open = static_cast<size_t>(IntegerArgument(chosen, "maxOpenFiles", 0, kMaximumRow));
    }
    table_ = std::make_unique<CgroupTable>(std::move(files), maximum_open);
    columns_ = table_->columns();
  }

  static Napi::Function Define(Napi::Env env) {
    return DefineClass(
        env, "CgroupTable",
        {InstanceAccessor("columns", &CgroupTableObject::Columns, nullptr),
         InstanceAccessor("size", &CgroupTableObject::Size, nullptr),
         InstanceAccessor("rowCount", &CgroupTableObject::RowCount, nullptr),
         InstanceMethod("add", &CgroupTableObject::Add), InstanceMethod("id", &CgroupTableObject::Id),
         InstanceMethod("remove", &CgroupTableObject::Remove), InstanceMethod("read", &CgroupTableObject::Read),
         InstanceMethod("close", &CgroupTableObject::Close)});
  }

 private:
  Napi::Value Columns(const Napi::CallbackInfo& info) { return NumberOf(info.Env(), columns_); }
  Napi::Value Size(const Napi::CallbackInfo& info) {
    return NumberOf(info.Env(), table_ ? static_cast<double>(table_->size()) : 0);
  }
  Napi::Value RowCount(const Napi::CallbackInfo& info) {
    return NumberOf(info.Env(), table_ ? static_cast<double>(table_->rows()) : 0);
  }

  Napi::Value Add(const Napi::CallbackInfo& info) {
    const std::string cgroup = TextArgument(info[0], "cgroup");
    std::vector<std::string> neighbours;
    if (!info[1].IsUndefined()) neighbours = TextsArgument(info[1], "beside");
    const size_t row = Guarded(info.Env(), [&] { return Open(info.Env()).Add(cgroup, std::move(neighbours)); });
    return NumberOf(info.Env(), row);
  }

  Napi::Value Id(const Napi::CallbackInfo& info) { return Napi::BigInt::New(info.Env(), table_->Id(Row(info[0]))); }

  void Remove(const Napi::CallbackInfo& info) { table_->Remove(Row(info[0])); }

  // Checks everything before the first read; afterwards no JavaScript runs that could detach the arrays. Allocates
  // nothing, neither here nor in V8.
  void Read(const Napi::CallbackInfo& info) {
    const Napi::Env env = info.Env();
    auto values = ArrayArgument<Napi::Float64Array>(info[0], napi_float64_array, "values must be a Float64Array");
    auto errors = ArrayArgument<Napi::Int32Array>(info[1], napi_int32_array, "errors must be an Int32Array");
    const uint32_t files = info[3].IsUndefined()
                               ? CgroupTable::kAllFiles
                               : static_cast<uint32_t>(IntegerArgument(info[3], "files", 0, CgroupTable::kAllFiles));
    CgroupTable& table = Open(env);
    CheckLength(env, "values", values.ElementLength(), table.rows() * columns_);
    CheckLength(env, "errors", errors.ElementLength(), table.rows());
    if (info[2].IsUndefined()) {
      Guarded(env, [&] {
        for (size_t row = 0; row < table.rows(); row++) ReadRow(row, files, values.Data(), errors.Data());
      });
      return;
    }
    auto rows = ArrayArgument<Napi::Uint32Array>(info[2], napi_uint32_array, "rows must be a Uint32Array");
    for (size_t i = 0; i < rows.ElementLength(); i++) {
      if (!table.Has(rows.Data()[i])) ThrowNoRow(env, rows.Data()[i]);
    }
    Guarded(env, [&] {
      for (size_t i = 0; i < rows.ElementLength(); i++) {
        // Checked again: if the arrays share memory, the previous row may have overwritten it.
        const uint32_t row = rows.Data()[i];
        if (table.Has(row)) ReadRow(row, files, values.Data(), errors.Data());
      }
    });
  }

  void ReadRow(size_t row, uint32_t files, double* values, int32_t* errors) {
    double* const first = values + row * columns_;
    if (table_->Has(row)) {
      errors[row] = table_->Read(row, files, first);
    } else {
      errors[row] = ENODEV;
      table_->Forget(first);
    }
  }

  void Close(const Napi::CallbackInfo&) { table_.reset(); }

  CgroupTable& Open(Napi::Env env) {
    if (!table_) throw ToJavaScript(env, SystemError(EBADF, "read"));
    return *table_;
  }

  void CheckLength(Napi::Env env, const char* name, size_t length, size_t needed) {
    if (length >= needed) return;
    ThrowArgumentError(
        env, std::string(name) + " must hold " + std::to_string(needed) + " numbers, not " + std::to_string(length),
        true);
  }

  // The number of a used row. Throws a RangeError.
  size_t Row(const Napi::Value& value) {
    const size_t row = static_cast<size_t>(IntegerArgument(value, "row", 0, kMaximumRow));
    if (!Open(value.Env()).Has(row)) ThrowNoRow(value.Env(), row);
    return row;
  }

  [[noreturn]] static void ThrowNoRow(Napi::Env env, size_t row) {
    ThrowArgumentError(env, "no cgroup in row " + std::to_string(row), true);
  }

  std::unique_ptr<CgroupTable> table_;
  size_t columns_ = 0;
};

}  // namespace

Napi::Function DefineCgroupTable(Napi::Env env) { return CgroupTableObject::Define(env); }

}  // namespace evictd
