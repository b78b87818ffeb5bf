package audit

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

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
	assert.NilError(t, j.Close())
	all := lines(t, j.Path())
	assert.Assert(t, is.Len(all, maxRefusalsWritten+1))
	last := all[len(all)-1]
	for _, own := range []string{"seq", "prev", "mac", "boot", "time", "call"} {
		delete(last, own)
	}
	want := `map[caller:Claude-AI codes:map[APP_NOT_FOUND:882 RATE_LIMITED:98] count:980 door:mcp kind:refused principal:somebody session:s1 ` +
		`since:2026-05-04T08:00:00.140000000Z until:2026-05-04T08:00:01.119000000Z]`
	assert.Check(t, is.DeepEqual(want, fmt.Sprint(last)))
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
	assert.Assert(t, j.folds.timer == nil, "there is a timer for nothing")
	assert.Assert(t, !j.folds.pending, "there is a timer for nothing")
}

// TestHistoryTellsTheFlood checks that a query includes unwritten counts.
func TestHistoryTellsTheFlood(t *testing.T) {
	j, _ := flooded(t)
	for range maxRefusalsWritten + 5 {
		record(t, j, refusal("c", aai.AppNotFound))
	}
	found, err := j.History(t.Context(), Filter{Result: "refused"})
	assert.NilError(t, err)
	assert.Assert(t, is.Len(found, 1))
	assert.Equal(t, found[0].Count, 5)
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
	assert.NilError(t, j.Close())
	got := kindsOf(t, j.Path())
	assert.Check(t, is.Equal(got["refused"], 0), got)
	assert.Check(t, is.Len(lines(t, j.Path()), maxRefusalsWritten+7*(maxRefusalsWritten+5)), got)
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
		assert.NilError(t, j.writeRefusals())
		got := kindsOf(t, j.Path())
		assert.Check(t, is.Equal(got["outcome"], minute*(maxQuestionRefusalsWritten+1)), got)
		assert.Check(t, is.Equal(got["refused"], minute), got)
		assert.Check(t, is.Equal(got["intent"], minute*(maxQuestionRefusalsWritten+40)), got)
		last := past(t, j.Path())[0]
		assert.Check(t, is.Equal(last.Count, 40), "%+v", last)
		assert.Check(t, is.Equal(last.Codes[string(aai.ConsentRequired)], 20), "%+v", last)
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
		assert.NilError(t, j.writeRefusals())
		got := kindsOf(t, j.Path())
		want := (minute + 1) * len(callers)
		assert.Check(t, is.Equal(got["outcome"], want*maxRefusalsWritten), got)
		assert.Check(t, is.Equal(got["refused"], want), got)
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
	n := len(j.folds.callers)
	assert.Check(t, n <= maxRefusalCallers+1, "%d callers are remembered", n)
	for _, r := range j.folds.callers {
		assert.Check(t, len(r.codes) <= maxRefusalCodes+1, "%d codes are remembered", len(r.codes))
	}
	assert.NilError(t, j.Close())
	counted := 0
	for _, p := range past(t, j.Path()) {
		counted += max(1, p.Count)
		assert.Check(t, p.Count <= 0 || p.Caller == othersName, "%+v", p)
	}
	assert.Check(t, is.Equal(counted, calls), "%d of %d calls are on record", counted, calls)
}

// TestFoldsSurviveAFullDisk checks that unwritable counts are kept and written later.
func TestFoldsSurviveAFullDisk(t *testing.T) {
	j, _ := flooded(t)
	for range maxRefusalsWritten + 7 {
		record(t, j, refusal("c", aai.AppNotFound))
	}
	assert.NilError(t, errors.Join(j.stateFile.close(), os.Rename(j.Path()+".chain", j.Path()+".away"), os.Mkdir(j.Path()+".chain", 0o700)))
	err := j.Close()
	assert.Check(t, is.ErrorContains(err, "7 refused calls"))
	assert.NilError(t, errors.Join(os.Remove(j.Path()+".chain"), os.Rename(j.Path()+".away", j.Path()+".chain")))
	assert.NilError(t, j.Close())
	found := past(t, j.Path())
	assert.Check(t, is.Equal(found[0].Count, 7), "%+v", found[0])
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
	after := len(lines(t, j.Path()))
	assert.Check(t, is.Equal(before, maxRefusalsWritten))
	assert.Check(t, is.Equal(after, before+1))
}

// fullDisk makes writes to the journal's file fail until the returned function is called.
func fullDisk(t *testing.T, j *Journal) (emptied func()) {
	t.Helper()
	readOnly, err := os.Open(j.path)
	assert.NilError(t, err)
	swap := func(f *os.File) (was *os.File) {
		j.write.Lock()
		defer j.write.Unlock()
		was, j.file = j.file, f
		return was
	}
	was := swap(readOnly)
	return func() { _ = swap(was).Close() } // it was not written to
}

// TestNothingIsCountedAfterAFailure checks that refused calls are counted only if the
// previous entry was written, and flushed if durable.
func TestNothingIsCountedAfterAFailure(t *testing.T) {
	j, _ := flooded(t)
	refused := func() error { return j.Record(t.Context(), refusal("c", aai.AppNotFound)) }
	for i := range maxRefusalsWritten + 1 {
		assert.NilError(t, refused(), i)
	}
	counted := func() string { return fmt.Sprint(j.folds.callers[received("").Caller].count) }
	emptied := fullDisk(t, j)
	assert.Check(t, j.Record(t.Context(), reading("r")) != nil, "it was recorded")
	for range 3 {
		if err := refused(); err == nil || counted() != "1" {
			t.Errorf("%v, %s are counted", err, counted())
		}
	}
	emptied()
	for _, want := range []string{"1", "2"} { // the first of them is written
		err := refused()
		assert.NilError(t, err)
		assert.Equal(t, counted(), want)
	}
	flush := j.syncFile
	j.syncFile = func(*os.File) error { return errors.New("input/output error") }
	assert.Check(t, j.Record(t.Context(), intent("i")) != nil, "it was flushed")
	j.syncFile = flush
	for _, want := range []string{"2", "3"} {
		err := refused()
		assert.NilError(t, err)
		assert.Equal(t, counted(), want)
	}
}
