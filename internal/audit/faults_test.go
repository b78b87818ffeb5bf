package audit

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/answer"
)

// TestTheFirstMissingRecordIsSaidFirst checks the order of faults, although faults at the
// beginning are found last.
func TestTheFirstMissingRecordIsSaidFirst(t *testing.T) {
	path := journalPath(t)
	j, _ := small(t, path, Config{})
	for i := range 20 {
		record(t, j, received(fmt.Sprint("c", i)))
	}
	names := fileNames(t, path)
	beside := func(name string) string { return strings.Replace(path, "audit.jsonl", name, 1) }
	later := beside(names[len(names)-2])
	lines := rawLines(t, later)
	lines[0] = strings.Replace(lines[0], `"kind":"`, `"kind":"x`, 1)
	write(t, later, strings.Join(lines, ""))
	only := verified(t, path)
	assert.NilError(t, os.Remove(beside(names[0])))
	v := verified(t, path)
	assert.Check(t, is.Equal(v.Verdict, answer.Truncated), "%s %+v", v, v.Faults)
	assert.Check(t, v.Faults[0].Record == 1, "%s %+v", v, v.Faults)
	assert.Check(t, strings.HasPrefix(v.String(), "truncated at record 1: records up to "), "%s %+v", v, v.Faults)
	assert.Check(t, slices.ContainsFunc(v.Faults[1:], func(f answer.Fault) bool { return f == only.Faults[0] }), "the changed record is not among %+v", v.Faults)
	assert.Check(t, slices.IsSortedFunc(v.Faults, func(a, b answer.Fault) int { return int(a.Record) - int(b.Record) }), "they are out of order: %+v", v.Faults)
	want := fmt.Sprintf("; %d more faults after it; %d records are as they were written", len(v.Faults)-1, v.Records)
	assert.Check(t, strings.HasSuffix(v.String(), want), "%s, want …%s", v, want)
}

// TestTooManyFaults checks that the first faults are listed, however many there are.
func TestTooManyFaults(t *testing.T) {
	v := &answer.Verification{Verdict: answer.Intact}
	for n := 3 * maxFaults; n > 0; n-- {
		addFault(v, answer.Tampered, uint64(n), "audit.jsonl", "record %d was changed", n)
	}
	if len(v.Faults) != maxFaults || v.OmittedFaults != 2*maxFaults || v.Faults[0].Record != 1 || v.Faults[maxFaults-1].Record != maxFaults {
		t.Errorf("%d faults are kept, the first at %d, and %d are not", len(v.Faults), v.Faults[0].Record, v.OmittedFaults)
	}
	assert.Check(t, is.Equal(v.String(), fmt.Sprintf("tampered at record 1: record 1 was changed; %d more faults after it; 0 records are as they were written", 3*maxFaults-1)), v)
}
