//go:build unix

package audit

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/answer"
)

// TestStateIsCutOffWhileMapped truncates the state from another process during records:
// the process survives, and acknowledged entries exist.
func TestStateIsCutOffWhileMapped(t *testing.T) {
	path := journalPath(t)
	j := hasty(t, path)
	j.stateFile.recheckInterval = time.Hour // so that the check of the path does not find it first
	record(t, j, received("first"))
	self, err := os.Executable()
	assert.NilError(t, err)
	c := exec.CommandContext(t.Context(), self)
	c.Dir = filepath.Dir(path)
	c.Env = append(os.Environ(), "JOURNAL_TEST_CHILD=cut the state off")
	assert.NilError(t, c.Start())
	done := make(chan error, 1)
	go func() { done <- c.Wait() }()
	kept := []string{"first"}
	for n, ended := 0, false; !ended; n++ {
		select {
		case err := <-done:
			assert.NilError(t, err)
			ended = true
		default:
		}
		id := "c" + strconv.Itoa(n)
		if j.Record(t.Context(), received(id)) == nil {
			kept = append(kept, id)
		}
	}
	record(t, j, received("last"))
	found := make(map[string]bool)
	for _, p := range past(t, path) {
		found[p.Call] = true
	}
	for _, id := range append(kept, "last") {
		assert.Check(t, found[id], "%s was recorded and is not there", id)
	}
	v := verified(t, path)
	for _, f := range v.Faults {
		assert.Check(t, is.Equal(f.Verdict, answer.Unproven), "%+v", f)
	}
}

// cutStateOff truncates the state repeatedly, in another process.
func cutStateOff() error {
	for range 200 {
		if err := os.Truncate("audit.jsonl.chain", 0); err != nil {
			return err
		}
		time.Sleep(100 * time.Microsecond)
	}
	return nil
}

// TestFaults causes a memory fault during a read and during a write of the state.
func TestFaults(t *testing.T) {
	for _, at := range []string{"read", "begin", "write"} {
		path := journalPath(t)
		j := hasty(t, path)
		j.stateFile.recheckInterval = time.Hour
		record(t, j, received("c1"))
		assert.Assert(t, j.stateFile.mapped != nil, "the state is not mapped")
		cut := func() {
			assert.Check(t, os.Truncate(path+".chain", 0))
		}
		var image stateImage
		switch at {
		case "read":
			cut()
			assert.Check(t, !j.stateFile.readMapped(), "what is not there was read")
		case "begin":
			cut()
			j.stateFile.markInProgress()
		case "write":
			cut()
			assert.Check(t, !j.stateFile.writeMapped(&image), "what is not there was written")
			st := j.stateFile.state
			assert.Check(t, j.stateFile.write(&st))
			b, err := os.ReadFile(path + ".chain")
			assert.NilError(t, err)
			assert.Assert(t, is.Len(b, mappedSize))
		}
		record(t, j, received("c2"))
		if at == "write" {
			intact(t, path, 2)
		} else {
			unproven(t, path, 3, 2)
		}
	}
}

// TestFaultOfAnotherKind checks that other panics continue.
func TestFaultOfAnotherKind(t *testing.T) {
	defer func() {
		assert.Check(t, is.Equal(recover(), "mine"), "it was swallowed")
	}()
	isMemoryFault("mine")
}

// TestStoppedHalfway checks that the mark of a process stopped between a record and its
// state makes the next one check the file, however recent its last check.
func TestStoppedHalfway(t *testing.T) {
	path := journalPath(t)
	j := hasty(t, path)
	j.stateFile.recheckInterval = time.Hour
	record(t, j, received("c1"))
	before, err := os.ReadFile(path + ".chain")
	assert.NilError(t, err)
	other := hasty(t, path)
	record(t, other, received("c2"))
	assert.NilError(t, other.Close())
	before[inProgressOffset] = 1 // it wrote its record, but not the state
	assert.NilError(t, overwrite(path+".chain", before))
	record(t, j, received("c3"))
	intact(t, path, 3)
	b, err := os.ReadFile(path + ".chain")
	assert.NilError(t, err)
	assert.Assert(t, b[inProgressOffset] == 0, "the mark stays: %v", err)
	record(t, j, received("c4"))
	assert.Assert(t, j.stateFile.ok, "the state is not mapped again")
	assert.Assert(t, j.stateFile.mapped != nil, "the state is not mapped again")
}

// TestMarkComesFirst checks that the mark is set before the record: after a failed write
// the next process checks the file.
func TestMarkComesFirst(t *testing.T) {
	path := journalPath(t)
	j := hasty(t, path)
	j.stateFile.recheckInterval = time.Hour
	record(t, j, received("c1"))
	mark := func() byte {
		b, err := os.ReadFile(path + ".chain")
		assert.NilError(t, err)
		return b[inProgressOffset]
	}
	assert.Check(t, mark() == 0, "there is a mark after a record")
	writable := j.file
	readOnly, err := openRead(path)
	assert.NilError(t, err)
	j.file = readOnly
	if err := j.Record(t.Context(), received("c2")); err == nil || mark() != 1 {
		t.Errorf("%v, and the mark is %d", err, mark())
	}
	j.file = writable
	assert.Check(t, readOnly.Close())
	record(t, j, received("c3"))
	intact(t, path, 2)
	assert.Check(t, mark() == 0, "the mark stays")
}

// TestStateWithoutMark checks that a state file without room for the mark is extended.
func TestStateWithoutMark(t *testing.T) {
	path := journalPath(t)
	j := hasty(t, path)
	record(t, j, received("c1"))
	assert.NilError(t, errors.Join(j.Close(), os.Truncate(path+".chain", int64(stateSize))))
	record(t, j, received("c2"))
	intact(t, path, 2)
	if info, err := os.Stat(path + ".chain"); err != nil || info.Size() != int64(mappedSize) {
		t.Errorf("%v, %v", info.Size(), err)
	}
}

// TestStateIsDeletedAndAnotherStarts checks that running gateways and one started after
// the deletion of the state continue one chain: the new one waits for their check.
func TestStateIsDeletedAndAnotherStarts(t *testing.T) {
	path := journalPath(t)
	a := hasty(t, path)
	a.stateFile.recheckInterval = 300 * time.Millisecond
	record(t, a, received("a"), intent("so that it has just looked"))
	assert.NilError(t, os.Remove(path+".chain"))
	b := hasty(t, path)
	b.stateFile.settleTime = time.Second
	done := make(chan error, 1)
	go func() { done <- b.Record(t.Context(), received("b")) }()
	n := uint64(3)
	for ended := false; !ended; n++ {
		select {
		case err := <-done:
			ended = true
			assert.Check(t, err)
		default:
		}
		record(t, a, received(fmt.Sprint("a", n)))
		time.Sleep(time.Millisecond)
	}
	v := verified(t, path)
	assert.Check(t, is.Equal(v.Verdict, answer.Unproven), "%v %+v", v, v)
	assert.Check(t, is.Equal(v.Records, n+1), "%v %+v", v, v)
	assert.Check(t, is.Len(v.Faults, 1), "%v %+v", v, v)
}

// TestAllocations checks that one record needs one lock, one write, and few allocations.
func TestAllocations(t *testing.T) {
	j := open(t, journalPath(t))
	e := reading("c1")
	record(t, j, e)
	n := testing.AllocsPerRun(200, func() {
		assert.Check(t, j.Record(t.Context(), e))
	})
	t.Logf("%v allocations", n)
	assert.Check(t, !(n > mostAllocations), "%v allocations, expected at most %d", n, mostAllocations)
}

const mostAllocations = 15
