// The double of the accessibility API: an app with the controls of the common fixture (process 4711), whose state changes by requests, and
// an app that answers nonsense (4712). It is written from the headers' descriptions; it proves nothing about the real system.
#include "cfdouble.h"

enum { APP = 4711, STRANGE = 4712, SELF = 4713, MOST = 4000, KIDS = 64, DEEP = 1000000 };
enum { VALUE_SET = 1, FOCUS_SET = 2, INSERT_SET = 4, SELECT_SET = 8, ROWS_SET = 16 };
enum { Success = 0, Failure = -25200, Illegal = -25201, Invalid = -25202, Cannot = -25204, NoAttribute = -25205, NoAction = -25206, Disabled = -25211, NoValue = -25212 };

typedef struct {
	const char *role, *subrole, *actions;
	char *title, *described, *text; // text is AXValue
	double number, low, high, x, y, w, h;
	int hasNumber, hasRange, hasFrame, enabled, settable, selected, alive, gone, titled, parent, kids[KIDS], count;
} Node;

static Node nodes[MOST];
static int used, application, window, bar, table, ghost, said, tabs, second, popup, dialog, file, fruit0, stopped, killed, untrusted = 0, refuseSingle;
static struct { int presses, twin, slow, agree, volume, count, second, shuffled, hidden, ghost, manual; char name[9000], password[200], notes[9000], colour[20], tab[20], fruit[40], dialog[20], menu[20]; } state;
static pthread_cond_t woken = PTHREAD_COND_INITIALIZER, resumed = PTHREAD_COND_INITIALIZER;
static double timeout = 6;

typedef struct Observer { Object *source, *loop; int pid; void (*callback)(Object *, Object *, Object *, void *); void *context; int wanted; struct Observer *next; Object *object; } Observer;
typedef struct Post { Observer *to; int node; const char *name; struct Post *next; } Post;
static Observer *observers;
static Post *posts;

