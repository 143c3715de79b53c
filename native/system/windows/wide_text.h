#pragma once

#include <cstddef>
#include <string>

namespace evictd {

// Windows' texts are UTF-16, the rest of evictd's UTF-8. What is not well-formed becomes U+FFFD.
std::wstring ToWide(const std::string& text);
std::string ToUtf8(const wchar_t* text, size_t length);
// nullptr: no text, as Wine has it of a service without a name for people.
std::string ToUtf8(const wchar_t* text);

}  // namespace evictd
