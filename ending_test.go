package aai_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"aai"
)

// TestCancelledRecords: the caller is gone, but what was begun ends on record.
func TestCancelledRecords(t *testing.T) {
	s := plain()
	s.Run, s.Cancel = obeys, before
	o := play(t.Context(), s)
	_ = wantCode(t, o.err, aai.AutomationFailed)
	if got := o.entryOf(t, aai.Outcome).Code; got != aai.AutomationFailed {
		t.Errorf("on record is %q", got)
	}
}

// TestCancelEndsTheCall although its Action never does.
func TestCancelEndsTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := plain()
		s.Run, s.Cancel = ignores, during
		o := play(t.Context(), s)
		e := wantCode(t, o.err, aai.AutomationFailed)
		if e.Delivery != aai.DeliveryUnknown || !strings.Contains(e.Message, "cancelled") {
			t.Errorf("%+v", e)
		}
		if o.elapsed != cancelAfter+grace {
			t.Errorf("took %s", o.elapsed)
		}
	})
}

// TestRecordsThatFail: what cannot be recorded does not run, and says so.
func TestRecordsThatFail(t *testing.T) {
	for _, way := range []string{fails, panics} {
		for at, trace := range []string{
			"received false",
			"received true, find false, gate true, intent false, outcome true",
			"received true, find false, gate true, intent true, run false, outcome false",
		} {
			s := plain()
			s.Journal, s.FailAt = way, at
			o := play(t.Context(), s)
			e := wantCode(t, o.err, aai.RecordFailed)
			if got := o.story(); got != trace {
				t.Errorf("the journal %s at record %d: %s; want %s", way, at, got, trace)
			}
			if o.result != nil {
				t.Errorf("the journal %s at record %d: a result with an error", way, at)
			}
			if e.Err == nil || e.RetrySafe() != (at < 2) {
				t.Errorf("the journal %s at record %d: %+v", way, at, e)
			}
		}
	}
}

// TestPanicsCostTheirCallOnly: each part of the way panics once.
func TestPanicsCostTheirCallOnly(t *testing.T) {
	for part, breakIt := range map[string]func(*scenario){
		"catalog": func(s *scenario) { s.Catalog = panics },
		"params":  func(s *scenario) { s.Params = panics },
		"gate":    func(s *scenario) { s.Gates = []string{panics} },
		"dialog":  func(s *scenario) { s.Gates, s.Dialog = []string{asks}, panics },
		"action":  func(s *scenario) { s.Run = panics },
		"returns": func(s *scenario) { s.Returns = panics },
	} {
		t.Run(part, func(t *testing.T) {
			s := plain()
			breakIt(&s)
			o := play(t.Context(), s)
			e := wantCode(t, o.err, aai.Internal)
			if e.Hint == "" || strings.Contains(e.Message, "panics") {
				t.Errorf("%+v", e)
			}
			if e.Err == nil || !strings.Contains(e.Err.Error(), "panics") || !strings.Contains(e.Err.Error(), "world_test.go") {
				t.Errorf("the log does not learn where: %v", e.Err)
			}
			if got := o.entryOf(t, aai.Outcome).Code; got != aai.Internal {
				t.Errorf("on record is %q", got)
			}
		})
	}
}

// TestLateAnswerCounts: an Action that ends within the grace says itself what
// became of the request.
func TestLateAnswerCounts(t *testing.T) {
	s := plain()
	w := newWorld(s)
	w.app.Tools[0].Run = func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
		<-ctx.Done()
		e := aai.Errorf(aai.Timeout, "nothing was sent")
		e.Delivery = aai.NotDelivered
		return nil, e
	}
	w.app.Tools[0].Timeout = 1
	_, err := w.gateway().Do(t.Context(), s.call())
	if e := wantCode(t, err, aai.Timeout); e.Message != "nothing was sent" || !e.RetrySafe() {
		t.Errorf("%+v", e)
	}
}
