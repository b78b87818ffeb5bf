package policy

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/gofrs/flock"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

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
	_, err = NewSealedStore(path, failingCheck{newVault()}).Grants()
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
