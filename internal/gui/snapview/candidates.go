package snapview

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
)

// MaxCandidates limits the elements that an error lists.
const MaxCandidates = 8

// Candidates describes elements so that a caller can choose: e12 button "Save" in dialog "Really?".
// It omits containers that all of them share.
func (s *RefSnapshot) Candidates(indexes []int) []string {
	if s.WithoutNewRefs {
		return nil
	}
	shown := indexes[:min(len(indexes), MaxCandidates)]
	paths := make(map[int][]string)
	for _, i := range shown {
		paths[i] = s.Path(i)
	}
	shared := make(map[string]int)
	for _, path := range paths {
		for _, part := range path {
			shared[part]++
		}
	}
	alike := make(map[string][]int) // elements with the same description
	texts := make(map[int]string)
	for _, i := range indexes {
		text := desktop.Describe(&s.Snapshot.Elements[i])
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
		text := s.Ref(i) + " " + texts[i]
		if others := alike[texts[i]]; len(others) > 1 {
			text += s.apart(i, others)
		}
		out = append(out, text)
	}
	return out
}

// apart returns a text that distinguishes an element from others with the same description: nearby
// text that none of the others has, or its position.
func (s *RefSnapshot) apart(i int, others []int) string {
	all := s.Snapshot.Elements
	of := -1 // the largest container without the others
	for p := all[i].Parent; p >= 0 && !slices.ContainsFunc(others, func(o int) bool { return o != i && p < o && o < all[p].End }); p = all[p].Parent {
		of = p
	}
	if of >= 0 {
		var words []string
		s.eachText(of, i, func(_ int, text string) bool {
			if text != all[i].Name && !slices.Contains(words, text) {
				words = append(words, text)
			}
			return len(words) < MaxCandidates
		})
		if len(words) > 0 {
			return " beside " + guierr.QuoteQuery(aai.CleanLabel(strings.Join(words, " "), 60))
		}
	}
	b := all[i].Frame
	return fmt.Sprintf(" at %d,%d", b.X, b.Y)
}

// maxPathWord is the maximum of bytes of a container's name in a path.
const maxPathWord = 40

// Path returns the named containers of an element, nearest first, at most two. It omits containers
// with the element's own name.
func (s *RefSnapshot) Path(i int) []string {
	var names []string
	for p := s.Snapshot.Elements[i].Parent; p >= 0 && len(names) < 2; p = s.Snapshot.Elements[p].Parent {
		if e := &s.Snapshot.Elements[p]; e.Name != "" && e.Role != desktop.Generic && e.Name != s.Snapshot.Elements[i].Name {
			names = append(names, string(e.Role)+" "+desktop.Quote(e.Name, maxPathWord))
		}
	}
	return names
}
