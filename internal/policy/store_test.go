package policy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/secrets"
)

// A vault is a Sealer in memory: it can be without a key, or fail.
type vault struct {
	mu      sync.Mutex
	records map[string][]byte
	err     error
	within  func() // called during a change
}

func newVault() *vault { return &vault{records: map[string][]byte{}} }

// errNoKey returns the error of a vault that cannot seal.
func errNoKey() error {
	return &aai.Error{Code: aai.AutomationNotSupported, Message: "no key here", Err: errors.ErrUnsupported}
}

func (v *vault) Get(_ context.Context, id string) ([]byte, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.records[id], v.err
}

func (v *vault) Update(_ context.Context, id string, edit func([]byte) ([]byte, error)) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.err != nil {
		return v.err
	}
	now, err := edit(v.records[id])
	if v.within != nil {
		v.within()
	}
	if err == nil {
		v.records[id] = now
	}
	return err
}

func (v *vault) CheckSealing(context.Context) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.err
}

// A lateVault has no key when it changes something, and has one right after.
type lateVault struct{ *vault }

func (lateVault) Update(context.Context, string, func([]byte) ([]byte, error)) error {
	return errNoKey()
}

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

func grantOf(tool string) Grant {
	g := full()
	g.Tool = tool
	return g
}

func refusalOf(tool string) Grant {
	g := grantOf(tool)
	g.Decision = Deny
	return g
}

// tools returns the tools of the grants, in order.
func tools(t *testing.T, s Store) string {
	t.Helper()
	var names []string
	for _, g := range grantsOf(t, s) {
		names = append(names, g.Tool)
	}
	return strings.Join(names, " ")
}

// unsealed returns the grants as a store returns them from a plain file.
func unsealed(grants ...Grant) []Grant {
	for i := range grants {
		grants[i].Unsealed = true
	}
	return grants
}

func exists(t *testing.T, path string) bool {
	t.Helper()
	_, err := os.Lstat(path)
	assert.Assert(t, err == nil || errors.Is(err, fs.ErrNotExist), err)
	return err == nil
}

func write(t *testing.T, path, content string) {
	t.Helper()
	assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	assert.NilError(t, os.WriteFile(path, []byte(content), 0o600))
}

// TestStoreReadsFormerFiles checks that a file or record of an earlier version is read whole.
func TestStoreReadsFormerFiles(t *testing.T) {
	former, err := os.ReadFile("testdata/consent.json")
	assert.NilError(t, err)
	want := []Grant{
		{Caller: "mcp:claude-ai", App: notes, Tool: "wipe", Digest: "d0", Decision: Deny, GrantedAt: epoch()},
		{Caller: "claude-ai", Identity: "/usr/bin/claude", App: notes, Tool: "add", Digest: "d1", Decision: Allow, GrantedAt: epoch(),
			ExpiresAt: epoch().Add(time.Hour), Channel: aai.DesktopDialog, Terms: Terms{App: "Notes", Description: "Adds a note.", Effect: "changes", Runs: "D-Bus add"}},
	}
	path, v := storePath(t), newVault()
	write(t, path, string(former))
	v.records[sealedID] = former
	assert.Check(t, is.DeepEqual(want, grantsOf(t, NewSealedStore(storePath(t), v))))
	assert.Check(t, is.DeepEqual(unsealed(want...), grantsOf(t, NewFileStore(path))))
	add(t, NewFileStore(path), want[1], want[0])
	now, err := os.ReadFile(path)
	assert.NilError(t, err)
	assert.Check(t, is.Len(now, len(former)), "the format has changed:\n%s", now)
}

