package hwnd

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// prefix begins the IDs of elements.
const prefix = "hwnd:"

// A part is a kind of element inside a window that is no window itself. The zero value is the window.
type part byte

// The parts.
const (
	whole     part = 0
	item      part = 'i' // an item of a list, tab control, tool bar or status bar, by its index
	cell      part = 'c' // a cell of a list view, by row and column
	heading   part = 'h' // a column's heading, by its index
	node      part = 'n' // an item of a tree view, by its handle
	menuEntry part = 'm' // an item of a menu, by its index and those of the menus above it
)

// An address is the decoded ID of an element. An item's address contains a digest of its name, so that no other item in its place
// gets its ID.
type address struct {
	window, thread uint64
	part           part
	path           []uint64
	digest         uint32
}

// id returns the ID.
func (a address) id() desktop.ID {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%x.%x", prefix, a.window, a.thread)
	if a.part != whole {
		b.WriteByte('/')
		b.WriteByte(byte(a.part))
		for i, n := range a.path {
			if i > 0 {
				b.WriteByte('.')
			}
			b.WriteString(strconv.FormatUint(n, 16))
		}
		fmt.Fprintf(&b, "~%x", a.digest)
	}
	return desktop.ID(b.String())
}

// at returns the address of an item of the window.
func (a address) at(p part, name string, path ...uint64) address {
	return address{a.window, a.thread, p, path, digest(name)}
}

// digest returns a digest of an item's name.
func digest(name string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	return h.Sum32()
}

// parse decodes an ID; false if it is none of this package.
func parse(id desktop.ID) (a address, ok bool) {
	rest, ok := strings.CutPrefix(string(id), prefix)
	if !ok {
		return a, false
	}
	window, inside, hasPart := strings.Cut(rest, "/")
	handle, thread, dotted := strings.Cut(window, ".")
	if a.window, ok = number(handle); !ok || !dotted {
		return a, false
	}
	if a.thread, ok = number(thread); !ok || !hasPart {
		return a, ok
	}
	inside, tail, marked := strings.Cut(inside, "~")
	sum, ok := number(tail)
	if !ok || !marked || len(inside) < 2 || !strings.ContainsRune("ichnm", rune(inside[0])) {
		return a, false
	}
	a.part, a.digest = part(inside[0]), uint32(sum)
	for text := range strings.SplitSeq(inside[1:], ".") {
		n, ok := number(text)
		if !ok {
			return a, false
		}
		a.path = append(a.path, n)
	}
	return a, len(a.path) == 2 || a.part != cell
}

func number(text string) (uint64, bool) {
	n, err := strconv.ParseUint(text, 16, 64)
	return n, err == nil
}
