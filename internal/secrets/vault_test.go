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
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
)

// TestVaultIsAMap compares a vault with a map, also when it is reopened between any two
// steps.
func TestVaultIsAMap(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		folder, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, "secrets")
		v, model := openVault(path), map[string]string{}
		ids := rapid.SampledFrom([]string{"a", "b", "token|v1|x", "token|v1|y", strings.Repeat("é", MaxIDLength/2)})
		r.Repeat(map[string]func(*rapid.T){
			"": func(r *rapid.T) {
				id := ids.Draw(r, "id")
				b, err := v.Get(t.Context(), id)
				content, there := model[id]
				if err != nil || (b != nil) != there || string(b) != content {
					r.Fatalf("%s is %q, %v; expected %q, %v", id, b, err, content, there)
				}
			},
			"change": func(r *rapid.T) {
				id, content := ids.Draw(r, "id"), rapid.String().Draw(r, "content")
				if err := v.Update(t.Context(), id, func(old []byte) ([]byte, error) {
					if was, there := model[id]; (old != nil) != there || string(old) != was {
						r.Fatalf("edit got %q of %s; expected %q, %v", old, id, was, there)
					}
					return []byte(content), nil
				}); err != nil {
					r.Fatal(err)
				}
				model[id] = content
			},
			"remove": func(r *rapid.T) {
				id := ids.Draw(r, "id")
				if err := v.Update(t.Context(), id, func([]byte) ([]byte, error) { return nil, nil }); err != nil {
					r.Fatal(err)
				}
				delete(model, id)
			},
			"fail": func(r *rapid.T) {
				mine := errors.New("no")
				if err := v.Update(t.Context(), ids.Draw(r, "id"), func(old []byte) ([]byte, error) {
					clear(old)
					return []byte("something"), mine
				}); !errors.Is(err, mine) {
					r.Fatalf("%v; expected the error of edit", err)
				}
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
				if diff := cmp.Diff(want, got); err != nil || diff != "" {
					r.Fatalf("%v, (-want +got):\n%s", err, diff)
				}
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
	if names, err := v.Names(t.Context(), ""); len(names) != 0 || err != nil {
		t.Errorf("%q, %v", names, err)
	}
	if keychain.asked > 0 {
		t.Errorf("the keychain was asked %d times", keychain.asked)
	}
	if s, err := v.Status(t.Context()); s.Exists || s.Place != placeSystem || s.Problem != "" || err != nil {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := os.Stat(filepath.Dir(v.folder.path)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("looking has made the folder: %v", err)
	}
	if len(keychain.items) > 0 {
		t.Error("looking has made a key")
	}
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
	if err != nil || len(master) != keySize {
		t.Fatalf("%v; the keychain has %d bytes", err, len(master))
	}
	var all bytes.Buffer
	if err := filepath.WalkDir(filepath.Dir(v.folder.path), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			fmt.Fprintf(&all, "%s\n%s\n", path, read(t, path))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for _, canary := range []string{secret, "canary-site", string(master)} {
		for form, text := range map[string]string{
			"plain": canary, "hex": hex.EncodeToString([]byte(canary)),
			"base64": base64.StdEncoding.EncodeToString([]byte(canary))[:len(canary)/3*4], "url": base64.URLEncoding.EncodeToString([]byte(canary))[:len(canary)/3*4],
			"base64+1": base64.StdEncoding.EncodeToString([]byte(canary[1:]))[:len(canary)/3*4-4], "base64+2": base64.StdEncoding.EncodeToString([]byte(canary[2:]))[:len(canary)/3*4-4],
		} {
			if bytes.Contains(all.Bytes(), []byte(text)) {
				t.Errorf("%q is there in %s", canary, form)
			}
		}
	}
	if !bytes.Contains(all.Bytes(), []byte(magic)) {
		t.Error("the records were not looked at")
	}
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
	if err := large(MaxRecordSize); err != nil {
		t.Fatal(err)
	}
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
					if _, err := count(t.Context(), v, id); err != nil {
						t.Error(err)
					}
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

// TestSlowEdit checks that a slow edit blocks neither other records nor reads.
func TestSlowEdit(t *testing.T) {
	v := newVault(t)
	put(t, v, "slow", "before")
	if err := v.Update(t.Context(), "slow", func([]byte) ([]byte, error) {
		put(t, v, "quick", "done")
		has(t, v, "slow", "before")
		return []byte("after"), nil
	}); err != nil {
		t.Fatal(err)
	}
	has(t, v, "slow", "after")
	has(t, v, "quick", "done")
}

// TestEditPanics checks that an edit that panics leaves the record unchanged and unlocks it.
func TestEditPanics(t *testing.T) {
	v := newVault(t)
	put(t, v, "a", "kept")
	func() {
		defer func() { _ = recover() }()
		_ = v.Update(t.Context(), "a", func([]byte) ([]byte, error) { panic("no") })
	}()
	if n := files(t, v, ".new"); len(n) > 0 {
		t.Errorf("left behind: %q", n)
	}
	put(t, v, "a", "changed")
	has(t, v, "a", "changed")
}

// TestVaultIsReplaced checks that a vault that was moved away is replaced by a new one.
func TestVaultIsReplaced(t *testing.T) {
	v := newVault(t)
	put(t, v, "a", "old")
	if err := os.Rename(v.folder.path, v.folder.path+".old"); err != nil {
		t.Fatal(err)
	}
	has(t, v, "a", "absent")
	put(t, v, "a", "new")
	has(t, openVault(v.folder.path), "a", "new")

	// And the old one is restored.
	if err := errors.Join(os.RemoveAll(v.folder.path), os.Rename(v.folder.path+".old", v.folder.path)); err != nil {
		t.Fatal(err)
	}
	has(t, v, "a", "old")
	put(t, v, "a", "newer")
	has(t, openVault(v.folder.path), "a", "newer")
}
