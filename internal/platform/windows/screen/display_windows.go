package screen

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"golang.org/x/sys/windows"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
)

// Config configures a Display.
type Config struct {
	// InputLock is the lock of the person's pointer, keyboard and focus. Without it there is no input.
	InputLock *inputlock.Lock
	Log       *slog.Logger // nil drops messages
}

// A Display is the person's screen. It is safe for concurrent use.
type Display struct {
	cfg       Config
	events    win32.WinEvents
	stopChord desktop.Chord
}

var (
	_ desktop.Windows   = (*Display)(nil)
	_ desktop.Input     = (*Display)(nil)
	_ desktop.Screen    = (*Display)(nil)
	_ desktop.Clipboard = (*Display)(nil)
	_ desktop.Changes   = (*Display)(nil)
)

// New returns the screen. It makes Windows measure in real pixels for this process. Buttons that a dead gateway held are released by the
// lock's next user.
func New(cfg Config) *Display {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	win32.UseRealPixels()
	d := &Display{cfg: cfg}
	cfg.InputLock.SetRelease(d.releaseDead)
	return d
}

// Windows implements desktop.Windows. The frame is the visible one, with the title bar, since Windows programs draw their own. A window
// that hosts an app of the Store counts as one of the app's process.
func (*Display) Windows(context.Context) ([]desktop.WindowInfo, error) {
	s := look()
	var found []desktop.WindowInfo
	for i := range s.windows {
		if s.windows[i].traits.isListed() {
			found = append(found, s.info(i))
		}
	}
	return found, nil
}

// WindowAt implements desktop.Windows. Overlays that let clicks through do not count.
func (*Display) WindowAt(_ context.Context, p desktop.Point) (desktop.WindowInfo, error) {
	s := look()
	if !slices.ContainsFunc(s.monitors, func(m desktop.Rect) bool { return m.Contains(p) }) {
		return desktop.WindowInfo{}, notDelivered(aai.InvalidParams, "the point %d,%d is on no monitor", p.X, p.Y)
	}
	if i := s.at(p); i >= 0 {
		return s.info(i), nil
	}
	e := notDelivered(aai.AutomationFailed, "there is no window at %d,%d", p.X, p.Y)
	e.Hint = "List the windows and their frames."
	return desktop.WindowInfo{}, e
}

// A stack is a snapshot of the windows, the front one first.
type stack struct {
	windows    []stacked
	monitors   []desktop.Rect
	scaled     []desktop.Rect // monitors with another scale than 1
	foreground win32.Window
}

// A stacked is a top-level window.
type stacked struct {
	window win32.Window
	traits windowTraits
	layer  layer
}

// look reads the stack. It asks no program, so that a hung one does not matter.
func look() *stack {
	s := &stack{foreground: win32.Foreground()}
	for _, m := range win32.Monitors() {
		s.monitors = append(s.monitors, m.Frame)
		if m.Scale != 1 {
			s.scaled = append(s.scaled, m.Frame)
		}
	}
	if len(s.monitors) == 0 {
		s.monitors = []desktop.Rect{win32.VirtualScreen()}
	}
	for _, w := range win32.TopLevel() {
		if t := traitsOf(w); t.visible {
			s.windows = append(s.windows, stacked{w, t, layer{t.frame, w.IsOpaque()}})
		}
	}
	return s
}

func traitsOf(w win32.Window) windowTraits {
	style, ex := w.Style()
	t := windowTraits{visible: w.IsVisible()}
	if !t.visible {
		return t
	}
	t.cloaked, t.minimized, t.class, t.frame = w.IsCloaked(), w.IsMinimized(), w.Class(), w.VisibleFrame()
	t.caption = style&win32.StyleCaption == win32.StyleCaption
	t.isChild = style&win32.StyleChild != 0
	t.tool, t.app, t.noActivate = ex&win32.ExTool != 0, ex&win32.ExApp != 0, ex&win32.ExNoActivate != 0
	t.transparent = ex&win32.ExTransparent != 0
	return t
}

