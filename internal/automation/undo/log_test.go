package undo_test

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/undo"
	"github.com/gybob/aai-gateway/internal/gateway"
)

var other = aai.Caller{Door: aai.DoorMCP, Session: "t"}

const theShelf = "org.example.Shelf"

func TestTheLastActsAreTakenBack(t *testing.T) {
	s := newShelf(t, undo.Config{})
	for i := range 4 {
		s.puts(me, "a", i)
	}
	undone, skipped, text := s.undo(me, 2)
	assert.Check(t, is.Equal(undone, 2), text)
	assert.Check(t, is.Equal(skipped, 0), text)
	assert.Check(t, strings.HasPrefix(text, "2 of 2 undone\nundone: put of org.example.Shelf: a is as before"), "%v %s", undone, text)
	s.holds("a", 1)
	// An undo is no act, and reverted acts do not count.
	undone, _, text = s.undo(me, 1)
	assert.Check(t, is.Equal(undone, 1), text)
	s.holds("a", 0)
	s.undo(me, 20)
	s.holds("a", nil)
	undone, skipped, text = s.undo(me, 1)
	assert.Check(t, is.Equal(undone, 0))
	assert.Check(t, is.Equal(skipped, 0))
	assert.Check(t, is.Equal(text, "nothing is left to undo"))
}

// TestDepth: the depth counts the acts on windows that can be reverted.
func TestDepth(t *testing.T) {
	log := undo.NewLog(undo.Config{})
	for _, done := range []*gateway.Mutation{
		{Call: "1", Caller: me, App: aai.DesktopApp, Tool: "ax_type", Undo: &aai.Undo{Description: "as before"}},
		{Call: "2", Caller: me, App: aai.DesktopApp, Tool: "ax_click"},
		{Call: "3", Caller: me, App: theShelf, Tool: "put", Undo: &aai.Undo{Description: "as before"}},
		{Call: "4", Caller: other, App: aai.DesktopApp, Tool: "ax_type", Undo: &aai.Undo{Description: "as before"}},
	} {
		log.ObserveMutation(t.Context(), done)
	}
	n, err := log.Depth(t.Context(), me)
	assert.Check(t, is.Equal(n, 1))
	assert.Check(t, err)
}

// TestOneActIsTakenBack: undo with a call's id reverts only that act, regardless of count. It
// reverts no act of another conversation, and no act twice.
func TestOneActIsTakenBack(t *testing.T) {
	s := newShelf(t, undo.Config{})
	s.puts(me, "a", 1)
	s.puts(me, "b", 2)
	acts, err := s.log.Acts(t.Context(), me)
	assert.NilError(t, err)
	assert.Assert(t, is.Len(acts, 2))
	back := func(caller aai.Caller) any {
		return s.do(caller, aai.BuiltinApp, undo.BuiltinToolName, "call", acts[0].Call, "count", 20).Data.(map[string]any)["undone"]
	}
	other := me
	other.Session = "another"
	for i, want := range []int{0, 1, 0} {
		got := back([]aai.Caller{other, me, me}[i])
		assert.Check(t, is.Equal(got, want), "%d: %v were undone, want %d", i, got, want)
	}
	s.holds("a", nil)
	s.holds("b", 2)
}

// TestNothingToTakeBackIsOnRecord: the journal marks an undo without an act, and no other, as a
// no-op.
func TestNothingToTakeBackIsOnRecord(t *testing.T) {
	s := newShelf(t, undo.Config{})
	s.puts(me, "a", 1)
	for _, want := range []string{"", "nothing was done"} {
		s.undo(me, 1)
		e := s.records[len(s.records)-1]
		assert.Check(t, is.Equal(e.Kind, aai.Outcome), "%+v", e)
		assert.Check(t, is.Equal(e.Tool, undo.BuiltinToolName), "%+v", e)
		assert.Check(t, e.Code == "", "on record is %+v, want %q", e, want)
		assert.Check(t, is.Equal(e.Message, want), "%+v", e)
	}
}

