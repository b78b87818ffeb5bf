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

	"github.com/gybob/aai-gateway/internal/secrets"
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

// killed runs a process that writes in the folder as its name says, kills it after a
// moment, and returns the number of acknowledged steps.
func killed(t *testing.T, folder, what, name string, within time.Duration) (steps int) {
	self, err := os.Executable()
	if err != nil {
		t.Error(err)
		return 0
	}
	c := exec.CommandContext(t.Context(), self)
	c.Dir, c.Stderr = folder, os.Stderr
	c.Env, c.Stdin = append(os.Environ(), "POLICY_TEST_WRITE="+what), strings.NewReader(name+"\n")
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

// writeUntilKilled makes step after step under its name and prints each after it is done.
// It prints an error instead of a number.
func writeUntilKilled(what string) {
	var name string
	if _, err := fmt.Scanln(&name); err != nil {
		fmt.Println(err)
		return
	}
	step := func(int) error { return fmt.Errorf("nobody knows how to write %q", what) }
	switch what {
	case "plain":
		step = grantSteps(plainStore("."), name)
	case "sealed":
		step = grantSteps(sealedStore("."), name)
	case "mode":
		step = func(n int) error { return SetMode("mode", Mode(n%3)) }
	case "revocation":
		step = func(int) error { return NewRevocations("revoked").Revoke() }
	}
	for n := 0; ; n++ {
		if err := step(n); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(n + 1)
	}
}

func plainStore(folder string) Store { return NewFileStore(filepath.Join(folder, "consent.json")) }

// sealedStore returns a store in a real vault, with its key in a file, because there is no
// keychain here.
func sealedStore(folder string) Store {
	nowhere := func(name string) string {
		if name == "XDG_RUNTIME_DIR" {
			return "/nonexistent"
		}
		return ""
	}
	vault := secrets.New(secrets.Config{Folder: filepath.Join(folder, "secrets"), Getenv: nowhere, AllowInsecureFile: true})
	return NewSealedStore(NewFileStore(filepath.Join(folder, "consent.json")), vault)
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

// TestKilledConsents kills gateways while they change the consents, and checks that
// acknowledged grants exist, revoked ones do not, and the next gateway can read and change
// the store.
func TestKilledConsents(t *testing.T) {
	t.Run("plain", func(t *testing.T) {
		t.Parallel()
		killConsents(t, "plain", plainStore, false)
	})
	t.Run("sealed", func(t *testing.T) {
		t.Parallel()
		killConsents(t, "sealed", sealedStore, false)
	})
	t.Run("when they are sealed", func(t *testing.T) {
		t.Parallel()
		killConsents(t, "sealed", sealedStore, true)
	})
}

// killConsents kills two processes a round, all on one folder; or, with anew, each pair on
// a new folder with former consents in a plain file.
func killConsents(t *testing.T, what string, open func(folder string) Store, anew bool) {
	folder, done, within := t.TempDir(), 0, 140*time.Millisecond
	if anew {
		within = 60 * time.Millisecond // to hit the first change often
	}
	kept := []Grant{killGrant("a person", 1)}
	add(t, plainStore(folder), kept...)
	rounds := killRounds(t)
	for round := range rounds {
		if anew {
			folder = t.TempDir()
			add(t, plainStore(folder), kept...)
		}
		var steps [2]int
		names := [2]string{fmt.Sprintf("r%d.0", round), fmt.Sprintf("r%d.1", round)}
		var wg sync.WaitGroup
		for i, name := range names {
			wg.Go(func() { steps[i] = killed(t, folder, what, name, within) })
		}
		wg.Wait()
		s := open(folder)
		all := grantsOf(t, s)
		for i, name := range names {
			done += steps[i]
			sameAfter(t, of(all, name), name, steps[i])
		}
		// One grant of each stays until the end of all rounds.
		_, err := s.Remove(func(g Grant) bool { return slices.Contains(names[:], g.Caller) && g.Tool != "t0" })
		assert.NilError(t, err, "%d", round)
		if !anew {
			kept = append(kept, without(all, func(g Grant) bool { return !slices.Contains(names[:], g.Caller) || g.Tool != "t0" })...)
		}
		rest := without(grantsOf(t, s), func(g Grant) bool { return anew && g.Caller != "a person" })
		assert.Assert(t, is.DeepEqual(kept, rest, cmpopts.SortSlices(func(a, b Grant) bool { return a.Caller < b.Caller })), "%d", round)
		onlyWhole(t, folder, 2*rounds, "consent.json", "consent.json.lock", "secrets")
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

func of(grants []Grant, caller string) []Grant {
	return without(grants, func(g Grant) bool { return g.Caller != caller })
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

// TestKilledWords kills two processes that write the mode and the revocation, and checks
// that both files are complete at every moment, and that every acknowledged revocation is
// new.
func TestKilledWords(t *testing.T) {
	t.Run("mode", func(t *testing.T) {
		t.Parallel()
		killWords(t, "mode", "mode", func(word string) error {
			_, err := ParseMode(strings.TrimSuffix(word, "\n"))
			return err
		})
	})
	t.Run("revocation", func(t *testing.T) {
		t.Parallel()
		killWords(t, "revocation", "revoked", func(word string) error {
			if len(word) != 26 { // of crypto/rand.Text
				return fmt.Errorf("%q is no word", word)
			}
			return nil
		})
	})
}

func killWords(t *testing.T, what, file string, whole func(word string) error) {
	folder, done, reads := t.TempDir(), 0, 0
	read := func() string {
		word, err := os.ReadFile(filepath.Join(folder, file))
		if os.IsNotExist(err) {
			return ""
		}
		if err == nil {
			err = whole(string(word))
		}
		assert.NilError(t, err)
		reads++
		return string(word)
	}
	rounds, within := killRounds(t), 140*time.Millisecond
	for round := range rounds {
		before, ended := read(), make(chan int, 2)
		for i := range 2 {
			name := fmt.Sprintf("r%d.%d", round, i)
			go func() { ended <- killed(t, folder, what, name, within) }()
		}
		steps := 0
		for running := 2; running > 0; {
			select {
			case n := <-ended:
				steps += n
				running--
			default:
				_ = read()
				time.Sleep(time.Millisecond) // leaves the processor to the writers
			}
		}
		after := read()
		assert.Assert(t, steps <= 0 || after != "" && (what != "revocation" || after != before), "round %d: after %d steps there is %q, as before", round, steps, after)
		if done += steps; done == 0 { // a busy machine starts a process later
			within *= 2
		}
		onlyWhole(t, folder, 2*rounds, file)
	}
	assert.Check(t, done != 0, "no process ever came to write anything")
	t.Logf("%d rounds, %d writes acknowledged, %d reads", rounds, done, reads)
}
