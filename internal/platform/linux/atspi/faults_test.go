//go:build linux

package atspi_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/linux/atspi"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// TestStoppedApp checks that a hanging app delays only calls to it, until their deadline. It stays listed,
// and works again when it continues.
func TestStoppedApp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, kind := range []linuxtest.Kind{linuxtest.GTK3, linuxtest.GTK4, linuxtest.Qt6} {
		t.Run(string(kind), func(t *testing.T) {
			f, app := w.fixture(t, kind)
			_, other := w.fixture(t, linuxtest.Qt6)
			button := w.shows(t, app, desktop.Button, "Press")
			w.shows(t, other, desktop.Button, "Press")
			f.Suspend(t)
			short := func() (context.Context, context.CancelFunc) {
				return context.WithTimeout(t.Context(), 300*time.Millisecond)
			}
			var all sync.WaitGroup
			for range 3 {
				all.Go(func() {
					ctx, cancel := short()
					defer cancel()
					c, _ := code(second(w.bus.Snapshot(ctx, app)))
					assert.Check(t, is.Equal(c, aai.Timeout))
				})
			}
			all.Go(func() {
				ctx, cancel := short()
				defer cancel()
				c, _ := code(second(w.bus.Read(ctx, app, button.ID)))
				assert.Check(t, is.Equal(c, aai.Timeout))
			})
			all.Go(func() {
				ctx, cancel := short()
				defer cancel()
				c, delivery := code(w.bus.Execute(ctx, app, button.ID, desktop.Act{Verb: desktop.Press}))
				assert.Check(t, is.Equal(c, aai.Timeout))
				assert.Check(t, is.Equal(delivery, aai.NotDelivered))
			})
			all.Go(func() { w.snapshot(t, other) })
			all.Wait()
			listed := false
			apps, err := w.bus.Apps(t.Context())
			assert.NilError(t, err)
			for _, a := range apps {
				if a.PID == app.PID {
					listed = strings.Contains(a.HiddenReason, "does not answer") && a.ID == app.ID
				} else if a.PID == other.PID && a.HiddenReason != "" {
					t.Errorf("the other app: %s", a.HiddenReason)
				}
			}
			assert.Check(t, listed, "the app is not listed as one that does not answer: %+v", apps)
			f.Continue(t)
			w.shows(t, app, desktop.Button, "Press")
			got := f.State(t)["presses"]
			assert.Check(t, is.Equal(got, 0.0), "the button was pressed %v times", got)
		})
	}
}

// TestKilledApp checks that every call to an app that is killed during a reading reports that it has ended,
// and that none hangs.
func TestKilledApp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, kind := range linuxtest.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			f, app := w.fixture(t, kind)
			button := w.shows(t, app, desktop.Button, "Press")
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					// A separate Bus reads everything each time.
					bus := atspi.New(atspi.Config{Getenv: w.Getenv})
					defer bus.Close()
					for {
						if _, err := bus.Snapshot(t.Context(), app); err != nil {
							c, _ := code(err)
							assert.Check(t, is.Equal(c, aai.AppNotRunning), "a snapshot of an app that died: %v", err)
							return
						}
					}
				})
			}
			time.Sleep(30 * time.Millisecond)
			f.Kill(t)
			all.Wait()
			for what, err := range map[string]error{
				"Snapshot": second(w.bus.Snapshot(t.Context(), app)),
				"Read":     second(w.bus.Read(t.Context(), app, button.ID)),
				"Children": second(w.bus.Children(t.Context(), app, button.ID, 0, 1)),
				"Perform":  w.bus.Execute(t.Context(), app, button.ID, desktop.Act{Verb: desktop.Press}),
			} {
				c, _ := code(err)
				assert.Check(t, is.Equal(c, aai.AppNotRunning), "%s %v", what, err)
			}
		})
	}
}

// TestAnotherProcess checks that a bus name that now belongs to another process is not taken for the app.
func TestAnotherProcess(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, app := w.fixture(t, linuxtest.GTK3)
	app.PID++
	c, _ := code(second(w.bus.Snapshot(t.Context(), app)))
	assert.Check(t, is.Equal(c, aai.AppNotRunning), "another process: %s", c)
}

