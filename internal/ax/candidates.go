package ax

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"aai"
	"aai/internal/desktop"
)

// maxCandidates is how many elements an error names.
const maxCandidates = 8

// candidates describes elements so that a caller can choose: e12 button "Save" in
// dialog "Really?".
func (v *view) candidates(indexes []int) []string {
	if v.silent {
		return nil
	}
	alike := make(map[string][]int) // those that the same is said of
	texts := make(map[int]string)
	for _, i := range indexes {
		text := desktop.Describe(&v.shot.Elements[i])
		if path := v.path(i); path != "" {
			text += " in " + path
		}
		texts[i] = text
		alike[text] = append(alike[text], i)
	}
	var out []string
	for _, i := range indexes[:min(len(indexes), maxCandidates)] {
		text := v.ref(i) + " " + texts[i]
		if others := alike[texts[i]]; len(others) > 1 {
			text += v.apart(i, others)
		}
		out = append(out, text)
	}
	return out
}

// apart says what tells an element from others of which all else is the same: the words
// that stand with it and with none of them, or where it is.
func (v *view) apart(i int, others []int) string {
	all := v.shot.Elements
	of := -1 // the widest that it alone is in
	for p := all[i].Parent; p >= 0 && !slices.ContainsFunc(others, func(o int) bool { return o != i && p < o && o < all[p].End }); p = all[p].Parent {
		of = p
	}
	var words []string
	for j := of + 1; of >= 0 && j < all[of].End; j++ {
		e := &all[j]
		text := cmp.Or(e.Name, e.Value)
		if j >= i && j < all[i].End || e.States.Has(desktop.Protected) || !e.States.Has(desktop.Showing) || text == "" || slices.Contains(words, text) {
			continue
		}
		words = append(words, text)
	}
	if len(words) > 0 {
		return " beside " + quoted(aai.CleanLabel(strings.Join(words, " "), 60))
	}
	b := all[i].Frame
	return fmt.Sprintf(" at %d,%d", b.X, b.Y)
}

// path names the elements that an element is in and that have names, the nearest
// first, at most two.
func (v *view) path(i int) string {
	var names []string
	for p := v.shot.Elements[i].Parent; p >= 0 && len(names) < 2; p = v.shot.Elements[p].Parent {
		if e := &v.shot.Elements[p]; e.Name != "" && e.Role != desktop.Generic {
			names = append(names, desktop.Describe(e))
		}
	}
	return strings.Join(names, " in ")
}