static char *copy(const char *s) { return s ? strdup(s) : NULL; }
static int add(int parent, const char *role, const char *title, double x, double y, double w, double h) {
	Node *n = &nodes[used];
	memset(n, 0, sizeof *n);
	n->role = role, n->title = copy(title), n->x = x, n->y = y, n->w = w, n->h = h, n->hasFrame = w > 0, n->enabled = 1, n->alive = 1, n->parent = parent;
	n->actions = strcmp(role, "AXButton") && strcmp(role, "AXMenuItem") && strcmp(role, "AXMenuBarItem") && strcmp(role, "AXRadioButton") && strcmp(role, "AXCheckBox") && strcmp(role, "AXPopUpButton") ? "" : "AXPress";
	if (parent >= 0) nodes[parent].kids[nodes[parent].count++] = used;
	return used++;
}
static int field(int parent, const char *role, const char *name, double y, int settable) {
	int i = add(parent, role, NULL, 120, y, 200, 20);
	nodes[i].described = copy(name), nodes[i].text = copy(""), nodes[i].settable = settable | FOCUS_SET;
	return i;
}
static int numeric(int parent, const char *role, const char *name, double n, double y) {
	int i = add(parent, role, name, 120, y, 200, 20);
	nodes[i].number = n, nodes[i].hasNumber = nodes[i].hasRange = 1, nodes[i].high = 100, nodes[i].settable = VALUE_SET;
	nodes[i].actions = "AXIncrement\nAXDecrement";
	return i;
}
static int label(int parent, const char *words, double x, double y) {
	int i = add(parent, "AXStaticText", NULL, x, y, 150, 16);
	nodes[i].text = copy(words);
	return i;
}
static void rows(int backwards) {
	for (int i = 0; i < 40; i++) {
		char name[20];
		snprintf(name, sizeof name, "Fruit %d", backwards ? 40 - i : i + 1);
		double y = 420 + 20 * i;
		int row = add(table, "AXRow", NULL, 120, y, 200, 20), cell = add(row, "AXCell", NULL, 120, y, 200, 20);
		nodes[row].subrole = "AXTableRow", nodes[row].settable = SELECT_SET;
		nodes[label(cell, name, 120, y)].w = 100;
		if (!i) fruit0 = row;
	}
}
static void build(void) {
	application = add(-1, "AXApplication", "Fixture", 0, 0, 0, 0);
	window = add(application, "AXWindow", "Double fixture", 100, 100, 700, 600);
	nodes[window].subrole = "AXStandardWindow";
	int close = add(window, "AXButton", NULL, 105, 102, 14, 14);
	nodes[close].subrole = "AXCloseButton";
	static const char *names[] = {"Press", "Disabled", "Twin", "Twin", "Shuffle", "Open dialog", "Hide", "Ghost", "Slow", "Dead"};
	for (int i = 0; i < 10; i++) {
		int b = add(window, "AXButton", names[i], 120 + 65 * i, 130, 60, 20);
		nodes[b].settable = FOCUS_SET;
		if (i == 1) nodes[b].enabled = 0;
		if (i == 7) ghost = b;
	}
	said = label(window, "Pressed 0 times", 400, 160);
	label(window, "Status: ready", 400, 180);
	int agree = add(window, "AXCheckBox", "Agree", 120, 160, 100, 20);
	nodes[agree].hasNumber = 1;
	int named = label(window, "Full name", 330, 200), name = field(window, "AXTextField", NULL, 200, VALUE_SET | INSERT_SET);
	nodes[name].titled = named;
	int password = field(window, "AXTextField", "Password", 230, VALUE_SET);
	nodes[password].subrole = "AXSecureTextField";
	field(window, "AXTextArea", "Notes", 260, VALUE_SET | INSERT_SET);
	numeric(window, "AXSlider", "Volume", 30, 290);
	numeric(window, "AXIncrementor", "Count", 5, 320);
	popup = add(window, "AXPopUpButton", NULL, 120, 350, 100, 20);
	nodes[popup].described = copy("Colour"), nodes[popup].text = copy("Red");
	tabs = add(window, "AXTabGroup", NULL, 400, 200, 300, 150);
	int first = add(tabs, "AXRadioButton", "First", 420, 200, 60, 20), other = add(tabs, "AXRadioButton", "Second", 480, 200, 60, 20);
	nodes[first].hasNumber = nodes[other].hasNumber = 1, nodes[first].number = 1;
	second = add(tabs, "AXButton", "On second", 420, 240, 80, 20), nodes[tabs].count--;
	int area = add(window, "AXScrollArea", NULL, 120, 420, 200, 100);
	table = add(area, "AXTable", NULL, 120, 420, 200, 800);
	nodes[table].described = copy("Fruits"), nodes[table].settable = ROWS_SET;
	rows(0);
	nodes[add(window, "AXImage", NULL, 400, 400, 200, 150)].described = copy("Canvas");
	bar = add(application, "AXMenuBar", NULL, 0, 0, 1440, 24), nodes[application].count--;
	file = add(bar, "AXMenuBarItem", "File", 60, 0, 40, 24);
	int menu = add(file, "AXMenu", NULL, 0, 0, 0, 0);
	add(menu, "AXMenuItem", "New", 60, 24, 100, 20), add(menu, "AXMenuItem", "Quit-not", 60, 44, 100, 20);
	strcpy(state.colour, "Red"), strcpy(state.tab, "First"), state.volume = 30, state.count = 5;
	for (int i = 0; i < 5; i++) nodes[add(used - 1 < 0 ? 0 : -1, "AXGroup", NULL, 0, 0, 0, 0)].alive = 0; // numbers that no element has
}
__attribute__((constructor)) static void start(void) { build(); }

static void post(int node, const char *name) {
	for (Observer *o = observers; o; o = o->next) {
		Post *p = malloc(sizeof *p), **end = &posts;
		p->to = o, p->node = node, p->name = name, p->next = NULL;
		while (*end) end = &(*end)->next;
		*end = p;
	}
	pthread_cond_broadcast(&woken);
}
static void set(char **to, const char *words) { free(*to), *to = copy(words); }
static void say(int node, const char *words) { set(&nodes[node].text, words), post(node, "AXValueChanged"); }

static struct timespec after(double seconds) {
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += (long)seconds, t.tv_nsec += (long)((seconds - (long)seconds) * 1e9);
	if (t.tv_nsec >= 1000000000) t.tv_sec++, t.tv_nsec -= 1000000000;
	return t;
}

