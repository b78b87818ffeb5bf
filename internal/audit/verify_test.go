package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

func verified(t *testing.T, path string) *answer.Verification {
	t.Helper()
	v, err := New(path).Verify(t.Context())
	assert.NilError(t, err)
	return v
}

// intact fails the test unless the journal is intact, with that many records.
func intact(t *testing.T, path string, records uint64) *answer.Verification {
	t.Helper()
	v := verified(t, path)
	assert.Check(t, is.Equal(v.Verdict, answer.Intact), "%s %+v", v, v)
	assert.Check(t, is.Equal(v.Records, records), "%s %+v", v, v)
	return v
}

// unproven checks that the journal has no fault but a missing state before the record at.
func unproven(t *testing.T, path string, records, at uint64) *answer.Verification {
	t.Helper()
	v := verified(t, path)
	assert.Equal(t, v.Verdict, answer.Unproven, "%s %+v", v, v)
	assert.Equal(t, v.Records, records, "%s %+v", v, v)
	assert.Assert(t, is.Len(v.Faults, 1), "%s %+v", v, v)
	assert.Equal(t, v.Faults[0].Record, at, "%s %+v", v, v)
	return v
}

// smallLog returns a closed journal with that many calls of three records each.
func smallLog(t *testing.T, calls int) string {
	t.Helper()
	path := journalPath(t)
	j := hasty(t, path)
	for i := range calls {
		record(t, j, wholeCall(fmt.Sprint("c", i))...)
	}
	assert.NilError(t, j.Close())
	return path
}

// hasty returns an open journal that does not flush.
func hasty(t *testing.T, path string) *Journal {
	t.Helper()
	j := open(t, path)
	inAHurry(j)
	return j
}

func inAHurry(j *Journal) {
	never := func(*os.File) error { return nil }
	j.syncFile, j.stateFile.toDisk, j.syncDir = never, never, func(string) error { return nil }
}

func rawLines(t *testing.T, path string) []string {
	t.Helper()
	b, err := os.ReadFile(path)
	assert.NilError(t, err)
	return slices.Collect(strings.Lines(string(b)))
}

func TestVerifyIntact(t *testing.T) {
	v := intact(t, smallLog(t, 4), 12)
	assert.Check(t, is.DeepEqual(&answer.Verification{Verdict: answer.Intact, Files: 1, Records: 12, First: 1, Last: 12}, v))
	assert.Check(t, is.Equal(v.String(), "ok, 12 records"))
}

// TestTampering checks that each kind of change, at each record, is found at that record,
// also after the gateway has continued.
func TestTampering(t *testing.T) {
	const calls = 3
	ways := map[string]func(lines []string, n int) []string{
		"edit a word": func(l []string, n int) []string {
			l[n] = strings.Replace(l[n], `"kind":"`, `"kind":"x`, 1)
			return l
		},
		"edit, same length": func(l []string, n int) []string {
			l[n] = strings.Replace(l[n], "2026", "2025", 1)
			return l
		},
		"edit the seal": func(l []string, n int) []string {
			at := strings.LastIndex(l[n], `"}`) - 1
			c := byte('0')
			if l[n][at] == c {
				c = '1'
			}
			l[n] = l[n][:at] + string(c) + l[n][at+1:]
			return l
		},
		"edit the number": func(l []string, n int) []string {
			l[n] = strings.Replace(l[n], fmt.Sprintf(`{"seq":%d,`, n+1), `{"seq":77,`, 1)
			return l
		},
		"edit to garbage": func(l []string, n int) []string { l[n] = "garbage\n"; return l },
		"delete":          func(l []string, n int) []string { return slices.Delete(l, n, n+1) },
		"repeat":          func(l []string, n int) []string { return slices.Insert(l, n, l[max(n-1, 0)]) },
		"insert":          func(l []string, n int) []string { return slices.Insert(l, n, goodLine+"\n") },
		"insert a forged record": func(l []string, n int) []string {
			forged, _ := appendLink(nil, uint64(n+1), seal{}, chainKey{1}, []byte(`"kind":"received","call":"x"`))
			return slices.Insert(l, n, string(forged))
		},
		"insert an empty line": func(l []string, n int) []string { return slices.Insert(l, n, "\n") },
		"insert zeros":         func(l []string, n int) []string { return slices.Insert(l, n, "\x00\x00\n") },
		"join two lines":       func(l []string, n int) []string { l[n] = strings.TrimSuffix(l[n], "\n"); return l },
		"swap": func(l []string, n int) []string {
			other := n + 1
			if other == len(l) {
				other, n = n, n-1
			}
			l[n], l[other] = l[other], l[n]
			return l
		},
	}
	folder := filepath.Dir(smallLog(t, calls))
	for name, way := range ways {
		for n := range 3 * calls {
			for _, goOn := range []bool{false, true} {
				path := copied(t, folder)
				changed := way(rawLines(t, path), n)
				write(t, path, strings.Join(changed, ""))
				if goOn {
					record(t, hasty(t, path), wholeCall("later")...)
				}
				v := verified(t, path)
				want := uint64(n + 1)
				last := n == 3*calls-1
				switch {
				case name == "swap" && last, name == "repeat" && n == 0:
					want = uint64(n + 1 - min(n, 1))
					if name == "repeat" {
						want = 2 // the first comes first, and its copy is in front of the second
					}
				case name == "join two lines" && last:
					// It is intact; only the newline is missing.
					assert.Check(t, is.Equal(v.Verdict, answer.Intact), "%s at record %d (then going on: %v): %v", name, n+1, goOn, v)
					continue
				}
				assert.Check(t, v.Verdict != answer.Intact, "%s at record %d (then going on: %v): %v, expected it at %d; %+v", name, n+1, goOn, v, want, v.Faults)
				assert.Check(t, is.Equal(v.Faults[0].Record, want), "%s %d %v %v %+v", name, n+1, goOn, v, v.Faults)
			}
		}
	}
}

