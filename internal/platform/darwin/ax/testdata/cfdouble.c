// The double of CoreFoundation: strings, numbers, collections, and their references.
#include "cfdouble.h"
#include <stdarg.h>

#define MAGIC 0x0B1EC7EDu
#define DEAD 0xDEADDEADu
#define KEPT 50000

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t counts = PTHREAD_MUTEX_INITIALIZER;
static long live;
static char failure[500];
static Object yes = {MAGIC, -1, BOOLEAN, .n = {1}}, no = {MAGIC, -1, BOOLEAN};
Object *kCFBooleanTrue = &yes, *kCFBooleanFalse = &no;
char kCFTypeArrayCallBacks[40];

void fail(const char *format, ...) {
	pthread_mutex_lock(&counts);
	if (!failure[0]) {
		va_list args;
		va_start(args, format);
		vsnprintf(failure, sizeof failure, format, args);
		va_end(args);
	}
	pthread_mutex_unlock(&counts);
}
const char *double_failure(void) { return failure; }
long double_live(void) { return live; }

Object *check(Object *o, int kind, const char *where) {
	if (!o) return fail("%s: the object is nil", where), NULL;
	if (o->magic == DEAD) return fail("%s: the object was released before", where), NULL;
	if (o->magic != MAGIC) return fail("%s: %p is no object", where, (void *)o), NULL;
	if (kind && o->kind != kind) return fail("%s: the object has the type %d, want %d", where, o->kind, kind), NULL;
	return o;
}

Object *make(int kind) {
	Object *o = calloc(1, sizeof *o);
	o->magic = MAGIC, o->refs = 1, o->kind = kind;
	pthread_mutex_lock(&counts);
	live++;
	pthread_mutex_unlock(&counts);
	return o;
}

void forever(Object *o) { o->refs = -1, live--; }

Object *CFRetain(Object *o) {
	if (!check(o, 0, "CFRetain")) return o;
	pthread_mutex_lock(&counts);
	if (o->refs > 0) o->refs++;
	pthread_mutex_unlock(&counts);
	return o;
}

void CFRelease(Object *o) {
	if (!check(o, 0, "CFRelease")) return;
	pthread_mutex_lock(&counts);
	int gone = o->refs > 0 && --o->refs == 0;
	if (gone) live--, o->magic = DEAD;
	pthread_mutex_unlock(&counts);
	if (!gone) return;
	for (long i = 0; o->members && i < o->count; i++) CFRelease(o->members[i]);
	free(o->members), o->members = NULL;
	free(o->units), o->units = NULL;
	if (o->kind == OBSERVER) free(o->observer);
	static Object *late[KEPT]; // dead objects are kept for a while, so that a late use is seen
	static unsigned next;
	pthread_mutex_lock(&counts);
	Object *old = late[next % KEPT];
	late[next++ % KEPT] = o;
	pthread_mutex_unlock(&counts);
	free(old);
}

// CFStringCreateWithBytes decodes UTF-8 strictly, as the system does.
Object *CFStringCreateWithBytes(void *allocator, const unsigned char *bytes, long count, uint32_t encoding, unsigned char external) {
	if (allocator || encoding != 0x08000100 || external || count < 0) fail("CFStringCreateWithBytes: wrong arguments");
	uint16_t *units = malloc(2 * (count + 1));
	long n = 0;
	for (long i = 0; i < count;) {
		unsigned c = bytes[i++], more = c < 0x80 ? 0 : c >> 5 == 6 ? 1 : c >> 4 == 14 ? 2 : c >> 3 == 30 ? 3 : 9;
		if (more == 9 || i + more > count) return free(units), NULL;
		c &= more == 0 ? 0x7F : 0x3F >> more;
		for (; more; more--) {
			if (bytes[i] >> 6 != 2) return free(units), NULL;
			c = c << 6 | (bytes[i++] & 0x3F);
		}
		if (c > 0xFFFF) c -= 0x10000, units[n++] = 0xD800 | c >> 10, units[n++] = 0xDC00 | (c & 0x3FF);
		else units[n++] = c;
	}
	Object *o = make(STRING);
	o->units = units, o->count = n;
	return o;
}
Object *text(const char *utf8) { return CFStringCreateWithBytes(NULL, (const unsigned char *)utf8, strlen(utf8), 0x08000100, 0); }

long CFStringGetLength(Object *o) { return check(o, STRING, "CFStringGetLength") ? o->count : 0; }

long CFStringGetBytes(Object *o, CFRange part, uint32_t encoding, unsigned char loss, unsigned char external, unsigned char *buffer, long size, long *used) {
	if (!check(o, STRING, "CFStringGetBytes")) return 0;
	if (encoding != 0x08000100 || external || part.at < 0 || part.count < 0 || part.at + part.count > o->count) fail("CFStringGetBytes: wrong arguments");
	long n = 0, i = part.at, end = part.at + part.count;
	while (i < end) {
		unsigned c = o->units[i], step = 1;
		if (c >> 10 == 0x36 && i + 1 < end && o->units[i + 1] >> 10 == 0x37) c = 0x10000 + ((c & 0x3FF) << 10 | (o->units[i + 1] & 0x3FF)), step = 2;
		else if (c >> 11 == 0x1B) c = loss;
		if (!c && o->units[i]) break; // no loss byte: the conversion ends
		int bytes = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
		if (n + bytes > size) break;
		if (bytes == 1) buffer[n] = c;
		else {
			for (int k = bytes - 1; k > 0; k--) buffer[n + k] = 0x80 | (c >> 6 * (bytes - 1 - k) & 0x3F);
			buffer[n] = (0xF00 >> bytes & 0xFF) | c >> 6 * (bytes - 1);
		}
		n += bytes, i += step;
	}
	if (used) *used = n;
	return i - part.at;
}

