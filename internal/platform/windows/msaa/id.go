package msaa

import (
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// prefix begins the IDs of this source.
const prefix = "msaa:"

// An address is the decoded ID of an element.
type address struct {
	window uintptr
	path   []int  // indexes from 0, from the window's object down; empty for that
	digest uint32 // of the role and the name; 0 for the window's object
}

// id returns the ID, such as "msaa:2003e/0.3~8f2c01aa".
func (a *address) id() desktop.ID {
	b := append([]byte(prefix), strconv.FormatUint(uint64(a.window), 16)...)
	b = append(b, '/')
	for i, n := range a.path {
		if i > 0 {
			b = append(b, '.')
		}
		b = strconv.AppendInt(b, int64(n), 10)
	}
	b = append(b, '~')
	return desktop.ID(strconv.AppendUint(b, uint64(a.digest), 16))
}

// parse decodes an ID; false if this source did not make it.
func parse(id desktop.ID) (a address, ok bool) {
	rest, ok := strings.CutPrefix(string(id), prefix)
	handle, rest, hasPath := strings.Cut(rest, "/")
	path, tail, hasDigest := strings.Cut(rest, "~")
	window, err1 := strconv.ParseUint(handle, 16, 64)
	digest, err2 := strconv.ParseUint(tail, 16, 32)
	if !ok || !hasPath || !hasDigest || err1 != nil || err2 != nil {
		return address{}, false
	}
	a = address{window: uintptr(window), digest: uint32(digest)}
	if path == "" {
		return a, true
	}
	for word := range strings.SplitSeq(path, ".") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 0 || n > maxIndex {
			return address{}, false
		}
		a.path = append(a.path, n)
	}
	return a, true
}

// maxIndex is the largest index of a child.
const maxIndex = 1 << 24

// digestOf returns the digest by which an element is known again. The name of a static text is its content, which may change.
func digestOf(f *facts) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte{byte(f.role), byte(f.role >> 8)})
	if f.role != roleStatic && f.role != roleStatusBar {
		_, _ = h.Write([]byte(f.name))
	}
	return h.Sum32()
}
