package msaa

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/windows/comcall"
	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
)

// The limits of a read. Deeper elements and further ones are left out.
const (
	maxChildren = 2_000
	maxElements = 10_000
	maxDepth    = 60
)

// A Source reads windows by IAccessible. It implements wintree.Source, holds no objects between calls and is safe for concurrent use.
type Source struct{ library *library }

// New returns the source.
func New() *Source { return &Source{newLibrary()} }

// Prefix implements wintree.Source.
func (*Source) Prefix() string { return prefix }

// Read implements wintree.Source. It returns nil if the window's object tells no more than the window itself.
func (s *Source) Read(ctx context.Context, window win32.Window) ([]desktop.Element, error) {
	if ctx.Err() != nil {
		return nil, win32.NotAnswered(ctx)
	}
	top, hr := s.library.ofWindow(window)
	if comcall.Failed(hr) {
		return nil, s.failure(ctx, window, hr)
	}
	r := &reading{library: s.library, ctx: ctx, window: window}
	err := r.add(top, nil, -1)
	if err != nil || len(r.elements) == 0 || len(r.elements) == 1 && r.elements[0].Role == desktop.Generic {
		return nil, err
	}
	return r.elements, nil
}

// failure returns the error of a failed read.
func (s *Source) failure(ctx context.Context, window win32.Window, hr uint32) error {
	switch {
	case ctx.Err() != nil:
		return win32.NotAnswered(ctx)
	case comcall.Ended(hr) || !window.Exists():
		return win32.Gone()
	case hr == comcall.AccessDenied:
		return win32.Denied()
	}
	return &aai.Error{Code: aai.AutomationFailed, Message: fmt.Sprintf("MSAA cannot read the window (error 0x%08X)", hr), Delivery: aai.NotDelivered, Hint: "Read the window again."}
}

// A reading is one read of a window.
type reading struct {
	*library
	ctx      context.Context
	window   win32.Window
	elements []desktop.Element
	above    []unsafe.Pointer // the identities of the elements from the window to the one that is read
}

// add adds an element and its descendants. It releases the object. An element that is its own ancestor, or a window, is left out.
func (r *reading) add(o object, path []int, parent int) error {
	defer o.release()
	if r.ctx.Err() != nil {
		return win32.NotAnswered(r.ctx)
	}
	identity, again := r.isAbove(o)
	defer comcall.Release(identity)
	if again || len(path) > maxDepth {
		return nil
	}
	f, hr := r.facts(o)
	switch {
	case comcall.Failed(hr) && (parent < 0 || comcall.Ended(hr) && !r.window.Exists()):
		return (&Source{r.library}).failure(r.ctx, r.window, hr)
	case comcall.Failed(hr) || parent >= 0 && r.isWindow(o, &f, r.window):
		return nil
	}
	own := len(r.elements)
	e := f.element(desktop.MaxValue)
	a := address{window: uintptr(r.window), path: path}
	if parent >= 0 {
		a.digest = digestOf(&f)
	}
	e.ID, e.Parent = a.id(), parent
	r.elements = append(r.elements, e)
	desktop.ReadsOf(r.ctx).AddElements(len(r.elements))
	n := r.count(o)
	children := r.childrenOf(o, 0, min(n, maxChildren))
	r.elements[own].UnreadChildren = n - min(n, maxChildren)
	r.above = append(r.above, identity)
	defer func() { r.above = r.above[:len(r.above)-1] }()
	var failed error
	for i, child := range children {
		if failed != nil || child.accessible == nil || len(r.elements) >= maxElements {
			child.release()
			continue
		}
		failed = r.add(child, append(slices.Clone(path), i), own)
	}
	return failed
}

// isAbove returns the identity of an object, with a reference, and whether it is an ancestor of itself.
func (r *reading) isAbove(o object) (unsafe.Pointer, bool) {
	if o.child != 0 {
		return nil, false
	}
	identity := comcall.Query(o.accessible, &windows.GUID{Data4: [8]byte{0xC0, 0, 0, 0, 0, 0, 0, 0x46}})
	return identity, identity != nil && slices.Contains(r.above, identity)
}

