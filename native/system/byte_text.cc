#include "system/byte_text.h"

#include <algorithm>
#include <cstddef>

namespace evictd {

namespace {

constexpr char32_t kEscape = 0xDC00;
constexpr char32_t kReplacement = 0xFFFD;

unsigned char ByteAt(std::string_view bytes, size_t at) { return static_cast<unsigned char>(bytes[at]); }

// The length of the well-formed UTF-8 sequence at `at` (Unicode 15, table 3-7), and its code point; 0: there is none.
size_t Sequence(std::string_view bytes, size_t at, char32_t* point) {
  const unsigned char lead = ByteAt(bytes, at);
  const size_t length = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  if (length == 0 || bytes.size() - at < length) return 0;
  *point = length == 1 ? lead : lead & (0xFFu >> (length + 1));
  for (size_t i = 1; i < length; i++) {
    const unsigned char next = ByteAt(bytes, at + i);
    if ((next & 0xC0u) != 0x80) return 0;
    *point = *point << 6 | (next & 0x3Fu);
  }
  const char32_t least = length == 3 ? 0x800 : length == 4 ? 0x10000 : 0;
  const bool is_surrogate = *point >= 0xD800 && *point <= 0xDFFF;
  return *point < least || *point > 0x10FFFF || is_surrogate ? 0 : length;
}

void AppendUtf16(char32_t point, std::u16string* text) {
  if (point < 0x10000) {
    text->push_back(static_cast<char16_t>(point));
    return;
  }
  text->push_back(static_cast<char16_t>(0xD800 + ((point - 0x10000) >> 10)));
  text->push_back(static_cast<char16_t>(0xDC00 + ((point - 0x10000) & 0x3FF)));
}

void AppendUtf8(char32_t point, std::string* bytes) {
  const auto push = [bytes](char32_t byte) { bytes->push_back(static_cast<char>(byte)); };
  const auto rest = [&](int shift) { push(0x80 | (point >> shift & 0x3F)); };
  if (point < 0x80) {
    push(point);
  } else if (point < 0x800) {
    push(0xC0 | point >> 6);
    rest(0);
  } else if (point < 0x10000) {
    push(0xE0 | point >> 12);
    rest(6);
    rest(0);
  } else {
    push(0xF0 | point >> 18);
    rest(12);
    rest(6);
    rest(0);
  }
}

bool IsHigh(char32_t unit) { return unit >= 0xD800 && unit <= 0xDBFF; }
bool IsLow(char32_t unit) { return unit >= 0xDC00 && unit <= 0xDFFF; }

}  // namespace

std::u16string TextOfBytes(std::string_view bytes) {
  std::u16string text;
  text.reserve(bytes.size());
  for (size_t at = 0; at < bytes.size();) {
    char32_t point = 0;
    const size_t length = Sequence(bytes, at, &point);
    AppendUtf16(length == 0 ? kEscape + ByteAt(bytes, at) : point, &text);
    at += std::max<size_t>(length, 1);
  }
  return text;
}

std::string BytesOfText(std::u16string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (size_t at = 0; at < text.size(); at++) {
    const char32_t unit = text[at];
    if (IsHigh(unit) && at + 1 < text.size() && IsLow(text[at + 1])) {
      AppendUtf8(0x10000 + ((unit - 0xD800) << 10) + (text[++at] - 0xDC00), &bytes);
    } else if (unit >= kEscape + 0x80 && unit <= kEscape + 0xFF) {
      bytes.push_back(static_cast<char>(unit - kEscape));
    } else {
      AppendUtf8(IsHigh(unit) || IsLow(unit) ? kReplacement : unit, &bytes);
    }
  }
  return bytes;
}

bool IsAscii(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char byte) { return static_cast<unsigned char>(byte) < 0x80; });
}

}  // namespace evictd
