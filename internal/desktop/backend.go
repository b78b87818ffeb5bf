package desktop

import (
	"context"
	"image"
	"time"
)

// A Backend holds the implementations of one platform. A field is nil if the platform does not support it;
// tools that need it then return AUTOMATION_NOT_SUPPORTED. All methods are safe for concurrent use, return
// by the deadline of their context, and fail with an *aai.Error.
type Backend struct {
	Tree      Tree
	Offscreen OffscreenTree
	Documents Documents
	Actor     Actor
	Events    Events
	Changes   Changes
	Windows   Windows
	Input     Input
	Screen    Screen
	Clipboard Clipboard
	Programs  Programs
	Indicator Indicator
	Person    PersonInput
	// PauseReason returns the reason why actions must wait because the person cannot see the screen, as a
	// clause such as "the screen is locked"; "" for none. It may be nil.
	PauseReason func(ctx context.Context) string
}

// ChromiumNoBackgroundingFlag is the Chromium argument that keeps covered windows working and their trees
// current.
const ChromiumNoBackgroundingFlag = "--disable-backgrounding-occluded-windows"

// The bridge from Java to the accessibility bus, as Debian's package libatk-wrapper-java installs it.
const (
	JavaBridgeClass = "org.GNOME.Accessibility.AtkWrapper"
	JavaBridgeFile  = "/usr/share/java/java-atk-wrapper.jar"
	// JavaBridgeOptions are the options of Java that load the bridge, for the variable JAVA_TOOL_OPTIONS. The class has
	// to be on the boot class path: a program with its own class path does not start if the class is not found.
	JavaBridgeOptions = "-Djavax.accessibility.assistive_technologies=" + JavaBridgeClass + " -Xbootclasspath/a:" + JavaBridgeFile
)

// An App is a running program that has windows or an accessibility tree.
type App struct {
	PID  int
	Name string // the app's own name, or else its window's or its executable's
	// ID identifies the program in every run, such as "mousepad": the name of its executable, or of the
	// script that an interpreter runs. Grants and lists refer to apps by it. The app itself cannot choose
	// it.
	ID         string
	Executable string // path
	// ProgramIdentity identifies the exact program, so that consent can be bound to it. It holds the paths
	// of executable and script, with the contents of those that the person can change. For a Flatpak it is
	// the app ID. It may have several lines; "" if the backend does not know it.
	ProgramIdentity string
	// Started is the start time of the process in the system's own format. PID and Started together
	// identify one run of a program. "" if the backend does not know it.
	Started string
	Toolkit string // such as "GTK 3.24.38"; "" if not known
	Profile
	// HiddenReason says why the app has no tree, or only an empty one, and how a person can fix that; "" if
	// the app has one.
	HiddenReason string
	// Key is the backend's own identifier of the app.
	Key string
}

// Readiness reports whether trees of apps can be read at all.
type Readiness struct {
	Ready  bool
	Detail string // findings, for people
	Hint   string // the next step if Ready is false
}

// A Tree reads the accessibility trees of apps.
type Tree interface {
	// Ready checks whether trees can be read, and changes nothing.
	Ready(ctx context.Context) (Readiness, error)
	// Apps lists the programs that have a tree or a window, each process once.
	Apps(ctx context.Context) ([]App, error)
	// Snapshot reads the complete tree of the app, including hidden elements. Frames and values are read
	// only for showing elements. It fails with APP_NOT_RUNNING if the app has ended, and with TIMEOUT if
	// the app does not answer. With a context of [WithPendingEffect], changes that the app sent no event
	// for may be missing.
	Snapshot(ctx context.Context, app App) (*Snapshot, error)
	// Read reads one element afresh and completely: Value is not cut, Parent and End are zero. It fails
	// with STALE_REF if the element no longer exists.
	Read(ctx context.Context, app App, id ID) (Element, error)
	// Children reads count children of an element with Element.UnreadChildren, starting at index first
	// (from 0).
	Children(ctx context.Context, app App, id ID, first, count int) ([]Element, error)
}

