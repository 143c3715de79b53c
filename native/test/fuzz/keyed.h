#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// What a parser of kernel text has to fulfil besides not crashing.

namespace evictd::fuzz {

// Aborts, which fails the run, if the condition is false.
void Require(bool condition);

// The input on the heap with its exact length, so that the address sanitizer sees a read beyond its end.
class Input {
 public:
  Input(const uint8_t* data, size_t size) : bytes_(data, data + size) {}
  std::string_view text() const { return {bytes_.data(), bytes_.size()}; }

 private:
  std::vector<char> bytes_;
};

// "key value" lines, compared with a slow parser:
// - each value is in a line of that key, and is what strtoull reads there;
// - no error if and only if every key has a value;
// - in a text that is cut off, every value is that of the whole text: a part of a number is not a number.
void CheckKeyed(const std::vector<std::string>& keys, std::string_view text);

}  // namespace evictd::fuzz
