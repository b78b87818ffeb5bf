package audit

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

// crowded returns a journal with room for a few files.
func crowded(t *testing.T) *Journal {
	t.Helper()
	j, _ := small(t, journalPath(t), Config{MaxSize: 9000})
	return j
}

func keptFiles(t *testing.T, j *Journal) (found []journalFile) {
	t.Helper()
	files, err := j.files()
	assert.NilError(t, err)
	for _, f := range files {
		if f.kept {
			found = append(found, f)
		}
	}
	return found
}

// floodedWithReads returns a journal with a mutation before very many reads.
func floodedWithReads(t *testing.T) *Journal {
	t.Helper()
	j := crowded(t)
	for i := range 300 {
		switch i {
		case 1:
			record(t, j, mutation("deed")...)
		case 20:
			asking := mutation("asked")
			asking[0].Caller, asking[0].Parent = aai.Caller{}, ""
			record(t, j, append([]*aai.Entry{received("asked")}, asking...)...)
		}
		record(t, j, reading(fmt.Sprint("r", i)))
	}
	return j
}

// TestMutationsAreKept checks that mutations are not deleted for reads: they are shown,
// exported and verified as before.
func TestMutationsAreKept(t *testing.T) {
	j := floodedWithReads(t)
	v := verified(t, j.Path())
	assert.Check(t, is.Contains(v.String(), fmt.Sprintf("and %d of calls that acted", v.Kept)), v)
	assert.Equal(t, v.Verdict, answer.Intact, "%v %+v", v, v)
	assert.Equal(t, v.Pruned, v.First-1, "%v %+v", v, v)
	assert.Assert(t, v.Kept >= 5, "%v %+v", v, v)
	assert.Assert(t, v.Records+v.Kept < v.Last, "%v %+v", v, v)
	for _, id := range []string{"deed", "asked"} {
		found, err := j.History(t.Context(), Filter{Call: id})
		assert.NilError(t, err, id)
		assert.Assert(t, is.Len(found, 1), id)
		assert.Equal(t, found[0].Result, "ok", id)
		assert.Equal(t, found[0].Caller, "Claude-AI", id)
		assert.Equal(t, found[0].Effect, "changes", id)
		assert.Assert(t, found[0].On.Role != "", "%s %+v", id, found)
		var out bytes.Buffer
		if _, err := j.Export(t.Context(), &out, Filter{Call: id}); err != nil || strings.Count(out.String(), `{"verified":true,"file":"audit-kept-`) != map[string]int{"deed": 2, "asked": 3}[id] {
			t.Errorf("%s: %v, %s", id, err, out.String())
		}
	}
	found, err := j.History(t.Context(), Filter{Call: "r0"})
	assert.NilError(t, err)
	assert.Assert(t, is.Len(found, 0))
	same(t, j, Filter{Limit: 1000})
	var total int64
	for _, f := range sizes(t, j) {
		total += f
	}
	assert.Check(t, total <= 9000+2*2400, "%d bytes are kept", total)
}

func sizes(t *testing.T, j *Journal) (found []int64) {
	t.Helper()
	files, err := j.files()
	assert.NilError(t, err)
	for _, f := range files {
		found = append(found, f.size)
	}
	return found
}

