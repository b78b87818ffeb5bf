package policy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/gofrs/flock"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
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

// tools returns the tools of the grants, in order.
func tools(t *testing.T, s Store) string {
	t.Helper()
	var names []string
	for _, g := range grantsOf(t, s) {
		names = append(names, g.Tool)
	}
	return strings.Join(names, " ")
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

func exists(t *testing.T, path string) bool {
	t.Helper()
	_, err := os.Lstat(path)
	assert.Assert(t, err == nil || errors.Is(err, fs.ErrNotExist), err)
	return err == nil
}

// TestSealedStore checks that sealed grants are in the vault only.
func TestSealedStore(t *testing.T) {
	v, path := newVault(), storePath(t)
	s := NewSealedStore(NewFileStore(path), v)
	grants := grantsOf(t, s)
	assert.Assert(t, is.Len(grants, 0))
	assert.Assert(t, is.Len(v.records, 0))
	n, err := s.Remove(func(Grant) bool { return true })
	assert.Equal(t, n, 0)
	assert.NilError(t, err)
	assert.Assert(t, is.Len(v.records, 0))
	add(t, s, full(), grantOf("list"))
	other := NewSealedStore(NewFileStore(path), v)
	assert.Check(t, is.DeepEqual([]Grant{full(), grantOf("list")}, grantsOf(t, other)))
	add(t, other, grantOf("wipe"))
	got := tools(t, s)
	assert.Check(t, is.Equal(got, "add list wipe"), "%q; what another process has changed is not seen", got)
	n, err = s.Remove(func(g Grant) bool { return g.Tool != "wipe" })
	assert.Equal(t, n, 2)
	assert.NilError(t, err)
	assert.Equal(t, tools(t, other), "wipe")
	if exists(t, path) || s.UnsealedWarning() != "" {
		t.Errorf("there is a plain file, or %q", s.UnsealedWarning())
	}
}

// TestAPlantedFileAdmitsNothing checks that, if sealing is possible, only refusals of a
// plain file count. The first change seals them; a later file is ignored.
func TestAPlantedFileAdmitsNothing(t *testing.T) {
	v, path := newVault(), storePath(t)
	add(t, NewFileStore(path), grantOf("planted"), refusalOf("no"))
	s := NewSealedStore(NewFileStore(path), v)
	got := tools(t, s)
	assert.Check(t, is.Equal(got, "no"))
	assert.Check(t, is.Contains(s.UnsealedWarning(), "takeover --file"))
	add(t, s, grantOf("wipe"))
	if got := tools(t, NewSealedStore(NewFileStore(path), v)); got != "no wipe" || !exists(t, path) || !strings.Contains(s.UnsealedWarning(), "takeover --file") {
		t.Errorf("after: %q, %q, the file is there: %v", got, s.UnsealedWarning(), exists(t, path))
	}
	add(t, NewFileStore(path), refusalOf("never"))
	got = tools(t, s)
	assert.Check(t, is.Equal(got, "no wipe"), "with more in the file: %q", got)
	// Nor after the vault was removed.
	v.records = map[string][]byte{}
	got = tools(t, NewSealedStore(NewFileStore(path), v))
	assert.Check(t, is.Equal(got, "no never"), "without the sealed ones: %q", got)
	// A file with refusals only is removed when they are sealed.
	path = storePath(t)
	add(t, NewFileStore(path), refusalOf("no"))
	s = NewSealedStore(NewFileStore(path), v)
	add(t, s, grantOf("wipe"))
	assert.Assert(t, !exists(t, path))
	assert.Equal(t, tools(t, s), "no wipe")
	assert.Equal(t, s.UnsealedWarning(), "")
	// Not even without sealed grants left.
	_, err := s.Remove(func(Grant) bool { return true })
	assert.NilError(t, err)
	assert.Equal(t, tools(t, s), "")
}

// TestImportOfAPlainFile checks that Import seals the selected permissions of a plain
// file, with the channel, and does not override newer decisions.
func TestImportOfAPlainFile(t *testing.T) {
	v, path := newVault(), storePath(t)
	add(t, NewFileStore(path), grantOf("a"), grantOf("b"), grantOf("c"), refusalOf("no"))
	s := NewSealedStore(NewFileStore(path), v)
	if aside, err := s.Unverified(); len(aside) != 3 || err != nil {
		t.Errorf("aside are %+v, %v", aside, err)
	}
	add(t, s, refusalOf("c"))
	n, err := s.Import(func(g Grant) bool { return g.Tool == "a" || g.Tool == "c" || g.Tool == "no" }, aai.Passphrase)
	got := tools(t, s)
	assert.Equal(t, n, 2)
	assert.NilError(t, err)
	assert.Equal(t, got, "no c a")
	for _, g := range grantsOf(t, s) {
		assert.Check(t, g.Tool != "a" || g.Channel == aai.Passphrase, "%+v", g)
		assert.Check(t, g.Tool != "c" || g.Decision == Deny, "%+v", g)
	}
	aside, err := s.Unverified()
	assert.Assert(t, is.Len(aside, 1))
	assert.Equal(t, aside[0].Tool, "b")
	assert.NilError(t, err)
	if n, err := s.Import(func(Grant) bool { return true }, aai.DesktopDialog); n != 1 || err != nil || exists(t, path) || tools(t, s) != "no c a b" {
		t.Errorf("%d, %v, %q, the file is there: %v", n, err, tools(t, s), exists(t, path))
	}
	aside, err = s.Unverified()
	assert.Assert(t, is.Len(aside, 0))
	assert.NilError(t, err)
}

// TestRowsThatAreTheSameAreNotTakenOver checks that ambiguous rows are not imported.
func TestRowsThatAreTheSameAreNotTakenOver(t *testing.T) {
	v, path := newVault(), storePath(t)
	other := grantOf("a")
	other.Digest = "another program's"
	b, err := marshalStore([]Grant{other, grantOf("a")})
	assert.NilError(t, err)
	add(t, NewFileStore(path), grantOf("a"))
	assert.NilError(t, atomicfile.ReplaceDurable(path, b))
	s := NewSealedStore(NewFileStore(path), v)
	if n, err := s.Import(func(Grant) bool { return true }, aai.DesktopDialog); n != 0 || err == nil || !exists(t, path) {
		t.Errorf("%d, %v; the file is there: %v", n, err, exists(t, path))
	}
}

// TestNothingCanBeSealed checks that without sealing the plain file is used and reported.
func TestNothingCanBeSealed(t *testing.T) {
	v, path := newVault(), storePath(t)
	v.err = errNoKey()
	s := NewSealedStore(NewFileStore(path), v)
	assert.Check(t, is.Equal(s.UnsealedWarning(), ""), "without consents: %q", s.UnsealedWarning())
	add(t, s, full(), grantOf("list"))
	n, err := s.Remove(func(g Grant) bool { return g.Tool == "list" })
	assert.Check(t, is.Equal(n, 1))
	assert.Check(t, err)
	got := tools(t, NewFileStore(path))
	assert.Check(t, is.Equal(got, "add"))
	assert.Check(t, is.Equal(tools(t, s), "add"))
	assert.Check(t, is.Contains(s.UnsealedWarning(), "no key here"))
	g := grantsOf(t, s)[0]
	assert.Check(t, g.Unsealed, "%+v counts as sealed", g)
	v.err = nil // a keychain has appeared
	add(t, s, grantOf("wipe"))
	got = tools(t, s)
	assert.Check(t, is.Equal(got, "wipe"))
	assert.Check(t, is.Contains(s.UnsealedWarning(), "takeover --file"))
	if n, err := s.Import(func(Grant) bool { return true }, aai.DesktopDialog); n != 1 || err != nil || tools(t, s) != "wipe add" || exists(t, path) {
		t.Errorf("taken over: %d, %v, %q", n, err, tools(t, s))
	}
}

// TestVaultFails checks that a vault that does not open is an error, not an empty list and
// no reason to use a plain file: it may contain a refusal.
func TestVaultFails(t *testing.T) {
	v, path := newVault(), storePath(t)
	s := NewSealedStore(NewFileStore(path), v)
	add(t, s, full())
	v.err = errors.New("it is locked")
	for _, vaulted := range []func(*vault){
		func(*vault) {},
		func(v *vault) { v.err, v.records[sealedID] = nil, []byte(`{"version":1,"grants":[`) },
		func(v *vault) { v.records[sealedID] = []byte{} },
	} {
		vaulted(v)
		grants, err := s.Grants()
		assert.Assert(t, err != nil, err)
		assert.Assert(t, is.Len(grants, 0), err)
		adds, keeps := s.Add(full()), s.CheckWritable()
		assert.Assert(t, adds != nil, "a grant was added, or could be: %v, %v", adds, keeps)
		assert.Assert(t, keeps != nil, "a grant was added, or could be: %v, %v", adds, keeps)
		_, err = s.Remove(func(Grant) bool { return true })
		assert.Check(t, err != nil, "grants were removed")
		assert.Check(t, !exists(t, path), "there is a plain file")
		gate := NewConsent(ConsentConfig{Store: s, Preapproved: []Grant{{Caller: Wildcard, App: notes, Tool: Wildcard, Decision: Allow}}})
		(&desk{Consent: gate}).refuses(t, asking(notesApp("d1"), "add"), aai.ConsentRequired)
		// Root's policy needs no keychain.
		gate = NewConsent(ConsentConfig{Store: s, Preapproved: []Grant{{Caller: Wildcard, App: notes, Tool: Wildcard, Decision: Allow, Channel: RootPolicyChannel}}})
		(&desk{Consent: gate}).admits(t, asking(notesApp("d1"), "add"))
	}
}

// TestDamagedPlainFileIsNotSealed checks that an invalid plain file is not sealed, and stays.
func TestDamagedPlainFileIsNotSealed(t *testing.T) {
	v, path := newVault(), storePath(t)
	write(t, path, "{")
	s := NewSealedStore(NewFileStore(path), v)
	_, err := s.Grants()
	assert.Check(t, err != nil, "it can be read")
	if err := s.Add(full()); err == nil || len(v.records) != 0 || !exists(t, path) {
		t.Errorf("%v, and %d records", err, len(v.records))
	}
}

// TestSealedWhileAnotherWrites checks that the plain file is locked while it is sealed, so
// that no grant is lost.
func TestSealedWhileAnotherWrites(t *testing.T) {
	v, path := newVault(), storePath(t)
	add(t, NewFileStore(path), refusalOf("add"))
	added := make(chan error, 1)
	v.within = func() {
		lock := flock.New(path + ".lock")
		if free, err := lock.TryLock(); free || err != nil {
			t.Errorf("the file that is about to go may be written: %v, %v", free, err)
		}
		go func() { added <- NewFileStore(path).Add(grantOf("late")) }()
		got := tools(t, NewFileStore(path))
		assert.Check(t, is.Equal(got, "add"), "%q while it is being sealed", got)
	}
	s := NewSealedStore(NewFileStore(path), v)
	add(t, s, grantOf("list"))
	if err := <-added; err != nil || !exists(t, path) {
		t.Errorf("%v; what was written afterwards is there: %v", err, exists(t, path))
	}
	assert.Check(t, is.Equal(tools(t, s), "add list"))

	// This process could seal nothing until it had the lock.
	path = storePath(t)
	late := NewSealedStore(NewFileStore(path), lateVault{v})
	if err := late.Add(grantOf("lost")); err == nil || exists(t, path) {
		t.Errorf("%v; a plain file beside the sealed one: %v", err, exists(t, path))
	}
}

// A lateVault has no key when it changes something, and has one right after.
type lateVault struct{ *vault }

func (lateVault) Update(context.Context, string, func([]byte) ([]byte, error)) error {
	return errNoKey()
}

// TestSealedConcurrently checks that several gateways lose no grant during sealing.
func TestSealedConcurrently(t *testing.T) {
	v, path := newVault(), storePath(t)
	add(t, NewFileStore(path), refusalOf("add"))
	var wg sync.WaitGroup
	for i := range 8 {
		s := NewSealedStore(NewFileStore(path), v)
		for j := range 5 {
			wg.Go(func() {
				g := grantOf(strconv.Itoa(i) + "." + strconv.Itoa(j))
				assert.Check(t, s.Add(g))
				if grants, err := s.Grants(); err != nil || !hasTool(grants, g.Tool) {
					t.Errorf("%s is not there: %v", g.Tool, err)
				}
			})
		}
	}
	wg.Wait()
	grants := grantsOf(t, NewSealedStore(NewFileStore(path), v))
	assert.Assert(t, is.Len(grants, 41))
	assert.Assert(t, !exists(t, path), "%d of 41 grants", len(grants))
}

// TestSealedStoreIsAList compares the store with a list in memory, for any order of
// events, sealed or not.
func TestSealedStoreIsAList(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		v, model := newVault(), &memory{}
		folder, err := os.MkdirTemp(t.TempDir(), "")
		assert.NilError(t, err)
		path := folder + "/consent.json"
		s := NewSealedStore(NewFileStore(path), v)
		tool := rapid.SampledFrom([]string{"a", "b", "c"})
		r.Repeat(map[string]func(*rapid.T){
			"": func(r *rapid.T) {
				got, err := s.Grants()
				got = slices.Clone(got)
				for i := range got {
					got[i].Unsealed = false
				}
				if fmt.Sprint(got) != fmt.Sprint(model.grants) || err != nil {
					r.Fatalf("%v, %v; expected %v", got, err, model.grants)
				}
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
			"reopen": func(*rapid.T) { s = NewSealedStore(NewFileStore(path), v) },
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
