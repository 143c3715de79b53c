#include "system/windows/wide_text.h"

#include <windows.h>

#include <cwchar>

namespace evictd {

std::wstring ToWide(const std::string& text) {
  const int bytes = static_cast<int>(text.size());
  const int length = MultiByteToWideChar(CP_UTF8, 0, text.data(), bytes, nullptr, 0);
  std::wstring wide(static_cast<size_t>(length), L'\0');
  MultiByteToWideChar(CP_UTF8, 0, text.data(), bytes, wide.data(), length);
  return wide;
}

std::string ToUtf8(const wchar_t* text, size_t length) {
  const int units = static_cast<int>(length);
  const int bytes = WideCharToMultiByte(CP_UTF8, 0, text, units, nullptr, 0, nullptr, nullptr);
  std::string narrow(static_cast<size_t>(bytes), '\0');
  WideCharToMultiByte(CP_UTF8, 0, text, units, narrow.data(), bytes, nullptr, nullptr);
  return narrow;
}

std::string ToUtf8(const wchar_t* text) { return text == nullptr ? std::string() : ToUtf8(text, std::wcslen(text)); }

}  // namespace evictd