// TestKeptLinesAreSealed checks that any change to kept lines, their order, or their files is found.
func TestKeptLinesAreSealed(t *testing.T) {
	ways := map[string]func(text []byte) []byte{
		"a letter":         func(b []byte) []byte { return bytes.Replace(b, []byte("Claude"), []byte("Claudy"), 1) },
		"the last letter":  func(b []byte) []byte { b[len(b)-4] ^= 1; return b },
		"a line taken out": func(b []byte) []byte { return b[bytes.IndexByte(b, '\n')+1:] },
		"the last one":     func(b []byte) []byte { return b[:bytes.LastIndexByte(b[:len(b)-1], '\n')+1] },
		"its last end":     func(b []byte) []byte { return b[:len(b)-1] },
		"a line twice":     func(b []byte) []byte { return append(bytes.Clone(b[:bytes.IndexByte(b, '\n')+1]), b...) },
		"a line more":      func(b []byte) []byte { return append(b, goodLine+"\n"...) },
		"all of them":      func([]byte) []byte { return nil },
	}
	base := floodedWithReads(t)
	assert.NilError(t, base.Close())
	another := func() *Journal { return New(copied(t, filepath.Dir(base.Path()))) }
	for name, way := range ways {
		j := another()
		f := keptFiles(t, j)[0]
		b, err := os.ReadFile(f.path)
		assert.NilError(t, err)
		assert.NilError(t, os.WriteFile(f.path, way(b), 0o600))
		v := verified(t, j.Path())
		assert.Check(t, is.Equal(v.Verdict, answer.Tampered), "%s %v", name, v)
		assert.Check(t, name != "a letter" || strings.Contains(v.Faults[0].Reason, "is not what was there") && v.Faults[0].Record == f.first, "%s: it is not said which line it is: %v", name, v)
	}
	j := another()
	files := keptFiles(t, j)
	assert.NilError(t, os.Rename(files[0].path, keptPath(j.Path(), files[0].first, files[0].last+1)))
	v := verified(t, j.Path())
	assert.Check(t, is.Equal(v.Verdict, answer.Tampered), "another name: %v", v)
	j = another()
	assert.NilError(t, os.Remove(keptFiles(t, j)[0].path))
	v = verified(t, j.Path())
	assert.Check(t, is.Equal(v.Verdict, answer.Truncated), "a file is gone: %v", v)
}

// TestKeptLinesAreWhatWasKept checks that neither a dropped line of a read nor a line with
// another key can be added to kept lines.
func TestKeptLinesAreWhatWasKept(t *testing.T) {
	j := crowded(t)
	record(t, j, reading("r"), reading("more"))
	read := rawLines(t, j.Path())[0]
	record(t, j, mutation("deed")...)
	for i := range 100 {
		record(t, j, reading(fmt.Sprint("r", i)))
	}
	f := keptFiles(t, j)[0]
	write(t, f.path, read+strings.Join(rawLines(t, f.path), ""))
	v := verified(t, j.Path())
	assert.Check(t, is.Equal(v.Verdict, answer.Tampered), v)
	assert.Check(t, is.Equal(v.Faults[0].Record, f.first), v)
}

// TestKeptLinesGo checks that the oldest mutations are deleted if these alone exceed the
// limit, with a record, and that age limits apply to all.
func TestKeptLinesGo(t *testing.T) {
	j := crowded(t)
	for i := range 200 {
		record(t, j, mutation(fmt.Sprint("d", i))...)
		if i%7 == 0 {
			v := verified(t, j.Path())
			assert.Equal(t, v.Verdict, answer.Intact, "%d %v %+v", i, v, v.Faults)
		}
	}
	var total int64
	for _, size := range sizes(t, j) {
		total += size
	}
	if found := past(t, j.Path()); total > 9000+3*2800 || len(found) > 100 || len(found) < 10 || found[0].Call != "d199" {
		t.Errorf("%d bytes, %d calls", total, len(found))
	}
	same(t, j, Filter{Limit: 1000})

	path := journalPath(t)
	j, now := small(t, path, Config{MaxSize: 25000, MaxAge: 10 * 24 * time.Hour})
	begun := *now
	for day := range 40 {
		*now = begun.Add(time.Duration(day) * 24 * time.Hour)
		entries := mutation(fmt.Sprint("d", day))
		for i := range 30 {
			entries = append(entries, reading(fmt.Sprint("r", i)))
		}
		for _, e := range entries {
			record(t, j, e)
			assert.NilError(t, os.Chtimes(path, *now, *now))
		}
		v := verified(t, path)
		assert.Equal(t, v.Verdict, answer.Intact, "%d %v %+v", day, v, v.Faults)
	}
	found, err := j.History(t.Context(), Filter{Tool: "add", Limit: 100})
	assert.NilError(t, err, "%d", len(found))
	assert.Assert(t, len(found) >= 9, "deeds of %d days, %v", len(found), err)
	assert.Assert(t, len(found) <= 13, "deeds of %d days, %v", len(found), err)
}

