package desktop

import (
	"context"
	"image"
	"time"
)

// A Backend is what a platform can do. What it lacks is nil, and the tools that
// need it answer AUTOMATION_NOT_SUPPORTED. All methods are safe for concurrent
// use, end by the deadline of their context, and fail with an *aai.Error.
type Backend struct {
	Tree      Tree
	Offscreen OffscreenTree
	Documents Documents
	Actor     Actor
	Events    Events
	Windows   Windows
	Input     Input
	Screen    Screen
	Clipboard Clipboard
	Programs  Programs
}

// ChromiumNoBackgroundingFlag is the argument with which Chromium works, and shows it in its tree, while
// others cover it.
const ChromiumNoBackgroundingFlag = "--disable-backgrounding-occluded-windows"

// An App is a program that runs and has windows or a tree.
type App struct {
	PID  int
	Name string // as it calls itself, or else as its window or its executable does
	// ID is the same each time the program runs, such as "mousepad": the name of
	// its executable, or of the script that an interpreter runs. Grants and lists
	// name apps by it. It does not come from the app's own words.
	ID         string
	Executable string // the path
	// ProgramIdentity says exactly what runs, for consent to be bound to: paths of executable
	// and script, with their contents where the person may change them, or a Flatpak's
	// app. It may have several lines; "" where the backend cannot tell.
	ProgramIdentity string
	// Started is when the process was started, in the system's own words: with PID, it
	// names one run of a program for good. "" where the backend cannot tell.
	Started string
	Toolkit string // such as "GTK 3.24.38"; "" if not known
	// IsBrowser says that the app shows pages: its windows are there before what is in them,
	// and it falls behind keys that come faster than it reads.
	IsBrowser bool
	// WorksCovered says that the app does what it is asked to by its tree, and shows it there, also
	// where others cover it.
	WorksCovered bool
	// FocusOnlyWhenActive says that only while a window has a keyboard the app tells what in it has that.
	FocusOnlyWhenActive bool
	// HiddenReason says why the app shows no tree, or only an empty one, and what a
	// person can do about it; "" where it shows one.
	HiddenReason string
	// Key is the backend's own name of the app.
	Key string
}

// Readiness says whether apps can be read at all.
type Readiness struct {
	Ready  bool
	Detail string // what was found, for people
	Hint   string // what to do where it is not ready
}

// A Tree reads what apps show.
type Tree interface {
	// Ready looks whether trees can be read, and changes nothing.
	Ready(ctx context.Context) (Readiness, error)
	// Apps lists the programs that show a tree or a window, each process once.
	Apps(ctx context.Context) ([]App, error)
	// Snapshot reads all that the app shows, also what is hidden in it. Frames and
	// values are read for what is showing. An app that ended fails with
	// APP_NOT_RUNNING, one that does not answer with TIMEOUT. For a context of Awaiting
	// it may leave out what the app did not tell of.
	Snapshot(ctx context.Context, app App) (*Snapshot, error)
	// Read reads one element afresh and completely: Value is not cut, Parent and
	// End are zero. An element that is gone fails with STALE_REF.
	Read(ctx context.Context, app App, id ID) (Element, error)
	// Children reads count of an element's children, beginning with the first'th
	// (from 0), for those with Element.Unread.
	Children(ctx context.Context, app App, id ID, first, count int) ([]Element, error)
}

// A Far reads also what is out of view.
type OffscreenTree interface {
	// SnapshotOffscreen is Tree.Snapshot, but what is Offscreen is read as completely as what shows, save
	// for where it is. Later snapshots may still know what it read.
	SnapshotOffscreen(ctx context.Context, app App) (*Snapshot, error)
	// SnapshotCells is Tree.Snapshot that also has those cells of a table with Element.Unread, as have
	// those of the next minutes: the MaxCells of the app that were asked for last.
	SnapshotCells(ctx context.Context, app App, table ID, cells Cells) (*Snapshot, error)
}

// A Verb is a thing that can be done to an element in the background, by asking
// the app itself.
type Verb string

// The verbs.
const (
	Press       Verb = "press"       // the element's first action, or Act.Action
	SetText     Verb = "set_text"    // Act.Text becomes all its text
	InsertText  Verb = "insert_text" // Act.Text goes in where the caret is, or at the end
	SetNumber   Verb = "set_number"  // Act.Number becomes its value
	SelectItem  Verb = "select"      // it becomes its set's one selected item
	TakeFocus   Verb = "focus"       // it gets its window's keyboard; some toolkits raise the window
	ScrollTo    Verb = "scroll_to"   // it is brought into view
	RefreshText Verb = "retell"      // its caret goes elsewhere and back, so that a browser tells anew what it holds
)

