package audit

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway/internal/answer"
)

// TestSealIsHMAC compares the seal with the documented one, computed by the standard library.
func TestSealIsHMAC(t *testing.T) {
	k := chainKey{1, 2, 3}
	h := hmac.New(sha256.New, k[:])
	h.Write([]byte("text"))
	s := k.seal([]byte("text"))
	want := h.Sum(nil)[:16]
	assert.Check(t, is.Equal(hex.EncodeToString(want), s.String()), "%s %x", s, want)
	sum := sha256.Sum256(append([]byte(ratchetWord), k[:]...))
	assert.Check(t, is.Equal(k.next(), chainKey(sum)))
	assert.Check(t, is.Equal(k.ahead(3), k.next().next().next()))
	assert.Check(t, is.Equal(k.ahead(0), k))
}

// TestLinks checks that records are read as written, and that any changed byte breaks the seal.
func TestLinks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seq := rapid.Uint64Range(1, 1<<62).Draw(t, "seq")
		var prev seal
		copy(prev[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "prev"))
		body := fmt.Sprintf(`"call":%q`, rapid.String().Draw(t, "call"))
		k := chainKey{7}
		text, s := appendLink(nil, seq, prev, k, []byte(body))
		l, ok := parseLink(text[:len(text)-1])
		assert.Assert(t, ok, "%q is read as %+v", text, l)
		assert.Equal(t, l.seq, seq, "%q %+v", text, l)
		assert.Equal(t, l.prev, prev, "%q %+v", text, l)
		assert.Equal(t, l.seal, s, "%q %+v", text, l)
		assert.Assert(t, l.sealedBy(k), "%q is read as %+v", text, l)
		assert.Assert(t, !l.sealedBy(k.next()), "%q is read as %+v", text, l)
		at := rapid.IntRange(0, len(text)-2).Draw(t, "at")
		text[at] ^= rapid.ByteRange(1, 255).Draw(t, "change")
		changed, ok := parseLink(text[:len(text)-1])
		assert.Assert(t, !ok || !changed.sealedBy(k), "%q is still sealed", text)
	})
}

// TestLinksHaveOneForm checks that a record has only one valid form.
func TestLinksHaveOneForm(t *testing.T) {
	text, _ := appendLink(nil, 10, seal{0xab}, chainKey{}, []byte(`"a":1`))
	good := strings.TrimSuffix(string(text), "\n")
	_, ok := parseLink([]byte(good))
	assert.Assert(t, ok, good)
	for _, bad := range []string{
		"", "{", good + " ", " " + good, strings.Replace(good, "10", "010", 1), strings.Replace(good, "10", "+10", 1), strings.Replace(good, "10", "", 1),
		strings.Replace(good, "10", "99999999999999999999", 1), strings.Replace(good, "ab", "AB", 1), strings.Replace(good, "ab", "a", 1),
		strings.Replace(good, `,"prev"`, `, "prev"`, 1), good[:len(good)-1], good[:len(seqField)+20], `{"seq":1,"prev":"","mac":""}`,
	} {
		l, ok := parseLink([]byte(bad))
		assert.Check(t, !ok, "%q is read as %+v", bad, l)
	}
}

// TestStates checks that a torn state, or one with a single wrong bit, is invalid.
func TestStates(t *testing.T) {
	st := state{
		next: chainKey{1}, seq: 2, last: seal{3}, size: 4, first: 5, writtenAt: -6, durable: 7, anchored: 8, anchoredAt: 9,
		boot: [16]byte{10}, mark: chainKey{11},
	}
	image := st.encode()
	got, ok := decodeState(&image)
	assert.Assert(t, ok)
	assert.Equal(t, got, st)
	for bit := range 8 * len(image) {
		wrong := image
		wrong[bit/8] ^= 1 << (bit % 8)
		_, ok := decodeState(&wrong)
		assert.Check(t, !ok, "with bit %d wrong it is a state", bit)
	}
	_, ok = decodeState(&stateImage{})
	assert.Check(t, !ok, "zeros are a state")
	assert.Check(t, stateSize <= 512, "%d bytes do not fit into one sector", stateSize)
}

// TestLockOfManyIsWaitedFor checks that a lock in use by many appends is waited for longer
// than one that is held.
func TestLockOfManyIsWaitedFor(t *testing.T) {
	path := journalPath(t)
	record(t, hasty(t, path), received("c1"))
	holder := newStateFile(path + ".chain")
	assert.NilError(t, holder.lock())
	j := hasty(t, path)
	j.stateFile.lockTimeout = time.Second
	got := make(chan error, 1)
	go func() { got <- j.Record(t.Context(), received("c2")) }()
	st := holder.state
	for end := time.Now().Add(5 * j.stateFile.lockTimeout / 2); time.Now().Before(end); time.Sleep(time.Millisecond) {
		changed := st
		changed.anchoredAt = time.Now().UnixNano()
		assert.NilError(t, holder.write(&changed))
	}
	assert.NilError(t, errors.Join(holder.write(&st), holder.close()))
	assert.Check(t, <-got)
}

