#include "system/byte_text.h"

#include <string>

#include "check.h"

namespace evictd::test {

TEST("a byte that is not UTF-8 becomes a lone surrogate") {
  CHECK(TextOfBytes("leak\xff") == u"leak\xDCFF");
  CHECK(TextOfBytes("\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80") == u"\u00E4\u20AC\U0001F600");
  CHECK(TextOfBytes("\xE2\x82") == u"\xDCE2\xDC82");                      // cut off
  CHECK(TextOfBytes("\xC0\xAF") == u"\xDCC0\xDCAF");                      // overlong
  CHECK(TextOfBytes("\xED\xB3\xBF") == u"\xDCED\xDCB3\xDCBF");            // a surrogate, encoded
  CHECK(TextOfBytes("\xF4\x90\x80\x80") == u"\xDCF4\xDC90\xDC80\xDC80");  // above U+10FFFF
}

TEST("every name of two bytes survives the way there and back") {
  for (int first = 1; first < 256; first++) {
    for (int second = 1; second < 256; second++) {
      const std::string name = {static_cast<char>(first), static_cast<char>(second), '\xBF', '\x80'};
      if (BytesOfText(TextOfBytes(name)) != name) Fail(__FILE__, __LINE__, std::to_string(first * 256 + second));
    }
  }
}

TEST("a lone surrogate that stands for no byte is replaced") {
  CHECK_EQUAL(BytesOfText(u"a\xD83D"), "a\xEF\xBF\xBD");
  CHECK_EQUAL(BytesOfText(u"\xDC41"), "\xEF\xBF\xBD");
}

}  // namespace evictd::test
