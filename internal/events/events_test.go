package events_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/events"
)

func TestLogKeepsTheLastEvents(t *testing.T) {
	var l events.Log
	found, missing, last := l.Find(events.Query{Limit: 10})
	assert.Assert(t, is.Len(found, 0), "%d %d", missing, last)
	assert.Assert(t, missing == 0, "an empty log gives %v, %d, %d", found, missing, last)
	assert.Assert(t, last == 0, "an empty log gives %v, %d, %d", found, missing, last)
	for n := range 10_500 {
		l.Add(events.Event{Type: []string{"even", "odd"}[n%2]})
	}
	for _, c := range []struct {
		query          events.Query
		first, n, gone int
	}{
		{events.Query{Limit: 3}, 10_498, 3, 0},
		{events.Query{After: 100, Limit: 3}, 501, 3, 400},
		{events.Query{After: 10_499, Limit: 3}, 10_500, 1, 0},
		{events.Query{After: 10_500, Limit: 3}, 0, 0, 0},
		{events.Query{After: 20_000, Limit: 2}, 501, 2, 0}, // of an earlier log
		{events.Query{Limit: 2, Type: "even"}, 10_497, 2, 0},
		{events.Query{After: 10_490, Limit: 2, Type: "odd"}, 10_492, 2, 0},
	} {
		found, missing, last := l.Find(c.query)
		assert.Assert(t, is.Len(found, c.n), "%+v", c.query)
		assert.Assert(t, c.n <= 0 || found[0].Number == uint64(c.first), "%+v gives %v", c.query, found)
		assert.Check(t, is.Equal(missing, uint64(c.gone)), "%+v %d", c.query, last)
		assert.Check(t, last == 10_500, "%+v: %d are missing, the last is %d", c.query, missing, last)
	}
}

func TestLogLimitsItsBytes(t *testing.T) {
	var l events.Log
	fields := json.RawMessage(`"` + strings.Repeat("x", 1<<20-2) + `"`)
	for range 20 {
		l.Add(events.Event{Fields: fields})
	}
	found, missing, _ := l.Find(events.Query{After: 1, Limit: 100})
	assert.Assert(t, is.Len(found, 16), "%d", missing)
	assert.Assert(t, missing == 3, "%d are kept, %d missing", len(found), missing)
}

// feed is a source that a test feeds.
type feed struct {
	reports chan aai.Event
	ends    chan error
	runs    int
	stopped bool
}

func newFeed() *feed { return &feed{reports: make(chan aai.Event), ends: make(chan error)} }

func (f *feed) source(ctx context.Context, ready func(), report func(aai.Event)) error {
	f.runs++
	ready()
	for {
		select {
		case e := <-f.reports:
			report(e)
		case err := <-f.ends:
			return err
		case <-ctx.Done():
			f.stopped = true
			return nil
		}
	}
}

func read(t *testing.T, tool *aai.Tool, args map[string]any) events.View {
	t.Helper()
	result, err := tool.Run(t.Context(), &aai.Call{Args: args})
	assert.NilError(t, err)
	view, _ := result.Data.(events.View)
	return view
}

// A lost connection is an event, and it is opened again.
func TestAGapIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, recorders := newFeed(), new(events.Recorders)
		tool := recorders.Tool(events.Feed{App: "a", Key: func() string { return "a" }, Source: f.source})
		read(t, tool, nil)
		f.reports <- aai.Event{Type: "one"}
		f.ends <- errors.New("gone")
		synctest.Wait()
		assert.Check(t, read(t, tool, nil).Updates != events.ByEvents, "it claims to be connected")
		time.Sleep(1100 * time.Millisecond)
		f.reports <- aai.Event{Type: "two", Fields: strings.Repeat("x", 100_000)}
		synctest.Wait()
		view := read(t, tool, nil)
		var types []string
		for _, e := range view.Events {
			types = append(types, e.Type)
		}
		assert.Check(t, is.Equal(fmt.Sprint(types), "[one events_lost two]"), types)
		assert.Check(t, is.Equal(view.Updates, events.ByEvents), types)
		fields := string(view.Events[2].Fields)
		assert.Check(t, strings.HasPrefix(fields, `{"omitted":`), "the long values are %.40s", fields)
		_ = recorders.Close()
	})
}

// A recording ends ten minutes after the last reading, but not while a caller listens.
func TestARecordingEndsUnused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, recorders := newFeed(), new(events.Recorders)
		tool := recorders.Tool(events.Feed{App: "a", Key: func() string { return "a" }, Source: f.source})
		heard := 0
		stop, err := tool.Implementation.Watch(nil, func() { heard++ })
		assert.NilError(t, err)
		time.Sleep(time.Hour)
		f.reports <- aai.Event{Type: "one"}
		synctest.Wait()
		if heard != 1 || f.stopped {
			t.Errorf("the listener heard %d events; stopped: %v", heard, f.stopped)
		}
		stop()
		time.Sleep(9 * time.Minute)
		synctest.Wait()
		assert.Check(t, !f.stopped, "the recording ended early")
		time.Sleep(3 * time.Minute)
		synctest.Wait()
		assert.Check(t, f.stopped, "the recording goes on")
		view := read(t, tool, nil)
		assert.Check(t, view.Last == 0, "another reading continues the log: %+v", view)
		assert.Check(t, is.Equal(f.runs, 2), "%+v", view)
		_ = recorders.Close()
	})
}

// A call waits for an event of its type, and no longer than it says.
func TestACallWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, recorders := newFeed(), new(events.Recorders)
		tool := recorders.Tool(events.Feed{App: "a", Key: func() string { return "a" }, Source: f.source})
		go func() {
			f.reports <- aai.Event{Type: "one"}
			time.Sleep(time.Second)
			f.reports <- aai.Event{Type: "two"}
		}()
		begun := time.Now()
		view := read(t, tool, map[string]any{"type": "two", "wait_ms": 60_000})
		assert.Assert(t, is.Len(view.Events, 1))
		assert.Equal(t, time.Since(begun), time.Second)
		view = read(t, tool, map[string]any{"after": 2, "wait_ms": 5_000})
		assert.Assert(t, is.Len(view.Events, 0), time.Since(begun))
		assert.Assert(t, time.Since(begun) == 6*time.Second, "after %s the events are %v", time.Since(begun), view.Events)
		_ = recorders.Close()
	})
}
