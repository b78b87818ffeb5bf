package render

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/sanitize"
	"github.com/gybob/aai-gateway/internal/testkit/snapshottest"
)

// A reader parses outlines as a model would that knows the format.
type reader struct {
	of   map[string]int // elements by ref
	seen map[int]int    // how many pages addressed each
}

var (
	quotation   = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	contextForm = regexp.MustCompile(`^ *[a-z]+( Q)?( \[e\d+\])? …$`)
	headForm    = `[a-z]+(:Q| Q|[: ]\(Q\)|[: ]\S*[.<]\S*)?( \[e\d+\])?( [a-z]+)*( \(\d+ items? in closed menus\))?`
	itemForm    = `(\[e\d+\] (Q|\(Q\)|\S*[.<]\S*|[\p{L}\p{Nd}]+)( [a-z]+)*|` + headForm + `|Q( [a-z]+)*)( = (Q|\*\*\*\*))?`
	wordsForm   = `Q( \[e\d+\])?( [a-z]+)*` // a paragraph, which has no role in its line
	wellFormed  = regexp.MustCompile(`^ *(` +
		`(` + headForm + `|` + wordsForm + `)( \d+ items)?( \(\d+ not read\))?( (Q|-?[\d.]+) \([^)]*\))?(: (Q|\*\*\*\*))?( \(Q\))?( id Q)?( \(\d+ elements inside\))?` +
		`|` + headForm + `( (Q|-?[\d.]+) \([^)]*\)| = (Q|\*\*\*\*))?: ` + itemForm + `(, ` + itemForm + `)*` +
		`|… \d+ more [a-z]+: Q … Q` +
		`|… \d+ more [a-z]+: \[e\d+\](–\[e\d+\])?(, \[e\d+\](–\[e\d+\])?)* Q … Q` +
		`|… \d+ more [a-z]+, k=0–\d+: [a-z]+( Q)? \[e\d+\+\dk\](, [a-z]+( Q)? \[e\d+\+\dk\])*; Q … Q` +
		`|… \d+ more [a-z]+, k=0–\d+: \d+ refs each from \[e\d+\+\d+k\] in the order above; Q … Q` +
		`|\([^()]*\))$`)
	spanForm  = regexp.MustCompile(`\[e(\d+)\](?:–\[e(\d+)\])?`)
	patternOf = regexp.MustCompile(`\[e(\d+)\+(\d+)k\]`)
	counts    = regexp.MustCompile(`k=0–(\d+): (?:(\d+) refs each)?`)
)

func (r *reader) read(t interface{ Fatalf(string, ...any) }, text string) (lines int) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(quotation.ReplaceAllString(line, "Q"), "\n")
		if contextForm.MatchString(line) {
			continue
		}
		if !wellFormed.MatchString(line) {
			t.Fatalf("a forged line: %q in\n%s", line, text)
		}
		lines++
		if strings.HasPrefix(line, "(") {
			continue
		}
		for _, m := range spanForm.FindAllStringSubmatch(line, -1) {
			first, _ := strconv.Atoi(m[1])
			last := first
			if m[2] != "" {
				last, _ = strconv.Atoi(m[2])
			}
			for n := first; n <= last; n++ {
				r.see(t, n)
			}
		}
		if m := counts.FindStringSubmatch(line); m != nil {
			k, _ := strconv.Atoi(m[1])
			each, _ := strconv.Atoi(m[2])
			for _, m := range patternOf.FindAllStringSubmatch(line, -1) {
				first, _ := strconv.Atoi(m[1])
				step, _ := strconv.Atoi(m[2])
				for i := range k + 1 {
					for j := range max(each, 1) {
						r.see(t, first+i*step+j)
					}
				}
			}
		}
	}
	return lines
}

func (r *reader) see(t interface{ Fatalf(string, ...any) }, ref int) {
	i, ok := r.of["e"+strconv.Itoa(ref)]
	if !ok {
		t.Fatalf("e%d was never given", ref)
	}
	r.seen[i]++
}

// refs assigns refs in the order of requests; every third element may already have one in another order.
func refs(s *desktop.Snapshot, known bool) (ref func(int) string, of map[string]int) {
	refs := make(map[int]string)
	of = make(map[string]int)
	ref = func(i int) string {
		if refs[i] == "" {
			refs[i] = "e" + strconv.Itoa(len(refs)+1)
			of[refs[i]] = i
		}
		return refs[i]
	}
	if known {
		for i := len(s.Elements) - 1; i >= 0; i -= 3 {
			ref(i)
		}
	}
	return ref, of
}

