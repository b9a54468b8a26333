// Copying and comparing for the static binary, in the place of musl's own.
//
// Reading a session and writing a checkpoint is hundreds of thousands of copies and comparisons of a
// few bytes. musl copies with `rep movs`, which takes longer to begin than such a copy takes as a
// whole, and compares byte by byte. These do 16 bytes at a time with what every x86-64 has, and the
// odd bytes at either end by loads and stores that overlap.

#include <emmintrin.h>
#include <stddef.h>
#include <stdint.h>

typedef uint16_t __attribute__((may_alias, aligned(1))) u16;
typedef uint32_t __attribute__((may_alias, aligned(1))) u32;
typedef uint64_t __attribute__((may_alias, aligned(1))) u64;
typedef __m128i __attribute__((may_alias, aligned(1))) u128;

// Copies a first and a last piece, which may overlap: everything is read before anything is written.
#define ENDS(type)                                                              \
    do {                                                                        \
        type first = *(const type *)from, last = *(const type *)(from + n - sizeof(type)); \
        *(type *)to = first;                                                    \
        *(type *)(to + n - sizeof(type)) = last;                                \
    } while (0)

static void few(char *to, const char *from, size_t n) {
    if (n >= 8) ENDS(u64);
    else if (n >= 4) ENDS(u32);
    else if (n >= 2) ENDS(u16);
    else if (n) *to = *from;
}

struct block {
    __m128i part[4];
};

static inline struct block load(const char *from) {
    const u128 *parts = (const u128 *)from;
    return (struct block){{parts[0], parts[1], parts[2], parts[3]}};
}

static inline void store(char *to, struct block block) {
    u128 *parts = (u128 *)to;
    for (int i = 0; i < 4; i++) parts[i] = block.part[i];
}

// At least a block. The end that is reached last was read first.
static void forward(char *to, const char *from, size_t n) {
    struct block last = load(from + n - sizeof last);
    char *end = to + n - sizeof last;
    for (; to < end; to += sizeof last, from += sizeof last) store(to, load(from));
    store(end, last);
}

static void backward(char *to, const char *from, size_t n) {
    struct block first = load(from);
    for (; n > sizeof first; n -= sizeof first) store(to + n - sizeof first, load(from + n - sizeof first));
    store(to, first);
}

void *memmove(void *target, const void *source, size_t n) {
    char *to = target;
    const char *from = source;
    if (n <= 16) few(to, from, n);
    else if (n <= 32) ENDS(u128);
    else if (n < sizeof(struct block)) {
        u128 second = *(const u128 *)(from + 16), third = *(const u128 *)(from + n - 32);
        ENDS(u128);
        *(u128 *)(to + 16) = second;
        *(u128 *)(to + n - 32) = third;
    }
    // Behind the source, or clear of it.
    else if ((uintptr_t)to - (uintptr_t)from >= n) forward(to, from, n);
    else backward(to, from, n);
    return target;
}

void *memcpy(void *restrict target, const void *restrict source, size_t n) {
    return memmove(target, source, n);
}

static int bytewise(const unsigned char *one, const unsigned char *other, size_t n) {
    while (n && *one == *other) one++, other++, n--;
    return n ? *one - *other : 0;
}

int memcmp(const void *one, const void *other, size_t n) {
    const unsigned char *a = one, *b = other;
    for (; n >= 16; a += 16, b += 16, n -= 16) {
        unsigned same = _mm_movemask_epi8(_mm_cmpeq_epi8(*(const u128 *)a, *(const u128 *)b));
        if (same != 0xffff) {
            int at = __builtin_ctz(~same);
            return a[at] - b[at];
        }
    }
    if (n >= 8 && *(const u64 *)a == *(const u64 *)b) a += 8, b += 8, n -= 8;
    if (n >= 4 && *(const u32 *)a == *(const u32 *)b) a += 4, b += 4, n -= 4;
    return bytewise(a, b, n);
}

int bcmp(const void *one, const void *other, size_t n) {
    return memcmp(one, other, n);
}
