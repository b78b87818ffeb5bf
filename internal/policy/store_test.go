package policy

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

func storePath(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "data", "consent.json")
}

func grantsOf(t *testing.T, s Store) []Grant {
	t.Helper()
	grants, err := s.Grants()
	assert.NilError(t, err)
	return grants
}

func add(t *testing.T, s Store, grants ...Grant) {
	t.Helper()
	assert.NilError(t, s.Add(grants...))
}

func full() Grant {
	return Grant{
		Caller: "mcp:claude \"ai\" <é>", App: notes, Tool: "add", Digest: "d1", Decision: Allow,
		GrantedAt: epoch().Add(123456789), ExpiresAt: epoch().Add(time.Hour), Channel: aai.Client,
	}
}

func TestStoreRoundTrip(t *testing.T) {
	path := storePath(t)
	never := Grant{Caller: "cli:terminal", App: notes, Tool: "wipe", Decision: Deny, GrantedAt: epoch()}
	add(t, NewFileStore(path), full(), never)
	assert.Check(t, is.DeepEqual([]Grant{full(), never}, grantsOf(t, NewFileStore(path))))
}

// TestStoreReadsWithoutATrace checks that reading creates no file.
func TestStoreReadsWithoutATrace(t *testing.T) {
	path := storePath(t)
	assert.Check(t, is.Len(grantsOf(t, NewFileStore(path)), 0))
	_, err := os.Stat(filepath.Dir(path))
	assert.Check(t, is.ErrorIs(err, fs.ErrNotExist), "reading has made the folder: %v", err)
}

// TestStoreReplaces checks that a new decision replaces the old one for the same caller,
// app and tool, and no other.
func TestStoreReplaces(t *testing.T) {
	s := NewFileStore(storePath(t))
	var before []Grant
	for _, change := range []func(*Grant){
		func(*Grant) {}, func(g *Grant) { g.Caller = Wildcard }, func(g *Grant) { g.App = "org.example.Other" }, func(g *Grant) { g.Tool = "list" },
	} {
		g := full()
		change(&g)
		before = append(before, g)
	}
	add(t, s, before...)
	again := full()
	again.Decision, again.Digest, again.ExpiresAt = Deny, "d2", time.Time{}
	add(t, s, again)
	assert.Check(t, is.DeepEqual(append(before[1:], again), grantsOf(t, s)))
}

func TestStoreRemove(t *testing.T) {
	path := storePath(t)
	s := NewFileStore(path)
	other := full()
	other.Tool = "list"
	add(t, s, full(), other)
	handedOut := grantsOf(t, s)
	for _, want := range []int{1, 0} {
		n, err := s.Remove(func(g Grant) bool { return g.Tool == "add" })
		assert.Equal(t, n, want)
		assert.NilError(t, err)
	}
	assert.Check(t, is.DeepEqual([]Grant{other}, grantsOf(t, NewFileStore(path))))
	assert.Check(t, is.DeepEqual([]Grant{full(), other}, handedOut), "%v", "what was handed out has changed: ")
}

// TestStoreSeesChanges checks that a change by another gateway or an editor is read at once.
func TestStoreSeesChanges(t *testing.T) {
	path := storePath(t)
	reader, writer := NewFileStore(path), NewFileStore(path)
	for i := range 30 {
		g := full()
		g.Tool = strconv.Itoa(i % 10) // so that files of the same size follow each other
		add(t, writer, g)
		grants := grantsOf(t, reader)
		assert.Equal(t, grants[len(grants)-1], g, "the reader has %+v last, expected tool %s", grants[len(grants)-1], g.Tool)
	}
	_, err := writer.Remove(func(Grant) bool { return true })
	assert.NilError(t, err)
	assert.Check(t, is.Len(grantsOf(t, reader), 0))
	add(t, writer, full())
	grantsOf(t, reader)
	assert.NilError(t, os.Remove(path))
	grants := grantsOf(t, reader)
	assert.Check(t, is.Len(grants, 0), "the file is gone, its grants are not: %+v", grants)
	assert.NilError(t, os.WriteFile(path, []byte("{"), 0o600))
	_, err = reader.Grants()
	assert.Check(t, err != nil, "the damage is not seen")
}

