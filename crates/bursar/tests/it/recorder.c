/* Records, in order, what a program writes and syncs: one line a call, "write PATH" or "sync PATH", appended to the
   file that BURSAR_TEST_RECORD names. A line is written when the call has succeeded. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static void record(const char *call, int fd) {
    static int out = -1;
    char link[64], line[PATH_MAX + 16];
    if (out < 0) {
        const char *name = getenv("BURSAR_TEST_RECORD");
        if (name == NULL) return;
        out = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        if (out < 0) abort();
    }
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    int start = snprintf(line, sizeof line, "%s ", call);
    ssize_t length = readlink(link, line + start, PATH_MAX);
    if (length < 0) return;
    line[start + length] = '\n';
    /* Past our own write. */
    syscall(SYS_write, out, line, (size_t)(start + length + 1));
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *data, size_t size) {
    ssize_t done = NEXT(write)(fd, data, size);
    if (done >= 0) record("write", fd);
    return done;
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at) {
    ssize_t done = NEXT(pwrite)(fd, data, size, at);
    if (done >= 0) record("write", fd);
    return done;
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
    ssize_t done = NEXT(pwrite64)(fd, data, size, at);
    if (done >= 0) record("write", fd);
    return done;
}

int fsync(int fd) {
    int done = NEXT(fsync)(fd);
    if (done == 0) record("sync", fd);
    return done;
}

int fdatasync(int fd) {
    int done = NEXT(fdatasync)(fd);
    if (done == 0) record("sync", fd);
    return done;
}
