package desktoptest

import (
	"context"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

func (u *suite) eventTests() []test {
	return []test{{"closes", "", (*suite).closes}, {"tells", "presses", (*suite).tells}}
}

func (u *suite) watch() (<-chan desktop.Event, context.CancelFunc) {
	u.Helper()
	ctx, cancel := context.WithCancel(u.Context())
	u.Cleanup(cancel)
	events, err := u.Backend.Events.Watch(ctx, u.app)
	if err != nil {
		u.Fatal(err)
	}
	return events, cancel
}

// closed waits until the channel is closed.
func (u *suite) closed(events <-chan desktop.Event) {
	u.Helper()
	for end := time.After(Patience); ; {
		select {
		case _, open := <-events:
			if !open {
				return
			}
		case <-end:
			u.Fatal("the channel is not closed, but the context has ended")
		}
	}
}

func (u *suite) closes() {
	first, cancel := u.watch()
	second, _ := u.watch()
	cancel()
	u.closed(first)
	select {
	case _, open := <-second:
		if !open {
			u.Error("the channel of another watcher is closed too")
		}
	default:
	}
}

// tells checks that all watchers receive an event for each change.
func (u *suite) tells() {
	first, _ := u.watch()
	second, _ := u.watch()
	for range 3 {
		n := u.number("presses") + 1
		if u.Backend.Actor == nil || !u.perform(u.control("Press"), desktop.Act{Verb: desktop.Press}) {
			return
		}
		u.hears(first)
		u.hears(second)
		u.waitState("presses", n)
	}
}

// hears waits for an event.
func (u *suite) hears(events <-chan desktop.Event) {
	u.Helper()
	select {
	case e, open := <-events:
		if !open || e.Kind == "" || e.At.IsZero() {
			u.Errorf("event %+v, channel open: %v", e, open)
		}
	case <-time.After(Patience):
		u.Fatal("no change was reported")
	}
}

// requests returns one request of each kind that waits for the program.
func (u *suite) requests() map[string]func(context.Context) error {
	id := u.control("Press").ID
	all := map[string]func(context.Context) error{
		"Snapshot": func(ctx context.Context) error { _, err := u.Backend.Tree.Snapshot(ctx, u.app); return err },
		"Read":     func(ctx context.Context) error { _, err := u.Backend.Tree.Read(ctx, u.app, id); return err },
		"Children": func(ctx context.Context) error { _, err := u.Backend.Tree.Children(ctx, u.app, id, 0, 1); return err },
	}
	if u.Backend.Actor != nil {
		all["Perform"] = func(ctx context.Context) error {
			return u.Backend.Actor.Execute(ctx, u.app, id, desktop.Act{Verb: desktop.SetNumber, Number: 1})
		}
	}
	return all
}

// ended checks that a request with a cancelled context fails.
func (u *suite) ended() {
	ctx, cancel := context.WithCancel(u.Context())
	cancel()
	for name, request := range u.requests() {
		u.ends(name, func() {
			if err := request(ctx); err == nil {
				u.Errorf("%s succeeds although its context has ended", name)
			} else {
				u.coded(err, aai.AutomationFailed, aai.Timeout)
			}
		})
	}
}

// expired checks that a request past its deadline fails with TIMEOUT.
func (u *suite) expired() {
	ctx, cancel := context.WithDeadline(u.Context(), time.Now().Add(-time.Second))
	defer cancel()
	for name, request := range u.requests() {
		u.ends(name, func() { u.coded(request(ctx), aai.Timeout) })
	}
}

// hangs checks that requests to a hanging program take until their deadline, and that the program works as
// before when it continues.
func (u *suite) hangs() {
	requests := u.requests()
	u.Stop(u)
	resumed := false
	defer func() {
		if !resumed {
			u.Continue(u)
		}
	}()
	for name, request := range requests {
		if name == "Perform" {
			continue // it may be refused from the known state of the element
		}
		ctx, cancel := context.WithTimeout(u.Context(), hangTimeout)
		u.ends(name, func() {
			if err := request(ctx); err != nil || name != "Snapshot" {
				u.coded(err, aai.Timeout)
			}
		})
		cancel()
	}
	u.ends("Apps", func() {
		if _, err := u.Backend.Tree.Apps(u.within()); err != nil {
			u.Errorf("Apps: %v", err)
		}
	})
	u.Continue(u)
	resumed = true
	u.until(func() error { _, err := u.Backend.Tree.Snapshot(u.within(), u.app); return err })
	WellFormed(u, u.snapshot())
}

// killed checks that no request waits for a program that has ended.
func (u *suite) killed() {
	var events <-chan desktop.Event
	if u.Backend.Events != nil {
		events, _ = u.watch()
	}
	u.Kill(u)
	u.until(func() error {
		_, err := u.Backend.Tree.Snapshot(u.within(), u.app)
		if err == nil || aai.AsError(err).Code != aai.AppNotRunning {
			return aai.Errorf(aai.Internal, "Snapshot of a program that has ended: %v, want APP_NOT_RUNNING", err)
		}
		return nil
	})
	for end := time.After(Patience); events != nil; {
		select {
		case e, open := <-events:
			if !open || e.Kind == desktop.Lost {
				return
			}
		case <-end:
			u.Fatal("the watcher was not informed that the program has ended")
		}
	}
}
