package render

import (
	"encoding/base64"
	"encoding/binary"
	"hash/fnv"

	"github.com/gybob/aai-gateway"
)

// A cursor identifies the first element of a page and the element before it by hashes of their IDs, so that
// it stays valid when other elements appear or disappear. Its index is only a hint where to look first.
const (
	cursorMark = "p"
	hashBytes  = 5
)

func (k *model) cursor(next int) string {
	at := binary.AppendUvarint(nil, uint64(next))
	at = append(at, k.hash(next)...)
	if next > 0 {
		at = append(at, k.hash(next-1)...)
	}
	mark := cursorMark
	if k.offscreen {
		mark = offscreenMark
	}
	return mark + base64.RawURLEncoding.EncodeToString(at)
}

// hash returns a short hash of an element's ID. It differs between apps, even if they number their elements
// alike.
func (k *model) hash(elem int) []byte {
	h := fnv.New64a()
	_, _ = h.Write([]byte(k.snapshot.App.Key))
	_, _ = h.Write([]byte{0})
	_, _ = h.Write([]byte(k.snapshot.Elements[elem].ID))
	return h.Sum(nil)[:hashBytes]
}

// resume returns the element at which a cursor continues.
func (k *model) resume(cursor string) (int, error) {
	bad := aai.Errorf(aai.InvalidParams, "more: the cursor %q was not found in this outline", aai.CleanLabel(cursor, 40))
	bad.Hint = "Leave out more: the outline then starts at its beginning."
	if len(cursor) > 64 || len(cursor) < len(cursorMark) || cursor[:len(cursorMark)] != cursorMark && !k.offscreen {
		return 0, bad
	}
	at, err := base64.RawURLEncoding.Strict().DecodeString(cursor[len(cursorMark):])
	if err != nil {
		return 0, bad
	}
	index, size := binary.Uvarint(at)
	if size <= 0 || len(at) != size+hashBytes && len(at) != size+2*hashBytes {
		return 0, bad
	}
	if i := k.find(string(at[size:size+hashBytes]), index); i >= 0 {
		return i, nil
	}
	if i := k.find(string(at[size+hashBytes:]), index); i >= 0 && i+1 < k.last {
		return i + 1, nil
	}
	return 0, bad
}

// find returns the element of the outline with the hash of its ID, or -1.
func (k *model) find(hash string, hint uint64) int {
	if hash == "" {
		return -1
	}
	if hint < uint64(k.last) && int(hint) >= k.first && string(k.hash(int(hint))) == hash {
		return int(hint)
	}
	for i := k.first; i < k.last; i++ {
		if string(k.hash(i)) == hash {
			return i
		}
	}
	return -1
}
