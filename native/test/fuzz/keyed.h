#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// What a parser of kernel text is held to, beside not crashing.

namespace evictd::fuzz {

// Aborts, and so fails the run, where it is not so.
void Require(bool condition);

// The input on the heap, exactly as long as it is: reading beyond its end is an error that the address sanitizer sees.
class Input {
 public:
  Input(const uint8_t* data, size_t size) : bytes_(data, data + size) {}
  std::string_view text() const { return {bytes_.data(), bytes_.size()}; }

 private:
  std::vector<char> bytes_;
};

// "key value" lines, against a slow reading of the same text:
// - each value stands in a line of that key, and is what strtoull reads there;
// - no error exactly where every key has a value;
// - of a text cut off anywhere every value is that of the whole text: half a number is no number.
void CheckKeyed(const std::vector<std::string>& keys, std::string_view text);

}  // namespace evictd::fuzz
