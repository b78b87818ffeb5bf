package secrets

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/crypto/chacha20poly1305"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
)

func testSealer(t testing.TB, fill byte) *sealer {
	t.Helper()
	k, err := newSealer(bytes.Repeat([]byte{fill}, keySize))
	assert.NilError(t, err)
	return k
}

func TestSealAndOpen(t *testing.T) {
	k := testSealer(t, 1)
	rapid.Check(t, func(r *rapid.T) {
		id := rapid.StringMatching(`.{1,100}`).Draw(r, "id")
		content := rapid.SliceOf(rapid.Byte()).Draw(r, "content")
		b := k.seal(id, content)
		assert.Assert(r, is.Len(b, headSize+2*sealingSize+len(id)+len(content)))
		assert.Assert(r, !bytes.Equal(b, k.seal(id, content)), "%d bytes, or sealed twice in the same way", len(b))
		got, err := k.open(id, b)
		assert.NilError(r, err, "%x", got)
		assert.Assert(r, got != nil, "%x", got)
		assert.Assert(r, bytes.Equal(got, content), "%x", got)
		name, err := k.openID(b)
		assert.Check(r, is.Equal(name, id))
		assert.Check(r, err)
	})
}

// TestSealedWithAnotherKey checks that a record of another key is not reported as damaged.
func TestSealedWithAnotherKey(t *testing.T) {
	_, err := testSealer(t, 1).open("id", testSealer(t, 2).seal("id", []byte("the content")))
	wrong, ok := errors.AsType[*wrongKeyError](err)
	assert.Assert(t, ok, err)
	assert.Equal(t, wrong.id, testSealer(t, 2).name(), err)
}

// Values that RFC 5869 derives from the key of 32 bytes 7, computed by Python's hmac.
const (
	wantKeyID = "e8ce5616471c9a954f7b9607f96ff074"
	wantFile  = "a5f0bab3b889a1330c058db018de506f"
)

// TestFormat checks that version 1 of the format does not change: this file was built by
// hand from the package comment, with only the library of the cipher.
func TestFormat(t *testing.T) {
	k := testSealer(t, 7)
	var b []byte
	b = append(b, "AAISEAL1"...)
	b = append(b, k.id[:]...)
	b = append(b, 0, 24+3+16)
	first, second := bytes.Repeat([]byte{0xa1}, 24), bytes.Repeat([]byte{0xb2}, 24)
	head := bytes.Clone(b)
	b = append(b, first...)
	b = k.aead.Seal(b, first, []byte("one"), head)
	associated := append(bytes.Clone(b), "one"...)
	b = append(b, second...)
	b = k.aead.Seal(b, second, []byte("secret"), associated)
	got, err := k.open("one", b)
	assert.Check(t, is.Equal(string(got), "secret"), "%q", got)
	assert.Check(t, err, "%q", got)
	id, err := k.openID(b)
	assert.Check(t, is.Equal(id, "one"))
	assert.Check(t, err)
	assert.Check(t, is.Equal(k.name(), wantKeyID))
	assert.Check(t, is.Equal(k.fileOf("one"), wantFile))
	assert.Check(t, is.Equal(k.aead.NonceSize(), chacha20poly1305.NonceSizeX), "the nonce is short enough to be drawn twice")
}

// FuzzOpen checks that a file opens as it was sealed, or not at all.
func FuzzOpen(f *testing.F) {
	k := testSealer(f, 1)
	good := k.seal("id", []byte("content"))
	f.Add(good)
	f.Add(good[:len(good)-1])
	f.Add([]byte(magic))
	f.Add(testSealer(f, 2).seal("id", []byte("content")))
	f.Fuzz(func(t *testing.T, b []byte) {
		content, err := k.open("id", b)
		name, nameErr := k.openID(b)
		// The nonces of the seeds are random, so a seed is identified by its content.
		assert.Check(t, is.Equal((err == nil), (nameErr == nil)), "%q %v %q %v", content, err, name, nameErr)
		assert.Check(t, err != nil || string(content) == "content" && name == "id" && len(b) == len(good), "opened as %q, %v, %q, %v", content, err, name, nameErr)
		assert.Check(t, err == nil || content == nil, "%q beside %v", content, err)
	})
}

// TestEveryBit checks that flipping any bit of a file makes the record unreadable.
func TestEveryBit(t *testing.T) {
	k := testSealer(t, 1)
	good := k.seal("id", []byte("the content"))
	for i := range len(good) * 8 {
		b := bytes.Clone(good)
		b[i/8] ^= 1 << (i % 8)
		content, err := k.open("id", b)
		assert.Assert(t, err != nil, "bit %d: %q", i, content)
		assert.Assert(t, content == nil, "bit %d: %q", i, content)
	}
}