// TestStoreChanges checks that a new decision replaces the old one for the same caller, app and
// tool alone, that a removal is complete, and that another process sees both at once.
func TestStoreChanges(t *testing.T) {
	path := storePath(t)
	s, other := NewFileStore(path), NewFileStore(path)
	assert.Check(t, is.Len(grantsOf(t, s), 0))
	n, err := s.Remove(func(Grant) bool { return true })
	assert.Check(t, is.Equal(n, 0))
	assert.Check(t, err)
	assert.Check(t, !exists(t, filepath.Dir(path)), "reading has made the folder")
	var before []Grant
	for _, change := range []func(*Grant){
		func(*Grant) {}, func(g *Grant) { g.Caller = Wildcard }, func(g *Grant) { g.App = "org.example.Other" }, func(g *Grant) { g.Tool = "list" },
		func(g *Grant) { g.Identity = "/usr/bin/other" },
	} {
		g := full()
		change(&g)
		before = append(before, g)
	}
	add(t, s, before...)
	assert.Check(t, is.DeepEqual(unsealed(before...), grantsOf(t, other)))
	again := full()
	again.Decision, again.Digest, again.ExpiresAt = Deny, "d2", time.Time{}
	add(t, other, again)
	handedOut, want := grantsOf(t, s), unsealed(append(before[1:], again)...)
	assert.Check(t, is.DeepEqual(want, handedOut))
	n, err = s.Remove(func(g Grant) bool { return g.Decision == Deny })
	assert.Check(t, is.Equal(n, 1))
	assert.Check(t, err)
	assert.Check(t, is.DeepEqual(want[:4], grantsOf(t, other)))
	assert.Check(t, is.DeepEqual(want, handedOut), "what was handed out has changed")
	assert.NilError(t, os.Remove(path))
	assert.Check(t, is.Len(grantsOf(t, s), 0), "the file is gone, its grants are not")
}

const oneGrant = `{"caller":"*","app":"a","tool":"t","decision":"allow","granted_at":"2026-05-04T10:00:00Z"}`

// TestStoreDamaged checks that an invalid file or record is an error, is never overwritten or
// sealed, and admits no call.
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
			path, sealed, free := storePath(t), newVault(), newVault()
			write(t, path, content)
			sealed.records[sealedID] = []byte(content)
			for place, s := range map[string]*GrantStore{
				path:     NewFileStore(path),
				sealedID: NewSealedStore(storePath(t), sealed),
				path[1:]: NewSealedStore(path, free), // about to be sealed
			} {
				_, err := s.Grants()
				assert.Check(t, is.ErrorContains(err, place))
				assert.Check(t, s.CheckWritable() != nil)
				admitsNothing(t, s)
				assert.Check(t, s.Add(full()) != nil, "a grant was added to it")
				_, err = s.Remove(func(Grant) bool { return true })
				assert.Check(t, err != nil, "grants were removed from it")
			}
			b, err := os.ReadFile(path)
			assert.NilError(t, err)
			assert.Check(t, is.Equal(string(b), content))
			assert.Check(t, is.Equal(string(sealed.records[sealedID]), content))
			assert.Check(t, is.Len(free.records, 0))
		})
	}
	path := storePath(t)
	write(t, path, whole)
	assert.Check(t, is.Len(grantsOf(t, NewFileStore(path)), 1))
	for _, path := range []string{t.TempDir(), filepath.Join(path, "consent.json")} { // a folder, and below a file
		_, err := NewFileStore(path).Grants()
		assert.Check(t, err != nil, path)
		assert.Check(t, NewFileStore(path).Add(full()) != nil, path)
	}
}

// admitsNothing fails the test unless a gate with the unreadable store refuses a call that a
// session and the configuration allow, and obeys root's policy alone.
func admitsNothing(t *testing.T, s Store) {
	t.Helper()
	for channel, want := range map[aai.Channel]string{"": "CONSENT_REQUIRED", RootPolicyChannel: "admits"} {
		gate := NewConsent(ConsentConfig{Store: s, Preapproved: []Grant{{Caller: Wildcard, App: notes, Tool: Wildcard, Decision: Allow, Channel: channel}}})
		gate.sessions.add(asking(notesApp("d1"), "add"))
		assert.Check(t, is.Equal(check(gate, asking(notesApp("d1"), "add")), want), "%q", channel)
	}
}

