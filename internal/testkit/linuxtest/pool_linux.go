package linuxtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A Pool lends accessible sessions to the tests of a package, each to one test at a time. The start of a session takes
// about a second. A test that stops a bus or the window manager needs a session of its own: see StartAccessible.
// All methods are safe for concurrent use.
type Pool struct {
	mu   sync.Mutex
	idle []*Session
}

// Run runs the tests of the package, ends the sessions and returns the code for os.Exit.
func (p *Pool) Run(m *testing.M) int {
	code := m.Run()
	if err := p.End(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}

// End ends the sessions that no test has.
func (p *Pool) End() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, s := range p.idle {
		errs = append(errs, s.lifetime.end())
	}
	p.idle = nil
	return errors.Join(errs...)
}

// Borrow returns a session without windows and without files in its home. The test has it until it ends.
func (p *Pool) Borrow(t testing.TB) *Session {
	t.Helper()
	p.mu.Lock()
	var s *Session
	if n := len(p.idle); n > 0 {
		s, p.idle = p.idle[n-1], p.idle[:n-1]
	}
	p.mu.Unlock()
	if s == nil {
		life := &lifetime{TB: t}
		s = StartAccessible(life)
		s.lifetime = life
		life.TB = nil
	}
	s.logged = len(s.Programs())
	t.Cleanup(func() {
		if t.Failed() {
			s.logPrograms(t)
		}
		if t.Failed() || !s.clear(t) {
			if err := s.lifetime.end(); err != nil {
				t.Error(err)
			}
			return
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.idle = append(p.idle, s)
	})
	return s
}

// clear empties the home of a session whose programs have ended. It reports whether no window is left.
func (s *Session) clear(t testing.TB) bool {
	for _, folder := range []string{s.Home, s.Path("tmp")} {
		if err := removeIn(folder); err != nil {
			t.Logf("%s cannot be emptied: %v", folder, err)
			return false
		}
	}
	for range 100 {
		if windows, err := s.run(t, "xprop", "-root", "_NET_CLIENT_LIST"); err == nil && !strings.Contains(windows, "0x") {
			_, err = s.tryXdotool(t, "mousemove", fmt.Sprint(ScreenWidth/2), fmt.Sprint(ScreenHeight/2))
			return err == nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Logf("a window is left on the screen of %s", s.Folder)
	return false
}

// removeIn removes the content of a folder.
func removeIn(folder string) error {
	entries, err := os.ReadDir(folder)
	for _, entry := range entries {
		if err == nil {
			err = os.RemoveAll(folder + "/" + entry.Name())
		}
	}
	return err
}

// lifetime is the testing.TB of a session that outlives the test that starts it.
type lifetime struct {
	testing.TB // during the start

	ends []func()
	err  error
}

// Cleanup implements testing.TB.
func (l *lifetime) Cleanup(f func()) { l.ends = append(l.ends, f) }

// Context implements testing.TB.
func (l *lifetime) Context() context.Context { return context.Background() }

// Helper implements testing.TB.
func (l *lifetime) Helper() {}

// Failed implements testing.TB.
func (l *lifetime) Failed() bool { return false }

// Error implements testing.TB.
func (l *lifetime) Error(args ...any) { l.Errorf("%s", fmt.Sprint(args...)) }

// Errorf implements testing.TB.
func (l *lifetime) Errorf(format string, args ...any) {
	l.err = errors.Join(l.err, fmt.Errorf(format, args...))
}

// end ends the session.
func (l *lifetime) end() error {
	for _, f := range slices.Backward(l.ends) {
		f()
	}
	return l.err
}