// TestStoreSeesTheSize checks that a longer file is read again, even with the same time.
func TestStoreSeesTheSize(t *testing.T) {
	path := storePath(t)
	s := NewFileStore(path)
	add(t, s, full())
	grantsOf(t, s)
	was, err := os.Stat(path)
	assert.NilError(t, err)
	other := NewFileStore(storePath(t))
	add(t, other, full(), Grant{Caller: "cli:terminal", App: notes, Tool: "wipe", Decision: Deny, GrantedAt: epoch()})
	longer, err := os.ReadFile(other.path)
	assert.NilError(t, errors.Join(err, os.WriteFile(path, longer, 0o600), os.Chtimes(path, was.ModTime(), was.ModTime())))
	assert.Check(t, is.Len(grantsOf(t, s), 2))
}

const oneGrant = `{"caller":"*","app":"a","tool":"t","decision":"allow","granted_at":"2026-05-04T10:00:00Z"}`

// TestStoreDamaged checks that an invalid file is an error, is never overwritten, and
// admits no call.
func TestStoreDamaged(t *testing.T) {
	whole := `{"version":1,"grants":[` + oneGrant + `]}`
	for name, content := range map[string]string{
		"empty":                   "",
		"zeros":                   strings.Repeat("\x00", 300),
		"cut":                     whole[:len(whole)-3],
		"text":                    "consents",
		"null":                    "null",
		"a list":                  "[" + oneGrant + "]",
		"no version":              `{"grants":[` + oneGrant + `]}`,
		"a future version":        `{"version":2,"grants":[` + oneGrant + `]}`,
		"a version of text":       `{"version":"1","grants":[]}`,
		"two files in one":        whole + whole,
		"more behind it":          whole + "]",
		"a field of the future":   `{"version":1,"grants":[],"refusals":[]}`,
		"a condition not known":   strings.Replace(whole, `"tool"`, `"only_if":"asked","tool"`, 1),
		"a decision not known":    strings.Replace(whole, "allow", "maybe", 1),
		"no decision":             strings.Replace(whole, `"decision":"allow",`, "", 1),
		"a decision in capitals":  strings.Replace(whole, "allow", "DENY", 1),
		"tools, as in no version": strings.Replace(whole, `"tool":"t"`, `"tools":["t"]`, 1),
		"a time not understood":   strings.Replace(whole, "2026-05-04", "yesterday", 1),
	} {
		t.Run(name, func(t *testing.T) {
			path := storePath(t)
			write(t, path, content)
			s := NewFileStore(path)
			grants, err := s.Grants()
			assert.Assert(t, err != nil, "%+v, %v; expected an error that names the file", grants, err)
			assert.Assert(t, is.Len(grants, 0))
			assert.Assert(t, is.ErrorContains(err, path))
			assert.Check(t, s.Add(full()) != nil, "a grant was added to it")
			_, err = s.Remove(func(Grant) bool { return true })
			assert.Check(t, err != nil, "grants were removed from it")
			b, err := os.ReadFile(path)
			assert.Check(t, is.Equal(string(b), content), "%q", b)
			assert.Check(t, err, "%q", b)
			preapproved := Grant{Caller: Wildcard, App: notes, Tool: Wildcard, Decision: Allow}
			gate := NewConsent(ConsentConfig{Store: s, Preapproved: []Grant{preapproved}})
			gate.sessions.add(asking(notesApp("d1"), "add"))
			(&desk{Consent: gate}).refuses(t, asking(notesApp("d1"), "add"), aai.ConsentRequired)
		})
	}
	path := storePath(t)
	write(t, path, whole)
	grants := grantsOf(t, NewFileStore(path))
	assert.Check(t, is.Len(grants, 1), "the file that is whole gave %+v", grants)
}

func write(t *testing.T, path, content string) {
	t.Helper()
	assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	assert.NilError(t, os.WriteFile(path, []byte(content), 0o600))
}