// begin takes the lock and returns the error of the app, the element and the caller; 0 if the request can be answered.
static int begin(Object *e, Object *name, const char *where) {
	pthread_mutex_lock(&lock);
	if (!check(e, ELEMENT, where) || name && !check(name, STRING, where)) return Illegal;
	if (untrusted) return Disabled;
	struct timespec end = after(timeout);
	while (stopped && e->pid == APP)
		if (pthread_cond_timedwait(&resumed, &lock, &end)) return Cannot;
	if (e->pid == APP && killed) return Cannot;
	if (e->pid == STRANGE) return 0;
	if (e->pid != APP) return Cannot;
	return e->node < used && nodes[e->node].alive ? 0 : Invalid;
}
static int end(int code) { return pthread_mutex_unlock(&lock), code; }

static Object *element(int pid, int node) {
	Object *o = make(ELEMENT);
	o->pid = pid, o->node = node;
	return o;
}
Object *AXUIElementCreateApplication(int pid) { return element(pid, pid == APP ? application : 0); }
Object *AXUIElementCreateSystemWide(void) { return element(0, 0); }
unsigned char AXIsProcessTrusted(void) { return !untrusted; }
int AXUIElementSetMessagingTimeout(Object *e, float seconds) {
	if (!check(e, ELEMENT, "AXUIElementSetMessagingTimeout")) return Illegal;
	if (seconds != 1.5f) return fail("AXUIElementSetMessagingTimeout: %f s", seconds), Illegal;
	return timeout = seconds, Success;
}

static Object *boolean(int is) { return is ? kCFBooleanTrue : kCFBooleanFalse; }
static Object *kids(int node) {
	Object *members[KIDS];
	for (int i = 0; i < nodes[node].count; i++) members[i] = element(APP, nodes[node].kids[i]);
	return array(members, nodes[node].count);
}
static Object *words(const char *s) { return s ? text(s) : NULL; }

// attribute returns a new reference, or NULL and a code.
static Object *attribute(int i, Object *name, int *code) {
	Node *n = &nodes[i];
#define IS(word) same(name, word)
	*code = NoValue;
	if (IS("AXRole")) return words(n->role);
	if (IS("AXSubrole")) return words(n->subrole);
	if (IS("AXTitle")) return words(n->title);
	if (IS("AXDescription")) return words(n->described);
	if (IS("AXRoleDescription")) return n->subrole && !strcmp(n->subrole, "AXCloseButton") ? text("close button") : text(n->role);
	if (IS("AXEnabled")) return boolean(n->enabled);
	if (IS("AXFocused") && n->settable & FOCUS_SET) return boolean(n->selected);
	if (IS("AXPosition") && n->hasFrame) return value(POINT, n->x, n->y);
	if (IS("AXSize") && n->hasFrame) return value(SIZE, n->w, n->h);
	if (IS("AXChildren")) return kids(i);
	if (IS("AXTitleUIElement") && n->titled) return element(APP, n->titled);
	if (IS("AXMinValue") && n->hasRange) return number(n->low);
	if (IS("AXMaxValue") && n->hasRange) return number(n->high);
	if (IS("AXSelected") && (n->settable & SELECT_SET || !strncmp(n->role, "AXMenu", 6))) return boolean(n->selected);
	if (IS("AXModal") && i == dialog && i) return boolean(1);
	if (IS("AXMinimized") && !strcmp(n->role, "AXWindow")) return boolean(0);
	if (IS("AXIdentifier") && i == window) return text("main-window");
	if (IS("AXWindows") && i == application) return kids(i);
	if (IS("AXMenuBar") && i == application) return element(APP, bar);
	if (IS("AXFocusedWindow") && i == application) return element(APP, dialog ? dialog : window);
	if (IS("AXFrontmost") && i == application) return boolean(1);
	if (IS("AXRows") && i == table) return kids(i);
	if (IS("AXValue")) {
		if (n->subrole && !strcmp(n->subrole, "AXSecureTextField")) return fail("the value of a password field was read"), NULL;
		return n->text ? text(n->text) : n->hasNumber ? number(n->number) : NULL;
	}
	*code = NoAttribute;
	return NULL;
}

