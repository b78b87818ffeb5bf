package audit

import (
	"fmt"
	"testing"
	"time"

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
	if err != nil || s == nil {
		t.Fatalf("%v, %v", s, err)
	}
	if files, err := j.files(); err != nil || len(files) < 2 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	if len(s.Steps) != 3 || s.Steps[0].Kind != aai.Received || s.Steps[1].Kind != aai.Intent || s.Steps[2].Kind != aai.Outcome {
		t.Fatalf("%+v", s.Steps)
	}
	first, second, last := s.Steps[0], s.Steps[1], s.Steps[2]
	if first.Session != "s1" || first.Principal != "somebody" || second.Consent != "once (client)" || second.Digest != "d1" ||
		last.Delivery != aai.NotDelivered || !last.Ran || last.Message != "it said no" || last.PersonWaitMillis != 1500 || last.Record <= second.Record || first.Record == 0 {
		t.Errorf("%+v", s.Steps)
	}
	if s.Call.Call != "c1" || s.Call.Result != string(aai.AutomationFailed) || s.Parent == nil || s.Parent.Call != "c0" || len(s.Children) != 10 || s.Children[0].Call != "k0" || s.OmittedChildren != 0 {
		t.Errorf("%+v", s)
	}
	if s, err := j.Trace(t.Context(), "nobody"); s != nil || err != nil {
		t.Errorf("of no call: %v, %v", s, err)
	}
	if s, err := New(journalPath(t)).Trace(t.Context(), "c1"); s != nil || err != nil {
		t.Errorf("of no journal: %v, %v", s, err)
	}
}
