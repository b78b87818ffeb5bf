// Objects of the double of macOS. Each has a magic number and a reference count; a wrong use is recorded and fails the test.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { STRING = 101, NUMBER, BOOLEAN, ARRAY, DICTIONARY, URL, ATTRIBUTED, ELEMENT, VALUE, OBSERVER, SOURCE, LOOP, IMAGE, CONTEXT, SPACE, MODE };
enum { POINT = 1, SIZE, RECT, RANGE, AXERROR };

typedef struct Object {
	uint32_t magic;
	int refs, kind; // refs is negative for objects that live for ever
	long count;     // UTF-16 units, members, or pairs
	uint16_t *units;
	struct Object **members; // of a dictionary: keys and values by turns
	double n[4];
	int pid, node; // of an element
	uint32_t type;
	struct Observer *observer;
	unsigned char *data; // of a context: the caller's memory
} Object;

typedef struct { long at, count; } CFRange;
typedef struct { double x, y; } CGPoint;
typedef struct { double x, y, w, h; } CGRect;

extern pthread_mutex_t lock;
extern Object *kCFBooleanTrue, *kCFBooleanFalse;
void fail(const char *format, ...);
Object *check(Object *o, int kind, const char *where);
Object *make(int kind);
void forever(Object *o);
Object *text(const char *utf8);
Object *number(double n);
Object *value(int type, double a, double b);
Object *array(Object **members, int count); // takes over the references
Object *CFRetain(Object *o);
void CFRelease(Object *o);
int same(Object *string, const char *ascii);
char *utf8of(Object *string);
