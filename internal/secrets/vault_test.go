package secrets

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
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

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
)

// TestVaultIsAMap compares a vault with a map, also when it is reopened between any two
// steps.
func TestVaultIsAMap(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		folder, err := os.MkdirTemp(t.TempDir(), "")
		assert.NilError(t, err)
		path := filepath.Join(folder, "secrets")
		v, model := openVault(path), map[string]string{}
		ids := rapid.SampledFrom([]string{"a", "b", "token|v1|x", "token|v1|y", strings.Repeat("é", MaxIDLength/2)})
		r.Repeat(map[string]func(*rapid.T){
			"": func(r *rapid.T) {
				id := ids.Draw(r, "id")
				b, err := v.Get(t.Context(), id)
				content, there := model[id]
				assert.NilError(r, err, "%s %q", id, b)
				assert.Equal(r, (b != nil), there, "%s %q", id, b)
				assert.Equal(r, string(b), content, "%s %q", id, b)
			},
			"change": func(r *rapid.T) {
				id, content := ids.Draw(r, "id"), rapid.String().Draw(r, "content")
				assert.NilError(r, v.Update(t.Context(), id, func(old []byte) ([]byte, error) {
					if was, there := model[id]; (old != nil) != there || string(old) != was {
						r.Fatalf("edit got %q of %s; expected %q, %v", old, id, was, there)
					}
					return []byte(content), nil
				}))
				model[id] = content
			},
			"remove": func(r *rapid.T) {
				id := ids.Draw(r, "id")
				assert.NilError(r, v.Update(t.Context(), id, func([]byte) ([]byte, error) { return nil, nil }))
				delete(model, id)
			},
			"fail": func(r *rapid.T) {
				mine := errors.New("no")
				assert.Assert(r, is.ErrorIs(v.Update(t.Context(), ids.Draw(r, "id"), func(old []byte) ([]byte, error) {
					clear(old)
					return []byte("something"), mine
				}), mine))
			},
			"reopen": func(*rapid.T) { v = openVault(path) },
			"names": func(r *rapid.T) {
				prefix := rapid.SampledFrom([]string{"", "token|", "token|v1|x", "c"}).Draw(r, "prefix")
				var want []string
				for id := range model {
					if strings.HasPrefix(id, prefix) {
						want = append(want, id)
					}
				}
				slices.Sort(want)
				got, err := v.Names(t.Context(), prefix)
				diff := cmp.Diff(want, got)
				assert.NilError(r, err)
				assert.Equal(r, diff, "")
			},
		})
	})
}

// TestLookingMakesNothing checks that reading creates no file and makes no request to the
// keychain.
func TestLookingMakesNothing(t *testing.T) {
	v := newVault(t)
	keychain := newMemoryKeychain()
	v.system = keychain.system(nil)
	has(t, v, "a", "absent")
	names, err := v.Names(t.Context(), "")
	assert.Assert(t, is.Len(names, 0))
	assert.NilError(t, err)
	assert.Check(t, keychain.asked <= 0, "the keychain was asked %d times", keychain.asked)
	s, err := v.Status(t.Context())
	assert.Assert(t, !s.Exists, "%+v", s)
	assert.Equal(t, s.Place, placeSystem, "%+v", s)
	assert.Equal(t, s.Problem, "", "%+v", s)
	assert.NilError(t, err, "%+v", s)
	_, err = os.Stat(filepath.Dir(v.folder.path))
	assert.Check(t, is.ErrorIs(err, fs.ErrNotExist), "looking has made the folder: %v", err)
	assert.Check(t, is.Len(keychain.items, 0), "looking has made a key")
}