// open returns the object of an ID with its facts. The caller releases it.
func (s *Source) open(ctx context.Context, id desktop.ID) (object, *facts, error) {
	if ctx.Err() != nil {
		return object{}, nil, win32.NotAnswered(ctx)
	}
	a, ok := parse(id)
	if !ok {
		return object{}, nil, win32.Gone()
	}
	window := win32.Window(a.window)
	o, hr := s.library.ofWindow(window)
	if comcall.Failed(hr) {
		return object{}, nil, s.failure(ctx, window, hr)
	}
	inShown := true
	for _, i := range a.path {
		state, _ := s.library.number(o, getState)
		inShown = state&(stateInvisible|stateOffscreen) == 0
		children := s.library.childrenOf(o, i, 1)
		o.release()
		if len(children) == 0 || children[0].accessible == nil {
			return object{}, nil, win32.Gone()
		}
		o = children[0]
	}
	f, hr := s.library.facts(o)
	if comcall.Failed(hr) || len(a.path) > 0 && digestOf(&f) != a.digest {
		o.release()
		if hr == comcall.AccessDenied || ctx.Err() != nil {
			return object{}, nil, s.failure(ctx, window, hr)
		}
		return object{}, nil, win32.Gone()
	}
	f.inShown = inShown
	return o, &f, nil
}

// Element implements wintree.Source.
func (s *Source) Element(ctx context.Context, id desktop.ID) (desktop.Element, error) {
	o, f, err := s.open(ctx, id)
	if err != nil {
		return desktop.Element{}, err
	}
	defer o.release()
	e := f.element(0)
	e.ID = id
	return e, nil
}

// Children implements wintree.Source.
func (s *Source) Children(ctx context.Context, id desktop.ID, first, count int) ([]desktop.Element, error) {
	if first < 0 || count < 0 || count > maxChildren {
		return nil, aai.Errorf(aai.InvalidParams, "children %d to %d: expected a first one from 0, and at most %d of them", first, first+count, maxChildren)
	}
	o, _, err := s.open(ctx, id)
	if err != nil {
		return nil, err
	}
	defer o.release()
	a, _ := parse(id)
	var all []desktop.Element
	for i, child := range s.library.childrenOf(o, first, count) {
		if child.accessible == nil || ctx.Err() != nil {
			child.release()
			continue
		}
		if f, hr := s.library.facts(child); !comcall.Failed(hr) {
			e := f.element(desktop.MaxValue)
			at := address{window: a.window, path: append(slices.Clone(a.path), first+i), digest: digestOf(&f)}
			e.ID = at.id()
			all = append(all, e)
		}
		child.release()
	}
	if ctx.Err() != nil {
		return nil, win32.NotAnswered(ctx)
	}
	return all, nil
}

// Execute implements wintree.Source.
func (s *Source) Execute(ctx context.Context, id desktop.ID, act desktop.Act) error {
	o, f, err := s.open(ctx, id)
	if err != nil {
		e := *aai.AsError(err)
		e.Delivery = aai.NotDelivered
		return &e
	}
	defer o.release()
	e := f.element(0)
	if act.Name != "" && e.Role.IsSetMember() && act.Name != e.Name {
		return win32.Gone()
	}
	return (&actor{s.library, ctx, o, f, &e}).execute(act)
}

// An actor operates one element.
type actor struct {
	*library
	ctx context.Context
	object
	facts *facts
	e     *desktop.Element
}

func (a *actor) execute(act desktop.Act) error {
	selects := a.e.States.Has(desktop.Selectable)
	switch act.Verb {
	case desktop.Press:
		return a.press(act)
	case desktop.SetText:
		if a.facts.isNumber() {
			if _, err := strconv.ParseFloat(act.Text, 64); err != nil {
				return &aai.Error{Code: aai.InvalidParams, Message: desktop.Describe(a.e) + " takes a number", Delivery: aai.NotDelivered, Hint: "Set a number."}
			}
		}
		return a.put(a.isField(), act.Text)
	case desktop.InsertText:
		// The place of the caret is not known, and a password is never read.
		return a.put(a.e.Role == desktop.Textbox && !a.e.States.HasAny(desktop.Focused|desktop.Protected), a.e.Value+act.Text)
	case desktop.SetNumber:
		return a.put(a.facts.isNumber(), strconv.FormatFloat(act.Number, 'f', -1, 64))
	case desktop.SelectItem:
		flags := uintptr(takeSelection)
		if act.AddToSelection {
			flags = addSelection
		}
		return a.do(selects, a.setShows, selectObject, flags, uintptr(unsafe.Pointer(a.self())))
	case desktop.TakeFocus:
		return a.do(a.e.States.Has(desktop.Focusable), a.shows, selectObject, takeFocus, uintptr(unsafe.Pointer(a.self())))
	}
	return win32.Unsupported(a.e, fmt.Sprintf("cannot %q; expected press, set_text, insert_text, set_number, select or focus", act.Verb))
}