char *utf8of(Object *o) {
	static const CFRange none;
	long count = CFStringGetLength(o), used = 0;
	char *out = malloc(3 * count + 1);
	CFRange all = none;
	all.count = count;
	CFStringGetBytes(o, all, 0x08000100, '?', 0, (unsigned char *)out, 3 * count, &used);
	out[used] = 0;
	return out;
}

int same(Object *o, const char *ascii) {
	long i = 0;
	for (; i < o->count && ascii[i] && o->units[i] == (unsigned char)ascii[i]; i++) {}
	return i == o->count && !ascii[i];
}

unsigned char CFEqual(Object *a, Object *b) {
	if (!check(a, 0, "CFEqual") || !check(b, 0, "CFEqual")) return 0;
	if (a == b) return 1;
	if (a->kind != b->kind) return 0;
	if (a->kind == ELEMENT) return a->pid == b->pid && a->node == b->node;
	return a->kind == STRING && a->count == b->count && !memcmp(a->units, b->units, 2 * a->count);
}
uintptr_t CFHash(Object *o) { return !check(o, 0, "CFHash") ? 0 : o->kind == ELEMENT ? (uintptr_t)(o->pid * 31 + o->node / 2) : (uintptr_t)o->count; }
uintptr_t CFGetTypeID(Object *o) { return check(o, 0, "CFGetTypeID") ? (uintptr_t)o->kind : 0; }
uintptr_t CFStringGetTypeID(void) { return STRING; }
uintptr_t CFNumberGetTypeID(void) { return NUMBER; }
uintptr_t CFBooleanGetTypeID(void) { return BOOLEAN; }
uintptr_t CFArrayGetTypeID(void) { return ARRAY; }
uintptr_t CFDictionaryGetTypeID(void) { return DICTIONARY; }
uintptr_t CFURLGetTypeID(void) { return URL; }
uintptr_t CFAttributedStringGetTypeID(void) { return ATTRIBUTED; }
uintptr_t AXUIElementGetTypeID(void) { return ELEMENT; }
uintptr_t AXValueGetTypeID(void) { return VALUE; }

Object *number(double n) {
	Object *o = make(NUMBER);
	o->n[0] = n;
	return o;
}
Object *CFNumberCreate(void *allocator, long kind, double *n) {
	if (allocator || kind != 13) fail("CFNumberCreate: wrong arguments");
	return number(*n);
}
unsigned char CFNumberGetValue(Object *o, long kind, double *n) {
	if (kind != 13) fail("CFNumberGetValue: the kind %ld", kind);
	if (!check(o, NUMBER, "CFNumberGetValue")) return 0;
	*n = o->n[0];
	return 1;
}
unsigned char CFBooleanGetValue(Object *o) { return check(o, BOOLEAN, "CFBooleanGetValue") ? o->n[0] != 0 : 0; }

Object *array(Object **members, int count) {
	Object *o = make(ARRAY);
	o->members = malloc(sizeof *members * (count + 1)), o->count = count;
	if (count) memcpy(o->members, members, sizeof *members * count);
	return o;
}
Object *CFArrayCreate(void *allocator, Object **members, long count, void *callbacks) {
	if (allocator || callbacks != kCFTypeArrayCallBacks) fail("CFArrayCreate: wrong arguments");
	for (long i = 0; i < count; i++) CFRetain(members[i]);
	return array(members, count);
}
long CFArrayGetCount(Object *o) { return check(o, ARRAY, "CFArrayGetCount") ? o->count : 0; }
Object *CFArrayGetValueAtIndex(Object *o, long i) {
	if (!check(o, ARRAY, "CFArrayGetValueAtIndex")) return NULL;
	if (i < 0 || i >= o->count) return fail("CFArrayGetValueAtIndex: %ld of %ld", i, o->count), NULL;
	return o->members[i];
}
Object *CFDictionaryGetValue(Object *o, Object *key) {
	if (!check(o, DICTIONARY, "CFDictionaryGetValue") || !check(key, STRING, "CFDictionaryGetValue")) return NULL;
	for (long i = 0; i < o->count; i += 2)
		if (CFEqual(o->members[i], key)) return o->members[i + 1];
	return NULL;
}
Object *CFURLGetString(Object *o) { return check(o, URL, "CFURLGetString") ? o->members[0] : NULL; }
Object *CFAttributedStringGetString(Object *o) { return check(o, ATTRIBUTED, "CFAttributedStringGetString") ? o->members[0] : NULL; }

Object *value(int type, double a, double b) {
	Object *o = make(VALUE);
	o->type = type, o->n[0] = a, o->n[1] = b;
	return o;
}
uint32_t AXValueGetType(Object *o) { return check(o, VALUE, "AXValueGetType") ? o->type : 0; }
unsigned char AXValueGetValue(Object *o, uint32_t type, double *out) {
	if (!check(o, VALUE, "AXValueGetValue") || o->type != type) return 0;
	memcpy(out, o->n, sizeof(double) * (type == RECT ? 4 : 2));
	return 1;
}
