#pragma once

namespace evictd {

// The number that a sampler samples. Waiter thread only; nothing allocates or blocks.
class SampledValue {
 public:
  virtual ~SampledValue() = default;

  // -1, or a descriptor that becomes readable when the answer to Request() is there.
  virtual int descriptor() const { return -1; }

  // Requests the current value. Returns false if the descriptor reports the answer later.
  virtual bool Request() { return true; }

  // The requested value. Returns 0 or errno.
  virtual int Take(double* value) = 0;

  // Whether a later sample may succeed after this errno.
  virtual bool IsTransient(int error) const = 0;
};

}  // namespace evictd
