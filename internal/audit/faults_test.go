package audit

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

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
	if err := os.Remove(beside(names[0])); err != nil {
		t.Fatal(err)
	}
	v := verified(t, path)
	if v.Verdict != answer.Truncated || v.Faults[0].Record != 1 || !strings.HasPrefix(v.String(), "truncated at record 1: records up to ") {
		t.Errorf("%s; %+v", v, v.Faults)
	}
	if !slices.ContainsFunc(v.Faults[1:], func(f answer.Fault) bool { return f == only.Faults[0] }) {
		t.Errorf("the changed record is not among %+v", v.Faults)
	}
	if !slices.IsSortedFunc(v.Faults, func(a, b answer.Fault) int { return int(a.Record) - int(b.Record) }) {
		t.Errorf("they are out of order: %+v", v.Faults)
	}
	if want := fmt.Sprintf("; %d more faults after it; %d records are as they were written", len(v.Faults)-1, v.Records); !strings.HasSuffix(v.String(), want) {
		t.Errorf("%s, want …%s", v, want)
	}
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
	if want := fmt.Sprintf("tampered at record 1: record 1 was changed; %d more faults after it; 0 records are as they were written", 3*maxFaults-1); v.String() != want {
		t.Error(v)
	}
}
