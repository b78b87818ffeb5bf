package recording

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/gybob/aai-gateway/internal/automation/recorded"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/lexicon"
)

// Healing decides by points: at most 4 for the name, 4 for the identifier, 2 for the containers, 3 for the texts around, and
// 1 for the role. A candidate needs minScore, one with another name minRenamed, and MinLead more than any other.
const (
	minScore   = 5.0
	minRenamed = 7.0
	MinLead    = 1.0
)

// A Candidate is an element that may be the described one.
type Candidate struct {
	Index int
	Score float64
}

// Candidates returns the visible elements that may be the described one, best first, and whether the first is it.
func Candidates(s *desktop.Snapshot, t recorded.Target) (found []Candidate, isClear bool) {
	visible := s.VisibleElements()
	for i := range s.Elements {
		if !visible[i] && !s.IsOffscreen(i) && !s.Elements[i].Role.IsMenuItem() {
			continue
		}
		if points := score(t, s, i); points > 0 {
			found = append(found, Candidate{i, points})
		}
	}
	slices.SortStableFunc(found, func(a, b Candidate) int { return cmp.Compare(b.Score, a.Score) })
	found = found[:min(len(found), 5)]
	switch {
	case len(found) == 0 || found[0].Score < minScore:
		return found, false
	case len(found) > 1 && found[0].Score-found[1].Score < MinLead:
		return found, false
	}
	return found, true
}

// score compares an element with the description: its role must be of the same kind; then name and identifier, the
// containers, and the texts around it count. 0 means that it is another element.
func score(t recorded.Target, s *desktop.Snapshot, i int) float64 {
	e := &s.Elements[i]
	if !sameKind(string(e.Role), t.Role) {
		return 0
	}
	now := NewTarget(s, i)
	same, alike, isSubset := nameScore(t.Name, now.Name)
	byIdentifier := t.Identifier != "" && t.Identifier == now.Identifier
	around := 0.0
	if t.Before != "" && t.Before == now.Before {
		around++
	}
	if t.After != "" && t.After == now.After {
		around++
	}
	path := pathScore(t.Path, now.Path)
	points := 4*alike + 2*path + 1.5*around
	if byIdentifier {
		points += 4
	}
	if string(e.Role) == t.Role {
		points++
	}
	switch {
	case same:
	case opposes(t.Name, now.Name), digits(t.Name) != digits(now.Name) && !byIdentifier:
		return 0
	case e.Role.IsInputOrItem() && e.Role.IsSetMember() && !byIdentifier: // a row with another name is another row
		return 0
	case isSubset && alike >= 0.6 && path == 1 && points >= minScore: // words were added or left out
	case alike < 0.5 && !byIdentifier, points < minRenamed:
		return 0
	}
	return points
}

// digits returns the digits of a name: Page 1 is not Page 2.
func digits(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return r
		}
		return -1
	}, name)
}

// sameKind reports whether people use elements of both roles in the same way.
func sameKind(a, b string) bool {
	if a == b {
		return true
	}
	for _, kind := range []string{
		" button link menuitem tab ", " textbox searchbox combobox spinbutton document ", " checkbox switch menuitemcheckbox button ",
		" radio menuitemradio ", " listitem option treeitem row cell ", " window dialog alertdialog ",
	} {
		if strings.Contains(kind, " "+a+" ") && strings.Contains(kind, " "+b+" ") {
			return true
		}
	}
	return false
}

// nameScore compares two names: whether they are the same for people, how much of their words they share, from 0 to 1, and
// whether one has all words of the other.
func nameScore(a, b string) (same bool, alike float64, isSubset bool) {
	if desktop.EqualNames(a, b) {
		if a == "" {
			return true, 0, false
		}
		return true, 1, false
	}
	wordsA, wordsB := strings.Fields(strings.ToLower(a)), strings.Fields(strings.ToLower(b))
	shared := 0
	for _, word := range wordsA {
		if slices.ContainsFunc(wordsB, func(other string) bool { return isSameWord(word, other) }) {
			shared++
		}
	}
	if most := max(len(wordsA), len(wordsB)); most > 0 {
		alike = float64(shared) / float64(most)
	}
	return false, alike, shared > 0 && shared == min(len(wordsA), len(wordsB))
}

// isSameWord reports whether two words are equal but for their ends, such as "save" and "saving…".
func isSameWord(a, b string) bool {
	a, b = strings.Trim(a, ".,:;…!?()"), strings.Trim(b, ".,:;…!?()")
	if a == b {
		return a != ""
	}
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n >= 4 && n*3 >= 2*max(len(a), len(b))
}

// pathScore returns the part of the containers that both paths have, in order, from 0 to 1.
func pathScore(a, b []string) float64 {
	if len(a) == 0 && len(b) == 0 {
		return 1
	}
	rows := make([]int, len(b)+1) // the longest common subsequence
	for _, x := range a {
		before := 0
		for j, y := range b {
			was := rows[j+1]
			if x == y {
				rows[j+1] = before + 1
			} else {
				rows[j+1] = max(rows[j+1], rows[j])
			}
			before = was
		}
	}
	return float64(rows[len(b)]) / float64(max(len(a), len(b)))
}

// opposes reports whether one of the names negates the other, or means a loss that the other does not mean.
func opposes(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	has := func(name string, is func(string) bool) bool {
		words := strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(name, "'", "")), func(r rune) bool { return !unicode.IsLetter(r) })
		return slices.ContainsFunc(words, is)
	}
	destroys := func(word string) bool { return slices.Contains(lexicon.DestructiveWords(), word) }
	return has(a, lexicon.IsNegation) != has(b, lexicon.IsNegation) || has(a, destroys) != has(b, destroys)
}

// IsSame reports whether the snapshot's i'th element is the described one for people: nothing but its place has changed.
func IsSame(s *desktop.Snapshot, i int, t recorded.Target) bool {
	e := &s.Elements[i]
	return string(e.Role) == t.Role && desktop.EqualNames(shorten(e.Name), t.Name)
}