// TestBusRestarted checks that apps of a lost accessibility bus are not running, and that the new bus is
// found.
func TestBusRestarted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, app := w.fixture(t, linuxtest.GTK3)
	w.shows(t, app, desktop.Button, "Press")
	w.RestartA11y(t)
	c, _ := code(second(w.bus.Snapshot(t.Context(), app)))
	assert.Check(t, is.Equal(c, aai.AppNotRunning), "an app of the bus that is gone: %s", c)
	_, err := w.bus.Apps(t.Context())
	assert.NilError(t, err)
	_, again := w.fixture(t, linuxtest.GTK3)
	w.shows(t, again, desktop.Button, "Press")
}

// TestNoBus checks that without a session bus all calls fail with a reason.
func TestNoBus(t *testing.T) {
	t.Parallel()
	bus := atspi.New(atspi.Config{Getenv: func(string) string { return "" }})
	defer bus.Close()
	ready, err := bus.Ready(t.Context())
	assert.NilError(t, err, "%+v", ready)
	assert.Assert(t, !ready.Ready, "Ready: %+v, %v", ready, err)
	assert.Assert(t, ready.Detail != "", "Ready: %+v, %v", ready, err)
	assert.Assert(t, ready.Hint != "", "Ready: %+v, %v", ready, err)
	_, err = bus.Apps(t.Context())
	e := aai.AsError(err)
	assert.Assert(t, e != nil, "Apps: %v", err)
	assert.Equal(t, e.Code, aai.AutomationNotSupported, err)
	assert.Assert(t, e.Hint != "", "Apps: %v", err)
	bus.Close()
	c, _ := code(second(bus.Apps(t.Context())))
	assert.Check(t, is.Equal(c, aai.AppNotRunning), "after Close: %s", c)
}

// TestReady checks that Ready changes nothing in any state of the session.
func TestReady(t *testing.T) {
	t.Parallel()
	s := linuxtest.Start(t)
	bus := atspi.New(atspi.Config{Getenv: s.Getenv})
	defer bus.Close()
	ready, err := bus.Ready(t.Context())
	assert.NilError(t, err, "%+v", ready)
	assert.Assert(t, ready.Ready, "before anything: %+v, %v", ready, err)
	assert.Assert(t, is.Contains(ready.Detail, "does not run yet"), "%+v", ready)
	s.A11yAddress(t)
	ready, err = bus.Ready(t.Context())
	assert.NilError(t, err, "%+v", ready)
	assert.Assert(t, ready.Ready, "switched off: %+v, %v", ready, err)
	assert.Assert(t, is.Contains(ready.Detail, "switched off"), "%+v", ready)
	_, err = bus.Apps(t.Context())
	assert.NilError(t, err)
	ready, err = bus.Ready(t.Context())
	assert.NilError(t, err, "%+v", ready)
	assert.Assert(t, ready.Ready, "after the first use: %+v, %v", ready, err)
	assert.Assert(t, !strings.Contains(ready.Detail, "switched off"), "after the first use: %+v, %v", ready, err)
	s.StopBus()
	ready, err = bus.Ready(t.Context())
	assert.NilError(t, err, "%+v", ready)
	assert.Assert(t, !ready.Ready, "without a bus: %+v, %v", ready, err)
}

// TestStoppedMidWalk checks that an app that hangs during any part of a reading costs its reader the
// deadline, and the next call to another app nothing.
func TestStoppedMidWalk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f, app := w.fixture(t, linuxtest.GTK4) // it is read in many rounds
	_, other := w.fixture(t, linuxtest.GTK3)
	w.shows(t, app, desktop.Button, "Press")
	w.shows(t, other, desktop.Button, "Press")
	for n := range 5 {
		assert.NilError(t, atspi.Forget(t.Context(), w.bus, app))
		ended := make(chan error)
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		go func() {
			for {
				if err := second(w.bus.Snapshot(ctx, app)); err != nil {
					ended <- err
					return
				}
				_ = atspi.Forget(ctx, w.bus, app)
			}
		}()
		time.Sleep(time.Duration(10+7*n) * time.Millisecond)
		f.Suspend(t)
		c, _ := code(<-ended)
		assert.Check(t, is.Equal(c, aai.Timeout), "a snapshot of an app that was stopped meanwhile: %s", c)
		cancel()
		soon, cancel := context.WithTimeout(t.Context(), patience)
		err := second(w.bus.Snapshot(soon, other))
		assert.Check(t, err, "the other app: %v", err)
		cancel()
		f.Continue(t)
		w.shows(t, app, desktop.Button, "Press")
	}
}