// strange answers for the app that answers nonsense. Its window (1) has a child that contains the window (2), children of wrong types, a
// list without end (3), and a chain without end (DEEP and up).
static Object *strange(int i, Object *name, int *code) {
	volatile double zero = 0;
	*code = NoValue;
	if (IS("AXRole")) return i == 9 ? number(7) : words(i == 0 ? "AXApplication" : i == 1 ? "AXWindow" : i == 3 ? "AXList" : i == 5 ? "AXStaticText" : i == 6 ? "AXWebArea" : "AXGroup");
	if (IS("AXWindows") && i == 0) { Object *m[] = {element(STRANGE, 1), text("no element"), element(STRANGE, 1)}; return array(m, 3); }
	if (IS("AXTitle") && i == 1) { Object *o = make(STRING); uint16_t odd[] = {'o', 0xD800, 'd', 0, 'd', 0xDC01}; o->units = malloc(sizeof odd), memcpy(o->units, odd, sizeof odd), o->count = 6; return o; }
	if (IS("AXTitle") && i == 4) return number(5);
	if (IS("AXPosition")) return i == 4 ? text("here") : value(POINT, i == 6 ? 1e300 : 0, zero / (i != 7));
	if (IS("AXSize")) return i == 4 ? value(POINT, 1, 1) : value(SIZE, i == 6 ? -5 : 1e12, i == 7 ? zero / zero : 100);
	if (IS("AXEnabled")) return i == 4 ? text("yes") : boolean(1);
	if (IS("AXValue") && i == 5) { Object *o = make(ATTRIBUTED); o->members = malloc(8), o->members[0] = text("attributed"), o->count = 1; return o; }
	if (IS("AXHelp")) { Object *o = make(URL); o->members = malloc(8), o->members[0] = text("https://example.org/"), o->count = 1; return o; }
	if (IS("AXTitleUIElement")) return i == 4 ? text("no element") : NULL;
	if (IS("AXDisclosureLevel")) return number(-1e18);
	if (IS("AXChildren")) {
		int some[8] = {0}, n = 0;
		if (i == 1) for (int k = 2; k < 8; k++) some[n++] = k;
		if (i == 2) some[n++] = 1, some[n++] = 2;
		if (i == 7) some[n++] = DEEP;
		if (i >= DEEP) some[n++] = i + 1;
		Object *m[9];
		for (int k = 0; k < n; k++) m[k] = element(STRANGE, some[k]);
		if (i == 4) m[n++] = text("no element");
		return array(m, n);
	}
	*code = NoAttribute;
	return NULL;
}
static Object *answer(Object *e, Object *name, int *code) { return e->pid == STRANGE ? strange(e->node, name, code) : attribute(e->node, name, code); }

int AXUIElementCopyAttributeValue(Object *e, Object *name, Object **out) {
	int code = begin(e, name, "AXUIElementCopyAttributeValue");
	*out = NULL;
	if (!code && (*out = answer(e, name, &code))) code = 0;
	return end(code);
}
int AXUIElementCopyMultipleAttributeValues(Object *e, Object *names, uint32_t options, Object **out) {
	*out = NULL;
	if (!check(names, ARRAY, "AXUIElementCopyMultipleAttributeValues")) return Illegal;
	int code = begin(e, NULL, "AXUIElementCopyMultipleAttributeValues");
	if (options) fail("AXUIElementCopyMultipleAttributeValues: options %u", options);
	if (!code && refuseSingle) code = -25208;
	if (code) return end(code);
	Object *members[64];
	for (long i = 0; i < names->count; i++)
		if (!(members[i] = answer(e, names->members[i], &code))) members[i] = value(AXERROR, code, 0);
	*out = array(members, names->count);
	return end(Success);
}
int AXUIElementGetAttributeValueCount(Object *e, Object *name, long *count) {
	int code = begin(e, name, "AXUIElementGetAttributeValueCount");
	if (code) return end(code);
	if (e->pid == STRANGE && e->node == 3 && IS("AXChildren")) return *count = 1L << 40, end(0);
	Object *list = answer(e, name, &code);
	if (!list) return end(code);
	*count = list->kind == ARRAY ? list->count : 1;
	CFRelease(list);
	return end(Success);
}
int AXUIElementCopyAttributeValues(Object *e, Object *name, long first, long count, Object **out) {
	int code = begin(e, name, "AXUIElementCopyAttributeValues");
	*out = NULL;
	if (code) return end(code);
	if (first < 0 || count < 0 || count > 500) fail("AXUIElementCopyAttributeValues: %ld from %ld", count, first);
	Object *members[500];
	long n = 0;
	if (e->pid == STRANGE && e->node == 3) {
		for (; n < count; n++) members[n] = element(STRANGE, 100 + first + n);
	} else {
		Object *list = answer(e, name, &code);
		if (!list) return end(code);
		for (long i = first; i < list->count && n < count; i++) members[n++] = CFRetain(list->members[i]);
		CFRelease(list);
		if (first > 0 && !n) return end(Illegal);
	}
	*out = array(members, n);
	return end(Success);
}
int AXUIElementIsAttributeSettable(Object *e, Object *name, unsigned char *is) {
	int code = begin(e, name, "AXUIElementIsAttributeSettable");
	int able = code || e->pid == STRANGE ? 0 : nodes[e->node].settable;
	*is = IS("AXValue") && able & VALUE_SET || IS("AXFocused") && able & FOCUS_SET || IS("AXSelectedText") && able & INSERT_SET || IS("AXSelected") && able & SELECT_SET || IS("AXSelectedRows") && able & ROWS_SET;
	return end(code);
}