// An OffscreenTree also reads elements that are scrolled out of view.
type OffscreenTree interface {
	// SnapshotOffscreen is Tree.Snapshot, but reads Offscreen elements as completely as showing ones,
	// except for their frames. Later snapshots may still contain these values.
	SnapshotOffscreen(ctx context.Context, app App) (*Snapshot, error)
	// SnapshotCells is Tree.Snapshot that also contains the given cells of a table with
	// Element.UnreadChildren. Snapshots of the next minutes contain them too, up to the MaxCells cells that
	// were requested last for the app.
	SnapshotCells(ctx context.Context, app App, table ID, cells Cells) (*Snapshot, error)
}

// A Verb is an operation on an element that the app itself executes in the background.
type Verb string

// The verbs.
const (
	Press       Verb = "press"       // executes the element's first action, or Act.Action
	SetText     Verb = "set_text"    // replaces the element's text with Act.Text
	InsertText  Verb = "insert_text" // inserts Act.Text at the caret, or at the end
	SetNumber   Verb = "set_number"  // sets the element's value to Act.Number
	SelectItem  Verb = "select"      // makes the element the only selected item of its set
	TakeFocus   Verb = "focus"       // focuses the element within its window; some toolkits raise the window
	ScrollTo    Verb = "scroll_to"   // scrolls the element into view
	ChooseFile  Verb = "choose_file" // gives the file with the path Act.Text to a page's field for files, or to the chooser that it opens
	RefreshText Verb = "retell"      // moves the caret away and back, so that a browser reports its text anew
)

// An Act is a verb with its arguments.
type Act struct {
	Verb   Verb
	Action string // for Press: one of Element.Actions; "" for the first
	Text   string // for SetText and InsertText
	Number float64
	// Name is the element's name as the caller knows it, or "". Toolkits reuse elements of set members, see
	// [Role.IsSetMember]: the actor leaves such an element alone if its name has changed.
	Name string
	// AddToSelection makes SelectItem keep the other selected items of the set.
	AddToSelection bool
	// AllowClosedMenu lets Press execute an item of a closed menu, which does not show. Opening the menu
	// would take the person's keyboard.
	AllowClosedMenu bool
	// AllowHang lets Press use the call after which the program may hang at the next key if a dialog
	// opened. Without it, Press fails with AUTOMATION_NOT_SUPPORTED in this case.
	AllowHang bool
}

// An Actor operates elements by asking the app. It takes neither the focus nor the pointer, except that
// TakeFocus may raise a window.
type Actor interface {
	// Execute executes act and returns when the app has answered. The answer only means that the call was
	// delivered; the caller must observe the effect. Execute fails with AUTOMATION_NOT_SUPPORTED and
	// delivery not_delivered if the element does not support act, and with STALE_REF if the element no
	// longer exists.
	Execute(ctx context.Context, app App, id ID, act Act) error
}

// An EventKind is the kind of an event.
type EventKind string

// The kinds of events.
const (
	StateChanged    EventKind = "state"    // Event.Detail is the state's word, see State.Words
	NameChanged     EventKind = "name"     // also the description
	ValueChanged    EventKind = "value"    // a number, or an element's value
	TextChanged     EventKind = "text"     // text was inserted or removed
	ChildrenChanged EventKind = "children" // elements were added or removed
	SelectionMoved  EventKind = "selection"
	FocusMoved      EventKind = "focus"
	WindowChanged   EventKind = "window" // Event.Detail is "opened", "closed", "activated" or "deactivated"
	CaretMoved      EventKind = "caret"
	BoundsChanged   EventKind = "bounds"
	Lost            EventKind = "lost" // events were dropped, or the app ended: read again
)

// PressedDetail is the detail of the kind StateChanged for a button that is pressed.
const PressedDetail = "pressed"

// Ended is the detail of the event of the kind Lost after which an app sends no more events.
const Ended = "ended"

// An Event is a change in an app.
type Event struct {
	Kind   EventKind
	ID     ID // the element; "" for the app itself
	Detail string
	Unset  bool // of StateChanged: the element no longer has the state
	At     time.Time
}