// TestTruncation checks that any truncation is found, also after the gateway has
// continued.
func TestTruncation(t *testing.T) {
	folder := filepath.Dir(smallLog(t, 3))
	for n := range 9 {
		for _, goOn := range []bool{false, true} {
			path := copied(t, folder)
			write(t, path, strings.Join(rawLines(t, path)[:n], ""))
			if goOn {
				record(t, open(t, path), received("later"))
			}
			v := verified(t, path)
			assert.Check(t, is.Equal(v.Verdict, answer.Truncated), "%d %v %v", n, goOn, v)
			assert.Check(t, is.Equal(v.Faults[0].Record, uint64(n+1)), "%d %v %v", n, goOn, v)
		}
	}
}

// TestTruncationBeforeAnchor checks that, without the state, the chain is rebuilt from the
// first key, and that the anchor detects missing records.
func TestTruncationBeforeAnchor(t *testing.T) {
	for _, goOn := range []bool{false, true} {
		path, _, _ := anchored(t)
		if v := intact(t, path, anchorEvery); v.Anchor != anchorEvery {
			t.Fatalf("%+v", v)
		}
		write(t, path, strings.Join(rawLines(t, path)[:60], ""))
		assert.NilError(t, os.Remove(path+".chain"))
		if goOn {
			record(t, open(t, path), received("later"))
		}
		v := verified(t, path)
		assert.Check(t, is.Equal(v.Verdict, answer.Truncated), "%v %v", goOn, v)
		assert.Check(t, v.Faults[0].Record == 61, "going on: %v: %v", goOn, v)
	}
}

// TestRewrittenSinceTheAnchor checks that records before an anchor cannot be forged with
// the current key.
func TestRewrittenSinceTheAnchor(t *testing.T) {
	path, kept, _ := anchored(t)
	lines := rawLines(t, path)
	last, _ := parseLink([]byte(strings.TrimSuffix(lines[98], "\n")))
	forged, _ := appendLink(nil, 100, last.seal, kept.First.ahead(99), []byte(`"kind":"received","call":"other"`))
	write(t, path, strings.Join(lines[:99], "")+string(forged))
	v := verified(t, path)
	assert.Check(t, is.Equal(v.Verdict, answer.Tampered), "%v %+v", v, v.Faults)
	assert.Check(t, v.Faults[0].Record == 100, "%v %+v", v, v.Faults)
}

