package audit

import (
	"crypto/ed25519"
	"crypto/rand"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/answer"
)

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
