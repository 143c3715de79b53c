// The load of the lab. The command name of a process (comm) is NAME.
//
//   load hold NAME MIB          takes MIB of memory, then touches a tenth of it every second
//   load leak NAME RATE LEVEL   waits for SIGUSR1, fills at 200 MiB/s until MemAvailable < LEVEL MiB, waits for
//                               SIGUSR2, then fills at RATE MiB/s (0: as fast as it goes) until it is killed
//   load dentries DIR MIB       looks up names that are not there until the reclaimable slab has MIB
//   load map FILE               reads every page of a mapping of FILE: they become active page cache
//   load serve NAME FILE        reads random pages of a mapping of FILE, as a database whose data is in the page cache
//   load pause                  sleeps
//
// A third of a page is random, so that a compressed swap keeps it at about 3:1. SIGTERM ends a process at once.
#include <signal.h>
#include <sys/prctl.h>

#include "readings.h"

#define QUICK_MIB_PER_S 200
#define RANDOM_BYTES (PAGE / 3)
// The most that a process that was not scheduled makes up for, in seconds.
#define CATCHES_UP 0.05

static char contents[RANDOM_BYTES];

static void on_term(int signal) { _exit(128 + signal); }

static void fill_contents(void) {
  uint64_t state = 88172645463325252;
  for (size_t at = 0; at < RANDOM_BYTES; at++) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    contents[at] = (char)state;
  }
}

static void fill(char* memory, size_t from, size_t to) {
  for (size_t at = from; at < to; at += PAGE) memcpy(memory + at, contents, RANDOM_BYTES);
}

static _Noreturn void hold(size_t mib) {
  const size_t tenth = mib * MIB / 10 / PAGE * PAGE;
  char* memory = reserve(mib * MIB);
  fill(memory, 0, mib * MIB);
  for (size_t turn = 0;; turn = (turn + 1) % 10) {
    sleep_us(1000000);
    for (size_t at = tenth * turn; at < tenth * (turn + 1); at += PAGE) ((volatile char*)memory)[at]++;
  }
}

// From `at` on, until MemAvailable is below `level_kib` (0: for ever). Returns where it ended.
static size_t fill_at(char* memory, size_t at, double rate, int meminfo, long level_kib) {
  int64_t from = now_us();
  double credit = 0;
  for (;;) {
    size_t bytes = MIB;
    if (rate > 0) {
      sleep_us(2000);
      const int64_t now = now_us();
      credit += (now - from) / 1e6 * rate * MIB;
      if (credit > rate * MIB * CATCHES_UP) credit = rate * MIB * CATCHES_UP;
      from = now;
      bytes = (size_t)credit / PAGE * PAGE;
      credit -= bytes;
    }
    fill(memory, at, at + bytes);
    at += bytes;
    if (level_kib == 0) continue;
    reread(meminfo);
    if (field("\nMemAvailable:") < level_kib) return at;
  }
}

static _Noreturn void leak(double rate, long level_mib) {
  sigset_t go;
  int signal;
  sigemptyset(&go);
  sigaddset(&go, SIGUSR1);
  sigaddset(&go, SIGUSR2);
  sigprocmask(SIG_BLOCK, &go, NULL);
  char* memory = reserve(64UL << 30);
  const int meminfo = open_or_die("/proc/meminfo");
  do sigwait(&go, &signal);
  while (signal != SIGUSR1);
  const size_t at = fill_at(memory, 0, QUICK_MIB_PER_S, meminfo, level_mib << 10);
  do sigwait(&go, &signal);
  while (signal != SIGUSR2);
  fill_at(memory, at, rate, meminfo, 0);
  _exit(0);
}

static int dentries(const char* directory, long mib) {
  const int meminfo = open_or_die("/proc/meminfo");
  const long pid = getpid();
  for (long count = 0;; count++) {
    if (count % 10000 == 0) {
      reread(meminfo);
      if (field("\nSReclaimable:") >= mib << 10) return 0;
    }
    char name[256];
    snprintf(name, sizeof name, "%s/%ld-%ld", directory, pid, count);
    access(name, F_OK);
  }
}

static int map(const char* path) {
  const int file = open_or_die(path);
  const off_t size = lseek(file, 0, SEEK_END);
  const volatile char* memory = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return perror("mmap"), 2;
  for (off_t at = 0; at < size; at += PAGE) (void)memory[at];
  return 0;
}

static int serve(const char* path) {
  const int file = open_or_die(path);
  const off_t pages = lseek(file, 0, SEEK_END) / PAGE;
  const volatile char* memory = mmap(NULL, pages * PAGE, PROT_READ, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return perror("mmap"), 2;
  madvise((void*)memory, pages * PAGE, MADV_RANDOM);
  for (uint64_t state = 88172645463325252;;) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    (void)memory[state % pages * PAGE];
  }
}

int main(int argc, char** argv) {
  const char* role = argc > 1 ? argv[1] : "";
  sigaction(SIGTERM, &(struct sigaction){.sa_handler = on_term}, NULL);
  fill_contents();
  if (!strcmp(role, "dentries") && argc == 4) return dentries(argv[2], atol(argv[3]));
  if (!strcmp(role, "map") && argc == 3) return map(argv[2]);
  if (argc > 2) prctl(PR_SET_NAME, argv[2]);
  if (!strcmp(role, "hold") && argc == 4) hold(atol(argv[3]));
  if (!strcmp(role, "leak") && argc == 5) leak(atof(argv[3]), atol(argv[4]));
  if (!strcmp(role, "serve") && argc == 4) return serve(argv[3]);
  if (!strcmp(role, "pause")) pause();
  fputs("load: hold NAME MIB | leak NAME RATE LEVEL | dentries DIR MIB | map FILE | serve NAME FILE | pause\n", stderr);
  return 2;
}
