package web

import (
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// TestAPersonsTimeIsRounded checks that the waiting time for the person has a precision of a
// millisecond, for windows, as recorded, and for the terminal; the duration of the call excludes it.
func TestAPersonsTimeIsRounded(t *testing.T) {
	var s storyPageData
	s.Steps = make([]answer.TraceStep, 2)
	s.Steps[0].PersonWaitMillis, s.Steps[1].PersonWaitMillis = 1200.4567, 0.2
	got := s.Person()
	assert.Check(t, got == 1201*time.Millisecond, "in a window: %v", got)
	d, err := New(Config{Gateway: new(gateway.Gateway)})
	assert.NilError(t, err)
	var told toolTrial
	told.setDuration(&pageRequest{ctx: t.Context(), door: d, session: new(session), terminalWait: 1_234_567_890}, 2*time.Second)
	assert.Check(t, told.Person == 1235*time.Millisecond, "at the terminal: %v, and the call took %v", told.Person, told.Took)
	assert.Check(t, told.Took == 765_432_110, "at the terminal: %v, and the call took %v", told.Person, told.Took)
}
