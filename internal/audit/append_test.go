package audit

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/answer"
)

// TestAppendFromProcesses checks that eight gateways of one home, which also rotate files,
// write one chain and lose no entry.
func TestAppendFromProcesses(t *testing.T) {
	const processes = 8
	path := journalPath(t)
	var wg sync.WaitGroup
	for i := range processes {
		wg.Go(func() { child(t, "append", path, fmt.Sprint("p", i, ".")) })
	}
	wg.Wait()
	v := verified(t, path)
	assert.Check(t, is.Equal(v.Verdict, answer.Intact), "%+v", v)
	assert.Check(t, v.Files >= 3, "%+v", v)
	assert.Check(t, is.Len(v.Repairs, 0), "%+v", v)
	seen, refused := make(map[string]bool), 0
	for _, p := range past(t, path) {
		seen[p.Call] = p.Result == "ok" && p.Caller == "Claude-AI" && p.Effect != ""
		if p.Result != "ok" {
			refused += max(1, p.Count)
		}
	}
	for i := range processes {
		for n := range childCalls {
			for _, kind := range []string{"", "r", "a"} {
				id := fmt.Sprint("p", i, ".", n, kind)
				assert.Check(t, seen[id], "%s is not in the history", id)
			}
		}
	}
	assert.Check(t, refused == processes*childCalls, "%d refused calls are in the history, expected %d", refused, processes*childCalls)
}

// child runs this test binary as another process.
func child(t *testing.T, what, path, name string) {
	t.Helper()
	self, err := os.Executable()
	if err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o700)); err != nil {
		t.Error(err)
		return
	}
	c := exec.CommandContext(t.Context(), self)
	c.Dir = filepath.Dir(path)
	c.Env = append(os.Environ(), "JOURNAL_TEST_CHILD="+what, "JOURNAL_TEST_NAME="+name)
	out, err := c.CombinedOutput()
	assert.Check(t, err, out)
}

// TestCloseWhileRecording checks that Close loses no acknowledged entry.
func TestCloseWhileRecording(t *testing.T) {
	path := journalPath(t)
	j := open(t, path)
	var wg sync.WaitGroup
	kept := make([]int, 4)
	for i := range kept {
		wg.Go(func() {
			for n := range 30 {
				if j.Record(t.Context(), received(fmt.Sprintf("c%d.%d", i, n))) == nil {
					kept[i]++
				}
			}
		})
	}
	wg.Go(func() {
		for range 30 {
			_ = j.Close()
		}
	})
	wg.Wait()
	total := 0
	for _, n := range kept {
		total += n
	}
	n := len(lines(t, path))
	assert.Check(t, is.Equal(n, total))
	assert.Check(t, total != 0, "%d lines, but %d were said to be recorded", n, total)
}

// TestUnless checks that an entry is not written once its precondition fails, by any
// journal of the file, and that other entries are.
func TestUnless(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	var stopped atomic.Bool
	errStopped := errors.New("stopped")
	var writers sync.WaitGroup
	journals := []*Journal{New(path), New(path)}
	for n, j := range journals {
		for w := range 4 {
			writers.Go(func() {
				for i := 0; ; i++ {
					e := mutation(fmt.Sprintf("c%d-%d-%d", n, w, i))[0]
					e.Durable = false
					e.Precondition = func() error {
						if stopped.Load() {
							return errStopped
						}
						return nil
					}
					err := j.Record(t.Context(), e)
					if errors.Is(err, errStopped) {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	for i := range 50 { // they are running
		assert.NilError(t, journals[1].Record(t.Context(), reading(fmt.Sprint("before", i))))
	}
	stopped.Store(true)
	stop := mutation("the-stop")
	assert.NilError(t, journals[0].Record(t.Context(), stop[len(stop)-1]))
	writers.Wait()
	text, err := os.ReadFile(path)
	before, after, found := strings.Cut(string(text), "the-stop")
	assert.NilError(t, err)
	assert.Assert(t, is.Contains(before, `"kind":"intent"`))
	assert.Assert(t, found, "an intent was written after the stop:\n%s", after)
	assert.Assert(t, !strings.Contains(after, `"kind":"intent"`), "an intent was written after the stop:\n%s", after)
	for _, j := range journals {
		assert.Check(t, j.Close())
	}
	v := verified(t, path)
	assert.Check(t, is.Len(v.Faults, 0), "the chain is broken: %+v", v)
}