// TestLockIsNotWaitedForForever checks that a gateway stopped with the lock does not block
// others forever, and that all continue afterwards.
func TestLockIsNotWaitedForForever(t *testing.T) {
	path := journalPath(t)
	record(t, hasty(t, path), received("c1"))
	holder := newStateFile(path + ".chain")
	assert.NilError(t, holder.lock())
	j := hasty(t, path)
	j.stateFile.lockTimeout = 20 * time.Millisecond
	err := j.Record(t.Context(), received("c2"))
	assert.Check(t, is.ErrorContains(err, "another process has held the lock"))
	holder.unlock()
	record(t, j, received("c3"))
	assert.Check(t, holder.close())
	intact(t, path, 2)
}

// TestStateOfRunningGateways checks that the chain does not split if the state of running gateways is
// deleted or cut off, or if one was killed between a record and its state. The byte behind the state,
// which earlier versions wrote, has no effect.
func TestStateOfRunningGateways(t *testing.T) {
	for name, change := range map[string]func(chain string, before []byte) error{
		"deleted":     func(chain string, _ []byte) error { return os.Remove(chain) },
		"cut off":     func(chain string, _ []byte) error { return os.Truncate(chain, int64(stateSize)-1) },
		"not written": overwrite,
		"marked":      func(chain string, before []byte) error { return overwrite(chain, append(before, 1)) },
	} {
		path := journalPath(t)
		a, b := hasty(t, path), hasty(t, path)
		record(t, b, wholeCall("b1")...)
		record(t, a, wholeCall("a1")[:2]...)
		before, err := os.ReadFile(path + ".chain")
		assert.NilError(t, err)
		record(t, a, outcome("a1"))
		assert.NilError(t, change(path+".chain", before), name)
		for i := range 5 {
			record(t, b, received(fmt.Sprint("b", i)))
			record(t, a, received(fmt.Sprint("a", i)))
		}
		if name == "deleted" || name == "cut off" {
			unproven(t, path, 17, 7)
		} else {
			intact(t, path, 16)
		}
	}
}

// TestAllocations checks that a record needs few allocations.
func TestAllocations(t *testing.T) {
	const most = 19
	j := open(t, journalPath(t))
	e := reading("c1")
	record(t, j, e)
	n := testing.AllocsPerRun(200, func() { assert.Check(t, j.Record(t.Context(), e)) })
	assert.Check(t, n <= most, "%v allocations, expected at most %d", n, most)
}

// TestCutWithoutState checks that a journal that was cut, or emptied, and whose state was removed is
// unproven before and after the next records, and that a proven change prevails.
func TestCutWithoutState(t *testing.T) {
	for _, left := range []int{3, 0} {
		path := journalPath(t)
		j := open(t, path)
		for i := range 5 {
			record(t, j, received(fmt.Sprint("c", i)))
		}
		assert.NilError(t, j.Close())
		write(t, path, strings.Join(rawLines(t, path)[:left], ""))
		assert.NilError(t, os.Remove(path+".chain"))
		due := uint64(left + 1)
		v := unproven(t, path, due-1, due)
		assert.Check(t, is.Contains(v.String(), fmt.Sprintf("unproven at record %d: the state of the chain", due)), "%v %+v", v, v)
		for i := range uint64(3) {
			record(t, open(t, path), received("later"))
			v := unproven(t, path, due+1+i, due)
			assert.Check(t, is.Contains(v.String(), fmt.Sprintf("was missing, so records between record %d and this one", left)), "%v %+v", v, v)
		}
		write(t, path, strings.Replace(strings.Join(rawLines(t, path), ""), `"later"`, `"Later"`, 1))
		v = verified(t, path)
		assert.Check(t, is.Equal(v.Verdict, answer.Tampered), "%v %+v", v, v)
		assert.Check(t, is.Equal(v.Faults[0].Verdict, answer.Tampered), "%v %+v", v, v)
		assert.Check(t, is.Equal(v.Faults[len(v.Faults)-1].Verdict, answer.Unproven), "%v %+v", v, v)
	}
}

// TestAnOlderFileInItsPlace checks that another file in the journal's place is set aside.
func TestAnOlderFileInItsPlace(t *testing.T) {
	path := journalPath(t)
	j, _ := small(t, path, Config{})
	for i := range 20 {
		record(t, j, received(fmt.Sprint("c", i)))
	}
	old, err := os.ReadFile(rotatedPath(path, 1))
	assert.NilError(t, err)
	assert.NilError(t, os.Remove(path))
	write(t, path, string(old))
	record(t, j, received("later"))
	v := verified(t, path)
	assert.Check(t, v.Verdict != answer.Intact, "%+v", v)
	assert.Check(t, is.Len(v.Unchained, 1), "%+v", v)
	kept, err := os.ReadFile(filepath.Join(filepath.Dir(path), v.Unchained[0]))
	assert.NilError(t, err, "%d", len(kept))
	assert.Equal(t, string(kept), string(old), "%d", len(kept))
}

