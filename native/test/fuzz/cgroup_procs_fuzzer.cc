// cgroup.procs: the same pids however the text is cut, and those that strtoll reads in complete lines.
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include "fuzz/keyed.h"
#include "kill/linux/cgroup_processes.h"

namespace {

std::vector<pid_t> Reference(std::string_view text) {
  std::istringstream lines{std::string(text)};
  std::vector<pid_t> pids;
  for (std::string line; std::getline(lines, line) && !lines.eof();) {
    const bool digits = !line.empty() && line.find_first_not_of("0123456789") == std::string::npos;
    const long long number = strtoll(line.c_str(), nullptr, 10);  // LLONG_MAX beyond
    if (digits && number <= INT32_MAX) pids.push_back(static_cast<pid_t>(number));
  }
  return pids;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using evictd::fuzz::Require;
  if (size == 0) return 0;
  const size_t cut = data[0];  // the first byte selects the cut
  const evictd::fuzz::Input input(data + 1, size - 1);
  const std::string_view text = input.text();

  std::vector<pid_t> whole;
  evictd::CgroupProcsText().Append(text, &whole);
  Require(whole == Reference(text));

  std::vector<pid_t> pieces;
  evictd::CgroupProcsText parser;
  for (size_t start = 0; start < text.size(); start += cut + 1) parser.Append(text.substr(start, cut + 1), &pieces);
  Require(pieces == whole);
  return 0;
}
