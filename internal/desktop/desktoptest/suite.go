package desktoptest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// Patience is the maximum time that the suite waits for an expected event. It expires only on failure.
const Patience = 2 * time.Minute

// hangTimeout is the deadline of a request to a hanging program.
const hangTimeout = 300 * time.Millisecond

// A Subject is a backend with the program that it is tested on. The program has just been started and its
// window is in front of all others.
type Subject struct {
	Backend desktop.Backend
	PID     int    // the program's process
	Title   string // of its window

	// State returns the program's state from a source independent of the backend, as encoding/json reads
	// it.
	State func(t testing.TB) map[string]any
	// Lacks are the keys of State that the toolkit of the program cannot change or know. Tests that need one are
	// skipped.
	Lacks []string
	// Unsupported lists background actions that the program's toolkit lacks, as a verb and a control:
	// "press Agree", "set_text Notes". The backend must refuse them with AUTOMATION_NOT_SUPPORTED; all
	// others must work.
	Unsupported []string
	// Unreported lists properties that the program's toolkit does not expose, as a property and a control:
	// "value Colour", "modal Really?". They are not tested.
	Unreported []string

	// The remaining fields may be nil; tests that need them are then skipped.

	// Person returns the person's pointer position and keyboard focus, from a source independent of the
	// backend.
	Person func(t testing.TB) any
	// Stop makes the program hang, Continue makes it resume, and Kill ends it.
	Stop, Continue, Kill func(t testing.TB)
}

// Run tests all parts of the backend on the program. Tests with the person's pointer come last, followed by
// the end of the program.
func Run(t *testing.T, s Subject) {
	u := &suite{T: t, Subject: s}
	u.app = u.find()
	u.group("Tree", u.treeTests())
	if s.Backend.Actor != nil {
		u.inBackground("Actor", u.actorTests())
	}
	if s.Backend.Events != nil {
		u.group("Events", u.eventTests())
	}
	u.group("Deadlines", []test{{"ended", "", (*suite).ended}, {"expired", "", (*suite).expired}})
	if s.Backend.Windows != nil {
		u.group("Windows", []test{{"list", "", (*suite).listed}, {"at", "", (*suite).pointed}})
	}
	if s.Backend.Screen != nil {
		u.group("Screen", []test{{"monitors", "", (*suite).monitors}, {"capture", "", (*suite).capture}})
	}
	if s.Backend.Clipboard != nil {
		u.group("Clipboard", []test{{"text", "", (*suite).clipText}, {"picture", "", (*suite).clipPicture}})
	}
	if s.Backend.Programs != nil {
		u.group("Programs", []test{{"unknown", "", (*suite).unknownProgram}})
	}
	if s.Stop != nil && s.Continue != nil {
		u.group("Hang", []test{{"hangs", "", (*suite).hangs}})
	}
	if s.Backend.Input != nil && s.Backend.Windows != nil {
		u.group("Input", u.inputTests())
	}
	if s.Kill != nil {
		u.group("End", []test{{"killed", "", (*suite).killed}})
	}
}

// A test is one test case. It is skipped if the program lacks the required key of the state.
type test struct {
	name, key string
	run       func(*suite)
}

// A suite is a running test suite.
type suite struct {
	*testing.T
	Subject
	app desktop.App
}

func (u *suite) group(name string, tests []test) {
	u.Run(name, func(t *testing.T) {
		for _, c := range tests {
			if slices.Contains(u.Lacks, c.key) {
				continue
			}
			t.Run(c.name, func(t *testing.T) { c.run(&suite{t, u.Subject, u.app}) })
		}
	})
}

// inBackground is group for tests that the person must not notice.
func (u *suite) inBackground(name string, tests []test) {
	if u.Person == nil {
		u.group(name, tests)
		return
	}
	before := u.Person(u)
	u.group(name, tests)
	if after := u.Person(u); !reflect.DeepEqual(after, before) {
		u.Errorf("the person's pointer and keyboard were at %v and are now at %v", before, after)
	}
}