// TestTornTail tears the file at the ends of the last records and at many of their bytes: complete
// records are kept, losses are reported, and Verify finds no fault. The state is as old as
// it can be after a crash.
func TestTornTail(t *testing.T) {
	path := journalPath(t)
	j := New(path)
	record(t, j, wholeCall("c0")...)
	before, err := os.ReadFile(path + ".chain")
	assert.NilError(t, err)
	record(t, j, wholeCall("c1")...)
	assert.NilError(t, j.Close())
	whole, err := os.ReadFile(path)
	assert.NilError(t, err)
	key, err := os.ReadFile(path + ".key")
	assert.NilError(t, err)
	begin := bytes.LastIndex(whole, []byte(`{"seq":4,`))
	for cut := begin; cut <= len(whole); cut++ {
		if near := bytes.IndexByte(whole[max(0, cut-2):min(cut+2, len(whole))], '\n'); near < 0 && cut%11 > 0 {
			continue // most bytes inside a line are alike
		}
		torn := journalPath(t)
		write(t, torn, string(whole[:cut]))
		write(t, torn+".chain", string(before))
		write(t, torn+".key", string(key))
		kept := 3 + uint64(bytes.Count(whole[begin:cut], []byte("\n")))
		if cut < len(whole) && whole[cut] == '\n' {
			kept++ // it is complete except for the newline
		}
		tornBytes := int64(cut - bytes.LastIndexByte(whole[:cut], '\n') - 1)
		if cut < len(whole) && whole[cut] == '\n' {
			tornBytes = 0
		}
		pending := intact(t, torn, kept)
		assert.Equal(t, tornBytes > 0, (len(pending.Repairs) == 1), "cut at %d: %+v", cut, pending)
		record(t, hasty(t, torn), wholeCall("later")...)
		records := kept + 3
		if tornBytes > 0 {
			records++
		}
		v := intact(t, torn, records)
		assert.Assert(t, tornBytes <= 0 || len(v.Repairs) == 1 && v.Repairs[0].Torn == tornBytes && v.Repairs[0].Record == kept+1, "cut at %d: %+v", cut, v)
	}
}

func TestVerifyWithoutKey(t *testing.T) {
	path := smallLog(t, 1)
	assert.NilError(t, os.Remove(path+".key"))
	_, err := New(path).Verify(t.Context())
	e := aai.AsError(err)
	assert.Assert(t, e != nil, err)
	assert.Assert(t, e.Hint != "", err)
	assert.Assert(t, is.Contains(e.Message, "key"), err)
	record(t, open(t, path), received("it goes on")) // the state has the current key
	_, err = os.Stat(path + ".key")
	assert.Check(t, is.ErrorIs(err, os.ErrNotExist), "a new key was made that does not belong to the chain")
}

// TestFileFromBefore checks that a file from before chains is kept, read, and reported as unchained.
func TestFileFromBefore(t *testing.T) {
	path := journalPath(t)
	write(t, path, goodLine+"\n")
	record(t, open(t, path), wholeCall("c1")...)
	v := intact(t, path, 3)
	assert.Assert(t, is.Len(v.Unchained, 1), "%+v", v)
	assert.Equal(t, v.Files, 2, "%+v", v)
	found := past(t, path)
	assert.Assert(t, is.Len(found, 2))
	assert.Equal(t, found[1].Call, "good")
}

func TestVerifyEndsWithItsContext(t *testing.T) {
	path := smallLog(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	v, err := New(path).Verify(ctx)
	assert.Check(t, is.ErrorIs(err, context.Canceled), v)
}

func TestExport(t *testing.T) {
	path := smallLog(t, 2)
	lines := rawLines(t, path)
	write(t, path, strings.Join(lines[:5], "")+"junk\n"+lines[5])
	for _, c := range []struct {
		filter Filter
		want   string
	}{
		{Filter{}, "true true true true true false true"},
		{Filter{Call: "c1"}, "true true true"},
		{Filter{App: "nobody"}, ""},
	} {
		var b bytes.Buffer
		v, err := New(path).Export(t.Context(), &b, c.filter)
		assert.NilError(t, err, "%+v %v", c.filter, v)
		assert.Equal(t, v.Verdict, answer.Tampered, "%+v %v", c.filter, v)
		assert.Assert(t, v.Faults[0].Record == 6, "%+v %v", c.filter, v)
		out := slices.Collect(strings.Lines(b.String()))
		var states []string
		for _, line := range out[:len(out)-1] {
			var l struct {
				Verified bool
				File     string
				Record   json.RawMessage
			}
			err := json.Unmarshal([]byte(line), &l)
			assert.NilError(t, err, "%q", line)
			assert.Equal(t, l.File, "audit.jsonl", "%q", line)
			assert.Assert(t, l.Record != nil, "%q", line)
			states = append(states, fmt.Sprint(l.Verified))
		}
		assert.Check(t, is.Equal(strings.Join(states, " "), c.want), "%+v", c.filter)
		var end struct{ Verification answer.Verification }
		if err := json.Unmarshal([]byte(out[len(out)-1]), &end); err != nil || end.Verification.Verdict != answer.Tampered {
			t.Errorf("%q: %v", out[len(out)-1], err)
		}
	}
}

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
