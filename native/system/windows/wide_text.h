#pragma once

#include <cstddef>
#include <string>

namespace evictd {

// Windows uses UTF-16, evictd UTF-8. Malformed text becomes U+FFFD.
std::wstring ToWide(const std::string& text);
std::string ToUtf8(const wchar_t* text, size_t length);
// nullptr gives an empty text: under Wine a service may have no display name.
std::string ToUtf8(const wchar_t* text);

}  // namespace evictd
