package fakedesktop

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// The screen size in pixels.
const (
	Width  = 1600
	Height = 1000
)

// A Desktop is a screen with programs. Its methods, and those of its programs and elements, are safe for
// concurrent use. Handlers of programs run without a lock, so they may call any method.
type Desktop struct {
	mu        sync.Mutex
	programs  []*Program
	stack     []*Window // front one first
	active    *Window   // has the person's keyboard focus
	person    Person
	clip      desktop.Clip
	actions   []string
	ready     desktop.Readiness
	installed map[string]func() *Program
	ids       int
	pids      int
}

// Person records the effects of the gateway that the person could have noticed.
type Person struct {
	Pointer      desktop.Point // position of the pointer
	PointerMoves int           // number of moves that the person did not make
	FocusMoves   int           // number of focus changes that the person did not make
}

// New returns an empty desktop with readable trees.
func New() *Desktop {
	return &Desktop{
		pids:      1000,
		person:    Person{Pointer: desktop.Point{X: 7, Y: 9}},
		ready:     desktop.Readiness{Ready: true, Detail: "A desktop in memory."},
		installed: make(map[string]func() *Program),
	}
}

// Backend returns the backend for the code under test. All fields but Offscreen and Documents are set; a test may set
// others to nil.
func (d *Desktop) Backend() desktop.Backend {
	b := &backend{d}
	return desktop.Backend{
		Tree: b, Actor: b, Events: b, Windows: b, Input: b, Screen: b, Clipboard: b, Programs: b,
	}
}

// backend implements all parts of a desktop.Backend.
type backend struct{ d *Desktop }

// Person returns the effects so far that the person could have noticed.
func (d *Desktop) Person() Person {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.person
}

// Actions returns, in order, all requests so far that may have changed something: the method of the backend
// and its object, such as "Perform press button Save", "Type own" or "Activate". Read-only requests are not
// included.
func (d *Desktop) Actions() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.actions)
}

// recordAction records an action. The caller holds the desktop's lock.
func (d *Desktop) recordAction(words ...string) {
	d.actions = append(d.actions, strings.Join(words, " "))
}

// SetReady sets the result of Ready.
func (d *Desktop) SetReady(r desktop.Readiness) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ready = r
}

// Install installs a program under its name. Backend.Programs.Start calls start, which creates the program; its
// windows may come later.
func (d *Desktop) Install(name string, start func() *Program) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.installed[name] = start
}

// Copy puts a clip on the clipboard, as the person would.
func (d *Desktop) Copy(clip desktop.Clip) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.clip = clip
}

// Clip returns the clipboard's content.
func (d *Desktop) Clip() desktop.Clip {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.clip
}

func (b *backend) Get(ctx context.Context) (desktop.Clip, error) {
	if err := contextError(ctx); err != nil {
		return desktop.Clip{}, err
	}
	return b.d.Clip(), nil
}

func (b *backend) Set(ctx context.Context, clip desktop.Clip) (string, error) {
	if err := contextError(ctx); err != nil {
		return "", err
	}
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	b.d.recordAction("Set clipboard")
	b.d.clip = clip
	return "as long as the gateway runs, which keeps it", nil
}

func (b *backend) Find(name string) (desktop.Program, error) {
	b.d.mu.Lock()
	_, ok := b.d.installed[name]
	names := make([]string, 0, len(b.d.installed))
	for n := range b.d.installed {
		names = append(names, n)
	}
	b.d.mu.Unlock()
	if !ok {
		slices.Sort(names)
		e := aai.Errorf(aai.AppNotFound, "no program %q is installed", aai.CleanLabel(name, 60))
		e.Candidates = aai.Nearest(name, names, 3)
		return desktop.Program{}, e
	}
	return desktop.Program{Name: name, Path: "/usr/bin/" + name}, nil
}

func (b *backend) Start(ctx context.Context, program desktop.Program, args []string) (int, error) {
	if err := contextError(ctx); err != nil {
		return 0, err
	}
	b.d.mu.Lock()
	b.d.recordAction(append([]string{"Start", program.Name}, args...)...)
	start := b.d.installed[program.Name]
	b.d.mu.Unlock()
	return start().PID(), nil
}

func (b *backend) IsRunning(pid int) bool {
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	return slices.ContainsFunc(b.d.programs, func(p *Program) bool { return p.app.PID == pid })
}

func (b *backend) IsDescendant(pid, ancestor int) bool {
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	for range b.d.programs { // at most as many steps as programs, in case of a cycle
		i := slices.IndexFunc(b.d.programs, func(p *Program) bool { return p.app.PID == pid })
		if i < 0 {
			return false
		}
		if pid = b.d.programs[i].parent; pid == ancestor {
			return true
		}
	}
	return false
}

func (b *backend) LacksAccessibility(pid int) bool {
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	return slices.ContainsFunc(b.d.programs, func(p *Program) bool { return p.app.PID == pid && p.app.HiddenReason != "" })
}

// contextError returns the error of a call with an ended context, or nil.
func contextError(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	e := aai.AsError(ctx.Err())
	e.Delivery = aai.NotDelivered
	return e
}

// notDeliveredError returns the error for an action that was not executed.
func notDeliveredError(code aai.Code, format string, args ...any) error {
	e := aai.Errorf(code, format, args...)
	e.Delivery = aai.NotDelivered
	return e
}
