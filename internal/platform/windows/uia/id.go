package uia

import (
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// prefix begins the IDs of this source.
const prefix = "uia:"

// twin separates the runtime ID from the number of a further element with the same one, which faulty programs have.
const twin = "~"

// makeID returns the ID of an element: the window in hexadecimal digits and the runtime ID, such as "uia:2003e/42.131158.4".
func makeID(window uintptr, runtimeID []int32) desktop.ID {
	b := append([]byte(prefix), strconv.FormatUint(uint64(window), 16)...)
	b = append(b, '/')
	for i, n := range runtimeID {
		if i > 0 {
			b = append(b, '.')
		}
		b = strconv.AppendInt(b, int64(n), 10)
	}
	return desktop.ID(b)
}

// parseID returns the window and the runtime ID of an ID; false if this source did not make it. The runtime ID is nil if no search can
// find the element.
func parseID(id desktop.ID) (window uintptr, runtimeID []int32, ok bool) {
	rest, ok := strings.CutPrefix(string(id), prefix)
	handle, numbers, found := strings.Cut(rest, "/")
	n, err := strconv.ParseUint(handle, 16, 64)
	if !ok || !found || err != nil {
		return 0, nil, false
	}
	if strings.Contains(numbers, twin) {
		return uintptr(n), nil, true
	}
	for word := range strings.SplitSeq(numbers, ".") {
		part, err := strconv.ParseInt(word, 10, 32)
		if err != nil {
			return 0, nil, false
		}
		runtimeID = append(runtimeID, int32(part))
	}
	return uintptr(n), runtimeID, true
}
