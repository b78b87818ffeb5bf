// The double of Quartz: three windows, one display, and pictures.
#include "cfdouble.h"

static Object *entry(int id, int pid, int layer, const char *owner, const char *title, double x, double y, double w, double h) {
	Object *frame[] = {text("X"), number(x), text("Y"), number(y), text("Width"), number(w), text("Height"), number(h)}, *bounds = array(frame, 8);
	bounds->kind = DICTIONARY;
	Object *all[] = {text("kCGWindowNumber"), number(id), text("kCGWindowOwnerPID"), number(pid), text("kCGWindowLayer"), number(layer), text("kCGWindowAlpha"), number(1),
		text("kCGWindowOwnerName"), text(owner), text("kCGWindowBounds"), bounds, text("kCGWindowName"), title ? text(title) : number(0)};
	Object *o = array(all, 14);
	return o->kind = DICTIONARY, o;
}
Object *CGWindowListCopyWindowInfo(uint32_t options, uint32_t relative) {
	if (options != 16 && options != 17 || relative) fail("CGWindowListCopyWindowInfo: options %u", options);
	Object *all[] = {entry(5, 90, 25, "Menubar", NULL, 0, 0, 1440, 24), entry(71, 4711, 0, "Fixture", "Double fixture", 100, 100, 700, 600), entry(80, 4712, 0, "Strange", NULL, 900, 300, 400, 300)};
	return array(all, 3);
}
unsigned char CGPreflightScreenCaptureAccess(void) { return 1; }
int CGGetActiveDisplayList(uint32_t max, uint32_t *out, uint32_t *count) {
	if (max < 1) fail("CGGetActiveDisplayList: no room");
	return out[0] = 1, *count = 1, 0;
}
uint32_t CGMainDisplayID(void) { return 1; }
CGRect CGDisplayBounds(uint32_t display) { return display == 1 ? (CGRect){0, 0, 1440, 900} : (CGRect){0}; }
Object *CGDisplayCopyDisplayMode(uint32_t display) { return display == 1 ? make(MODE) : NULL; }
size_t CGDisplayModeGetPixelWidth(Object *o) { return check(o, MODE, "CGDisplayModeGetPixelWidth") ? 2880 : 0; }
size_t CGDisplayModeGetWidth(Object *o) { return check(o, MODE, "CGDisplayModeGetWidth") ? 1440 : 0; }

// A picture shows at each point of the screen a colour that follows from the point.
Object *CGWindowListCreateImage(CGRect area, uint32_t options, uint32_t window, uint32_t how) {
	if (how & ~(1u | 16u)) fail("CGWindowListCreateImage: %u", how);
	if (window) {
		if (options != 8) fail("CGWindowListCreateImage: options %u for a window", options);
		if (window != 71) return NULL;
		area = (CGRect){100, 100, 700, 600};
	}
	Object *o = make(IMAGE);
	memcpy(o->n, &area, sizeof area);
	return o;
}
size_t CGImageGetWidth(Object *o) { return check(o, IMAGE, "CGImageGetWidth") ? (size_t)o->n[2] : 0; }
size_t CGImageGetHeight(Object *o) { return check(o, IMAGE, "CGImageGetHeight") ? (size_t)o->n[3] : 0; }
Object *CGColorSpaceCreateDeviceRGB(void) { return make(SPACE); }
Object *CGBitmapContextCreate(unsigned char *data, size_t w, size_t h, size_t bits, size_t row, Object *space, uint32_t info) {
	if (!check(space, SPACE, "CGBitmapContextCreate") || bits != 8 || row != 4 * w || info != 1 || !data) return fail("CGBitmapContextCreate: wrong arguments"), NULL;
	Object *o = make(CONTEXT);
	o->n[0] = w, o->n[1] = h;
	return o->data = data, o;
}
void CGContextDrawImage(Object *context, CGRect area, Object *image) {
	if (!check(context, CONTEXT, "CGContextDrawImage") || !check(image, IMAGE, "CGContextDrawImage")) return;
	if (area.x || area.y || area.w != context->n[0] || area.h != context->n[1]) fail("CGContextDrawImage: the area %f,%f %fx%f", area.x, area.y, area.w, area.h);
	unsigned char *data = context->data;
	for (int y = 0; y < (int)area.h; y++)
		for (int x = 0; x < (int)area.w; x++, data += 4) data[0] = (int)image->n[0] + x, data[1] = (int)image->n[1] + y, data[2] = 9, data[3] = 255;
}
