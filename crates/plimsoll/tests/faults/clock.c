/* A clock that is wrong by CLOCK_OFFSET seconds, for whoever is started with this preloaded. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *now) {
    int failed = (int)syscall(SYS_clock_gettime, clock, now);
    const char *offset = getenv("CLOCK_OFFSET");
    if (!failed && clock == CLOCK_REALTIME && offset) now->tv_sec += atoll(offset);
    return failed;
}
