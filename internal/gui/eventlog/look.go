package eventlog

import (
	"context"
	"fmt"
	"hash/fnv"
	"reflect"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/events"
)

// look reads the program, describes the elements of new events, and reports changes of its tree and its state.
func (r *Recorder) look(ctx context.Context) {
	if r.last != nil && !r.log.IsOpen() && !r.isFollowed(Tree, State) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	now, err := r.snapshot(ctx)
	if err != nil {
		return // the program hangs or has ended; its next event or its end comes later
	}
	before := r.last
	r.last = now
	if r.log.IsOpen() {
		r.log.Describe(describer(before, now))
	}
	if before != nil {
		r.addDialogs(before, now)
		if r.IsPolled() {
			r.addWindows(before, now)
		}
	}
	if now.Version != r.version {
		r.version = now.Version
		if before != nil {
			r.notify(Tree)
		}
		if state := r.config.State(now); !reflect.DeepEqual(state, r.state) {
			r.state = state
			if before != nil {
				r.notify(State)
			}
		}
	}
}

// snapshot reads the program's tree, or the list of its windows if it has no tree.
func (r *Recorder) snapshot(ctx context.Context) (*desktop.Snapshot, error) {
	if r.app.HiddenReason == "" || r.config.Backend.Windows == nil {
		return r.config.Backend.Tree.Snapshot(ctx, r.app)
	}
	all, err := r.config.Backend.Windows.Windows(ctx)
	if err != nil {
		return nil, err
	}
	s := &desktop.Snapshot{App: r.app, Taken: time.Now()}
	version := fnv.New64a()
	for _, w := range all {
		if w.PID == r.app.PID {
			e := desktop.Element{ID: desktop.ID(fmt.Sprint("window ", w.ID)), Role: desktop.Window, Name: w.Title, States: desktop.Showing, Parent: -1}
			if w.Active {
				e.States |= desktop.Active
			}
			_, _ = fmt.Fprint(version, e.ID, e.Name, e.States) // it never fails
			s.Elements = append(s.Elements, e)
		}
	}
	desktop.SetEnds(s.Elements)
	s.Version = version.Sum64()
	return s, nil
}

// addWindows adds the windows that were opened and closed, for a program that does not report them.
func (r *Recorder) addWindows(before, now *desktop.Snapshot) {
	add := func(kind string, in, other *desktop.Snapshot) {
		for _, i := range in.Children(-1) {
			if w := &in.Elements[i]; other.Index(w.ID) < 0 {
				r.log.Add(events.Event{Type: kind, Element: desktop.Describe(w), Title: aai.CleanLabel(w.Name, maxTitle), At: now.Taken})
				r.notify(Events)
			}
		}
	}
	add(windowOpened, now, before)
	add(windowClosed, before, now)
}
