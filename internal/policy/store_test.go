package policy

import (
	"bytes"
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

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/secrets"
)

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