static void remember(Node *n, const char *words) {
	const char *name = n->described ? n->described : "name";
	char *to = !strcmp(name, "Password") ? state.password : !strcmp(name, "Notes") ? state.notes : state.name;
	snprintf(to, n->settable & INSERT_SET ? sizeof state.name : sizeof state.password, "%s", words);
}
static int setNumber(Node *n, Object *v) {
	if (v->kind != NUMBER || !n->hasRange) return Illegal;
	n->number = v->n[0];
	return *(strcmp(n->title, "Volume") ? &state.count : &state.volume) = (int)n->number, 0;
}
int AXUIElementSetAttributeValue(Object *e, Object *name, Object *v) {
	int code = begin(e, name, "AXUIElementSetAttributeValue");
	if (!check(v, 0, "AXUIElementSetAttributeValue")) return end(Illegal);
	if (code || e->pid == STRANGE) return end(code ? code : NoAttribute);
	Node *n = &nodes[e->node];
	if (IS("AXManualAccessibility")) return state.manual++, end(Success);
	if (IS("AXValue") && n->settable & VALUE_SET && n->hasNumber) code = setNumber(n, v);
	else if ((IS("AXValue") && n->settable & VALUE_SET) || (IS("AXSelectedText") && n->settable & INSERT_SET)) {
		if (v->kind != STRING) return end(Illegal);
		char *words = utf8of(v);
		if (IS("AXSelectedText")) {
			char *both = malloc(strlen(n->text) + strlen(words) + 1);
			strcat(strcpy(both, n->text), words), free(words), words = both;
		}
		set(&n->text, words), remember(n, words), free(words);
	} else if (IS("AXFocused") && n->settable & FOCUS_SET) {
		for (int i = 0; i < used; i++) if (nodes[i].settable & FOCUS_SET) nodes[i].selected = 0;
		n->selected = 1, post(e->node, "AXFocusedUIElementChanged");
		return end(Success);
	} else if (IS("AXSelectedRows") && n->settable & ROWS_SET) {
		if (v->kind != ARRAY) return end(Illegal);
		for (int i = 0; i < n->count; i++) nodes[n->kids[i]].selected = 0;
		for (long i = 0; i < v->count; i++) {
			Node *row = &nodes[v->members[i]->node];
			row->selected = 1, snprintf(state.fruit, sizeof state.fruit, "%s", nodes[nodes[row->kids[0]].kids[0]].text);
		}
		post(e->node, "AXSelectedRowsChanged");
	} else if (IS("AXSelected") && n->settable & SELECT_SET) n->selected = v == kCFBooleanTrue;
	else return end(NoAttribute);
	post(e->node, "AXValueChanged");
	return end(code);
}
int AXUIElementCopyActionNames(Object *e, Object **out) {
	int code = begin(e, NULL, "AXUIElementCopyActionNames");
	*out = NULL;
	if (code) return end(code);
	Object *members[3];
	int n = 0;
	char *list = strdup(e->pid == STRANGE ? "AXShowMenu\nName:own\nAXNonsense" : nodes[e->node].actions), *rest;
	for (char *one = strtok_r(list, "\n", &rest); one; one = strtok_r(NULL, "\n", &rest)) members[n++] = text(one);
	free(list);
	*out = array(members, n);
	return end(Success);
}