// TestStoppedWhilePruning stops between the record of a deletion and each of the
// deletions, and checks that no line is duplicated or lost, that Verify finds no fault,
// and that the next rotation deletes the rest.
func TestStoppedWhilePruning(t *testing.T) {
	j := crowded(t)
	seen := make(map[string][]byte) // files before their deletion
	for i := range 150 {
		if i%30 == 0 {
			record(t, j, mutation(fmt.Sprint("d", i))...)
		}
		record(t, j, reading(fmt.Sprint("r", i)))
		files, err := j.files()
		assert.NilError(t, err)
		for _, f := range files {
			if !f.current && seen[f.path] == nil {
				seen[f.path], err = os.ReadFile(f.path)
				assert.NilError(t, err)
			}
		}
	}
	assert.NilError(t, j.Close())
	kept := keptFiles(t, j)
	last := kept[len(kept)-1]
	var older journalFile
	var back []string // the files deleted last, in order
	for path := range seen {
		middle := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "audit-"), ".jsonl")
		if first, through, ok := keptRange(middle); ok && first == last.first && through < last.last && through > older.last {
			older = journalFile{path: path, last: through}
		}
	}
	for path := range seen {
		middle := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "audit-"), ".jsonl")
		if n := recordNumber(middle); n > older.last && n <= last.last {
			back = append(back, path)
		}
	}
	slices.Sort(back)
	back = append([]string{older.path}, back...)
	assert.Assert(t, len(back) >= 2, "%q", back)
	assert.Assert(t, older.path != "", "%q", back)
	for gone := range len(back) + 1 {
		path := copied(t, filepath.Dir(j.Path()))
		for _, p := range append(back[gone:], path+".kept") {
			assert.NilError(t, os.WriteFile(filepath.Join(filepath.Dir(path), filepath.Base(p)), seen[p], 0o600))
		}
		again, _ := small(t, path, Config{MaxSize: 9000})
		whole := func(when string) {
			t.Helper()
			v := verified(t, path)
			assert.Check(t, is.Equal(v.Verdict, answer.Intact), "%d %s %v %+v", gone, when, v, v.Faults)
			same(t, again, Filter{Limit: 1000})
			told := make(map[string]int)
			for _, p := range past(t, path) {
				told[p.Call]++
			}
			for i := 0; i < 150; i += 30 {
				assert.Check(t, is.Equal(told[fmt.Sprint("d", i)], 1), "%d gone, %s: d%d is there %d times", gone, when, i, told[fmt.Sprint("d", i)])
			}
		}
		whole("stopped")
		for i := range 40 {
			record(t, again, reading(fmt.Sprint("later", i)))
			if i%8 == 0 {
				whole("later")
			}
		}
		whole("at last")
		for _, p := range back {
			_, err := os.Stat(filepath.Join(filepath.Dir(path), filepath.Base(p)))
			assert.Check(t, is.ErrorIs(err, os.ErrNotExist), "%d gone: %s is still there, %v", gone, p, err)
		}
	}
}

