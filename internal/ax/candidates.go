package ax

import (
	"fmt"
	"slices"
	"strings"

	"aai"
	"aai/internal/desktop"
)

// maxCandidates is how many elements an error names.
const maxCandidates = 8

// candidates describes elements so that a caller can choose: e12 button "Save" in
// dialog "Really?". What all of them are in tells none from another and is left out.
func (v *view) candidates(indexes []int) []string {
	if v.silent {
		return nil
	}
	shown := indexes[:min(len(indexes), maxCandidates)]
	paths := make(map[int][]string)
	for _, i := range shown {
		paths[i] = v.path(i)
	}
	shared := make(map[string]int)
	for _, path := range paths {
		for _, part := range path {
			shared[part]++
		}
	}
	alike := make(map[string][]int) // those that the same is said of
	texts := make(map[int]string)
	for _, i := range indexes {
		text := desktop.Describe(&v.shot.Elements[i])
		for _, part := range paths[i] {
			if len(shown) == 1 || shared[part] < len(shown) {
				text += " in " + part
			}
		}
		texts[i] = text
		alike[text] = append(alike[text], i)
	}
	var out []string
	for _, i := range shown {
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
	if of >= 0 {
		var words []string
		v.within(of, i, func(_ int, text string) bool {
			if text != all[i].Name && !slices.Contains(words, text) {
				words = append(words, text)
			}
			return len(words) < maxCandidates
		})
		if len(words) > 0 {
			return " beside " + quoted(aai.CleanLabel(strings.Join(words, " "), 60))
		}
	}
	b := all[i].Frame
	return fmt.Sprintf(" at %d,%d", b.X, b.Y)
}

// maxPathWord is how many bytes of the name of what an element is in are told.
const maxPathWord = 40

// path names the elements that an element is in and that have names other than its own, the
// nearest first, at most two.
func (v *view) path(i int) []string {
	var names []string
	for p := v.shot.Elements[i].Parent; p >= 0 && len(names) < 2; p = v.shot.Elements[p].Parent {
		if e := &v.shot.Elements[p]; e.Name != "" && e.Role != desktop.Generic && e.Name != v.shot.Elements[i].Name {
			names = append(names, string(e.Role)+" "+desktop.Quote(e.Name, maxPathWord))
		}
	}
	return names
}
