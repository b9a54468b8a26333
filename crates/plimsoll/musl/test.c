// Holds mem.c against the C library's own functions, at every size, distance and difference that
// takes another way through it.

#define memmove our_memmove
#define memcpy our_memcpy
#define memcmp our_memcmp
#define bcmp our_bcmp
#include "mem.c"
#undef memmove
#undef memcpy
#undef memcmp
#undef bcmp

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 640, MOST = 200, AT = 200 };

static unsigned char ours[ROOM], theirs[ROOM];

static void fill(void) {
    for (int i = 0; i < ROOM; i++) ours[i] = theirs[i] = rand();
}

static void moves(void) {
    for (int n = 0; n <= MOST; n++)
        for (int by = -80; by <= 80; by++) {
            fill();
            memmove(theirs + AT + by, theirs + AT, n);
            void *given = our_memmove(ours + AT + by, ours + AT, n);
            if (given == ours + AT + by && !memcmp(ours, theirs, ROOM)) continue;
            printf("memmove of %d bytes by %d\n", n, by);
            exit(1);
        }
}

static int sign(int number) { return (number > 0) - (number < 0); }

static void comparisons(void) {
    for (int n = 0; n <= MOST; n++)
        for (int at = 0; at <= n; at++) {
            fill();
            // One byte differs, or none; what comes behind the end must not matter.
            theirs[at] ^= 1 + rand() % 255;
            theirs[n] ^= rand();
            int wanted = sign(memcmp(ours, theirs, n));
            int found = sign(our_memcmp(ours, theirs, n));
            if (wanted == found && !our_bcmp(ours, theirs, n) == !wanted) continue;
            printf("memcmp of %d bytes that differ at %d\n", n, at);
            exit(1);
        }
}

int main(void) {
    moves();
    comparisons();
    return 0;
}
