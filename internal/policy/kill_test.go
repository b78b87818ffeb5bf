package policy

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// killRounds returns the number of killed processes: 20, or AAI_KILL_ROUNDS.
func killRounds(t *testing.T) int {
	t.Helper()
	text := os.Getenv("AAI_KILL_ROUNDS")
	if text == "" {
		return 20
	}
	n, err := strconv.Atoi(text)
	assert.NilError(t, err, "AAI_KILL_ROUNDS: %v", err)
	return n
}

// killed runs a process that changes the consents in the folder under the name, kills it after a
// moment, and returns the number of acknowledged steps.
func killed(t *testing.T, folder, name string, within time.Duration) (steps int) {
	self, err := os.Executable()
	if err != nil {
		t.Error(err)
		return 0
	}
	c := exec.CommandContext(t.Context(), self)
	c.Dir, c.Stderr = folder, os.Stderr
	c.Env, c.Stdin = append(os.Environ(), "POLICY_TEST_WRITE=1"), strings.NewReader(name+"\n")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Error(err)
		return 0
	}
	if err := c.Start(); err != nil {
		t.Error(err)
		return 0
	}
	time.AfterFunc(time.Duration(rand.Int64N(int64(within))), func() { _ = c.Process.Kill() })
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if n, err := strconv.Atoi(lines.Text()); err != nil || n != steps+1 {
			t.Errorf("%s: %q after step %d", name, lines.Text(), steps)
		}
		steps++
	}
	assert.Check(t, c.Wait() != nil, "%s ended before it was killed", name)
	return steps
}

// writeUntilKilled changes the sealed consents step after step under the name that it reads, and
// prints each step after it is done. It prints an error instead of a number.
func writeUntilKilled() {
	var name string
	if _, err := fmt.Scanln(&name); err != nil {
		fmt.Println(err)
		return
	}
	step := grantSteps(sealedStore("."), name)
	for n := 0; ; n++ {
		if err := step(n); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(n + 1)
	}
}

// killGrant returns the grant of a step: permissions and refusals alternate.
func killGrant(name string, n int) Grant {
	g := full()
	g.Caller, g.Tool, g.Digest = name, "t"+strconv.Itoa(n), "d"+strconv.Itoa(n)
	if n%2 == 1 {
		g.Decision = Deny
	}
	return g
}

// takesBack reports whether a step removes the grant of the step before instead of adding
// one.
func takesBack(n int) bool { return n%3 == 2 }

func grantSteps(s Store, name string) func(n int) error {
	return func(n int) error {
		if !takesBack(n) {
			return s.Add(killGrant(name, n))
		}
		before := killGrant(name, n-1)
		removed, err := s.Remove(func(g Grant) bool { return g.Caller == name && g.Tool == before.Tool })
		if err == nil && removed != 1 {
			err = fmt.Errorf("%d grants are as %s", removed, before.Tool)
		}
		return err
	}
}

// grantsAfter returns the grants of a process after that many steps.
func grantsAfter(name string, steps int) (grants []Grant) {
	for n := range steps {
		if takesBack(n) {
			grants = grants[:len(grants)-1]
		} else {
			grants = append(grants, killGrant(name, n))
		}
	}
	return grants
}

// TestKilledConsents kills pairs of gateways, each pair on a new folder with former consents in a
// plain file, which the first change seals. It checks that acknowledged grants exist, revoked ones do
// not, and the next gateway can read and change the store.
func TestKilledConsents(t *testing.T) {
	done, within, rounds := 0, 60*time.Millisecond, killRounds(t) // to hit the first change often
	for round := range rounds {
		folder := t.TempDir()
		kept := killGrant("a person", 1)
		add(t, NewFileStore(filepath.Join(folder, "consent.json")), kept)
		var steps [2]int
		names := [2]string{"r0", "r1"}
		var wg sync.WaitGroup
		for i, name := range names {
			wg.Go(func() { steps[i] = killed(t, folder, name, within) })
		}
		wg.Wait()
		s := sealedStore(folder)
		all := grantsOf(t, s)
		for i, name := range names {
			done += steps[i]
			sameAfter(t, without(all, func(g Grant) bool { return g.Caller != name }), name, steps[i])
		}
		_, err := s.Remove(func(g Grant) bool { return slices.Contains(names[:], g.Caller) })
		assert.NilError(t, err, "%d", round)
		assert.Assert(t, is.DeepEqual([]Grant{kept}, grantsOf(t, s)), "%d", round)
		onlyWhole(t, folder, 2, "consent.json", "consent.json.lock", "secrets")
		if t.Failed() {
			t.FailNow()
		}
		if done == 0 { // on a busy machine even the start takes longer
			within *= 2
		}
	}
	assert.Check(t, done != 0, "no process ever came to change anything")
	t.Logf("%d rounds, %d changes acknowledged", rounds, done)
}

// sameAfter fails the test unless the grants are those after that many steps, or after one
// more, unacknowledged step.
func sameAfter(t *testing.T, got []Grant, name string, steps int) {
	t.Helper()
	said := cmp.Diff(grantsAfter(name, steps), got, cmpopts.EquateEmpty())
	assert.Check(t, said == "" || cmp.Equal(grantsAfter(name, steps+1), got, cmpopts.EquateEmpty()), "%s said that %d steps were done:\n%s", name, steps, said)
}

// onlyWhole fails the test if the folder has other files, except the hidden ones that a
// killed writer leaves.
func onlyWhole(t *testing.T, folder string, mostLeft int, files ...string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	assert.NilError(t, err)
	hidden := 0
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			hidden++
		} else if !slices.Contains(files, e.Name()) {
			t.Errorf("%s is left over", e.Name())
		}
	}
	assert.Check(t, hidden <= mostLeft, "%d files are left over of %d processes", hidden, mostLeft)
}