// Events reports changes in apps and their activity.
type Events interface {
	// Watch delivers the app's events from now until the context ends, then closes the channel. A slow
	// reader loses events and receives one of kind Lost in their place.
	Watch(ctx context.Context, app App) (<-chan Event, error)
	// IsIdle reports whether the app waits for input, as far as its processes show. Neither the app nor a
	// child process runs or is ready to run, and no animation of a press delays the action. IsIdle does not
	// see an app's timers.
	IsIdle(app App) bool
	// BusyTime returns the total time that the first threads of the app and its descendant processes have
	// run or waited for a processor. Unlike IsIdle it notices an app that works in slices and sleeps
	// between them. 0 if the system does not count it.
	BusyTime(app App) time.Duration
}

// A WindowID identifies a window of the window system.
type WindowID uint64

// A WindowInfo describes a window as the window system knows it.
type WindowInfo struct {
	ID    WindowID
	PID   int // 0 if the window does not set it
	Title string
	Class string // such as X11's WM_CLASS
	// Frame is the rectangle of the window's content on the screen, without the window manager's
	// decorations.
	Frame Rect
	// Surface is the rectangle with the shadow that the program draws around Frame. It is empty if the program draws none,
	// or if the window system does not tell.
	Surface Rect
	// Unscaled reports whether all monitors that show the window have the scale 1. It is false if the window system does
	// not tell.
	Unscaled  bool
	Active    bool // has the keyboard focus
	Minimized bool
	// Modal reports whether the window must be answered before the program's other windows can be used.
	// Some toolkits set this only in the window system.
	Modal bool
	// Covered is the fraction of the window that lies under other windows or off the screen, from 0 to 1.
	Covered float64
}

// Windows lists and manages the windows of the screen.
type Windows interface {
	// Windows lists the windows, front one first.
	Windows(ctx context.Context) ([]WindowInfo, error)
	// WindowAt returns the topmost window at the point.
	WindowAt(ctx context.Context, p Point) (WindowInfo, error)
	// Activate brings the window to the front and gives it the keyboard focus. The person loses the focus;
	// only tools in the mode "focus" call it.
	Activate(ctx context.Context, id WindowID) error
	// Manage sends the request to the window manager and returns once it is sent; the caller must observe
	// the effect. Without a window manager it fails with AUTOMATION_NOT_SUPPORTED.
	Manage(ctx context.Context, id WindowID, wish WindowRequest) error
}

// A WindowRequest is a request to the window manager.
type WindowRequest string

// The requests. None of them focuses the window.
const (
	Raise    WindowRequest = "raise"    // move above all other windows
	Restore  WindowRequest = "restore"  // undo minimizing
	Minimize WindowRequest = "minimize" // away from the screen
	Close    WindowRequest = "close"    // ask the program to close it; the program may ask its person first
)

// A Seat is a pair of pointer and keyboard.
type Seat int

