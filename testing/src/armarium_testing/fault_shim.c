/* Stands between a program and its files: kills or fails the N-th call that writes, syncs, renames or removes.
 *
 * Preloaded by armarium_testing.faults, which compiles it where a C compiler is at hand. Only calls on regular
 * files count, so pipes and sockets are left alone.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { OFF = 0, COUNT = 1, KILL = 2, FAIL_ONCE = 3, FAIL_FROM = 4 };

static volatile int mode = OFF;
static volatile long at = 0;
static volatile long seen = 0;
static volatile int error_number = 0;

void fault_arm(int new_mode, long new_at, int new_error)
{
    seen = 0;
    at = new_at;
    error_number = new_error;
    mode = new_mode;
}

long fault_seen(void) { return seen; }

static int strikes(int fd)
{
    struct stat status;
    if (mode == OFF)
        return 0;
    if (fd >= 0 && (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)))
        return 0;
    long number = __sync_add_and_fetch(&seen, 1);
    if (mode == KILL && number == at)
        kill(getpid(), SIGKILL);
    if ((mode == FAIL_ONCE && number == at) || (mode == FAIL_FROM && number >= at)) {
        errno = error_number;
        return 1;
    }
    return 0;
}

#define REAL(name) \
    static __typeof__(name) *real = 0; \
    if (!real) \
        real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

ssize_t write(int fd, const void *data, size_t size)
{
    REAL(write);
    return strikes(fd) ? -1 : real(fd, data, size);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
    REAL(pwrite);
    return strikes(fd) ? -1 : real(fd, data, size, offset);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset)
{
    REAL(pwrite64);
    return strikes(fd) ? -1 : real(fd, data, size, offset);
}

int fsync(int fd)
{
    REAL(fsync);
    return strikes(fd) ? -1 : real(fd);
}

int fdatasync(int fd)
{
    REAL(fdatasync);
    return strikes(fd) ? -1 : real(fd);
}

int ftruncate(int fd, off_t size)
{
    REAL(ftruncate);
    return strikes(fd) ? -1 : real(fd, size);
}

int ftruncate64(int fd, off64_t size)
{
    REAL(ftruncate64);
    return strikes(fd) ? -1 : real(fd, size);
}

int rename(const char *from, const char *to)
{
    REAL(rename);
    return strikes(-1) ? -1 : real(from, to);
}

int mkdir(const char *path, mode_t bits)
{
    REAL(mkdir);
    return strikes(-1) ? -1 : real(path, bits);
}