// TestMutationsSurviveAFloodOfReads records random calls during rotations and prunings
// that are stopped or fail at any step. Every mutation stays in the history, once and
// complete, the journal stays intact, and a changed kept line is found.
func TestMutationsSurviveAFloodOfReads(t *testing.T) {
	folder := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		path := filepath.Join(folder, fmt.Sprint(n), "audit.jsonl")
		keeper, faults := &memoryKeyStore{}, &pruneFaults{left: -1}
		rotateSize := rapid.SampledFrom([]int64{1500, 4000}).Draw(t, "rotate size")
		harvest := rapid.SampledFrom([]int64{1, 4000, maxKeepBytes}).Draw(t, "harvest")
		begin := func() *Journal {
			j := NewFromConfig(Config{Path: path, RotateSize: rotateSize, MaxSize: 1 << 30, KeyStore: keeper})
			inAHurry(j)
			j.now, j.maxKeepBytes = epoch, harvest
			return j
		}
		j := begin()
		defer func() { _ = j.Close() }()
		write := func(e *aai.Entry) {
			if err := j.Record(t.Context(), e); err != nil && !faults.struck {
				t.Fatal(err) // after a fault the line is written, but not flushed
			}
			if faults.struck && !faults.once {
				most := j.maxSize
				_ = j.Close() // it was killed there
				j = begin()
				j.maxSize = most
			}
			if faults.copying {
				*faults = pruneFaults{left: -1}
			}
		}
		var open [][]*aai.Entry
		deeds := make(map[string]int) // number of written lines of each
		calls := 0
		steps := map[string]func(*rapid.T){
			"begin": func(t *rapid.T) {
				calls++
				id := fmt.Sprint("c", calls)
				kinds := [][]*aai.Entry{mutation(id), wholeCall(id), {reading(id)}, {refusal(id, aai.AppNotFound)}, asked(id)}
				open = append(open, kinds[rapid.IntRange(0, len(kinds)-1).Draw(t, "kind")])
			},
			"go on": func(t *rapid.T) {
				if len(open) == 0 {
					return
				}
				i := rapid.IntRange(0, len(open)-1).Draw(t, "call")
				e := open[i][0]
				if open[i] = open[i][1:]; len(open[i]) == 0 {
					open = append(open[:i:i], open[i+1:]...)
				}
				write(e)
				if e.Kind == aai.Intent || deeds[e.Call] > 0 {
					deeds[e.Call]++
				}
			},
			"reads": func(t *rapid.T) {
				for range 4 {
					write(reading("r"))
				}
			},
			"fail": func(t *rapid.T) {
				*faults = pruneFaults{left: rapid.IntRange(0, 6).Draw(t, "step"), once: rapid.Bool().Draw(t, "once")}
				faults.into(j)
			},
			"": func(t *rapid.T) {
				j.maxSize = 4000 // the mutations may exceed this
				j.maxSize = max(j.maxSize, keptSize(j)+4000)
			},
		}
		t.Repeat(steps)
		if len(deeds) == 0 {
			return
		}
		v, err := j.Verify(t.Context())
		if err != nil || v.Verdict != answer.Intact {
			t.Fatalf("%v, %v %+v", err, v, v.Faults)
		}
		found, err := j.scanFiles(t.Context(), Filter{Limit: 1 << 30})
		assert.NilError(t, err)
		told := make(map[string][]answer.CallRecord)
		for _, p := range found {
			told[p.Call] = append(told[p.Call], p)
		}
		for id, lines := range deeds {
			p := told[id]
			assert.Assert(t, is.Len(p, 1), "%s %d", id, lines)
			assert.Equal(t, p[0].Effect, "changes", "%s %d", id, lines)
			assert.Equal(t, p[0].Caller, "Claude-AI", "%s %d", id, lines)
			assert.Equal(t, (lines > 1), (p[0].Result == "ok"), "%s %d", id, lines)
		}
		same(t, j, Filter{Limit: 1 << 30})
		changeKept(t, j)
	})
}

func keptSize(j *Journal) (size int64) {
	files, _ := j.files()
	for _, f := range files {
		if f.kept {
			size += f.size
		}
	}
	return size
}

// changeKept changes one byte of the kept lines, which must be found.
func changeKept(t *rapid.T, j *Journal) {
	files, err := j.files()
	assert.NilError(t, err)
	for _, f := range files {
		if !f.kept || f.isCopy {
			continue
		}
		b, err := os.ReadFile(f.path)
		assert.NilError(t, err)
		b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] ^= rapid.ByteRange(1, 255).Draw(t, "change")
		assert.NilError(t, os.WriteFile(f.path, b, 0o600))
		v, err := j.Verify(t.Context())
		assert.NilError(t, err, v)
		assert.Equal(t, v.Verdict, answer.Tampered, v)
		return
	}
}