// FuzzVerify checks that Verify never panics, and never reports an intact journal with
// inserted data.
func FuzzVerify(f *testing.F) {
	for _, seed := range []string{"", "\n", "{}\n", goodLine + "\n", goodLine, "{", "garbage", " ", `{"time":"2026-05-04T08:0`, `{"seq":4,"prev":"`, "\x00\x00\n", `{"seq":99999999999,"prev":"` + strings.Repeat("0", 32) + `","mac":"` + strings.Repeat("0", 32) + `"}` + "\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, junk []byte) {
		path := journalPath(t)
		j := hasty(t, path)
		record(t, j, wholeCall("c1")...)
		if len(junk) > 0 {
			file, err := openAppend(path)
			assert.NilError(t, err)
			_, err = file.Write(junk)
			assert.NilError(t, err)
			assert.NilError(t, file.Close())
		}
		before := verified(t, path)
		assert.Check(t, before.Records == 3, "%+v", before)
		assert.Check(t, before.Last == 3, "%+v", before)
		record(t, j, wholeCall("c2")...)
		after := verified(t, path)
		assert.Check(t, is.Equal(after.Verdict, before.Verdict), "%+v %+v", before, after)
		assert.Check(t, after.Last >= 6, "before %+v, after %+v", before, after)
		found := past(t, path)
		assert.Assert(t, len(found) >= 2, "%+v", found)
		assert.Equal(t, found[0].Call, "c2", "%+v", found)
		assert.Equal(t, found[0].Result, "ok", "%+v", found)
	})
}

// anchored returns a closed journal with an anchor at its last record, and its keys.
func anchored(t *testing.T) (string, *keys, KeyStore) {
	t.Helper()
	path := journalPath(t)
	j := hasty(t, path)
	for range anchorEvery {
		record(t, j, reading("c"))
	}
	assert.NilError(t, j.Close())
	kept, err := loadKeys(j.keyStore)
	assert.NilError(t, err, "%+v", kept)
	assert.Assert(t, kept.Anchor != nil, "%+v", kept)
	assert.Assert(t, kept.Anchor.Seq == anchorEvery, "%+v", kept)
	return path, kept, j.keyStore
}

// TestForgedAnchor checks that anchors without the chain's signature are rejected: one for
// a shorter chain, one signed by another key, and a changed one.
func TestForgedAnchor(t *testing.T) {
	_, other, _ := ed25519.GenerateKey(rand.Reader)
	for name, forge := range map[string]func(k *keys, lines []string){
		"unsigned":       func(k *keys, _ []string) { k.Anchor.Signature = nil },
		"another number": func(k *keys, _ []string) { k.Anchor.Seq-- },
		"another time":   func(k *keys, _ []string) { k.Anchor.Time = k.Anchor.Time.Add(1) },
		"another key":    func(k *keys, _ []string) { k.Anchor.Signature = ed25519.Sign(other, k.Anchor.message()) },
		"a shorter chain": func(k *keys, lines []string) {
			l, _ := parseLink([]byte(strings.TrimSuffix(lines[49], "\n")))
			k.Anchor.Seq, k.Anchor.Seal = l.seq, l.seal.String()
		},
	} {
		path, kept, keeper := anchored(t)
		forge(kept, rawLines(t, path))
		assert.NilError(t, storeKeys(keeper, kept))
		v := verified(t, path)
		assert.Check(t, is.Equal(v.Verdict, answer.Tampered), "%s %v", name, v)
	}
}

// TestRecordsFollowOnEachOther checks that a record with a valid seal but a wrong
// predecessor is detected as inserted.
func TestRecordsFollowOnEachOther(t *testing.T) {
	path := smallLog(t, 3)
	kept, err := loadKeys(NewFileKeyStore(path + ".key"))
	assert.NilError(t, err)
	lines := rawLines(t, path)
	l, _ := parseLink([]byte(strings.TrimSuffix(lines[4], "\n")))
	body := strings.TrimPrefix(string(l.signed), seqField+"5"+prevField+l.prev.String()+`",`)
	again, _ := appendLink(nil, 5, l.prev, kept.First.ahead(4), []byte(body))
	assert.Equal(t, string(again), lines[4], again)
	other := l.prev
	other[0] ^= 1
	forged, _ := appendLink(nil, 5, other, kept.First.ahead(4), []byte(body))
	write(t, path, strings.Join(lines[:4], "")+string(forged)+strings.Join(lines[5:], ""))
	v := verified(t, path)
	assert.Check(t, is.Equal(v.Verdict, answer.Tampered), "%v %+v", v, v.Faults)
	assert.Check(t, v.Faults[0].Record == 5, "%v %+v", v, v.Faults)
	assert.Check(t, is.Contains(v.Faults[0].Reason, "does not follow"), "%v %+v", v, v.Faults)
}
