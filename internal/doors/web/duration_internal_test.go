package web

import (
	"testing"
	"time"

	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// TestAPersonsTimeIsRounded checks that the waiting time for the person has a precision of a
// millisecond, for windows, as recorded, and for the terminal; the duration of the call excludes it.
func TestAPersonsTimeIsRounded(t *testing.T) {
	var s storyPageData
	s.Steps = make([]answer.TraceStep, 2)
	s.Steps[0].PersonWaitMillis, s.Steps[1].PersonWaitMillis = 1200.4567, 0.2
	if got := s.Person(); got != 1201*time.Millisecond {
		t.Errorf("in a window: %v", got)
	}
	d, err := New(Config{Gateway: new(gateway.Gateway)})
	if err != nil {
		t.Fatal(err)
	}
	var told toolTrial
	told.setDuration(&pageRequest{ctx: t.Context(), door: d, session: new(session), terminalWait: 1_234_567_890}, 2*time.Second)
	if told.Person != 1235*time.Millisecond || told.Took != 765_432_110 {
		t.Errorf("at the terminal: %v, and the call took %v", told.Person, told.Took)
	}
}
