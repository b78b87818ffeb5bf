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
)

// The state is cut off by another process, again and again, while entries are
// recorded: the process lives, and what it was told to be recorded is there.
func TestStateIsCutOffWhileMapped(t *testing.T) {
	path := journalPath(t)
	j := hasty(t, path)
	j.stateFile.recheckInterval = time.Hour // so that the look at the path does not find it first
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
	if v := verified(t, path); v.Verdict != Intact {
		t.Errorf("%v %+v", v, v.Faults)
	}
}

// cutStateOff is what the other process does.
func cutStateOff() error {
	for range 200 {
		if err := os.Truncate("audit.jsonl.chain", 0); err != nil {
			return err
		}
		time.Sleep(100 * time.Microsecond)
	}
	return nil
}

// A fault while the state is read, and one while it is written.
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
		intact(t, path, 2)
	}
}

// A panic that is no fault of the memory goes on.
func TestFaultOfAnotherKind(t *testing.T) {
	defer func() {
		if recover() != "mine" {
			t.Error("it was swallowed")
		}
	}()
	isMemoryFault("mine")
}

// Who was stopped between a record and its state left a mark: the next one looks
// before it writes, however lately it has.
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
	before[inProgressOffset] = 1 // it wrote its record, and not the state
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

// The mark is there before the record is: a write that fails leaves it, and whoever
// comes next looks.
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

// A state from before, which has no room for the mark, gets it.
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

// Gateways that run when the state is deleted, and one that is started then, make one
// chain: it waits until they have looked.
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
	intact(t, path, n)
}

// One record is one lock and one write, and few allocations.
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
