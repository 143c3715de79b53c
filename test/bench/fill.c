// A process that fills memory until it is killed. filler.ts starts it in a cgroup; it does not use evictd.
//
//   fill small|huge FILE   small or huge pages. FILE is mapped: two 64-bit numbers, the bytes and nanoseconds of the current
//                          line so far, so that the progress of a killed process is known.
//
// Each line of standard input is 'BYTES RATE': fill BYTES more at RATE bytes per second (0: as fast as possible). The answer
// is the time that it took, in nanoseconds.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

// The bytes between two readings of the clock, if there is a rate.
#define CHUNK (64LL << 10)
#define PAGE 4096
#define HUGE_PAGE (2LL << 20)
#define SIZE (8LL << 30)

static long long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void sleep_until(long long at_ns) {
  const struct timespec at = {at_ns / 1000000000LL, at_ns % 1000000000LL};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) != 0) continue;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  const int file = open(argv[2], O_RDWR);
  volatile long long *done = mmap(NULL, 16, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file < 0 || done == MAP_FAILED) return 1;
  char *memory = mmap(NULL, SIZE + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return 1;
  memory += HUGE_PAGE - (long long)memory % HUGE_PAGE;
  if (madvise(memory, SIZE, strcmp(argv[1], "huge") == 0 ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) != 0) return 1;
  setvbuf(stdout, NULL, _IOLBF, 0);
  puts("ready");
  char line[64];
  for (long long at = 0, bytes, rate; fgets(line, sizeof(line), stdin) != NULL;) {
    if (sscanf(line, "%lld %lld", &bytes, &rate) != 2) return 2;
    const long long from = at, from_ns = now_ns(), to = at + bytes < SIZE ? at + bytes : SIZE;
    while (at < to) {
      const long long stop = at + CHUNK < to ? at + CHUNK : to;
      // Every page of 4 KiB, also of huge ones: that one writes to all of its memory is the point of having it.
      for (; at < stop; at += PAGE) memory[at] = 1;
      if (rate > 0) sleep_until(from_ns + (long long)((double)(at - from) / (double)rate * 1e9));
      done[0] = at - from;
      done[1] = now_ns() - from_ns;
    }
    printf("%lld\n", now_ns() - from_ns);
  }
  return 0;
}