// An Act is a verb and what it needs.
type Act struct {
	Verb   Verb
	Action string // of Press: which of Element.Actions; "" for the first
	Text   string // of SetText and InsertText
	Number float64
	// Name is the element's, as the caller knows it, or "". What toolkits use again
	// for others, see [Role.IsSetMember], is left alone if it has another name by now.
	Name string
	// AddToSelection makes SelectItem leave selected what else is in its set.
	AddToSelection bool
	// AllowClosedMenu makes Press do an item of a menu that is closed, which does not
	// show. To open the menu would take the person's keyboard.
	AllowClosedMenu bool
	// AllowHang makes Press ask the program also in the way after which it may hang at the
	// next key, if it has opened a dialog. Without it that is AUTOMATION_NOT_SUPPORTED.
	AllowHang bool
}

// An Actor does things to elements by asking the app. It takes neither the focus
// nor the pointer, except that TakeFocus may raise a window.
type Actor interface {
	// Execute does it and returns when the app has answered. That it answered
	// means only that it was delivered: the effect is for the caller to observe.
	// An element that cannot do it fails with AUTOMATION_NOT_SUPPORTED and
	// delivery not_delivered, one that is gone with STALE_REF.
	Execute(ctx context.Context, app App, id ID, act Act) error
}

// An EventKind is what kind of thing happened.
type EventKind string

// The kinds of events.
const (
	StateChanged    EventKind = "state"    // Event.Detail is the word of the state
	NameChanged     EventKind = "name"     // also the description
	ValueChanged    EventKind = "value"    // a number, or the value of something
	TextChanged     EventKind = "text"     // text came or went
	ChildrenChanged EventKind = "children" // elements came or went
	SelectionMoved  EventKind = "selection"
	FocusMoved      EventKind = "focus"
	WindowChanged   EventKind = "window" // Event.Detail is "opened", "closed", "activated" or "deactivated"
	CaretMoved      EventKind = "caret"
	BoundsChanged   EventKind = "bounds"
	Lost            EventKind = "lost" // events were dropped, or the app ended: look again
)

// An Event is something that happened in an app.
type Event struct {
	Kind   EventKind
	ID     ID // the element; "" where it is the app
	Detail string
	At     time.Time
}

// Events tells what happens in apps.
type Events interface {
	// Watch delivers the app's events from now until the context ends, then the
	// channel is closed. A reader that is slow loses events and gets one of kind
	// Lost in their place.
	Watch(ctx context.Context, app App) (<-chan Event, error)
	// IsIdle reports whether the app waits for something to happen, as far as can be told
	// from outside: neither it nor a process that it started runs or wants to, and its
	// toolkit does not still show a press before it acts. A timer of the app is not seen.
	IsIdle(app App) bool
	// BusyTime is how long the app's first thread and those of the processes that it started ran
	// until now, or waited for a processor, in all: one that works in slices, and sleeps between
	// them, is idle now and then. 0 where that is not counted.
	BusyTime(app App) time.Duration
}

// A WindowID names a window of the window system.
type WindowID uint64

// A WindowInfo is a window as the window system knows it.
type WindowInfo struct {
	ID    WindowID
	PID   int // 0 where the window does not say
	Title string
	Class string // such as X11's WM_CLASS
	// Frame is the window's content on the screen, without the decorations of
	// the window manager.
	Frame     Rect
	Active    bool // it has the keyboard
	Minimized bool
	// Modal says that it must be answered before the program's other windows can
	// be used. Some toolkits tell it to the window system alone.
	Modal bool
	// Covered says how much of it lies under other windows or off the screen,
	// from 0 to 1.
	Covered float64
}

// Windows knows the windows of the screen.
type Windows interface {
	// Windows lists them, the front one first.
	Windows(ctx context.Context) ([]WindowInfo, error)
	// WindowAt says which window is seen at the point.
	WindowAt(ctx context.Context, p Point) (WindowInfo, error)
	// Activate brings the window to the front and gives it the keyboard. It takes
	// the focus from the person; only tools in the mode "focus" call it.
	Activate(ctx context.Context, id WindowID) error
	// Manage asks whoever manages the windows, and returns when they were asked: the
	// effect is for the caller to observe. Where nobody does, it fails with
	// AUTOMATION_NOT_SUPPORTED.
	Manage(ctx context.Context, id WindowID, wish WindowRequest) error
}

// A WindowWish is what can be asked of who manages the windows.
type WindowRequest string

// The wishes. None is meant to give the window the keyboard.
const (
	Raise    WindowRequest = "raise"    // above all others
	Restore  WindowRequest = "restore"  // it is minimized no longer
	Minimize WindowRequest = "minimize" // away from the screen
	Close    WindowRequest = "close"    // the program is asked to; it may ask its person first
)