// until waits until f returns nil.
func (u *suite) until(f func() error) {
	u.Helper()
	for end := time.Now().Add(Patience); ; time.Sleep(10 * time.Millisecond) {
		err := f()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			u.Fatalf("after %s: %v", Patience, err)
		}
	}
}

// within returns a context for one request, limited to Patience.
func (u *suite) within() context.Context {
	ctx, cancel := context.WithTimeout(u.Context(), Patience)
	u.Cleanup(cancel)
	return ctx
}

// find finds the program among the listed apps.
func (u *suite) find() (app desktop.App) {
	u.Helper()
	u.until(func() error {
		apps, err := u.Backend.Tree.Apps(u.within())
		if err != nil {
			return err
		}
		i := slices.IndexFunc(apps, func(a desktop.App) bool { return a.PID == u.PID })
		if i < 0 {
			return fmt.Errorf("process %d is not among %v", u.PID, apps)
		}
		if app = apps[i]; app.HiddenReason != "" {
			return fmt.Errorf("its tree is hidden: %s", app.HiddenReason)
		}
		return nil
	})
	return app
}

// snapshot reads the program.
func (u *suite) snapshot() *desktop.Snapshot {
	u.Helper()
	shot, err := u.Backend.Tree.Snapshot(u.within(), u.app)
	if err != nil {
		u.Fatalf("Snapshot: %v", err)
	}
	return shot
}

// all returns the showing elements with the name and one of the roles, in order.
func all(shot *desktop.Snapshot, name string, roles []desktop.Role) []desktop.Element {
	var found []desktop.Element
	for i, e := range shot.Elements {
		if e.Name == name && slices.Contains(roles, e.Role) && shot.IsVisible(i) {
			found = append(found, e)
		}
	}
	return found
}

// control waits for the one control of the fixture with the name.
func (u *suite) control(name string) desktop.Element {
	u.Helper()
	return u.showing(name, rolesOf(name)...)
}

// showing waits for the one element with the name and one of the roles.
func (u *suite) showing(name string, roles ...desktop.Role) (e desktop.Element) {
	u.Helper()
	u.until(func() error {
		found := all(u.snapshot(), name, roles)
		if len(found) != 1 {
			return fmt.Errorf("%d elements %q of %q are showing, want one", len(found), name, roles)
		}
		e = found[0]
		return nil
	})
	return e
}

// waitState waits until the program's state has the value.
func (u *suite) waitState(key string, want any) {
	u.Helper()
	u.until(func() error {
		if got := u.State(u)[key]; !reflect.DeepEqual(got, want) {
			return fmt.Errorf("the program's %s is %v, want %v", key, got, want)
		}
		return nil
	})
}

// number returns a number of the program's state.
func (u *suite) number(key string) float64 {
	n, _ := u.State(u)[key].(float64)
	return n
}

// refused checks that an error is an *aai.Error with one of the codes, and that
// nothing was delivered.
func (u *suite) refused(err error, codes ...aai.Code) {
	u.Helper()
	u.coded(err, codes...)
	if e, ok := errors.AsType[*aai.Error](err); ok && e.Delivery != aai.NotDelivered {
		u.Errorf("%v: delivery %q, want %q", err, e.Delivery, aai.NotDelivered)
	}
}

// coded checks that an error is an *aai.Error with one of the codes.
func (u *suite) coded(err error, codes ...aai.Code) {
	u.Helper()
	e, ok := errors.AsType[*aai.Error](err)
	switch {
	case err == nil:
		u.Errorf("it succeeded, want %q", codes)
	case !ok:
		u.Errorf("%v is a %T and not an *aai.Error", err, err)
	case !slices.Contains(codes, e.Code):
		u.Errorf("%v, want one of %q", err, codes)
	case e.Message == "":
		u.Errorf("%s has no message", e.Code)
	}
}

// ends checks that f returns within Patience.
func (u *suite) ends(what string, f func()) {
	u.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(Patience):
		u.Fatalf("%s has not returned after %s", what, Patience)
	}
}
