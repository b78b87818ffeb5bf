package fakedesktop

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// The size of the screen, in pixels.
const (
	Width  = 1600
	Height = 1000
)

// A Desktop is a screen with programs. Its methods, and those of all that is on
// it, are safe for concurrent use. What a program does when something is done to
// it is called without a lock, so that it may call any of them.
type Desktop struct {
	mu        sync.Mutex
	programs  []*Program
	stack     []*Window // the front one first
	active    *Window   // has the person's keyboard
	person    Person
	clip      desktop.Clip
	actions   []string
	ready     desktop.Readiness
	installed map[string]func() *Program
	ids       int
	pids      int
}

// Person is what the person at the desktop could have noticed of the gateway.
type Person struct {
	Pointer      desktop.Point // where the pointer is
	PointerMoves int           // how often it was moved by another than the person
	FocusMoves   int           // how often another window got the keyboard in that way
}

// New returns a desktop with nothing on it, which can be read.
func New() *Desktop {
	return &Desktop{
		pids:      1000,
		person:    Person{Pointer: desktop.Point{X: 7, Y: 9}},
		ready:     desktop.Readiness{Ready: true, Detail: "A desktop in memory."},
		installed: make(map[string]func() *Program),
	}
}

// Backend returns what the code under test is to call. All of it is there; a
// test may set parts to nil.
func (d *Desktop) Backend() desktop.Backend {
	b := &backend{d}
	return desktop.Backend{
		Tree: b, Actor: b, Events: b, Windows: b, Input: b, Screen: b, Clipboard: b, Programs: b,
	}
}

// backend is all that a platform can do.
type backend struct{ d *Desktop }

// Person returns what the person could have noticed so far.
func (d *Desktop) Person() Person {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.person
}

// Actions returns all that was asked for so far and may have changed something, in
// order: the method of the backend and what it was about, such as "Perform press
// button Save", "Type own" or "Activate". What only reads is not there.
func (d *Desktop) Actions() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.actions)
}

// recordAction remembers a deed. The desktop is locked.
func (d *Desktop) recordAction(words ...string) {
	d.actions = append(d.actions, strings.Join(words, " "))
}

// SetReady sets what Ready answers.
func (d *Desktop) SetReady(r desktop.Readiness) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ready = r
}

// Install makes a program that can be started by its name. The function makes the
// program when it is started; its windows may come later.
func (d *Desktop) Install(name string, start func() *Program) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.installed[name] = start
}

// Copy puts something on the clipboard, as the person would.
func (d *Desktop) Copy(clip desktop.Clip) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.clip = clip
}

// Clip returns what is on the clipboard.
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
	for range b.d.programs { // as many steps as there are programs, even if they go round
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

// contextError is the error of a call whose context has ended, or nil.
func contextError(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	e := aai.AsError(ctx.Err())
	e.Delivery = aai.NotDelivered
	return e
}

// notDeliveredError is the error of what was not done.
func notDeliveredError(code aai.Code, format string, args ...any) error {
	e := aai.Errorf(code, format, args...)
	e.Delivery = aai.NotDelivered
	return e
}
