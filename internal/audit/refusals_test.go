package audit

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gybob/aai-gateway"
)

// flooded returns a journal with a fake clock that writes summaries on demand.
func flooded(t *testing.T) (*Journal, *time.Time) {
	t.Helper()
	j, now := small(t, journalPath(t), Config{RotateSize: 1 << 30})
	j.folds.interval = time.Hour
	return j, now
}

// kindsOf counts the lines of each kind.
func kindsOf(t *testing.T, path string) map[string]int {
	t.Helper()
	found := make(map[string]int)
	for _, line := range lines(t, path) {
		found[fmt.Sprint(line["kind"])]++
	}
	return found
}

// TestRefusalFloodIsCounted checks that a flood of refused calls results in a few lines
// and a complete count, even if the journal is closed at once.
func TestRefusalFloodIsCounted(t *testing.T) {
	j, _ := flooded(t)
	for i := range 1000 {
		e := refusal(fmt.Sprint("c", i), aai.AppNotFound)
		if i%10 == 0 {
			e.Code = aai.RateLimited
		}
		e.Time = epoch().Add(time.Duration(i) * time.Millisecond)
		record(t, j, e)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	all := lines(t, j.Path())
	if len(all) != maxRefusalsWritten+1 {
		t.Fatalf("%d lines", len(all))
	}
	last := all[len(all)-1]
	for _, own := range []string{"seq", "prev", "mac", "boot", "time", "call"} {
		delete(last, own)
	}
	want := `map[caller:Claude-AI codes:map[APP_NOT_FOUND:882 RATE_LIMITED:98] count:980 door:mcp kind:refused principal:somebody session:s1 ` +
		`since:2026-05-04T08:00:00.140000000Z until:2026-05-04T08:00:01.119000000Z]`
	if diff := cmp.Diff(want, fmt.Sprint(last)); diff != "" {
		t.Error(diff)
	}
	intact(t, j.Path(), maxRefusalsWritten+1)
	if found := past(t, j.Path()); len(found) != maxRefusalsWritten+1 || found[0].Count != 980 || found[0].Result != "refused" {
		t.Errorf("%+v", found[0])
	}
}

// TestFloodIsToldWhileItLasts checks the periodic summaries, whose timer runs only during a flood.
func TestFloodIsToldWhileItLasts(t *testing.T) {
	j, _ := flooded(t)
	j.folds.interval = time.Millisecond
	record(t, j, received("c0"))
	for range maxRefusalsWritten + 1 {
		record(t, j, refusal("c", aai.AppNotFound))
	}
	waitForLines(t, j.Path(), 1+maxRefusalsWritten+1)
	j.folds.writing.Lock()
	defer j.folds.writing.Unlock()
	j.folds.mu.Lock()
	defer j.folds.mu.Unlock()
	if j.folds.timer != nil || j.folds.pending {
		t.Error("there is a timer for nothing")
	}
}

// TestHistoryTellsTheFlood checks that a query includes unwritten counts.
func TestHistoryTellsTheFlood(t *testing.T) {
	j, _ := flooded(t)
	for range maxRefusalsWritten + 5 {
		record(t, j, refusal("c", aai.AppNotFound))
	}
	found, err := j.History(t.Context(), Filter{Result: "refused"})
	if err != nil || len(found) != 1 || found[0].Count != 5 {
		t.Errorf("%+v, %v", found, err)
	}
}

// TestWhatIsNeverFolded checks the entries that are always written: calls that ran, succeeded, have an
// earlier line or failed to be recorded, and durable refusals within the limit.
func TestWhatIsNeverFolded(t *testing.T) {
	ran, well, durable, asked := refusal("ran", aai.Timeout), refusal("well", ""), refusal("durable", aai.Timeout), refusal("asked", aai.ConsentRequired)
	ran.Ran, durable.Durable, asked.Caller = true, true, aai.Caller{}
	begun, failed := received("received"), refusal("failed", aai.RecordFailed)
	j, _ := flooded(t)
	for range maxRefusalsWritten {
		record(t, j, refusal("c", aai.AppNotFound))
	}
	for _, e := range []*aai.Entry{ran, well, durable, asked, begun, intent("intent"), failed} {
		for range maxRefusalsWritten + 5 {
			record(t, j, e)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if got := kindsOf(t, j.Path()); got["refused"] != 0 || len(lines(t, j.Path())) != maxRefusalsWritten+7*(maxRefusalsWritten+5) {
		t.Errorf("%v", got)
	}
}

// TestFloodOfQuestionsIsFolded checks that durable refusals beyond the limit per minute
// and caller are counted too, but intents are not.
func TestFloodOfQuestionsIsFolded(t *testing.T) {
	j, now := flooded(t)
	for minute := 1; minute <= 2; minute++ {
		*now = now.Add(refusalWindow)
		for i := range maxQuestionRefusalsWritten + 40 {
			e := refusal("c", aai.ConsentRequired)
			if i%2 == 0 {
				e.Code = aai.AmbiguousTarget
			}
			e.Durable = true
			record(t, j, e, intent("i"))
		}
		other := refusal("other", aai.ConsentRequired)
		other.Durable, other.Caller.Name = true, fmt.Sprint("other ", minute)
		record(t, j, other)
		if err := j.writeRefusals(); err != nil {
			t.Fatal(err)
		}
		got := kindsOf(t, j.Path())
		if got["outcome"] != minute*(maxQuestionRefusalsWritten+1) || got["refused"] != minute || got["intent"] != minute*(maxQuestionRefusalsWritten+40) {
			t.Errorf("%v", got)
		}
		if last := past(t, j.Path())[0]; last.Count != 40 || last.Codes[string(aai.ConsentRequired)] != 20 {
			t.Errorf("%+v", last)
		}
	}
}

// TestFoldsOfCallersAndMinutes checks that each caller and each minute has its own count.
func TestFoldsOfCallersAndMinutes(t *testing.T) {
	j, now := flooded(t)
	callers := []aai.Caller{
		{Door: "mcp", Name: "a"}, {Door: "cli", Name: "a"}, {Door: "mcp", Name: "b"}, {Door: "mcp", Name: "a", Session: "s"},
		{Door: "mcp", Name: "a", Principal: "p"}, {Door: "mcp", Name: "a", Identity: "/bin/x"},
	}
	for minute := range 2 {
		*now = now.Add(refusalWindow)
		for _, caller := range callers {
			for range maxRefusalsWritten + 3 {
				e := refusal("c", aai.AppNotFound)
				e.Caller = caller
				record(t, j, e)
			}
		}
		if err := j.writeRefusals(); err != nil {
			t.Fatal(err)
		}
		got := kindsOf(t, j.Path())
		if want := (minute + 1) * len(callers); got["outcome"] != want*maxRefusalsWritten || got["refused"] != want {
			t.Errorf("%v", got)
		}
	}
}

// TestFloodOfCallers checks that memory is bounded for a caller with a new name in each
// call, and that its calls are still counted.
func TestFloodOfCallers(t *testing.T) {
	j, _ := flooded(t)
	const calls = 5000
	for i := range calls {
		e := refusal("c", aai.Code(fmt.Sprint("CODE_", i)))
		e.Caller.Name = fmt.Sprint("caller ", i)
		record(t, j, e)
	}
	if n := len(j.folds.callers); n > maxRefusalCallers+1 {
		t.Errorf("%d callers are remembered", n)
	}
	for _, r := range j.folds.callers {
		if len(r.codes) > maxRefusalCodes+1 {
			t.Errorf("%d codes are remembered", len(r.codes))
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	counted := 0
	for _, p := range past(t, j.Path()) {
		counted += max(1, p.Count)
		if p.Count > 0 && p.Caller != othersName {
			t.Errorf("%+v", p)
		}
	}
	if counted != calls {
		t.Errorf("%d of %d calls are on record", counted, calls)
	}
}

// TestFoldsSurviveAFullDisk checks that unwritable counts are kept and written later.
func TestFoldsSurviveAFullDisk(t *testing.T) {
	j, _ := flooded(t)
	for range maxRefusalsWritten + 7 {
		record(t, j, refusal("c", aai.AppNotFound))
	}
	if err := errors.Join(j.stateFile.close(), os.Rename(j.Path()+".chain", j.Path()+".away"), os.Mkdir(j.Path()+".chain", 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err == nil || !strings.Contains(err.Error(), "7 refused calls") {
		t.Errorf("%v", err)
	}
	if err := errors.Join(os.Remove(j.Path()+".chain"), os.Rename(j.Path()+".away", j.Path()+".chain")); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if found := past(t, j.Path()); found[0].Count != 7 {
		t.Errorf("%+v", found[0])
	}
}

// TestFoldsWhenTheClockIsSetBack checks that a clock set back starts a new window.
func TestFoldsWhenTheClockIsSetBack(t *testing.T) {
	j, now := flooded(t)
	for i := range maxRefusalsWritten + 5 {
		record(t, j, refusal(fmt.Sprint("c", i), aai.AppNotFound))
	}
	before := len(lines(t, j.Path()))
	*now = now.Add(-24 * time.Hour)
	record(t, j, refusal("later", aai.AppNotFound))
	if after := len(lines(t, j.Path())); before != maxRefusalsWritten || after != before+1 {
		t.Errorf("%d lines, then %d", before, after)
	}
}
