#pragma once

namespace evictd {

// What one thread fills with fresh 4 KiB pages in a second, in bytes: the best of several attempts. Takes at most 4 MiB
// of memory, for about 20 ms at most. Throws SystemError if no memory can be mapped.
double MeasureFill();

}  // namespace evictd
