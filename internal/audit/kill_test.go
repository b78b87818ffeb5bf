package audit

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

// killedRounds returns the number of killed processes: 20, or AAI_KILL_ROUNDS.
func killedRounds() int {
	if n, err := strconv.Atoi(os.Getenv("AAI_KILL_ROUNDS")); err == nil {
		return n
	}
	return 20
}

// TestKilled kills a gateway at random moments while another continues, and checks that
// acknowledged entries exist and that the chain is intact.
func TestKilled(t *testing.T) {
	path := journalPath(t)
	assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	acknowledged := make(map[string]bool)
	var mu sync.Mutex
	for round := range killedRounds() {
		var wg sync.WaitGroup
		for i := range 2 {
			wg.Go(func() {
				for _, id := range killed(t, path, fmt.Sprintf("r%d.%d.", round, i), i == 0) {
					mu.Lock()
					acknowledged[id] = true
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		v := verified(t, path)
		assert.Equal(t, v.Verdict, answer.Intact, "%d %v %+v", round, v, v)
	}
	assert.Assert(t, len(acknowledged) != 0, "nothing was recorded")
	kept, copied := make(map[string]bool), 0
	files, err := New(path).files()
	assert.NilError(t, err)
	for _, f := range files {
		for _, line := range lines(t, f.path) {
			kept[fmt.Sprint(line["call"], " ", line["kind"])] = true
			if f.kept {
				copied++
			}
		}
	}
	assert.Check(t, copied != 0, "no deed was kept of a file that was deleted")
	for id := range acknowledged {
		assert.Check(t, kept[id], "%s was acknowledged and is not there", id)
	}
	leftovers(t, filepath.Dir(path))
}

// leftovers fails the test if there are other files than those of the journal.
func leftovers(t *testing.T, folder string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	assert.NilError(t, err)
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, ".audit.jsonl.key-") {
			continue // of a killed key store, never read
		}
		if name == "audit.jsonl.kept" || strings.HasPrefix(name, "index.db") {
			continue // of a killed pruning, overwritten by the next one
		}
		assert.Check(t, name == "audit.jsonl.chain" || name == "audit.jsonl.key" || name == "audit.jsonl.reserve" || strings.HasSuffix(name, ".jsonl"), "%s is left over", name)
	}
}

// killed runs a process that records, kills it, and returns the entries that were
// acknowledged to it. The time until the kill begins with the process if atStart is set, and with
// the first acknowledged entry otherwise, because a busy computer starts processes slowly.
func killed(t *testing.T, path, name string, atStart bool) (acknowledged []string) {
	self, err := os.Executable()
	if err != nil {
		t.Error(err)
		return nil
	}
	c := exec.CommandContext(t.Context(), self)
	c.Dir = filepath.Dir(path)
	c.Env = append(os.Environ(), "JOURNAL_TEST_CHILD=until killed", "JOURNAL_TEST_NAME="+name)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Error(err)
		return nil
	}
	if err := c.Start(); err != nil {
		t.Error(err)
		return nil
	}
	kill := func() {
		time.AfterFunc(time.Duration(20+rand.IntN(120))*time.Millisecond, func() { _ = c.Process.Kill() })
	}
	if atStart {
		kill()
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if acknowledged = append(acknowledged, lines.Text()); len(acknowledged) == 1 && !atStart {
			kill()
		}
	}
	assert.Check(t, c.Wait() != nil, "it ended before it was killed")
	if n := len(acknowledged); n > 0 && strings.Count(acknowledged[n-1], " ") != 1 {
		acknowledged = acknowledged[:n-1] // a partial line
	}
	return acknowledged
}

// recordUntilKilled makes calls of every kind, and prints each entry of a mutation once it
// is recorded: others may only be counted, or dropped.
func recordUntilKilled(path, name string) error {
	j := NewFromConfig(Config{Path: path, RotateSize: 20_000, MaxSize: 40_000 * int64(killedRounds())})
	for n := 0; ; n++ {
		var entries []*aai.Entry
		if n < 20 { // there is room for these
			entries = mutation(name + strconv.Itoa(n))
		}
		for i := range 100 {
			entries = append(entries, reading(fmt.Sprint("r", i)), refusal("f", aai.AppNotFound))
		}
		for _, e := range append(entries, asked("a")...) {
			if err := j.Record(nil, e); err != nil { //nolint:staticcheck // Record has no use for a context
				return err
			}
			if !strings.HasPrefix(e.Call, name) {
				continue
			}
			if _, err := fmt.Println(e.Call, e.Kind); err != nil {
				return err
			}
		}
	}
}