static void *later(void *none) {
	usleep(150000);
	pthread_mutex_lock(&lock);
	char words[40];
	snprintf(words, sizeof words, "Slow %d times", ++state.slow), say(said, words);
	pthread_mutex_unlock(&lock);
	return none;
}
static void detach(int node) {
	Node *p = &nodes[nodes[node].parent];
	for (int i = 0; i < p->count; i++)
		if (p->kids[i] == node) memmove(&p->kids[i], &p->kids[i + 1], sizeof(int) * (--p->count - i)), i--;
}
static void kill_tree(int node) {
	for (int i = 0; i < nodes[node].count; i++) kill_tree(nodes[node].kids[i]);
	nodes[node].alive = 0, nodes[node].count = 0;
}
static void closeDialog(const char *answer) {
	strcpy(state.dialog, answer), detach(dialog), kill_tree(dialog), dialog = 0, post(window, "AXUIElementDestroyed");
}
static int openDialog(void) {
	strcpy(state.dialog, "open");
	dialog = add(application, "AXWindow", "Really?", 250, 250, 300, 100);
	nodes[dialog].subrole = "AXDialog";
	add(dialog, "AXButton", "Yes", 260, 300, 60, 20), add(dialog, "AXButton", "No", 330, 300, 60, 20);
	post(dialog, "AXWindowCreated");
	pthread_mutex_unlock(&lock); // the app runs the dialog inside the action: the request is answered too late
	usleep(20000);
	pthread_mutex_lock(&lock);
	return Cannot;
}
static void choose(int node) {
	Node *n = &nodes[node], *menu = &nodes[n->parent];
	int owner = menu->parent;
	if (owner == popup) set(&nodes[popup].text, n->title), strcpy(state.colour, n->title), kill_tree(n->parent), nodes[popup].count = 0;
	else strcpy(state.menu, n->title), nodes[file].selected = 0;
	post(node, "AXMenuClosed");
}
static int pressNode(int i) {
	Node *n = &nodes[i];
	const char *t = n->title ? n->title : "";
	char words[40];
	if (!n->enabled) return Success; // some toolkits report success
	if (!strcmp(t, "Press")) snprintf(words, sizeof words, "Pressed %d times", ++state.presses), say(said, words);
	if (!strcmp(t, "Twin")) state.twin = nodes[i - 1].title && !strcmp(nodes[i - 1].title, "Twin") ? 2 : 1;
	if (!strcmp(t, "Agree")) state.agree = !state.agree, n->number = state.agree, post(i, "AXValueChanged");
	if (!strcmp(t, "Ghost")) state.ghost++;
	if (!strcmp(t, "Hide")) state.hidden = 1, detach(ghost), post(window, "AXLayoutChanged");
	if (!strcmp(t, "Yes") || !strcmp(t, "No")) closeDialog(strcmp(t, "Yes") ? "no" : "yes");
	if (!strcmp(t, "On second")) state.second++;
	if (!strcmp(n->role, "AXMenuItem")) choose(i);
	if (i == file) n->selected = 1, post(i, "AXMenuOpened");
	if (!strcmp(t, "Open dialog")) return openDialog();
	if (!strcmp(t, "Slow")) {
		pthread_t thread;
		pthread_create(&thread, NULL, later, NULL), pthread_detach(thread);
	}
	if (!strcmp(t, "Shuffle")) {
		for (int k = 0; k < nodes[table].count; k++) kill_tree(nodes[table].kids[k]);
		nodes[table].count = 0, rows(1), state.shuffled++, post(table, "AXRowCountChanged");
	}
	if (!strcmp(n->role, "AXRadioButton")) {
		for (int k = 0; k < 2; k++) nodes[nodes[tabs].kids[k]].number = nodes[tabs].kids[k] == i;
		nodes[tabs].count = strcmp(t, "Second") ? 2 : 3, strcpy(state.tab, t), post(tabs, "AXLayoutChanged");
	}
	if (i == popup && !n->count) {
		int menu = add(popup, "AXMenu", NULL, 120, 340, 100, 60);
		add(menu, "AXMenuItem", "Red", 120, 340, 100, 20), add(menu, "AXMenuItem", "Green", 120, 360, 100, 20), add(menu, "AXMenuItem", "Blue", 120, 380, 100, 20);
		post(menu, "AXMenuOpened");
	}
	return Success;
}
int AXUIElementPerformAction(Object *e, Object *name) {
	int code = begin(e, name, "AXUIElementPerformAction");
	if (code) return end(code);
	if (e->pid == STRANGE) return end(Failure);
	char *own = utf8of(name);
	int has = strstr(nodes[e->node].actions, own) != NULL;
	free(own);
	if (!has) return end(NoAction);
	if (!IS("AXPress")) return end(Failure);
	return end(pressNode(e->node));
}
int _AXUIElementGetWindow(Object *e, uint32_t *out) {
	int code = begin(e, NULL, "_AXUIElementGetWindow");
	if (!code && e->pid == APP && (e->node == window || e->node == dialog)) return *out = e->node == window ? 71 : 72, end(Success);
	return end(code ? code : Illegal);
}

