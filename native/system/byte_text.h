#pragma once

#include <string>
#include <string_view>

namespace evictd {

// The kernel's names are bytes, JavaScript's are UTF-16. A byte that belongs to no UTF-8 sequence becomes U+DC00 +
// byte, which no UTF-8 yields, and back (PEP 383, "surrogateescape"): every name survives the way there and back.

std::u16string TextOfBytes(std::string_view bytes);

// Another lone surrogate becomes U+FFFD.
std::string BytesOfText(std::u16string_view text);

bool IsAscii(std::string_view bytes);

}  // namespace evictd