func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := snapshottest.Random().Draw(t, "tree")
		ref, of := refs(s, rapid.Bool().Draw(t, "known"))
		o := Options{
			Root: -1, Ref: ref, Budget: rapid.SampledFrom([]int{MinBudget, 301, 400, 700, 1500}).Draw(t, "budget"),
			Compact: rapid.Bool().Draw(t, "compact"), Hidden: rapid.IntRange(0, 4).Draw(t, "hidden") == 0,
		}
		if len(s.Elements) > 0 && rapid.IntRange(0, 4).Draw(t, "root") == 0 {
			o.Root = rapid.IntRange(0, len(s.Elements)-1).Draw(t, "at")
		}
		r := &reader{of: of, seen: map[int]int{}}
		shown, total, layer := 0, 0, false
		for first := true; first || o.After != ""; first = false {
			if IsOffscreenCursor(o.After) != layer {
				assert.Equal(t, shown, total, "%d shown of %d that show", shown, total)
				shown, layer = 0, true
			}
			p, err := Text(s, o)
			assert.NilError(t, err)
			again, err := Text(s, o)
			assert.NilError(t, err)
			assert.Equal(t, again.Text, p.Text)
			assert.Equal(t, again.More, p.More)
			assert.Assert(t, p.Tokens <= o.Budget, "%d tokens of %d:\n%s", p.Tokens, o.Budget, p.Text)
			assert.Equal(t, p.Tokens, sanitize.EstimateTokens(p.Text), "%d %s", o.Budget, p.Text)
			lines := r.read(t, p.Text)
			assert.Assert(t, lines != 0, "an empty page:\n%q", p.Text)
			assert.Assert(t, p.More == "" || IsOffscreenCursor(p.More) || lines != 1, "an empty page:\n%q", p.Text)
			shown, total = shown+p.Shown, p.Total
			assert.Assert(t, p.More != o.After || p.More == "", "the cursor stands still")
			o.After = p.More
		}
		assert.Equal(t, shown, total)
		covered(t, s, o, r)
	})
}

// covered compares the pages with a plain walk over the snapshot.
func covered(t *rapid.T, s *desktop.Snapshot, o Options, r *reader) {
	first, last := 0, len(s.Elements)
	if o.Root >= 0 {
		first, last = o.Root, s.Elements[o.Root].End
	}
	for i := first; i < last; i++ {
		visible := true
		for j := i; j > o.Root && j >= 0; j = s.Elements[j].Parent {
			visible = visible && s.Elements[j].States.HasAny(desktop.Showing|desktop.Offscreen)
		}
		if s.Elements[i].Role.IsInteractive() && (visible || o.Hidden) && r.seen[i] != 1 {
			t.Fatalf("element %d is told %d times", i, r.seen[i])
		}
	}
	for i, n := range r.seen {
		assert.Assert(t, n <= 1, "element %d is told %d times", i, n)
		assert.Assert(t, i >= first, "element %d is told %d times", i, n)
		assert.Assert(t, i < last, "element %d is told %d times", i, n)
	}
}

func TestJSONProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := snapshottest.Random().Draw(t, "tree")
		ref, of := refs(s, rapid.Bool().Draw(t, "known"))
		o := Options{Root: -1, Ref: ref, Budget: rapid.SampledFrom([]int{MinBudget, 700, 4000}).Draw(t, "budget")}
		r := &reader{of: of, seen: map[int]int{}}
		for first := true; first || o.After != ""; first = false {
			tree, p, err := JSON(s, o)
			assert.NilError(t, err)
			assert.Assert(t, p.Tokens <= o.Budget, "%d tokens of %d:\n%s", p.Tokens, o.Budget, p.Text)
			assert.Equal(t, p.Text, jsonText(tree), "%d %d", p.Tokens, o.Budget)
			readJSON(t, r, tree.(*Tree).Elements)
			o.After = p.More
		}
		covered(t, s, o, r)
	})
}

func readJSON(t *rapid.T, r *reader, elements []*Element) {
	for _, e := range elements {
		switch {
		case e.Fold != "":
			r.read(t, e.Fold+"\n")
		case e.Ref != "" && !e.Continued:
			n, _ := strconv.Atoi(e.Ref[1:])
			r.see(t, n)
		}
		readJSON(t, r, e.Children)
	}
}

// TestRecall checks that the first page completely shows a window with up to 60 actionable elements.
func TestRecall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := snapshottest.Random().Draw(t, "tree")
		p, err := Text(s, Options{Root: -1})
		assert.NilError(t, err)
		assert.Assert(t, p.Total > 60 || p.Shown == p.Total, "%d %d %s", p.Shown, p.Total, p.Text)
	})
}