// Observers: each has a source for the run loop of a thread.
int AXObserverCreate(int pid, void *callback, Object **out) {
	if (!callback) fail("AXObserverCreate: no callback");
	if (pid != APP || killed) return Cannot;
	Object *o = *out = make(OBSERVER);
	Observer *b = calloc(1, sizeof *b);
	b->pid = pid, b->callback = (void (*)(Object *, Object *, Object *, void *))callback, b->object = o;
	o->observer = b, o->members = malloc(8), o->members[0] = b->source = make(SOURCE), o->count = 1; // the source dies with its observer
	b->source->observer = b;
	return Success;
}
Object *AXObserverGetRunLoopSource(Object *o) { return check(o, OBSERVER, "AXObserverGetRunLoopSource") ? o->members[0] : NULL; }
int AXObserverAddNotification(Object *o, Object *e, Object *name, void *context) {
	if (!check(o, OBSERVER, "AXObserverAddNotification")) return Illegal;
	int code = begin(e, name, "AXObserverAddNotification");
	if (!code) o->observer->context = context, o->observer->wanted++;
	return end(code);
}
static __thread Object *loop;
Object *CFRunLoopGetCurrent(void) {
	if (!loop) forever(loop = make(LOOP));
	return loop;
}
void CFRunLoopAddSource(Object *l, Object *source, Object *mode) {
	if (!check(l, LOOP, "CFRunLoopAddSource") || !check(source, SOURCE, "CFRunLoopAddSource") || !same(mode, "kCFRunLoopDefaultMode")) return;
	pthread_mutex_lock(&lock);
	source->observer->loop = l, source->observer->next = observers, observers = source->observer;
	pthread_mutex_unlock(&lock);
}
void CFRunLoopRemoveSource(Object *l, Object *source, Object *mode) {
	if (!check(l, LOOP, "CFRunLoopRemoveSource") || !check(source, SOURCE, "CFRunLoopRemoveSource") || !check(mode, STRING, "CFRunLoopRemoveSource")) return;
	pthread_mutex_lock(&lock);
	for (Observer **o = &observers; *o; o = &(*o)->next)
		if (*o == source->observer) { *o = (*o)->next; break; }
	for (Post **p = &posts; *p;)
		if ((*p)->to == source->observer) { Post *old = *p; *p = old->next, free(old); } else p = &(*p)->next;
	pthread_mutex_unlock(&lock);
}
void CFRunLoopStop(Object *l) {
	if (!check(l, LOOP, "CFRunLoopStop")) return;
	pthread_mutex_lock(&lock);
	l->n[0] = 1;
	pthread_cond_broadcast(&woken);
	pthread_mutex_unlock(&lock);
}
int CFRunLoopRunInMode(Object *mode, double seconds, unsigned char once) {
	if (!check(mode, STRING, "CFRunLoopRunInMode") || seconds <= 0 || once) return fail("CFRunLoopRunInMode: wrong arguments"), 1;
	Object *own = CFRunLoopGetCurrent();
	struct timespec until = after(seconds);
	pthread_mutex_lock(&lock);
	for (;;) {
		for (Post **p = &posts; *p;) {
			if ((*p)->to->loop != own) { p = &(*p)->next; continue; }
			Post *mine = *p;
			*p = mine->next;
			Object *e = element(APP, mine->node), *name = text(mine->name), *observer = mine->to->object;
			void *context = mine->to->context;
			void (*callback)(Object *, Object *, Object *, void *) = mine->to->callback;
			free(mine), pthread_mutex_unlock(&lock);
			callback(observer, e, name, context);
			CFRelease(e), CFRelease(name), pthread_mutex_lock(&lock);
			p = &posts;
		}
		if (own->n[0]) return own->n[0] = 0, end(2);
		if (pthread_cond_timedwait(&woken, &lock, &until)) return end(3);
	}
}