// TestNoFileTells checks that no file of the vault, and no file name, reveals a secret in any form.
func TestNoFileTells(t *testing.T) {
	v := newVault(t)
	keychain := newMemoryKeychain()
	v.system = keychain.system(nil)
	id, secret := "token|v1|https://canary-site.example", "canary-b1946ac92492d2347c6235b4d2611184"
	put(t, v, id, secret)
	put(t, v, "other", secret+secret)
	master, err := base64.StdEncoding.DecodeString(keychain.items[service+"/"+account])
	assert.NilError(t, err)
	assert.Assert(t, is.Len(master, keySize))
	var all bytes.Buffer
	assert.NilError(t, filepath.WalkDir(filepath.Dir(v.folder.path), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			fmt.Fprintf(&all, "%s\n%s\n", path, read(t, path))
		}
		return err
	}))
	for _, canary := range []string{secret, "canary-site", string(master)} {
		for form, text := range map[string]string{
			"plain": canary, "hex": hex.EncodeToString([]byte(canary)),
			"base64": base64.StdEncoding.EncodeToString([]byte(canary))[:len(canary)/3*4], "url": base64.URLEncoding.EncodeToString([]byte(canary))[:len(canary)/3*4],
			"base64+1": base64.StdEncoding.EncodeToString([]byte(canary[1:]))[:len(canary)/3*4-4], "base64+2": base64.StdEncoding.EncodeToString([]byte(canary[2:]))[:len(canary)/3*4-4],
		} {
			assert.Check(t, !bytes.Contains(all.Bytes(), []byte(text)), "%q is there in %s", canary, form)
		}
	}
	assert.Check(t, bytes.Contains(all.Bytes(), []byte(magic)), "the records were not looked at")
}

func TestWrongIDs(t *testing.T) {
	v := newVault(t)
	for _, id := range []string{"", strings.Repeat("a", MaxIDLength+1), "\xff"} {
		_, err := v.Get(t.Context(), id)
		refuses(t, err, aai.InvalidParams)
		refuses(t, v.Update(t.Context(), id, nil), aai.InvalidParams)
	}
	large := func(size int) error {
		return v.Update(t.Context(), "large", func([]byte) ([]byte, error) { return make([]byte, size), nil })
	}
	refuses(t, large(MaxRecordSize+1), aai.InvalidParams)
	has(t, v, "large", "absent")
	assert.NilError(t, large(MaxRecordSize))
	has(t, v, "large", strings.Repeat("\x00", MaxRecordSize))
}

// TestConcurrently checks that goroutines on one record, and on several, lose nothing.
func TestConcurrently(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secrets")
	var wg sync.WaitGroup
	for i := range 4 {
		v := openVault(path)
		for range 5 {
			wg.Go(func() {
				for _, id := range []string{"same", "own " + strconv.Itoa(i)} {
					_, err := count(t.Context(), v, id)
					assert.Check(t, err)
				}
			})
		}
	}
	wg.Wait()
	has(t, openVault(path), "same", "20")
	for i := range 4 {
		has(t, openVault(path), "own "+strconv.Itoa(i), "5")
	}
}

// TestEditPanics checks that an edit that panics leaves the record unchanged and unlocks it.
func TestEditPanics(t *testing.T) {
	v := newVault(t)
	put(t, v, "a", "kept")
	func() {
		defer func() { _ = recover() }()
		_ = v.Update(t.Context(), "a", func([]byte) ([]byte, error) { panic("no") })
	}()
	n := files(t, v, ".new")
	assert.Check(t, is.Len(n, 0), "left behind: %q", n)
	put(t, v, "a", "changed")
	has(t, v, "a", "changed")
}

// TestVaultIsReplaced checks that a vault that was moved away is replaced by a new one.
func TestVaultIsReplaced(t *testing.T) {
	v := newVault(t)
	put(t, v, "a", "old")
	assert.NilError(t, os.Rename(v.folder.path, v.folder.path+".old"))
	has(t, v, "a", "absent")
	put(t, v, "a", "new")
	has(t, openVault(v.folder.path), "a", "new")

	// And the old one is restored.
	assert.NilError(t, errors.Join(os.RemoveAll(v.folder.path), os.Rename(v.folder.path+".old", v.folder.path)))
	has(t, v, "a", "old")
	put(t, v, "a", "newer")
	has(t, openVault(v.folder.path), "a", "newer")
}
