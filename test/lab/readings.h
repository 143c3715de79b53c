// Clock and kernel files for load.c and referee.c. Files stay open, so that a reading needs no memory.
#pragma once
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096UL
#define MIB (1UL << 20)

static char text[16384];

static inline int64_t now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

static inline void sleep_us(int64_t us) { nanosleep(&(struct timespec){us / 1000000, us % 1000000 * 1000}, NULL); }

static inline int open_or_die(const char* path) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    perror(path);
    exit(2);
  }
  return fd;
}

// Memory without huge pages. It is the kernel's until a page is written to.
static inline char* reserve(size_t bytes) {
  char* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    perror("mmap");
    exit(2);
  }
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  return memory;
}

static inline void reread(int fd) {
  const ssize_t length = pread(fd, text, sizeof text - 1, 0);
  text[length > 0 ? length : 0] = 0;
}

// The number behind `key` in what was read last; 0: it is not there.
static inline long field(const char* key) {
  const char* at = strstr(text, key);
  return at ? strtol(at + strlen(key), NULL, 10) : 0;
}
