package audit

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

// TestAppendConcurrently checks that goroutines with one journal and with several write
// each entry as one line, once, and the entries of each call in order.
func TestAppendConcurrently(t *testing.T) {
	const journals, callers, calls = 3, 6, 15
	path := journalPath(t)
	var wg sync.WaitGroup
	for i := range journals {
		j := open(t, path)
		j.stateFile.lockTimeout = time.Minute // a busy machine is only slower
		for k := range callers {
			wg.Go(func() {
				for n := range calls {
					id := fmt.Sprintf("c%d.%d.%d", i, k, n)
					for _, e := range wholeCall(id) {
						if e.Kind == aai.Intent {
							e.Args = map[string]any{"text": strings.Repeat(id, 100*n)}
						}
						assert.Check(t, j.Record(t.Context(), e))
					}
				}
			})
		}
	}
	wg.Wait()
	complete(t, path, journals*callers*calls)
}

// complete fails the test unless the journal has that many complete calls.
func complete(t *testing.T, path string, calls int) {
	t.Helper()
	assert.Check(t, is.Equal(len(lines(t, path)), 3*calls))
	found := past(t, path)
	assert.Check(t, is.Len(found, calls), "%d", calls)
	for _, p := range found {
		assert.Check(t, is.Equal(p.Result, "ok"), "%+v", p)
		assert.Check(t, p.Door != "", "%+v", p)
		assert.Check(t, p.Effect != "", "%+v", p)
	}
}

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
