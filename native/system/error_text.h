#pragma once

#include <string>

namespace evictd {

// SystemError's numbers: errno on Linux, GetLastError on Windows. Each system implements the functions.

// "ENOENT", "ERROR_PATH_NOT_FOUND", or "E<number>", "ERROR_<number>".
std::string ErrorName(int error);

// The text in English: "no such file or directory".
std::string ErrorText(int error);

// The number for std::bad_alloc.
int OutOfMemory();

}  // namespace evictd