// realVault returns a vault with its key in a file, because there is no keychain here.
func realVault(folder string) *secrets.Vault {
	nowhere := func(name string) string {
		if name == "XDG_RUNTIME_DIR" {
			return "/nonexistent"
		}
		return ""
	}
	return secrets.New(secrets.Config{Folder: filepath.Join(folder, "secrets"), Getenv: nowhere, AllowInsecureFile: true})
}

func sealedStore(folder string) *GrantStore {
	return NewSealedStore(filepath.Join(folder, "consent.json"), realVault(folder))
}

// sealedFile returns the path of the sealed record of the consents: the vault's largest file.
func sealedFile(t *testing.T, folder string) (largest string) {
	t.Helper()
	size := int64(0)
	assert.NilError(t, filepath.WalkDir(filepath.Join(folder, "secrets"), func(path string, d fs.DirEntry, err error) error {
		if info, infoErr := d.Info(); err == nil && infoErr == nil && !d.IsDir() && info.Size() > size {
			largest, size = path, info.Size()
		}
		return err
	}))
	return largest
}

// TestForgedSealedFiles checks that a sealed file that another program changed, cut, swapped or
// brought from elsewhere admits no call.
func TestForgedSealedFiles(t *testing.T) {
	for name, forge := range map[string]func(t *testing.T, folder, file string, b []byte){
		"one bit":  func(t *testing.T, _, file string, b []byte) { b[len(b)/2] ^= 1; write(t, file, string(b)) },
		"cut":      func(t *testing.T, _, file string, b []byte) { write(t, file, string(b[:len(b)-1])) },
		"empty":    func(t *testing.T, _, file string, _ []byte) { write(t, file, "") },
		"unsealed": func(t *testing.T, _, file string, _ []byte) { write(t, file, `{"version":1,"grants":[`+oneGrant+`]}`) },
		"of another record": func(t *testing.T, folder, file string, _ []byte) {
			err := realVault(folder).Update(t.Context(), "other", func([]byte) ([]byte, error) { return bytes.Repeat([]byte{' '}, 1<<14), nil })
			assert.NilError(t, err)
			b, err := os.ReadFile(sealedFile(t, folder))
			assert.NilError(t, err)
			write(t, file, string(b))
		},
		"of another person": func(t *testing.T, _, file string, _ []byte) {
			elsewhere := t.TempDir()
			add(t, sealedStore(elsewhere), full(), grantOf("wipe"))
			b, err := os.ReadFile(sealedFile(t, elsewhere))
			assert.NilError(t, err)
			write(t, file, string(b))
		},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			running := sealedStore(folder)
			add(t, running, full(), refusalOf("wipe"))
			file := sealedFile(t, folder)
			b, err := os.ReadFile(file)
			assert.NilError(t, err)
			forge(t, folder, file, b)
			for _, s := range []*GrantStore{running, sealedStore(folder)} {
				_, err := s.Grants()
				assert.Check(t, err != nil, "it can be read")
				assert.Check(t, s.Add(full()) != nil, "it can be changed")
				admitsNothing(t, s)
			}
		})
	}
}