func TestEachCallerHasActsOfItsOwn(t *testing.T) {
	s := newShelf(t, undo.Config{})
	s.puts(me, "a", "mine")
	s.puts(other, "b", "theirs")
	_, _, text := s.undo(other, 20)
	assert.Check(t, !strings.Contains(text, "a is"), text)
	s.holds("a", "mine")
	s.holds("b", nil)
	same := me
	same.Name = "another name is no other caller"
	undone, _, text := s.undo(same, 20)
	assert.Check(t, is.Equal(undone, 1), text)
	acts, err := s.log.Acts(t.Context(), aai.Caller{Door: aai.DoorMCP, Session: "u"})
	assert.NilError(t, err)
	assert.Assert(t, is.Len(acts, 0))
}

func TestWhatCannotBeTakenBackIsSkippedAndNamed(t *testing.T) {
	s := newShelf(t, undo.Config{})
	s.puts(me, "a", 1)
	s.puts(me, "b", 1)
	s.do(me, theShelf, "burn")
	s.step = &aai.Error{Code: aai.Timeout, Message: "no answer", Delivery: aai.DeliveryUnknown}
	_, _ = s.gateway.Do(t.Context(), &aai.Call{Caller: me, App: theShelf, Tool: "put"})
	s.step = nil
	s.values["b"] = "newer"
	if undone, skipped, text := s.undo(me, 1); undone != 0 || skipped != 1 ||
		text != "0 of 1 undone\nskipped_irreversible: put of org.example.Shelf: it failed with TIMEOUT and may have happened; check the app\n"+
			"Before: burn of org.example.Shelf (count 2)" {
		t.Errorf("%v, %v, %s", undone, skipped, text)
	}
	undone, skipped, text := s.undo(me, 4)
	assert.Equal(t, undone, 1)
	assert.Equal(t, skipped, 3)
	assert.Assert(t, is.Contains(text, "\nskipped_irreversible: burn of org.example.Shelf: the tool has no undo"))
	assert.Assert(t, is.Contains(text, `newer: put of org.example.Shelf: the state has changed since: value is "newer", expected 1; not overwritten`))
	s.holds("a", nil)
	s.holds("b", "newer")
}

func TestWhatMayHaveBeenTakenBackIsTriedOnlyWithALook(t *testing.T) {
	s := newShelf(t, undo.Config{})
	s.puts(me, "a", 1)
	s.step = &aai.Error{Code: aai.Timeout, Message: "no answer", Delivery: aai.DeliveryUnknown}
	_, _, text := s.undo(me, 1)
	assert.Check(t, is.Contains(text, "unsure: "))
	s.step = nil
	undone, _, text := s.undo(me, 1)
	assert.Check(t, is.Equal(undone, 1), text)
	s.do(me, theShelf, "put", "name", "a", "value", 1)
	acts, _ := s.log.Acts(t.Context(), me)
	acts[len(acts)-1].Undo.StateStep = nil
	s.step = &aai.Error{Code: aai.Timeout, Message: "no answer", Delivery: aai.DeliveryUnknown}
	s.undo(me, 1)
	s.step = nil
	_, _, text = s.undo(me, 1)
	assert.Assert(t, is.Contains(text, "unsure: "))
	assert.Assert(t, is.Contains(text, "cannot be checked"))
	s.holds("a", 1)
}

func TestCallsWithinAreActsAndTheOuterIsNone(t *testing.T) {
	s := newShelf(t, undo.Config{})
	s.do(me, theShelf, "both", "value", 7)
	acts, err := s.log.Acts(t.Context(), me)
	assert.NilError(t, err)
	assert.Assert(t, is.Len(acts, 2))
	assert.Equal(t, acts[0].Tool, "put")
	assert.Equal(t, acts[1].Tool, "put")
	// A workflow that reverts its own step leaves no act to revert.
	o := undo.Revert(t.Context(), s.gateway.Do, me, acts[1].Undo)
	assert.Assert(t, o.IsUndone(), o)
	undone, _, text := s.undo(me, 20)
	assert.Check(t, is.Equal(undone, 1), text)
	assert.Check(t, !strings.Contains(text, "b is"), text)
	s.holds("a", nil)
	s.holds("b", nil)
}

func TestTheDesktopsToolIsAboutWindowsAlone(t *testing.T) {
	s := newShelf(t, undo.Config{})
	s.do(me, aai.DesktopApp, "put", "name", "w", "value", 1)
	s.puts(me, "a", 1)
	text := s.do(me, aai.DesktopApp, undo.DesktopToolName, "count", 20).Text
	assert.Check(t, strings.HasPrefix(text, "1 of 1"), text)
	s.holds("a", 1)
	s.holds("w", nil)
}

