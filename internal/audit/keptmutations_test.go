package audit

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

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
