package audit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

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