// The seats. The zero value is the safe one.
const (
	OwnSeat    Seat = iota // the gateway's own: the person's pointer and focus stay unchanged
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

// Input simulates a pointer and a keyboard. It fails with AUTOMATION_NOT_SUPPORTED if the seat does not
// exist, or if the seat cannot reach the window without focusing it.
type Input interface {
	// Click presses and releases the button count times at the point, where the window must be visible.
	Click(ctx context.Context, seat Seat, window WindowID, at Point, button MouseButton, count int) error
	// Drag presses the left button at one point, moves to the other within duration, and releases the
	// button.
	Drag(ctx context.Context, seat Seat, window WindowID, from, to Point, duration time.Duration) error
	// Scroll turns the wheel at the point: dx and dy in notches, right and down.
	Scroll(ctx context.Context, seat Seat, window WindowID, at Point, dx, dy int) error
	Keyboard
}

// A Keyboard sends keys to windows, from one of the seats.
type Keyboard interface {
	// Type types the text into the focused element of the window. It can type any Unicode text, regardless
	// of the keyboard layout.
	Type(ctx context.Context, seat Seat, window WindowID, text string) error
	// Key presses the chord.
	Key(ctx context.Context, seat Seat, window WindowID, chord Chord) error
	// WithKeyboard focuses the window for the seat while the function runs. The function presses keys
	// through its Input argument, which works only for this window and seat and has no pointer.
	WithKeyboard(ctx context.Context, seat Seat, window WindowID, while func(context.Context, Input) error) error
}

// A Monitor is one monitor of the screen.
type Monitor struct {
	Name    string
	Frame   Rect
	Primary bool
	Scale   float64 // physical pixels per logical pixel
}

// A Layer is a rectangle drawn on the screen: a window with its frame and shadow, a menu, a panel, or a
// window unknown to the window manager.
type Layer struct {
	PID   int // of the program that draws it; 0 if unknown
	Frame Rect
	// Unmanaged reports whether the window manager does not manage it, as for menus and lock screens.
	Unmanaged bool
	// OpaqueRegion is the part of the screen that the layer certainly hides.
	OpaqueRegion []Rect
}

// A Screen takes screenshots.
type Screen interface {
	Monitors(ctx context.Context) ([]Monitor, error)
	// Layers lists the layers, lowest first.
	Layers(ctx context.Context) ([]Layer, error)
	// Capture takes a screenshot of the rectangle.
	Capture(ctx context.Context, area Rect) (*image.RGBA, error)
	// CaptureWindow takes a screenshot of the window's content, also if it is covered. It fails with
	// AUTOMATION_NOT_SUPPORTED for a minimized window.
	CaptureWindow(ctx context.Context, id WindowID) (*image.RGBA, error)
}

// A Clip is the content of the clipboard: a text, a picture, or nothing.
type Clip struct {
	Text string
	PNG  []byte
}

// A Clipboard is the person's clipboard.
type Clipboard interface {
	Get(ctx context.Context) (Clip, error)
	// Set replaces the clipboard's content. stays says how long the clip stays and which program keeps it,
	// as words that follow "until something else is copied".
	Set(ctx context.Context, clip Clip) (stays string, err error)
}

// An Indicator shows the person that an agent acts on windows.
type Indicator interface {
	// Show shows the label until hide is called, and a moment longer so that a series of actions does not
	// flicker. It returns at once; a failure is only logged.
	Show(label string) (hide func())
}

// Programs finds installed programs and starts them so that their trees can be read.
type Programs interface {
	// Find returns the program with the given desktop entry ID, or executable name or path. It fails with
	// APP_NOT_FOUND and candidates.
	Find(name string) (Program, error)
	// Start starts the program with the settings that its toolkit needs to provide a tree, and returns the
	// process ID.
	Start(ctx context.Context, program Program, args []string) (pid int, err error)
	// IsRunning reports whether the process is still running.
	IsRunning(pid int) bool
	// IsDescendant reports whether ancestor started the process, directly or indirectly: many programs are
	// started by a script.
	IsDescendant(pid, ancestor int) bool
	// LacksAccessibility reports whether the process has windows but no toolkit that provides a tree.
	LacksAccessibility(pid int) bool
}

type pendingEffectKey struct{}

// WithPendingEffect returns a context for snapshots of a caller that waits for the effect of its last
// action. For a program that is slow to read and sends events for nearly all changes, Tree.Snapshot then
// reads only the reported changes. The next snapshot without this context reads the rest.
func WithPendingEffect(ctx context.Context) context.Context {
	return context.WithValue(ctx, pendingEffectKey{}, true)
}

// HasPendingEffect reports whether the context comes from [WithPendingEffect].
func HasPendingEffect(ctx context.Context) bool {
	awaits, _ := ctx.Value(pendingEffectKey{}).(bool)
	return awaits
}

// Documents reports the addresses (URLs) of the documents that an app shows.
type Documents interface {
	// Addresses returns the address of each of the documents, in their order, as the app reports it: "" for a document
	// without a known address.
	Addresses(ctx context.Context, app App, documents []ID) ([]string, error)
}
