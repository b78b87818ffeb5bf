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
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self)
	c.Dir = filepath.Dir(path)
	c.Env = append(os.Environ(), "JOURNAL_TEST_CHILD=cut the state off")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- c.Wait() }()
	kept := []string{"first"}
	for n, ended := 0, false; !ended; n++ {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
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
		if !found[id] {
			t.Errorf("%s was recorded and is not there", id)
		}
	}
	v := verified(t, path)
	for _, f := range v.Faults {
		if f.Verdict != answer.Unproven {
			t.Errorf("%+v", f)
		}
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
		if j.stateFile.mapped == nil {
			t.Fatal("the state is not mapped")
		}
		cut := func() {
			if err := os.Truncate(path+".chain", 0); err != nil {
				t.Error(err)
			}
		}
		var image stateImage
		switch at {
		case "read":
			cut()
			if j.stateFile.readMapped() {
				t.Error("what is not there was read")
			}
		case "begin":
			cut()
			j.stateFile.markInProgress()
		case "write":
			cut()
			if j.stateFile.writeMapped(&image) {
				t.Error("what is not there was written")
			}
			st := j.stateFile.state
			if err := j.stateFile.write(&st); err != nil {
				t.Error(err)
			}
			if b, err := os.ReadFile(path + ".chain"); err != nil || len(b) != mappedSize {
				t.Errorf("%d bytes, %v", len(b), err)
			}
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
		if recover() != "mine" {
			t.Error("it was swallowed")
		}
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
	if err != nil {
		t.Fatal(err)
	}
	other := hasty(t, path)
	record(t, other, received("c2"))
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	before[inProgressOffset] = 1 // it wrote its record, but not the state
	if err := overwrite(path+".chain", before); err != nil {
		t.Fatal(err)
	}
	record(t, j, received("c3"))
	intact(t, path, 3)
	if b, err := os.ReadFile(path + ".chain"); err != nil || b[inProgressOffset] != 0 {
		t.Errorf("the mark stays: %v", err)
	}
	record(t, j, received("c4"))
	if !j.stateFile.ok || j.stateFile.mapped == nil {
		t.Error("the state is not mapped again")
	}
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
		if err != nil {
			t.Fatal(err)
		}
		return b[inProgressOffset]
	}
	if mark() != 0 {
		t.Error("there is a mark after a record")
	}
	writable := j.file
	readOnly, err := openRead(path)
	if err != nil {
		t.Fatal(err)
	}
	j.file = readOnly
	if err := j.Record(t.Context(), received("c2")); err == nil || mark() != 1 {
		t.Errorf("%v, and the mark is %d", err, mark())
	}
	j.file = writable
	if err := readOnly.Close(); err != nil {
		t.Error(err)
	}
	record(t, j, received("c3"))
	intact(t, path, 2)
	if mark() != 0 {
		t.Error("the mark stays")
	}
}

// TestStateWithoutMark checks that a state file without room for the mark is extended.
func TestStateWithoutMark(t *testing.T) {
	path := journalPath(t)
	j := hasty(t, path)
	record(t, j, received("c1"))
	if err := errors.Join(j.Close(), os.Truncate(path+".chain", int64(stateSize))); err != nil {
		t.Fatal(err)
	}
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
	if err := os.Remove(path + ".chain"); err != nil {
		t.Fatal(err)
	}
	b := hasty(t, path)
	b.stateFile.settleTime = time.Second
	done := make(chan error, 1)
	go func() { done <- b.Record(t.Context(), received("b")) }()
	n := uint64(3)
	for ended := false; !ended; n++ {
		select {
		case err := <-done:
			ended = true
			if err != nil {
				t.Error(err)
			}
		default:
		}
		record(t, a, received(fmt.Sprint("a", n)))
		time.Sleep(time.Millisecond)
	}
	if v := verified(t, path); v.Verdict != answer.Unproven || v.Records != n+1 || len(v.Faults) != 1 {
		t.Errorf("%v: %+v", v, v)
	}
}

// TestAllocations checks that one record needs one lock, one write, and few allocations.
func TestAllocations(t *testing.T) {
	j := open(t, journalPath(t))
	e := reading("c1")
	record(t, j, e)
	n := testing.AllocsPerRun(200, func() {
		if err := j.Record(t.Context(), e); err != nil {
			t.Error(err)
		}
	})
	t.Logf("%v allocations", n)
	if n > mostAllocations {
		t.Errorf("%v allocations, expected at most %d", n, mostAllocations)
	}
}

const mostAllocations = 15