// isLayer reports whether the window shows.
func (t windowTraits) isLayer() bool {
	return t.visible && !t.cloaked && !t.minimized && !t.frame.Empty()
}

// info describes the window with the index.
func (s *stack) info(i int) desktop.WindowInfo {
	w, t := s.windows[i].window, s.windows[i].traits
	info := desktop.WindowInfo{
		ID: desktop.WindowID(w), PID: int(contentProcess(w, t.class)), Title: aai.CleanLabel(w.Title(), maxTitle), Class: t.class,
		Frame: t.frame, Active: w == s.foreground, Minimized: t.minimized, Covered: 1,
		Unscaled: !slices.ContainsFunc(s.scaled, func(m desktop.Rect) bool { return !m.Intersect(t.frame).Empty() }),
	}
	if owner := w.Owner(); owner != 0 && owner.IsVisible() {
		style, _ := owner.Style()
		info.Modal = style&win32.StyleDisabled != 0
	}
	if t.isLayer() {
		info.Covered = covered(t.frame, s.monitors, s.above(i))
	}
	return info
}

// maxTitle is the limit for a title, in bytes.
const maxTitle = 500

// above returns the layers before the index.
func (s *stack) above(i int) []layer {
	var above []layer
	for _, o := range s.windows[:i] {
		if o.traits.isLayer() {
			above = append(above, o.layer)
		}
	}
	return above
}

// at returns the index of the front window that takes clicks at the point, or -1.
func (s *stack) at(p desktop.Point) int {
	return slices.IndexFunc(s.windows, func(w stacked) bool {
		return w.traits.isLayer() && !w.traits.transparent && w.layer.frame.Contains(p)
	})
}

// contentProcess returns the process of the window. The windows of apps of the Store belong to a host; the process is that of their content.
func contentProcess(w win32.Window, class string) uint32 {
	pid, _ := w.Process()
	if class != "ApplicationFrameWindow" {
		return pid
	}
	for _, child := range w.Descendants() {
		if inner, _ := child.Process(); child.Class() == "Windows.UI.Core.CoreWindow" && inner != pid {
			return inner
		}
	}
	return pid
}

// existing returns the window with the ID, or an error if it is gone.
func existing(id desktop.WindowID) (win32.Window, error) {
	if w := win32.Window(id); id>>32 == 0 && w.Exists() {
		return w, nil
	}
	e := notDelivered(aai.AutomationFailed, "the window is not there any more")
	e.Hint = "List the windows again."
	return 0, e
}

// notDelivered returns an error for an action that was not begun.
func notDelivered(code aai.Code, format string, args ...any) *aai.Error {
	return &aai.Error{Code: code, Message: fmt.Sprintf(format, args...), Delivery: aai.NotDelivered}
}

// systemError returns the error of a function of Windows.
func systemError(doing string, err error) error {
	if errors.Is(err, windows.ERROR_ACCESS_DENIED) {
		return protectedError()
	}
	e := aai.Errorf(aai.AutomationFailed, "%s: %w", doing, err)
	e.Delivery = aai.NotDelivered
	return e
}

// protectedError returns the error for a window of a program with more rights.
func protectedError() error {
	e := notDelivered(aai.PermissionDenied, "the program runs with higher rights (as administrator), and Windows accepts no input for it from this gateway")
	e.Hint = "Ask the person to do this step, or to start the program without administrator rights."
	return e
}

// within runs f, which may wait for another program, and abandons it when ctx ends.
func within[T any](ctx context.Context, doing string, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := f()
		done <- result{value, err}
	}()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		e := aai.Errorf(aai.Timeout, "%s: the program does not answer", doing)
		e.Delivery = aai.DeliveryUnknown
		return none, e
	}
}

// patience is the longest wait for another program.
const patience = 15 * time.Second
