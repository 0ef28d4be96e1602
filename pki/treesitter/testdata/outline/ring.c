/*
 * A ring buffer.
 */
#include <stdio.h>
#define RING_MAX 16
#define RING_AT(r, i) ((r)->data[(i) % RING_MAX])

#ifdef __cplusplus
extern "C" {
#endif

/* One ring. */
struct ring {
	int head, tail;
	char *data[RING_MAX];
};

typedef struct ring ring_t;
typedef int (*compare_fn)(const void *, const void *);
typedef struct { int x; int y; } point;

enum colour { RED, GREEN = 2 };
union word { int i; float f; };

static const int limit = 3;
extern char *names[];
int counter;

int ring_len(const ring_t *r);
extern void *ring_get(ring_t *r, int i);

/* Puts one. */
static inline int ring_put(ring_t *r, char *s)
{
	int local = 1;
	struct point p;
	if (r->head == r->tail) { return -1; }
	return local;
}

char *ring_name(ring_t *r) { return names[0]; }

struct ring **all(void) { return 0; }

int old_style(a, b) int a; int b; { return a + b; }

int broken(int a { return a; }

int after(void) { return 1; }

#ifdef __cplusplus
}
#endif
