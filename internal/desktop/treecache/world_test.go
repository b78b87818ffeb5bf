package treecache_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/treecache"
)

// An app simulates an app: elements with names and frames. It is its own Source.
type app struct {
	*treecache.Cache[int, *reading]

	mu         sync.Mutex
	true       reading
	ran        int    // number of times it has run
	late       func() // runs when the app becomes idle after the next reading
	untold     []int  // changes with an event at the next query
	busy       bool   // it has no heartbeat
	shared     bool
	slow       time.Duration // duration of a complete reading
	fault      error         // error of the next reading
	unsure     bool          // a partial reading cannot determine the changes
	checks     bool          // a partial reading finds changes without events
	wholes     int           // number of complete readings
	parts      int
	version    uint64
	heartbeats []treecache.Heartbeat
}

type reading struct {
	names  []string
	places []int
}

func (r reading) copied() reading { return reading{slices.Clone(r.names), slices.Clone(r.places)} }

func newApp(elements int) *app {
	a := &app{}
	for i := range elements {
		a.true.names, a.true.places = append(a.true.names, "element "+strconv.Itoa(i)), append(a.true.places, i)
	}
	a.Cache = treecache.New(a, treecache.Config{
		Version: func() uint64 { a.version++; return a.version },
		OnRead:  func(p treecache.Heartbeat) { a.heartbeats = append(a.heartbeats, p) },
	})
	return a
}

// rename renames an element, with an event at the next query.
func (a *app) rename(i int, name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ran++
	a.true.names[i] = name
	a.untold = append(a.untold, i)
}

// move moves an element; no app sends an event for that.
func (a *app) move(i, place int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ran++
	a.true.places[i] = place
}

func (a *app) ReadAll(ctx context.Context, _ *reading) (*reading, error) {
	time.Sleep(a.slow)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.wholes++
	read := a.true.copied()
	if a.late != nil {
		a.late()
		a.late = nil
	}
	fault := a.fault
	a.fault = nil
	return &read, errors.Join(fault, ctx.Err())
}

func (a *app) ReadChanged(_ context.Context, last *reading, marks treecache.DirtySet[int], hasty bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.parts++
	fault := a.fault
	a.fault = nil
	for i := range marks.Changed {
		last.names[i] = a.true.names[i]
	}
	if !hasty && fault == nil {
		last.places = slices.Clone(a.true.places)
	}
	if !hasty && a.checks {
		*last = a.true.copied()
	}
	if a.unsure {
		last.names[0] = "of what is not sure"
		return treecache.ErrUnknownChanges
	}
	return fault
}

func (a *app) Sync(context.Context, *reading) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, i := range a.untold {
		a.MarkReported(func(m *treecache.DirtySet[int]) { m.AddChanged(i) })
	}
	a.untold = nil
	return nil
}

func (a *app) View(_ context.Context, last *reading) treecache.View {
	a.mu.Lock()
	defer a.mu.Unlock()
	v := treecache.View{Shared: a.shared}
	for i, name := range last.names {
		v.Elements = append(v.Elements, desktop.Element{ID: desktop.ID(strconv.Itoa(i)), Name: name, Pos: last.places[i]})
	}
	desktop.SetEnds(v.Elements)
	return v
}

func (a *app) Heartbeat() treecache.Heartbeat {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.busy {
		return ""
	}
	return treecache.Heartbeat("ran " + strconv.Itoa(a.ran))
}

// read formats the numbers of complete and partial readings.
func (a *app) read() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return fmt.Sprintf("%d whole, %d in part", a.wholes, a.parts)
}

// look takes a snapshot and checks its names, and its frames if places is set.
func (a *app) look(t testing.TB, places bool) *desktop.Snapshot {
	t.Helper()
	s, err := a.Snapshot(t.Context())
	if err == nil {
		err = a.differs(s, places)
	}
	assert.NilError(t, err)
	return s
}

// differs returns an error if the snapshot differs from the app's state.
func (a *app) differs(s *desktop.Snapshot, places bool) error {
	for i, e := range s.Elements {
		if e.Name != a.true.names[i] || places && e.Pos != a.true.places[i] {
			return fmt.Errorf("element %d is %q at %d, and the mirror says %q at %d", i, a.true.names[i], a.true.places[i], e.Name, e.Pos)
		}
	}
	return nil
}

// trusted makes it an app with trusted events.
func (a *app) trusted() {
	a.SetTrust(treecache.TrustEvents)
	a.MarkReported(func(*treecache.DirtySet[int]) {})
}

// checked makes it an app with checked trust.
func (a *app) checked() {
	a.trusted()
	a.SetTrust(treecache.TrustChecked)
	a.checks = true
}

// bubble runs a test in virtual time, including its background goroutines.
func bubble(t *testing.T, test func(*testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		defer time.Sleep(time.Minute)
		test(t)
	})
}