// Processes.
int proc_pidpath(int pid, char *out, uint32_t size) {
	const char *path = pid == APP ? "/Applications/Fixture.app/Contents/MacOS/Fixture" : pid == STRANGE ? "/Applications/Strange.app/Contents/MacOS/Strange" : pid == SELF ? "/System/Applications/Utilities/Terminal.app/Contents/MacOS/Terminal" : pid == getpid() ? "/usr/local/bin/aai-gateway" : "";
	if (pid == APP && killed) return 0;
	snprintf(out, size, "%s", path);
	return strlen(path);
}
int proc_pidinfo(int pid, int kind, uint64_t argument, unsigned char *out, int size) {
	if (pid == APP && killed || pid != APP && pid != STRANGE && pid != SELF && pid != getpid()) return 0;
	if (argument || size != (kind == 3 ? 136 : 96)) return fail("proc_pidinfo: wrong arguments"), 0;
	memset(out, 0, size);
	uint32_t parent = pid == getpid() ? SELF : 1, running = stopped;
	uint64_t seconds = 1700000000 + pid;
	if (kind == 3) memcpy(out + 16, &parent, 4), memcpy(out + 120, &seconds, 8);
	else memcpy(out + 88, &running, 4);
	return size;
}
int csops(int pid, uint32_t operation, unsigned char *out, size_t size) {
	if (operation != 5 || size != 20) return fail("csops: wrong arguments"), -1;
	return memset(out, pid == APP ? 0xAB : 0, size), pid == APP ? 0 : -1;
}
int sysctl(int *name, uint32_t count, void *old, size_t *size, void *new, size_t newSize) {
	if (count != 3 || name[0] != 1 || name[1] != 49 || new || newSize) fail("sysctl: wrong arguments");
	return -1;
}

// The controls of the test.
void double_trust(int is) { untrusted = !is; }
void double_single(int is) { refuseSingle = is; }
void double_stop(int is) { pthread_mutex_lock(&lock), stopped = is, pthread_cond_broadcast(&resumed), pthread_mutex_unlock(&lock); }
void double_kill(void) { pthread_mutex_lock(&lock), killed = 1, stopped = 0, pthread_cond_broadcast(&resumed), pthread_mutex_unlock(&lock); }
static int quoted(char *out, int at, const char *name, const char *words) {
	at += sprintf(out + at, ",\"%s\":\"", name);
	for (; *words; words++) at += *words == '\n' ? sprintf(out + at, "\\n") : *words == '"' || *words == '\\' ? sprintf(out + at, "\\%c", *words) : sprintf(out + at, "%c", *words);
	return at + sprintf(out + at, "\"");
}
const char *double_state(void) {
	static char out[40000];
	pthread_mutex_lock(&lock);
	int at = sprintf(out, "{\"presses\":%d,\"twin\":%d,\"slow\":%d,\"agree\":%s,\"volume\":%d,\"count\":%d,\"second\":%d,\"shuffled\":%d,\"hidden\":%s,\"ghost\":%d,\"manual\":%d",
		state.presses, state.twin, state.slow, state.agree ? "true" : "false", state.volume, state.count, state.second, state.shuffled, state.hidden ? "true" : "false", state.ghost, state.manual);
	at = quoted(out, at, "name", state.name), at = quoted(out, at, "password", state.password), at = quoted(out, at, "notes", state.notes), at = quoted(out, at, "colour", state.colour);
	at = quoted(out, at, "tab", state.tab), at = quoted(out, at, "fruit", state.fruit), at = quoted(out, at, "dialog", state.dialog), at = quoted(out, at, "menu", state.menu);
	sprintf(out + at, "}");
	pthread_mutex_unlock(&lock);
	return out;
}
