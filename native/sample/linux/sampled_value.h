#pragma once

namespace evictd {

// What a sampler looks at: one number. Everything on the waiter thread, nothing allocates or blocks.
class SampledValue {
 public:
  virtual ~SampledValue() = default;

  // -1, or what becomes readable when an answer that Ask() had to wait for is there.
  virtual int descriptor() const { return -1; }

  // Asks for the value as it is now. False: it takes time, the descriptor tells.
  virtual bool Ask() { return true; }

  // The value that was asked for. Returns 0 or errno.
  virtual int Take(double* value) = 0;

  // Whether the value may be there again after this errno.
  virtual bool Passing(int error) const = 0;
};

}  // namespace evictd
