#pragma once

#include <string>

namespace evictd {

// What the numbers of SystemError mean: those of errno on Linux, of GetLastError on Windows. Each system has its own
// file of it.

// "ENOENT", "ERROR_PATH_NOT_FOUND"; "E<number>", "ERROR_<number>" for one without a name there.
std::string ErrorName(int error);

// For people, in English: "no such file or directory".
std::string ErrorText(int error);

// The number for what C++ calls std::bad_alloc.
int OutOfMemory();

}  // namespace evictd