// A Seat is a pointer with a keyboard.
type Seat int

// The seats. The zero value is the careful one.
const (
	OwnSeat    Seat = iota // the gateway's own: the person's pointer and focus stay where they are
	PersonSeat             // the person's: the mode "focus"
)

// A MouseButton is a button of the pointer.
type MouseButton int

// The buttons, as X11 counts them.
const (
	LeftButton   MouseButton = 1
	MiddleButton MouseButton = 2
	RightButton  MouseButton = 3
)

// A Chord is a key with modifiers.
type Chord struct {
	Key       string   // one character, or a name such as "return", "escape", "f5", "page_down"
	Modifiers []string // "ctrl", "shift", "alt", "meta"
}

// Input makes input as a pointer and a keyboard do. It fails with
// AUTOMATION_NOT_SUPPORTED where there is no such seat, or where this window
// cannot be reached by it without the focus.
type Input interface {
	// Click presses and releases the button count times at the point, which the
	// window must be seen at.
	Click(ctx context.Context, seat Seat, window WindowID, at Point, button MouseButton, count int) error
	// Drag presses the left button at one point, moves to the other in the given
	// time, and releases it.
	Drag(ctx context.Context, seat Seat, window WindowID, from, to Point, duration time.Duration) error
	// Scroll turns the wheel at the point: dx and dy in notches, right and down.
	Scroll(ctx context.Context, seat Seat, window WindowID, at Point, dx, dy int) error
	Keyboard
}

// A Keyboard gives windows keys, from one of the seats.
type Keyboard interface {
	// Type types the text into what has the window's keyboard. Any Unicode can be
	// typed, whatever the keyboard's layout.
	Type(ctx context.Context, seat Seat, window WindowID, text string) error
	// Key presses the chord.
	Key(ctx context.Context, seat Seat, window WindowID, chord Chord) error
	// WithKeyboard gives the window the keyboard of the seat while the function runs. The function
	// presses keys by the input that it is given, in this window and from this seat alone: that
	// input has no pointer.
	WithKeyboard(ctx context.Context, seat Seat, window WindowID, while func(context.Context, Input) error) error
}

// A Monitor is one of the screens.
type Monitor struct {
	Name    string
	Frame   Rect
	Primary bool
	Scale   float64 // physical pixels for one of the size that people set
}

// A Layer is one thing that lies on the screen: a window with its frame and shadow, a
// menu, a panel, also what no window manager knows.
type Layer struct {
	PID   int // of the program that shows itself there; 0 where nobody knows
	Frame Rect
	// Unmanaged says that no window manager had a word on it, as with menus and locks.
	Unmanaged bool
	// OpaqueRegion is what of the screen it surely hides.
	OpaqueRegion []Rect
}

// A Screen takes pictures.
type Screen interface {
	Monitors(ctx context.Context) ([]Monitor, error)
	// Layers lists what lies on the screen, the lowest first.
	Layers(ctx context.Context) ([]Layer, error)
	// Capture takes what is seen in the rectangle.
	Capture(ctx context.Context, area Rect) (*image.RGBA, error)
	// CaptureWindow takes the window's content, also where it is covered. A
	// minimized window fails with AUTOMATION_NOT_SUPPORTED.
	CaptureWindow(ctx context.Context, id WindowID) (*image.RGBA, error)
}

// A Clip is what is on the clipboard: a text, a picture, or nothing.
type Clip struct {
	Text string
	PNG  []byte
}

// A Clipboard is the person's clipboard.
type Clipboard interface {
	Get(ctx context.Context) (Clip, error)
	// Set puts the clip there, and says for how long it stays and who keeps it, in words
	// that follow "until something else is copied".
	Set(ctx context.Context, clip Clip) (stays string, err error)
}

// Programs starts programs so that their trees can be read.
type Programs interface {
	// Find finds the program with the id of a desktop entry, or the name or the
	// path of its executable. It fails with APP_NOT_FOUND and candidates.
	Find(name string) (Program, error)
	// Start starts the program with what its toolkit needs to show its tree, and
	// returns its process.
	Start(ctx context.Context, program Program, args []string) (pid int, err error)
	// IsRunning reports whether the process has not ended.
	IsRunning(pid int) bool
	// IsDescendant reports whether the process was started by the other one, directly
	// or not: many programs are started by a script.
	IsDescendant(pid, ancestor int) bool
	// LacksAccessibility reports whether the process shows windows and has nothing that could tell of what
	// is in them: no toolkit with a tree.
	LacksAccessibility(pid int) bool
}