// A question for a permission comes before any revert, and its answer applies to that call only.
func TestWhatMustBeAllowedIsAsked(t *testing.T) {
	s := newShelf(t, undo.Config{})
	s.puts(me, "a", 1)
	s.puts(me, "b", 1)
	s.ask = true
	call := &aai.Call{Caller: me, App: aai.BuiltinApp, Tool: undo.BuiltinToolName, Args: map[string]any{"count": 2}}
	_, err := s.gateway.Do(t.Context(), call)
	e := aai.AsError(err)
	assert.Assert(t, e != nil, err)
	assert.Equal(t, e.Code, aai.ConsentRequired, err)
	assert.Assert(t, is.Len(e.Questions, 1), err)
	call.Answers = map[string]aai.Answer{"q": {Choice: "yes", Seal: e.Questions[0].Seal, Channel: aai.Client}}
	result, err := s.gateway.Do(t.Context(), call)
	assert.NilError(t, err, result)
	assert.Assert(t, strings.HasPrefix(result.Text, "1 of 2 undone"), result)
	assert.Assert(t, is.Contains(result.Text, "to another question"), result)
	assert.Equal(t, s.answers, 1, result)
	s.holds("a", 1)
	s.holds("b", nil)

	// After a first revert, a further question is part of the report.
	s.ask = false
	s.puts(me, "c", 1)
	s.puts(me, "d", 1)
	s.asked = "c"
	undone, skipped, text := s.undo(me, 2)
	assert.Check(t, is.Equal(undone, 1))
	assert.Check(t, is.Equal(skipped, 1))
	assert.Check(t, is.Contains(text, "a person must allow"))
}

func TestTheLogIsBounded(t *testing.T) {
	s := newShelf(t, undo.Config{})
	for i := range 150 {
		s.puts(me, "a", i)
	}
	acts, _ := s.log.Acts(t.Context(), me)
	assert.Assert(t, is.Len(acts, 100))
	assert.Equal(t, fmt.Sprint(acts[99].Undo.ExpectedState), "map[value:149]")
	s.puts(me, "a", strings.Repeat("x", 110<<10))
	_, _, text := s.undo(me, 1)
	assert.Check(t, is.Contains(text, "too large to keep"))
	s.puts(me, "a", "")
	large := strings.Repeat("x", 90<<10)
	for i := range 60 {
		s.puts(me, fmt.Sprint(i), large)
	}
	acts, _ = s.log.Acts(t.Context(), me)
	kept := 0
	for _, a := range acts {
		if a.Undo != nil {
			kept += 90 << 10
		}
	}
	assert.Assert(t, kept <= 4<<20, "%d bytes are kept", kept)
	assert.Assert(t, kept >= 3<<20, "%d bytes are kept", kept)
	assert.Assert(t, acts[99].Undo != nil, "%d bytes are kept", kept)
	assert.Assert(t, acts[45].Undo == nil, "%d bytes are kept", kept)
	assert.Assert(t, acts[45].NoUndoReason != "", "%d bytes are kept", kept)
	for i := range 250 {
		s.puts(aai.Caller{Door: aai.DoorMCP, Session: fmt.Sprint(i)}, "a", i)
	}
	acts, _ = s.log.Acts(t.Context(), me)
	assert.Check(t, is.Len(acts, 0), "a conversation of long ago is kept")
}

// Old values may be secret: the journal contains none of them.
func TestTheRecordHasNoOldValues(t *testing.T) {
	s := newShelf(t, undo.Config{})
	s.values["a"] = "the old secret"
	s.puts(me, "a", "b")
	s.values["a"] = "the newer secret"
	s.undo(me, 1)
	s.values["a"] = "b"
	s.undo(me, 1)
	s.holds("a", "the old secret")
	for _, e := range s.records {
		answer := any(nil)
		if e.ResultValue != nil && e.Tool != "get" { // its results are the call's own
			answer = e.ResultValue()
		}
		if e.Tool == "put" {
			continue // its arguments are the call's own
		}
		line := fmt.Sprintf("%+v %v", e, answer)
		assert.Assert(t, !strings.Contains(line, "secret\""), "on record: %s", line)
		assert.Assert(t, !strings.Contains(line, "old secret"), "on record: %s", line)
		assert.Assert(t, !strings.Contains(line, "newer secret"), "on record: %s", line)
	}
}
