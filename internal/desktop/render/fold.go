package render

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// A fold describes similar rows in one line: their number, and how to address the actionable elements in
// each.
type fold struct {
	rows    []int // entries
	each    int   // number of elements with a ref per row
	spans   []span
	columns []int // entries of the first row that have a ref, if each > 1
}

// A span is a range of consecutive refs.
type span struct {
	prefix      string
	first, last int
}

func (s span) String() string {
	if s.first == s.last {
		return fmt.Sprintf("[%s%d]", s.prefix, s.first)
	}
	return fmt.Sprintf("[%s%d]–[%s%d]", s.prefix, s.first, s.prefix, s.last)
}

// maxSpans is the maximum number of spans in a fold.
const maxSpans = 8

// rows yields many similar rows: the first three, the fold of the middle ones, and the last.
func (w *walker) rows(rows []int, depth int) bool {
	last := len(rows) - 1
	for c := rows[0]; c < rows[3]; {
		next, more := w.group(c, rows[3], depth)
		if !more {
			return false
		}
		c = next
	}
	return w.between(rows[3:last], depth) && w.one(rows[last], depth)
}

// between yields the folds of the rows. If refs are not consecutive, because some rows already had refs, it
// yields several folds, and single rows in full.
func (w *walker) between(rows []int, depth int) bool {
	each := w.nodes[rows[0]].refs
	for len(rows) > 0 {
		f := &fold{each: each}
		switch each {
		case 0:
			f.rows = rows
		case 1:
			f.spans, f.rows = w.spans(rows)
		default:
			f.rows = rows[:w.together(rows)]
			f.columns = w.withRef(rows[0])
			f.spans = []span{w.firstRef(rows[0])}
		}
		rows = rows[len(f.rows):]
		if len(f.rows) == 1 {
			if !w.one(f.rows[0], depth) {
				return false
			}
			continue
		}
		p := part{kind: foldPart, depth: depth, first: f.rows[0], end: w.nodes[f.rows[len(f.rows)-1]].end, fold: f}
		for _, c := range f.rows {
			p.acting += w.nodes[c].acting
		}
		if !w.yield(p) {
			return false
		}
	}
	return true
}

// spans takes rows with one ref each, as many as maxSpans spans can describe.
func (w *walker) spans(rows []int) (spans []span, taken []int) {
	for i, c := range rows {
		ref := w.firstRef(c)
		if n := len(spans); n > 0 && spans[n-1].prefix == ref.prefix && spans[n-1].last+1 == ref.first {
			spans[n-1].last++
			continue
		}
		if len(spans) == maxSpans {
			return spans, rows[:i]
		}
		spans = append(spans, ref)
	}
	return spans, rows
}

// together counts the leading rows with consecutive refs, at least one.
func (w *walker) together(rows []int) int {
	var last span
	for i, c := range rows {
		for j, n := range w.withRef(c) {
			ref := splitRef(w.ref(w.nodes[n].elem))
			if i+j > 0 && (ref.prefix != last.prefix || ref.first != last.first+1) {
				return max(i, 1)
			}
			last = ref
		}
	}
	return len(rows)
}

// withRef returns the entries of a row that have a ref.
func (w *walker) withRef(c int) []int {
	nodes := make([]int, 0, w.nodes[c].refs)
	for i := c; i < w.nodes[c].end; i++ {
		if w.nodes[i].hasRef {
			nodes = append(nodes, i)
		}
	}
	return nodes
}

func (w *walker) firstRef(c int) span {
	for !w.nodes[c].hasRef {
		c++
	}
	return splitRef(w.ref(w.nodes[c].elem))
}

// splitRef splits a ref into a prefix and a number. A ref without a number is consecutive to no other.
func splitRef(ref string) span {
	prefix := strings.TrimRight(ref, "0123456789")
	digits := ref[len(prefix):]
	number, err := strconv.Atoi(digits)
	if err != nil || strconv.Itoa(number) != digits {
		return span{prefix: ref, first: -2, last: -2}
	}
	return span{prefix, number, number}
}

// text returns the text of the fold's line.
func (f *fold) text(k *model) string {
	first, last := f.rows[0], f.rows[len(f.rows)-1]
	var b strings.Builder
	fmt.Fprintf(&b, "… %d more %s", len(f.rows), k.element(first).Role.SafeName())
	labels := desktop.Quote(k.label(first), 24) + " … " + desktop.Quote(k.label(last), 24)
	switch f.each {
	case 0:
		return b.String() + ": " + labels
	case 1:
		b.WriteString(": ")
		for i, s := range f.spans {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(s.String())
		}
		return b.String() + " " + labels
	}
	at := f.spans[0]
	fmt.Fprintf(&b, ", k=0–%d: ", len(f.rows)-1)
	if f.each > 3 { // too many to list
		fmt.Fprintf(&b, "%d refs each from [%s%d+%dk] in the order above; ", f.each, at.prefix, at.first, f.each)
		return b.String() + labels
	}
	for i, n := range f.columns {
		if i > 0 {
			b.WriteString(", ")
		}
		e := k.element(n)
		b.WriteString(e.Role.SafeName())
		if name := e.Name; name != "" && name == k.element(last+n-first).Name {
			b.WriteString(" " + desktop.Quote(name, 24))
		}
		fmt.Fprintf(&b, " [%s%d+%dk]", at.prefix, at.first+i, f.each)
	}
	return b.String() + "; " + labels
}
