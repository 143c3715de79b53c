#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace evictd {

inline bool TakeText(std::string_view* text, std::string_view expected) {
  if (text->substr(0, expected.size()) != expected) return false;
  text->remove_prefix(expected.size());
  return true;
}

// Takes the leading digits; nothing if there are none or their number is above `most`.
inline std::optional<uint64_t> TakeDigits(std::string_view* text, uint64_t most = UINT64_MAX) {
  uint64_t number = 0;
  size_t length = 0;
  for (; length < text->size() && (*text)[length] >= '0' && (*text)[length] <= '9'; length++) {
    const uint64_t digit = static_cast<uint64_t>((*text)[length] - '0');
    if (number > (most - digit) / 10) return std::nullopt;
    number = number * 10 + digit;
  }
  if (length == 0) return std::nullopt;
  text->remove_prefix(length);
  return number;
}

}  // namespace evictd
