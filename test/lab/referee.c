// referee PID LIMIT SECONDS LINGER FILE
//
// The referee of a round: sends SIGUSR2 to the leaking process PID and follows it until it has ended, or for SECONDS,
// then waits LINGER seconds for further victims. Prints one line of name=value; `-`: it did not happen. Its memory is
// locked and its priority real-time. Beside it runs a small interactive process that wakes every 10 ms, takes a fresh
// page and reads 64 KiB of FILE, which is mapped as the text of a program is.
#define _GNU_SOURCE
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "readings.h"

#define LOOKS_EVERY_MS 5
#define WAKES_EVERY_NS 10000000
#define STALL_US 100000

// Written by the interactive process.
struct stalls {
  volatile int64_t last, longest, sum;
};

static _Noreturn void interact(struct stalls* stalls, const char* file, size_t size) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NAME, "interactive");
  struct timespec next;
  size_t at = 0;
  clock_gettime(CLOCK_MONOTONIC, &next);
  for (stalls->last = now_us();;) {
    next.tv_nsec += WAKES_EVERY_NS;
    if (next.tv_nsec >= 1000000000) next.tv_nsec -= 1000000000, next.tv_sec++;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    for (int page = 0; page < 16; page++, at = (at + PAGE) % size) (void)*(volatile const char*)(file + at);
    char* fresh = reserve(PAGE);
    *(volatile char*)fresh = 1;
    munmap(fresh, PAGE);
    const int64_t now = now_us(), gap = now - stalls->last;
    if (gap > stalls->longest) stalls->longest = gap;
    if (gap > STALL_US) stalls->sum += gap;
    stalls->last = now;
    if (gap > WAKES_EVERY_NS / 1000) clock_gettime(CLOCK_MONOTONIC, &next);  // it does not catch up
  }
}

// With the stall that has not ended.
static int64_t longest(const struct stalls* stalls) {
  const int64_t open = now_us() - stalls->last;
  return open > stalls->longest ? open : stalls->longest;
}

// Of /proc/pressure/memory, in µs.
static long full_stall(int pressure) {
  reread(pressure);
  const char* full = strstr(text, "full");
  const char* total = full ? strstr(full, "total=") : NULL;
  return total ? strtol(total + strlen("total="), NULL, 10) : 0;
}

static void print_span(const char* name, int64_t from, int64_t to) {
  if (from && to)
    printf("%s=%.1f ", name, (to - from) / 1e3);
  else
    printf("%s=- ", name);
}

// MiB/s.
static void print_rate(const char* name, long from_kib, long to_kib, int64_t from, int64_t to) {
  if (from && to > from)
    printf("%s=%.1f ", name, (to_kib - from_kib) / 1024.0 / ((to - from) / 1e6));
  else
    printf("%s=- ", name);
}

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  const pid_t pid = atoi(argv[1]);
  const long limit_kib = atol(argv[2]) << 10;
  const double seconds = atof(argv[3]), linger = atof(argv[4]);
  char name[64];
  snprintf(name, sizeof name, "/proc/%d/statm", pid);
  const int statm = open_or_die(name), meminfo = open_or_die("/proc/meminfo"), file = open_or_die(argv[5]);
  const int pressure = open_or_die("/proc/pressure/memory"), vmstat = open_or_die("/proc/vmstat");
  const int pidfd = syscall(SYS_pidfd_open, pid, 0);
  if (pidfd < 0) return perror("pidfd_open"), 2;

  struct stat status;
  fstat(file, &status);
  struct stalls* stalls = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  const pid_t interactive = fork();
  if (interactive == 0) interact(stalls, mmap(NULL, status.st_size, PROT_READ, MAP_SHARED, file, 0), status.st_size);
  mlockall(MCL_CURRENT | MCL_FUTURE);
  sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 10});
  sleep_us(1500000);
  const int64_t calm = stalls->longest;
  stalls->longest = stalls->sum = 0;

  const long full_before = full_stall(pressure);
  reread(vmstat);
  const long kills_before = field("\noom_kill ");
  long first_kib = 0, crossing_kib = 0, rss_kib = 0, low_kib = 1L << 40, low_swap_kib = 1L << 40;
  int64_t crossing = 0, dead = 0, now = now_us();
  const int64_t go = now;
  kill(pid, SIGUSR2);
  while (!dead && now - go < seconds * 1e6) {
    reread(statm);
    const char* resident = strchr(text, ' ');
    if (resident && atol(resident) > 0) rss_kib = atol(resident) * 4;  // 0: its memory is being freed
    if (!first_kib) first_kib = rss_kib;
    reread(meminfo);
    now = now_us();
    const long available = field("\nMemAvailable:"), swap = field("\nSwapFree:");
    if (available < low_kib) low_kib = available;
    if (swap < low_swap_kib) low_swap_kib = swap;
    if (!crossing && available < limit_kib) crossing = now, crossing_kib = rss_kib;
    struct pollfd end = {pidfd, POLLIN, 0};
    if (poll(&end, 1, LOOKS_EVERY_MS) > 0) dead = now_us();
  }
  sleep_us(500000);
  const int64_t stall = longest(stalls), sum = stalls->sum;
  sleep_us(linger * 1e6);
  const long full = full_stall(pressure) - full_before;  // late: the kernel adds to it every 2 s
  reread(vmstat);
  const long kills = field("\noom_kill ") - kills_before;
  kill(interactive, SIGUSR1);  // its end is no deadly signal of the round
  waitpid(interactive, NULL, 0);

  printf("go_us=%lld ", (long long)go);
  print_span("crossing_ms", go, crossing);
  print_span("dead_ms", go, dead);
  print_rate("rate_before", first_kib, crossing ? crossing_kib : rss_kib, go, crossing ? crossing : dead);
  printf("low_available_kib=%ld low_swap_kib=%ld oom_kills=%ld ", low_kib, low_swap_kib, kills);
  printf("stall_ms=%.1f stalled_ms=%.1f calm_ms=%.1f psi_full_ms=%.0f\n", stall / 1e3, sum / 1e3, calm / 1e3,
         full / 1e3);
  return 0;
}
