/* Maps a file and counts its newlines: the minimum cost of reading it all. */

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

int main(int argc, char **argv) {
    struct stat status;
    int file = argc == 2 ? open(argv[1], O_RDONLY) : -1;
    if (file < 0 || fstat(file, &status) != 0) return 1;
    char *at = mmap(NULL, status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (at == MAP_FAILED) return 1;
    char *end = at + status.st_size;
    size_t newlines = 0;
    while ((at = memchr(at, '\n', end - at)) != NULL) {
        newlines++;
        at++;
    }
    printf("%zu\n", newlines);
    return 0;
}
