package delta

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/sanitize"
	"github.com/gybob/aai-gateway/internal/testkit/snapshottest"
)

func copied(s *desktop.Snapshot) *desktop.Snapshot {
	t := *s
	t.Elements = slices.Clone(s.Elements)
	return &t
}

func TestTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := snapshottest.Random().Draw(t, "tree")
		d := Between(s, s, Options{})
		assert.Equal(t, d.Text, "", "%+v", d)
		assert.Assert(t, is.Len(d.Changes, 0), "%+v", d)
		assert.Assert(t, d.Omitted <= 0, "%+v", d)
		assert.Assert(t, d.Tokens <= 0, "%+v", d)
		anew := copied(s)
		for i := range anew.Elements {
			anew.Elements[i].ID = desktop.ID(fmt.Sprintf("new/%d", i))
			anew.Elements[i].Frame.Y += 7
		}
		d = Between(s, anew, Options{})
		assert.Assert(t, is.Len(d.Changes, 0), d.Text)
		assert.Assert(t, d.Omitted <= 0, "made anew, and told:\n%s", d.Text)
	})
}

// mutated changes some elements and returns their indexes; some windows get new elements, some lose some.
func mutated(t *rapid.T, s *desktop.Snapshot) (after *desktop.Snapshot, changed []int) {
	after = &desktop.Snapshot{App: s.App}
	moved := make([]int, len(s.Elements))
	for i := 0; i < len(s.Elements); i++ {
		e := s.Elements[i]
		what := rapid.IntRange(0, 19).Draw(t, "what")
		if what == 0 {
			i = e.End - 1
			continue
		}
		if e.Parent >= 0 {
			e.Parent = moved[e.Parent]
		}
		e.End = 0
		moved[i] = len(after.Elements)
		switch what {
		case 1:
			e.Name = fmt.Sprintf("renamed %d", i)
			changed = append(changed, len(after.Elements))
		case 2:
			e.States ^= desktop.Checked
			changed = append(changed, len(after.Elements))
		case 3:
			e.States ^= desktop.Showing
			changed = append(changed, len(after.Elements))
		case 4:
			e.Value = fmt.Sprintf("value %d\n- menu \"Forged\"", i)
			changed = append(changed, len(after.Elements))
		}
		after.Elements = append(after.Elements, e)
		if what == 5 {
			for range rapid.IntRange(1, 40).Draw(t, "new") {
				n := desktop.Element{ID: desktop.ID(fmt.Sprintf("n/%d", len(after.Elements))), Role: rapid.SampledFrom(snapshottest.Roles()).Draw(t, "role"), Name: "new one", States: desktop.Showing | desktop.Enabled, Parent: moved[i]}
				changed = append(changed, len(after.Elements))
				after.Elements = append(after.Elements, n)
			}
		}
	}
	desktop.SetEnds(after.Elements)
	return after, changed
}

func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := snapshottest.Random().Draw(t, "tree")
		after, changed := mutated(t, before)
		budget := rapid.SampledFrom([]int{0, 40, 100, 100000}).Draw(t, "budget")
		o := Options{Budget: budget, Ref: func(i int) string { return fmt.Sprintf("e%d", i+1) }}
		d := Between(before, after, o)
		limit := map[int]int{0: 200}[budget] + budget
		assert.Assert(t, d.Tokens <= limit, "%d tokens of %d:\n%s", d.Tokens, limit, d.Text)
		assert.Equal(t, d.Tokens, sanitize.EstimateTokens(d.Text), "%d %s", limit, d.Text)
		assert.Equal(t, (d.Text == ""), (len(d.Changes) == 0 && d.Omitted == 0), "%d changes and %d more are told as %q", len(d.Changes), d.Omitted, d.Text)
		for line := range strings.Lines(d.Text) {
			assert.Assert(t, strings.HasPrefix(line, "~ ") || strings.HasPrefix(line, "+ ") || strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "focus → ") || strings.HasPrefix(line, "… "), "a forged line %q", line)
			assert.Assert(t, !strings.Contains(quotation.ReplaceAllString(line, "Q"), "Forged"), "a forged line %q", line)
		}
		told := make(map[int]bool)
		for _, c := range d.Changes {
			assert.Equal(t, (c.Kind == Gone), (c.Index == -1), "%+v", c)
			assert.Assert(t, !strings.Contains(c.Text, "\n"), "%+v", c)
			told[c.Index] = true
		}
		for _, i := range changed {
			if d.Omitted > 0 || !after.Elements[i].Role.IsInteractive() || !after.IsVisible(i) {
				continue
			}
			up := i
			for up >= 0 && !told[up] {
				up = after.Elements[up].Parent
			}
			if up < 0 && differs(before, &after.Elements[i]) {
				t.Fatalf("nothing is told of %+v:\n%s", after.Elements[i], d.Text)
			}
		}
	})
}

var quotation = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// differs reports whether an existing element looks different now.
func differs(before *desktop.Snapshot, now *desktop.Element) bool {
	i := before.Index(now.ID)
	if i < 0 || !before.IsVisible(i) {
		return true
	}
	old := before.Elements[i]
	words := func(e *desktop.Element) bool { return e.Value != e.Name }
	return old.Name != now.Name || old.States != now.States || old.Value != now.Value && (words(&old) || words(now))
}

func BenchmarkBetween(b *testing.B) {
	before, after := snapshottest.Read(b, snapshottest.Docs(590)), snapshottest.Read(b, strings.Replace(snapshottest.Docs(590), "Event 300", "Event 3000", 2))
	for b.Loop() {
		assert.Assert(b, Between(before, after, Options{}).Text != "", "nothing changed")
	}
}
