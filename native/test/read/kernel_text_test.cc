#include "read/linux/kernel_text.h"

#include <cerrno>
#include <cmath>
#include <limits>

#include "check.h"

namespace evictd::test {

namespace {

// On the heap with its exact length, so that the address sanitizer sees a read beyond its end.
int Parse(const FileSpec& spec, const std::string& text, std::vector<double>* values) {
  const std::vector<char> bytes(text.begin(), text.end());
  values->assign(spec.fields(), -1);
  return ParseKernelText(spec, std::string_view(bytes.data(), bytes.size()), values->data());
}

const FileSpec kNumber = {"", TextFormat::kNumber, {}};
const FileSpec kPressure = {"", TextFormat::kPressure, {}};
const FileSpec kLoadavg = {"", TextFormat::kLoadavg, {}};

struct NumberRow {
  const char* text;
  int error;
  double value;
};

}  // namespace

TEST("a number") {
  const NumberRow rows[] = {
      {"0\n", 0, 0},
      {"18446744073709551615\n", 0, 18446744073709551615.0},
      {"18446744073709551616\n", EBADMSG, NAN},
      {"99999999999999999999999\n", EBADMSG, NAN},
      {"max\n", 0, std::numeric_limits<double>::infinity()},
      {"-1\n", EBADMSG, NAN},
      {"12", EBADMSG, NAN},
      {"1 2\n", EBADMSG, NAN},
      {"\n", EBADMSG, NAN},
      {"", EBADMSG, NAN},
      {"maximum\n", EBADMSG, NAN},
  };
  for (const NumberRow& row : rows) {
    std::vector<double> values;
    CHECK_EQUAL(Parse(kNumber, row.text, &values), row.error);
    CHECK(std::isnan(row.value) ? std::isnan(values[0]) : values[0] == row.value);
  }
}

TEST("keys are found at any position, and each can be missing alone") {
  const FileSpec spec = {"", TextFormat::kKeyed, {"MemTotal", "oom_kill", "none"}};
  std::vector<double> values;
  CHECK_EQUAL(Parse(spec, "oom_kill 3\nMemTotalling: 5 kB\nMemTotal:       2 kB\n", &values), ENODATA);
  CHECK_EQUAL(values[0], 2048);
  CHECK_EQUAL(values[1], 3);
  CHECK(std::isnan(values[2]));
  CHECK_EQUAL(Parse(spec, "oom_kill x\nMemTotal: 1 kB\nnone 0\n", &values), EBADMSG);
  CHECK_EQUAL(values[0], 1024);
  CHECK(std::isnan(values[1]));
}

TEST("a kstat has a type before each value") {
  const FileSpec spec = {"", TextFormat::kKstat, {"size", "c_min"}};
  std::vector<double> values;
  CHECK_EQUAL(Parse(spec, "13 1 0x01 3 816 1 2\nname   type data\nc_min  4    7\nsize   4    12\n", &values), 0);
  CHECK_EQUAL(values[0], 12);
  CHECK_EQUAL(values[1], 7);
  CHECK_EQUAL(Parse(spec, "c_min  4    7\nsize   4\n", &values), EBADMSG);
  CHECK(std::isnan(values[0]));
}

TEST("nested keys are added up over the devices") {
  const FileSpec spec = {"", TextFormat::kNested, {"rbytes", "wios"}};
  const std::string two = "8:0 rbytes=100 wbytes=7 wios=2\n253:1 rbytes=20 wbytes=1 wios=3\n";
  std::vector<double> values;
  CHECK_EQUAL(Parse(spec, two, &values), 0);
  CHECK_EQUAL(values[0], 120);
  CHECK_EQUAL(values[1], 5);
  CHECK_EQUAL(Parse(spec, "", &values), 0);
  CHECK_EQUAL(values[0], 0);
  CHECK_EQUAL(Parse(spec, "8:0 \n8:16\n8:32 =5 rbytes=1\n", &values), 0);
  CHECK_EQUAL(values[0], 1);
  for (const char* wrong : {"8:0 rbytes=x wios=2\n", "8:0 rbytes= wios=2\n", "8:0 rbytes=-1 wios=2\n"}) {
    CHECK_EQUAL(Parse(spec, wrong, &values), EBADMSG);
    CHECK(std::isnan(values[0]));
    CHECK_EQUAL(values[1], 2);
  }
  for (size_t length = 1; length < two.size(); length++) {
    if (two[length - 1] == '\n') continue;
    CHECK_EQUAL(Parse(spec, two.substr(0, length), &values), EBADMSG);
    CHECK(std::isnan(values[0]));
  }
}

TEST("text that was cut off anywhere never gives a number that was not there") {
  const FileSpec spec = {"", TextFormat::kKeyed, {"high", "max"}};
  const std::string whole = "low 0\nhigh 12345\nmax 678\n";
  for (size_t length = 0; length < whole.size(); length++) {
    std::vector<double> values;
    CHECK(Parse(spec, whole.substr(0, length), &values) != 0);
    CHECK(std::isnan(values[0]) || values[0] == 12345);
    CHECK(std::isnan(values[1]));
  }
}

TEST("pressure with both lines, with one, and with a malformed line") {
  const std::string some = "some avg10=1.25 avg60=0.50 avg300=0.00 total=7\n";
  const std::string full = "full avg10=100.00 avg60=0.00 avg300=0.00 total=18446744073709551615\n";
  std::vector<double> values;
  CHECK_EQUAL(Parse(kPressure, some + full, &values), 0);
  CHECK_EQUAL(values[0], 1.25);
  CHECK_EQUAL(values[3], 7);
  CHECK_EQUAL(values[4], 100);
  CHECK_EQUAL(Parse(kPressure, some, &values), ENODATA);
  CHECK_EQUAL(values[0], 1.25);
  CHECK(std::isnan(values[4]));
  CHECK_EQUAL(Parse(kPressure, full, &values), ENODATA);
  for (const char* text : {"", "some\n", "none avg10=0\n", "some avg10=0.00 avg60=0.00 avg300=0.00 total=7"}) {
    CHECK_EQUAL(Parse(kPressure, text, &values), EBADMSG);
  }
}

TEST("the tasks of the load average") {
  std::vector<double> values;
  CHECK_EQUAL(Parse(kLoadavg, "0.00 0.01 0.05 1/123 4567\n", &values), 0);
  CHECK_EQUAL(values[0], 123);
  CHECK_EQUAL(Parse(kLoadavg, "0.00 0.01 0.05 1/\n", &values), EBADMSG);
}

}  // namespace evictd::test