// checkDamage damages the only record's file and checks that the record cannot be read, is
// not treated as absent, is not overwritten, and does not affect others.
func checkDamage(t *testing.T, v *Vault, id string, damage func(path string, content []byte)) {
	t.Helper()
	path := v.folder.file(v.current.Load().fileOf(id) + sealedEnding)
	good := read(t, path)
	damage(path, good)
	damaged, _ := os.ReadFile(path)
	for _, view := range []*Vault{v, openVault(v.folder.path)} {
		content, err := view.Get(t.Context(), id)
		e := refusal(t, err, aai.AutomationFailed)
		assert.Assert(t, content == nil, "%q %v", content, e)
		assert.Assert(t, is.Contains(e.Message, path), "%q %v", content, e)
		assert.Assert(t, e.Hint != "", "%q %v", content, e)
		err = view.Update(t.Context(), id, func(old []byte) ([]byte, error) {
			t.Errorf("edit got %q", old)
			return []byte("new"), nil
		})
		refuses(t, err, aai.AutomationFailed)
	}
	now, _ := os.ReadFile(path)
	assert.Check(t, bytes.Equal(now, damaged), "the damaged file was changed")
	put(t, v, "another", "fine")
	has(t, v, "another", "fine")
	assert.NilError(t, os.RemoveAll(path))
	write(t, path, good)
	_, err := v.Get(t.Context(), id)
	assert.Check(t, err, "it was repaired, but not read: %v", err)
}

// TestTornFile checks that a file cut at any byte is an error; see Vault.Get.
func TestTornFile(t *testing.T) {
	v := newVault(t)
	put(t, v, "id", "content")
	good := read(t, theRecord(t, v))
	k := v.current.Load()
	for n := range good {
		content, err := k.open("id", good[:n])
		assert.Assert(t, err != nil, "cut at %d: %q", n, content)
		assert.Assert(t, content == nil, "cut at %d: %q", n, content)
		id, err := k.openID(good[:n])
		assert.Assert(t, err != nil, "cut at %d: the id is %q", n, id)
	}
	for _, n := range []int{0, 1, headSize, len(good) / 2, len(good) - 1} {
		checkDamage(t, v, "id", func(path string, b []byte) { write(t, path, b[:n]) })
	}
	checkDamage(t, v, "id", func(path string, b []byte) { write(t, path, append(b, 0)) })
	checkDamage(t, v, "id", func(path string, b []byte) { write(t, path, make([]byte, len(b))) })
	checkDamage(t, v, "id", func(path string, b []byte) { write(t, path, make([]byte, maxSealed+1)) })
	checkDamage(t, v, "id", func(path string, _ []byte) {
		assert.NilError(t, errors.Join(os.Remove(path), os.Mkdir(path, 0o700)))
	})
}

// TestTornLabel checks that a torn key.json creates no new key, and that the vault works after its
// repair.
func TestTornLabel(t *testing.T) {
	v := newVault(t)
	put(t, v, "id", "content")
	path := v.folder.file(labelFile)
	good := read(t, path)
	for n := range len(bytes.TrimSpace(good)) {
		write(t, path, good[:n])
		other := openVault(v.folder.path)
		_, err := other.Get(t.Context(), "id")
		refuses(t, err, aai.AutomationFailed)
		refuses(t, other.Update(t.Context(), "id", func([]byte) ([]byte, error) { return []byte("new"), nil }), aai.AutomationFailed)
		s, err := other.Status(t.Context())
		assert.Check(t, s.Problem != "", "cut at %d: %+v, %v", n, s, err)
		assert.Check(t, err, "%d %+v", n, s)
	}
	write(t, path, good)
	has(t, openVault(v.folder.path), "id", "content")
	assert.NilError(t, os.Remove(path))
	_, err := openVault(v.folder.path).Get(t.Context(), "id")
	e := refusal(t, err, aai.AutomationFailed)
	assert.Check(t, is.Contains(e.Message, "1 sealed secrets"), e)
}

// TestSwappedRecords checks that a record in another's place, or from another vault, is detected.
func TestSwappedRecords(t *testing.T) {
	v := newVault(t)
	put(t, v, "bank", "the bank's token")
	bank := theRecord(t, v)
	put(t, v, "game", "the game's token")
	game := v.folder.file(v.current.Load().fileOf("game") + sealedEnding)
	checkDamage(t, v, "game", func(path string, _ []byte) {
		write(t, path, read(t, bank))
		_, err := v.Names(t.Context(), "")
		assert.Check(t, err != nil, "the names of the vault are told all the same")
	})
	has(t, v, "bank", "the bank's token")
	stranger := newVault(t)
	put(t, stranger, "game", "a stranger's token")
	checkDamage(t, v, "game", func(path string, _ []byte) { write(t, path, read(t, theRecord(t, stranger))) })
	// Under its name in the other vault it is no record either.
	write(t, filepath.Join(v.folder.path, filepath.Base(theRecord(t, stranger))), read(t, game))
	_, err := v.Names(t.Context(), "")
	assert.Check(t, err != nil, "a record under a wrong name is told as one")
}