// TestAPlantedFileAdmitsNothing checks that, if sealing is possible, only refusals of a
// plain file count. The first change seals them; a later file is ignored.
func TestAPlantedFileAdmitsNothing(t *testing.T) {
	v, path := newVault(), storePath(t)
	add(t, NewFileStore(path), grantOf("planted"), refusalOf("no"))
	s := NewSealedStore(path, v)
	assert.Check(t, is.Equal(tools(t, s), "no"))
	assert.Check(t, is.Contains(s.UnsealedWarning(), "takeover --file"))
	add(t, s, grantOf("wipe"))
	assert.Check(t, is.Equal(tools(t, NewSealedStore(path, v)), "no wipe"))
	assert.Check(t, exists(t, path))
	assert.Check(t, is.Contains(s.UnsealedWarning(), "takeover --file"))
	add(t, NewFileStore(path), refusalOf("never"))
	assert.Check(t, is.Equal(tools(t, s), "no wipe"), "with more in the file")
	// Nor after the vault was removed.
	v.records = map[string][]byte{}
	assert.Check(t, is.Equal(tools(t, NewSealedStore(path, v)), "no never"), "without the sealed ones")
	// A file with refusals only is removed when they are sealed.
	path = storePath(t)
	add(t, NewFileStore(path), refusalOf("no"))
	s = NewSealedStore(path, v)
	assert.Check(t, is.Contains(s.UnsealedWarning(), "with the next change"))
	add(t, s, grantOf("wipe"))
	assert.Assert(t, !exists(t, path))
	assert.Equal(t, tools(t, s), "no wipe")
	assert.Equal(t, s.UnsealedWarning(), "")
	// Not even without sealed grants left.
	n, err := s.Remove(func(Grant) bool { return true })
	assert.Equal(t, n, 2)
	assert.NilError(t, err)
	assert.Equal(t, tools(t, s), "")
}

// TestPlantedGrantsElsewhere checks that in a home from the environment a plain file grants
// nothing, is not imported or changed, while its refusals count.
func TestPlantedGrantsElsewhere(t *testing.T) {
	for name, v := range map[string]*vault{"a keychain": newVault(), "none": {err: errNoKey()}} {
		t.Run(name, func(t *testing.T) {
			path := storePath(t)
			add(t, NewFileStore(path), full(), grantOf("list"), refusalOf("wipe"))
			planted, err := os.ReadFile(path)
			assert.NilError(t, err)
			s := NewExternalStore(path, v)
			assert.Equal(t, tools(t, s), "wipe")
			assert.Check(t, s.UnsealedWarning() != "")
			aside, err := s.Unverified()
			assert.Check(t, is.Len(aside, 0))
			assert.Check(t, err)
			_, err = s.Import(func(Grant) bool { return true }, aai.DesktopDialog)
			assert.Check(t, err != nil)
			err = s.Add(grantOf("add"))
			assert.Check(t, is.Equal(v.err == nil, s.CheckWritable() == nil))
			if v.err != nil {
				e := aai.AsError(err)
				assert.Assert(t, e != nil)
				assert.Check(t, is.Equal(e.Code, aai.ConsentRequired))
				assert.Check(t, e.Hint != "")
				assert.Check(t, is.Equal(tools(t, s), "wipe"))
			} else {
				assert.NilError(t, err)
				assert.Equal(t, tools(t, s), "wipe add")
				n, err := s.Remove(func(g Grant) bool { return g.Tool == "add" })
				assert.Equal(t, n, 1)
				assert.NilError(t, err)
				assert.Equal(t, tools(t, s), "wipe")
			}
			now, err := os.ReadFile(path)
			assert.NilError(t, err)
			assert.Check(t, is.Equal(string(now), string(planted)))
		})
	}
	assert.Check(t, is.Equal(NewExternalStore(storePath(t), newVault()).UnsealedWarning(), ""))
}

