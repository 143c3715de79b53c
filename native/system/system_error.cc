#include "system/system_error.h"

#include <utility>

#include "system/error_text.h"

namespace evictd {

SystemError::SystemError(int error, const char* syscall, std::string path)
    : error_(error), syscall_(syscall), path_(std::move(path)) {
  message_ = ErrorName(error) + ": " + ErrorText(error) + ", " + syscall_;
  if (!path_.empty()) message_ += " '" + path_ + "'";
}

}  // namespace evictd
