package inputlock_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
)

// screen records input, and the observed state of the lock.
type screen struct {
	mu     sync.Mutex
	asking int // open questions
	making int // running strokes
	wrong  []string
	made   atomic.Int64
}

func (s *screen) note(asking, making int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asking, s.making = s.asking+asking, s.making+making
	if s.asking > 1 || s.making > 1 || s.asking > 0 && s.making > 0 {
		s.wrong = append(s.wrong, "two have the seat")
	}
}

// move is the sequence of operations of one call.
type move struct {
	kind    string // "type", "drag", "press", "ask"
	gateway int
	after   time.Duration // start time
	strokes int
	lasts   time.Duration // duration of each stroke, or of the question
	patient time.Duration // the deadline
}

func drawMoves(t *rapid.T) []move {
	pause := rapid.IntRange(0, 8)
	draw := rapid.Custom(func(t *rapid.T) move {
		return move{
			kind:    rapid.SampledFrom([]string{"type", "type", "drag", "press", "ask"}).Draw(t, "kind"),
			gateway: rapid.IntRange(0, 1).Draw(t, "gateway"),
			after:   time.Duration(pause.Draw(t, "after")) * time.Millisecond,
			strokes: rapid.IntRange(1, 5).Draw(t, "strokes"),
			lasts:   time.Duration(rapid.IntRange(0, 4).Draw(t, "lasts")) * time.Millisecond,
			patient: rapid.SampledFrom([]time.Duration{time.Millisecond, 510 * time.Millisecond, 20 * time.Second}).Draw(t, "patient"),
		}
	})
	return rapid.SliceOfN(draw, 2, 7).Draw(t, "moves")
}

// play executes the move. It holds the queue slot of its program meanwhile, as calls do.
func (m move) play(ctx context.Context, s *inputlock.Lock, lane *sync.Mutex, on *screen) {
	time.Sleep(m.after)
	ctx, cancel := context.WithTimeout(ctx, m.patient)
	defer cancel()
	if m.kind == "ask" { // a question holds no queue slot
		a, err := s.AcquireForQuestion(ctx)
		if err != nil {
			return
		}
		on.note(1, 0)
		time.Sleep(m.lasts)
		if a.WasDisturbed() {
			on.mu.Lock()
			on.wrong = append(on.wrong, "a question was disturbed")
			on.mu.Unlock()
		}
		on.note(-1, 0)
		a.Release()
		return
	}
	lane.Lock()
	defer lane.Unlock()
	if m.kind == "press" {
		if done, err := s.Begin(ctx); err == nil {
			on.mu.Lock()
			if on.asking > 0 {
				on.wrong = append(on.wrong, "a deed was begun while a question was open")
			}
			on.mu.Unlock()
			time.Sleep(m.lasts)
			done()
		}
		return
	}
	for i := 0; i < m.strokes; i++ {
		g, err := s.Acquire(ctx, func(*inputlock.Lease) {})
		if err != nil {
			return
		}
		on.note(0, 1)
		for until := time.Now().Add(m.lasts); time.Now().Before(until) && (m.kind != "drag" || !g.IsQuestionWaiting()); {
			time.Sleep(time.Millisecond / 4)
		}
		on.made.Add(1)
		on.note(0, -1)
		g.Release()
	}
}

// For any interleaving of two gateways with several calls each: no stroke runs while a question is
// open, no two strokes run at once, and all calls end.
func TestAnyInterleaving(t *testing.T) {
	var made int64
	rapid.Check(t, func(rt *rapid.T) {
		moves := drawMoves(rt)
		folder := t.TempDir()
		gateways := []*inputlock.Lock{at(folder), at(folder)}
		lanes := make([]sync.Mutex, 2)
		var on screen
		var all sync.WaitGroup
		for _, m := range moves {
			all.Go(func() { m.play(t.Context(), gateways[m.gateway], &lanes[m.gateway], &on) })
		}
		ended := make(chan struct{})
		go func() { all.Wait(); close(ended) }()
		select {
		case <-ended:
		case <-time.After(30 * time.Second):
			rt.Fatal("they wait for each other")
		}
		assert.Check(rt, is.Len(on.wrong, 0))
		made += on.made.Load()
	})
	assert.Check(t, made != 0, "nobody made any input")
}