// TestImportOfAPlainFile checks that Import seals the selected permissions of a plain
// file, with the channel, and does not override newer decisions.
func TestImportOfAPlainFile(t *testing.T) {
	v, path := newVault(), storePath(t)
	add(t, NewFileStore(path), grantOf("a"), grantOf("b"), grantOf("c"), refusalOf("no"))
	s := NewSealedStore(path, v)
	aside, err := s.Unverified()
	assert.NilError(t, err)
	assert.Assert(t, is.Len(aside, 3))
	add(t, s, refusalOf("c"))
	n, err := s.Import(func(g Grant) bool { return g.Tool == "a" || g.Tool == "c" || g.Tool == "no" }, aai.Passphrase)
	assert.Equal(t, n, 2)
	assert.NilError(t, err)
	taken := grantOf("a")
	taken.Channel = aai.Passphrase
	assert.Check(t, is.DeepEqual([]Grant{refusalOf("no"), refusalOf("c"), taken}, grantsOf(t, s)))
	aside, err = s.Unverified()
	assert.NilError(t, err)
	assert.Assert(t, is.Len(aside, 1))
	assert.Equal(t, aside[0].Tool, "b")
	n, err = s.Import(func(Grant) bool { return true }, aai.DesktopDialog)
	assert.Equal(t, n, 1)
	assert.NilError(t, err)
	assert.Check(t, !exists(t, path))
	assert.Check(t, is.Equal(tools(t, s), "no c a b"))
	// Ambiguous rows are not imported.
	other := grantOf("a")
	other.Digest = "another program's"
	b, err := indentGrants([]Grant{other, grantOf("a")})
	assert.NilError(t, err)
	write(t, path, string(b))
	_, err = s.Import(func(Grant) bool { return true }, aai.DesktopDialog)
	assert.Check(t, is.ErrorContains(err, "two decisions"))
	assert.Check(t, exists(t, path))
}

// TestNothingCanBeSealed checks that without sealing the plain file is used and reported.
func TestNothingCanBeSealed(t *testing.T) {
	v, path := newVault(), storePath(t)
	v.err = errNoKey()
	s := NewSealedStore(path, v)
	assert.Check(t, is.Equal(s.UnsealedWarning(), ""), "without consents")
	add(t, s, full())
	assert.Check(t, is.DeepEqual(unsealed(full()), grantsOf(t, s)))
	assert.Check(t, is.Contains(s.UnsealedWarning(), "no key here"))
	aside, err := s.Unverified()
	assert.Check(t, is.Len(aside, 0))
	assert.Check(t, err)
	v.err = nil // a keychain has appeared
	add(t, s, grantOf("wipe"))
	assert.Check(t, is.Equal(tools(t, s), "wipe"))
	n, err := s.Import(func(Grant) bool { return true }, aai.DesktopDialog)
	assert.Check(t, is.Equal(n, 1))
	assert.Check(t, err)
	assert.Check(t, is.Equal(tools(t, s), "wipe add"))
	write(t, path, "{}")
	assert.Check(t, is.Contains(s.UnsealedWarning(), "remove it"))
}

// TestVaultFails checks that a vault that does not open is an error, not an empty list and
// no reason to use a plain file: it may contain a refusal.
func TestVaultFails(t *testing.T) {
	v, path := newVault(), storePath(t)
	s := NewSealedStore(path, v)
	add(t, s, full())
	v.err = errors.New("it is locked")
	_, err := s.Grants()
	assert.Check(t, is.ErrorIs(err, v.err))
	assert.Check(t, is.ErrorIs(s.CheckWritable(), v.err))
	assert.Check(t, is.ErrorIs(s.Add(full()), v.err))
	assert.Check(t, !exists(t, path), "there is a plain file")
	admitsNothing(t, s)
	// With refusals in a plain file, a failing check for sealing is an error too.
	v.err = errNoKey()
	add(t, NewFileStore(path), full())
	late := NewSealedStore(path, lateVault{newVault()})
	late.vault = failingCheck{newVault()}
	_, err = late.Grants()
	assert.Check(t, is.ErrorContains(err, "the check failed"))
}

type failingCheck struct{ *vault }

func (failingCheck) CheckSealing(context.Context) error { return errors.New("the check failed") }

