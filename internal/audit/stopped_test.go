package audit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/answer"
)

// pruneFaults makes one step of a pruning fail: it counts down the steps from the copying
// of kept lines, and fails at zero. If the fault is permanent, later deletions fail too.
type pruneFaults struct {
	left          int
	copying, once bool
	struck        bool
}

var errDisk = errors.New("input/output error")

func (p *pruneFaults) step() error {
	if !p.copying || p.left < 0 {
		return nil
	}
	if p.left--; p.left < 0 {
		p.struck = true
		return errDisk
	}
	return nil
}

// into installs the faults in the journal.
func (p *pruneFaults) into(j *Journal) {
	j.syncFile = func(f *os.File) error {
		p.copying = p.copying || strings.HasSuffix(f.Name(), ".kept")
		return p.step()
	}
	j.syncDir = func(string) error { return p.step() }
	j.remove = func(path string) error {
		p.copying = true // spare files are deleted before that
		if err := p.step(); err != nil || p.struck && !p.once {
			return errDisk
		}
		return os.Remove(path)
	}
}

// TestMutationsOutliveAStoppedPruning stops a pruning at each step, with one or two files
// read at a time: later prunings lose and duplicate no mutation, and complete it.
func TestMutationsOutliveAStoppedPruning(t *testing.T) {
	for _, harvest := range []int64{1, 5000} {
		for at := range 5 {
			for _, killed := range []bool{false, true} {
				t.Run(fmt.Sprintf("%d bytes, step %d, killed %t", harvest, at, killed), func(t *testing.T) {
					path := journalPath(t)
					begin := func() *Journal {
						j, _ := small(t, path, Config{MaxSize: 9000})
						j.maxKeepBytes = harvest
						return j
					}
					j := begin()
					record(t, j, mutation("first")...)
					for i := range 60 { // some of these are pruned
						record(t, j, reading(fmt.Sprint("r", i)))
					}
					record(t, j, mutation("second")...)
					faults := &pruneFaults{left: at, once: !killed}
					faults.into(j)
					for i := 0; !faults.struck; i++ {
						assert.Assert(t, i <= 200, "nothing was pruned")
						record(t, j, reading(fmt.Sprint("s", i)))
					}
					if killed {
						j = begin()
					}
					for i := range 60 {
						record(t, j, reading(fmt.Sprint("later", i)))
						if i%10 == 0 || i == 59 {
							hasMutations(t, j, "first", "second")
						}
					}
					for _, f := range keptFiles(t, j) {
						assert.Check(t, !f.isCopy, "%s is there still", filepath.Base(f.path))
					}
				})
			}
		}
	}
}

// TestWhatAPruningCouldNotFlushIsNotDurable checks that a durable entry fails with the flush of the
// record of a deletion, since the system may drop data that it could not write.
func TestWhatAPruningCouldNotFlushIsNotDurable(t *testing.T) {
	j := crowded(t)
	record(t, j, mutation("first")...)
	faults := &pruneFaults{left: 2, once: true} // the copy, its folder, and then the record
	faults.into(j)
	for i := range 200 {
		e := received(fmt.Sprint("r", i))
		e.Durable = true
		err := j.Record(t.Context(), e)
		assert.Assert(t, (err == nil) != faults.struck, "entry %d: %v", i, err)
		if faults.struck {
			record(t, j, mutation("second")...)
			hasMutations(t, j, "first", "second")
			return
		}
	}
	t.Error("nothing was pruned")
}

// TestAStoppedPruningGetsOld checks that lines kept by a stopped pruning may expire without a fault.
func TestAStoppedPruningGetsOld(t *testing.T) {
	path := journalPath(t)
	j, _ := small(t, path, Config{MaxSize: 9000, MaxAge: 10 * 24 * time.Hour})
	faults := &pruneFaults{left: 2}
	faults.into(j)
	record(t, j, mutation("first")...)
	for i := 0; !faults.struck; i++ {
		record(t, j, reading(fmt.Sprint("r", i)))
	}
	j, now := small(t, path, Config{MaxSize: 9000, MaxAge: 10 * 24 * time.Hour})
	files, err := j.files()
	assert.NilError(t, err)
	for _, f := range files {
		if before := now.Add(-11 * 24 * time.Hour); !f.current {
			assert.NilError(t, os.Chtimes(f.path, before, before))
		}
	}
	for i := range 60 {
		record(t, j, reading(fmt.Sprint("later", i)))
		assert.NilError(t, os.Chtimes(path, *now, *now))
		v := verified(t, path)
		assert.Equal(t, v.Verdict, answer.Intact, "%d %v %+v", i, v, v.Faults)
	}
}

// hasMutations fails the test unless each mutation is listed once and Verify finds no fault.
func hasMutations(t *testing.T, j *Journal, calls ...string) {
	t.Helper()
	for _, call := range calls {
		found, err := j.scanFiles(t.Context(), Filter{Call: call, Limit: 10})
		assert.NilError(t, err, call)
		assert.Assert(t, is.Len(found, 1), call)
		assert.Equal(t, found[0].Result, "ok", call)
	}
	v := verified(t, j.Path())
	assert.Equal(t, v.Verdict, answer.Intact, "%v %+v", v, v.Faults)
}