func (a *actor) isField() bool {
	return a.e.Role == desktop.Textbox || a.facts.isNumber()
}

// press executes an action.
func (a *actor) press(act desktop.Act) error {
	action := act.Action
	if action == "" && len(a.e.Actions) > 0 {
		action = a.e.Actions[0]
	}
	shows := a.shows
	if act.AllowClosedMenu && a.e.Role.IsMenuItem() {
		shows = func() bool { return true }
	}
	has := slices.Contains(a.e.Actions, action)
	if action == actionSelect {
		return a.do(has, shows, selectObject, takeSelection, uintptr(unsafe.Pointer(a.self())))
	}
	if err := a.check(has, shows); err != nil {
		return err
	}
	o := a.object
	comcall.Hold(o.accessible)
	return a.result(comcall.Deliver(a.ctx, func() uint32 {
		defer o.release()
		return comcall.Invoke(o.accessible, doDefaultAction, uintptr(unsafe.Pointer(o.self())))
	}))
}

func (a *actor) shows() bool { return a.e.States.Has(desktop.Showing) }

// setShows reports whether an item or the set around it shows: programs select items that are scrolled away, or in a closed combo box.
func (a *actor) setShows() bool { return a.shows() || a.facts.inShown }

// put sets the value. MSAA knows lines by the breaks of Windows.
func (a *actor) put(has bool, text string) error {
	if has && a.facts.is(stateReadOnly) {
		return win32.ReadOnly(a.e)
	}
	value := a.NewString(strings.ReplaceAll(text, "\n", "\r\n"))
	defer a.FreeString(value)
	return a.do(has, a.shows, putValue, uintptr(unsafe.Pointer(a.self())), uintptr(value))
}

// check returns an error unless the element has a method, shows and is enabled.
func (a *actor) check(has bool, shows func() bool) error {
	switch {
	case !has:
		return win32.Unsupported(a.e, "does not do this")
	case !shows():
		return win32.NotShowing(a.e)
	case !a.e.States.Has(desktop.Enabled):
		return win32.Disabled(a.e)
	}
	return nil
}

// do calls a method if the element has it, shows and is enabled.
//
//go:uintptrescapes
func (a *actor) do(has bool, shows func() bool, method int, args ...uintptr) error {
	if err := a.check(has, shows); err != nil {
		return err
	}
	return a.result(comcall.Invoke(a.accessible, method, args...))
}

// result converts the result of an act.
func (a *actor) result(hr uint32) error {
	const (
		noMember        = 0x80020003
		notImplemented  = 0x80004001
		invalidArgument = 0x80070057
	)
	switch {
	case !comcall.Failed(hr), hr == comcall.EndedInCall, hr == comcall.DiedInCall:
		return nil // a program that ends during the act has received it: the next snapshot shows that
	case hr == noMember || hr == notImplemented:
		return win32.Unsupported(a.e, "does not do this")
	case comcall.Ended(hr):
		return win32.Gone()
	case hr == comcall.AccessDenied:
		return win32.Denied()
	}
	message := fmt.Sprintf("the program did not do it (error 0x%08X)", hr)
	if hr == invalidArgument {
		message = "the program refused it"
	}
	return &aai.Error{Code: aai.AutomationFailed, Message: desktop.Describe(a.e) + ": " + message, Delivery: aai.Delivered,
		Hint: "Look at the element again; it may be disabled, or not accept this."}
}