// TestSealedWhileAnotherWrites checks that the plain file is locked while it is sealed, so
// that no grant is lost.
func TestSealedWhileAnotherWrites(t *testing.T) {
	v, path := newVault(), storePath(t)
	add(t, NewFileStore(path), refusalOf("add"))
	added := make(chan error, 1)
	v.within = func() {
		free, err := flock.New(path + ".lock").TryLock()
		assert.Check(t, err)
		assert.Check(t, !free, "the file that is about to go may be written")
		go func() { added <- NewFileStore(path).Add(grantOf("late")) }()
		assert.Check(t, is.Equal(tools(t, NewFileStore(path)), "add"), "while it is being sealed")
	}
	s := NewSealedStore(path, v)
	add(t, s, grantOf("list"))
	assert.Check(t, <-added)
	assert.Check(t, exists(t, path), "what was written afterwards is gone")
	assert.Check(t, is.Equal(tools(t, s), "add list"))

	// This process could seal nothing until it had the lock.
	path = storePath(t)
	err := NewSealedStore(path, lateVault{v}).Add(grantOf("lost"))
	assert.Check(t, is.ErrorContains(err, "sealed in the meantime"))
	assert.Check(t, !exists(t, path), "a plain file beside the sealed one")
}

// TestStoresConcurrently checks that several gateways lose no grant, in the plain file and while
// they seal it.
func TestStoresConcurrently(t *testing.T) {
	for name, v := range map[string]Sealer{"plain": noSealer{}, "sealed": newVault()} {
		t.Run(name, func(t *testing.T) {
			path := storePath(t)
			add(t, NewFileStore(path), refusalOf("add"))
			var wg sync.WaitGroup
			for i := range 8 {
				s := NewSealedStore(path, v)
				for j := range 5 {
					wg.Go(func() {
						g := grantOf(strconv.Itoa(i) + "." + strconv.Itoa(j))
						assert.Check(t, s.Add(g))
						grants, err := s.Grants()
						assert.Check(t, err)
						assert.Check(t, slices.ContainsFunc(grants, g.sameSubject), g.Tool)
					})
				}
			}
			wg.Wait()
			assert.Check(t, is.Len(grantsOf(t, NewSealedStore(path, v)), 41))
			assert.Check(t, is.Equal(exists(t, path), name == "plain"))
		})
	}
}

// TestSealedStoreIsAList compares the store with a list in memory, for any order of
// events, sealed or not.
func TestSealedStoreIsAList(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		v, model := newVault(), &memory{}
		folder, err := os.MkdirTemp(t.TempDir(), "")
		assert.NilError(t, err)
		path := folder + "/consent.json"
		s := NewSealedStore(path, v)
		tool := rapid.SampledFrom([]string{"a", "b", "c"})
		r.Repeat(map[string]func(*rapid.T){
			"": func(r *rapid.T) {
				got, err := s.Grants()
				got = slices.Clone(got)
				for i := range got {
					got[i].Unsealed = false
				}
				assert.NilError(r, err)
				assert.Equal(r, fmt.Sprint(got), fmt.Sprint(model.grants))
			},
			"add": func(r *rapid.T) {
				g := grantOf(tool.Draw(r, "tool"))
				if g.Decision = Deny; v.err == nil { // a file's permissions end with it
					g.Decision = rapid.SampledFrom([]Decision{Allow, Deny}).Draw(r, "decision")
				}
				assert.NilError(r, errors.Join(s.Add(g), model.Add(g)))
			},
			"remove": func(r *rapid.T) {
				name := tool.Draw(r, "tool")
				drop := func(g Grant) bool { return g.Tool == name }
				got, err := s.Remove(drop)
				want, _ := model.Remove(drop)
				assert.Equal(r, got, want)
				assert.NilError(r, err)
			},
			"reopen": func(*rapid.T) { s = NewSealedStore(path, v) },
			"a keychain comes or never was": func(*rapid.T) {
				if v.err != nil {
					v.err = nil
				} else if len(v.records) == 0 {
					v.err = errNoKey()
				}
			},
		})
	})
}
