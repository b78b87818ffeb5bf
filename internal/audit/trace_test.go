package audit

import (
	"fmt"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestTrace checks the steps, the parent and the children of one call, also if its lines
// are in two files.
func TestTrace(t *testing.T) {
	j := NewFromConfig(Config{Path: journalPath(t), RotateSize: 2000, KeyStore: &memoryKeyStore{}})
	inAHurry(j)
	defer j.Close() //nolint:errcheck // of a test
	record(t, j, reading("c0"))
	record(t, j, received("c1"), intent("c1"))
	for i := range 10 {
		child := reading(fmt.Sprint("k", i))
		child.Parent = "c1"
		record(t, j, child)
	}
	end := failure("c1", aai.AutomationFailed)
	end.Ran, end.PersonWait = true, 1500*time.Millisecond
	record(t, j, end)
	s, err := j.Trace(t.Context(), "c1")
	assert.NilError(t, err, s)
	assert.Assert(t, s != nil, s)
	files, err := j.files()
	assert.NilError(t, err, "%d", len(files))
	assert.Assert(t, len(files) >= 2, "%d files, %v", len(files), err)
	assert.Assert(t, is.Len(s.Steps, 3))
	assert.Equal(t, s.Steps[0].Kind, aai.Received)
	assert.Equal(t, s.Steps[1].Kind, aai.Intent)
	assert.Equal(t, s.Steps[2].Kind, aai.Outcome)
	first, second, last := s.Steps[0], s.Steps[1], s.Steps[2]
	if first.Session != "s1" || first.Principal != "somebody" || second.Consent != "once (client)" || second.Digest != "d1" ||
		last.Delivery != aai.NotDelivered || !last.Ran || last.Message != "it said no" || last.PersonWaitMillis != 1500 || last.Record <= second.Record || first.Record == 0 {
		t.Errorf("%+v", s.Steps)
	}
	assert.Equal(t, s.Call.Call, "c1", "%+v", s)
	assert.Equal(t, s.Call.Result, string(aai.AutomationFailed), "%+v", s)
	assert.Assert(t, s.Parent != nil, "%+v", s)
	assert.Equal(t, s.Parent.Call, "c0", "%+v", s)
	assert.Assert(t, is.Len(s.Children, 10), "%+v", s)
	assert.Equal(t, s.Children[0].Call, "k0", "%+v", s)
	assert.Equal(t, s.OmittedChildren, 0, "%+v", s)
	s, err = j.Trace(t.Context(), "nobody")
	assert.Assert(t, s == nil, "of no call: %v, %v", s, err)
	assert.NilError(t, err, s)
	s, err = New(journalPath(t)).Trace(t.Context(), "c1")
	assert.Assert(t, s == nil, "of no journal: %v, %v", s, err)
	assert.NilError(t, err, s)
}