func TestStoreInOddPlaces(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "file")
	write(t, file, "")
	for name, path := range map[string]string{"a folder": folder, "below a file": filepath.Join(file, "consent.json")} {
		s := NewFileStore(path)
		_, err := s.Grants()
		assert.Check(t, err != nil, "%s can be read", name)
		assert.Check(t, s.Add(full()) != nil, "%s can be written", name)
	}
}

// TestStoreConcurrently checks that several gateways with many goroutines lose no grant.
func TestStoreConcurrently(t *testing.T) {
	path := storePath(t)
	var wg sync.WaitGroup
	for i := range 4 {
		s := NewFileStore(path)
		for j := range 10 {
			wg.Go(func() {
				g := full()
				g.Tool = strconv.Itoa(i) + "." + strconv.Itoa(j)
				assert.Check(t, s.Add(g))
				if grants, err := s.Grants(); err != nil || !hasTool(grants, g.Tool) {
					t.Errorf("%s is not there: %v", g.Tool, err)
				}
			})
		}
	}
	wg.Wait()
	assert.Check(t, is.Len(grantsOf(t, NewFileStore(path)), 40))
}

func hasTool(grants []Grant, tool string) bool {
	for _, g := range grants {
		if g.Tool == tool {
			return true
		}
	}
	return false
}

// TestProcessesLoseNothing does the same with processes.
func TestProcessesLoseNothing(t *testing.T) {
	self, err := os.Executable()
	assert.NilError(t, err)
	path := filepath.Join(t.TempDir(), "consent.json")
	var wg sync.WaitGroup
	for _, name := range []string{"a", "b", "c"} {
		wg.Go(func() {
			child := exec.CommandContext(t.Context(), self)
			child.Dir, child.Env = filepath.Dir(path), append(os.Environ(), "POLICY_TEST_ADD_AS="+name)
			out, err := child.CombinedOutput()
			assert.Check(t, err, out)
		})
	}
	wg.Wait()
	assert.Check(t, is.Len(grantsOf(t, NewFileStore(path)), 3*childGrants), "%d", 3*childGrants)
}

// TestStoreIsAtomic checks that readers see the file before or after a change, and that no
// temporary file remains.
func TestStoreIsAtomic(t *testing.T) {
	path := storePath(t)
	writer := NewFileStore(path)
	add(t, writer, full())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 60 {
			pair := []Grant{full(), full()}
			pair[0].Tool, pair[1].Tool = strconv.Itoa(i), strconv.Itoa(i)+"'"
			assert.Check(t, writer.Add(pair...))
		}
	}()
	for last, working := 0, true; working; {
		select {
		case <-done:
			working = false
		default:
		}
		b, err := os.ReadFile(path)
		assert.NilError(t, err)
		grants, err := parse(b)
		assert.NilError(t, err, "%d %d", len(grants), last)
		assert.Equal(t, len(grants)%2, 1, "%d %d", len(grants), last)
		assert.Assert(t, len(grants) >= last, "%d grants after %d, %v", len(grants), last, err)
		last = len(grants)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
	assert.NilError(t, err)
	assert.Assert(t, is.Len(left, 2))
	hidden, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*"))
	assert.NilError(t, err)
	assert.Assert(t, is.Len(hidden, 0))
}

// TestStoreWhileLocked checks that a held lock does not block readers, and blocks writers
// for a limited time.
func TestStoreWhileLocked(t *testing.T) {
	path := storePath(t)
	add(t, NewFileStore(path), full())
	lock := flock.New(path + ".lock")
	assert.NilError(t, lock.Lock())
	hasty := NewFileStore(path)
	hasty.patience = 20 * time.Millisecond
	err := hasty.Add(full())
	assert.Check(t, is.ErrorContains(err, path+".lock"), "%v; expected an error that names the lock", err)
	s, added := NewFileStore(path), make(chan error)
	other := full()
	other.Tool = "list"
	go func() { added <- s.Add(other) }()
	for range 20 {
		assert.Check(t, is.Len(grantsOf(t, s), 1))
		time.Sleep(time.Millisecond) // lets Add come to the lock
	}
	assert.NilError(t, lock.Unlock())
	assert.Check(t, <-added)
	assert.Check(t, is.Len(grantsOf(t, s), 2))
}
