#include "linux/deadline_sampler.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <utility>

#include "common/system_error.h"

namespace evictd {

namespace {

constexpr uint64_t kNsPerSecond = 1000000000u;

// Under memory exhaustion the kernel may have no page for the text: exactly then the sampler has to go on.
bool Passing(int error) {
  return error == ENOMEM || error == EAGAIN || error == EINTR || error == EMFILE || error == ENFILE;
}

}  // namespace

DeadlineSampler::DeadlineSampler(std::vector<FileSpec> files, std::vector<double> weights, uint64_t interval_ns,
                                 std::vector<double> limits)
    : reader_(std::move(files)), weights_(std::move(weights)), values_(reader_.fields()), errors_(reader_.files()) {
  SetLimits(std::move(limits));
  for (size_t file = 0; file < reader_.files(); file++) {
    if (const int error = reader_.Open(file)) throw SystemError(error, "open", reader_.spec(file).path);
  }
  reader_.Read(values_.data(), errors_.data());
  for (size_t file = 0; file < reader_.files(); file++) {
    if (errors_[file] != 0) throw SystemError(errors_[file], "read", reader_.spec(file).path);
  }
  timer_.Reset(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!timer_) throw SystemError(errno, "timerfd_create");
  itimerspec period = {};
  period.it_interval.tv_sec = static_cast<time_t>(interval_ns / kNsPerSecond);
  period.it_interval.tv_nsec = static_cast<long>(interval_ns % kNsPerSecond);
  period.it_value.tv_nsec = 1;  // the first sample at once
  if (timerfd_settime(timer_.get(), 0, &period, nullptr) != 0) throw SystemError(errno, "timerfd_settime");
}

void DeadlineSampler::SetLimits(std::vector<double> limits) {
  std::vector<Limit> fresh;
  fresh.reserve(limits.size());
  for (const double limit : limits) fresh.push_back({limit, Limit::Side::kBelow});
  const std::lock_guard<std::mutex> lock(mutex_);
  limits_.swap(fresh);
}

std::vector<WatchSource::Descriptor> DeadlineSampler::Descriptors() const { return {{timer_.get(), EPOLLIN}}; }

Wake DeadlineSampler::OnEvent(size_t, uint32_t) {
  uint64_t expirations = 0;
  if (read(timer_.get(), &expirations, sizeof expirations) < 0) return Wake::kNothing;
  double sum = 0;
  const int error = Sample(&sum);
  if (error != 0) return Passing(error) ? Wake::kNothing : Wake::kGone;
  return Crossed(sum) ? Wake::kFired : Wake::kNothing;
}

int DeadlineSampler::Sample(double* sum) {
  reader_.Read(values_.data(), errors_.data());
  for (const int32_t error : errors_) {
    if (error != 0) return error;
  }
  for (size_t field = 0; field < values_.size(); field++) *sum += weights_[field] * values_[field];
  return 0;
}

bool DeadlineSampler::Crossed(double sum) {
  if (std::isnan(sum)) return false;  // no limit minus no limit: neither side
  bool crossed = false;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (Limit& limit : limits_) {
    const Limit::Side side = sum < limit.value ? Limit::Side::kBelow : Limit::Side::kAtOrAbove;
    if (limit.side != side) crossed = true;
    limit.side = side;
  }
  return crossed;
}

}  // namespace evictd
