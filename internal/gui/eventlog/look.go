package eventlog

import (
	"context"
	"fmt"
	"hash/fnv"
	"reflect"
	"time"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// maxRecent is the number of different snapshots by which elements are described: an event of an element may arrive after
// the element has gone.
const maxRecent = 3

// look reads the program, describes the elements of new events, adds events that the program did not report, and reports
// changes of its tree and its state.
func (r *Recorder) look(ctx context.Context) {
	if len(r.recent) > 0 && !r.log.IsOpen() && !r.isFollowed(Tree, State) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	now, err := r.snapshot(ctx)
	if err != nil {
		return // the program hangs or has ended; its next event or its end comes later
	}
	var before *desktop.Snapshot
	if n := len(r.recent); n > 0 {
		before = r.recent[n-1]
	}
	if before == nil || before.Version != now.Version {
		r.recent = append(r.recent[max(0, len(r.recent)-maxRecent+1):], now)
	}
	if before == nil {
		r.known.begin(now)
	} else {
		r.addDialogs(before, now)
		r.addMissing(before, now)
	}
	if r.log.IsOpen() {
		r.log.Describe(describer(r.recent...))
	}
	if now.Version == r.version {
		return
	}
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
