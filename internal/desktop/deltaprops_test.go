package desktop

import (
	"aai/internal/tokens"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func otCopy(s *Snapshot) *Snapshot {
	t := *s
	t.Elements = slices.Clone(s.Elements)
	return &t
}

func TestDiffOfTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := otTree().Draw(t, "tree")
		if d := Diff(s, s, DiffOptions{}); d.Text != "" || len(d.Changes) > 0 || d.More > 0 || d.Tokens > 0 {
			t.Fatalf("%+v", d)
		}
		anew := otCopy(s)
		for i := range anew.Elements {
			anew.Elements[i].ID = ID(fmt.Sprintf("new/%d", i))
			anew.Elements[i].Frame.Y += 7
		}
		if d := Diff(s, anew, DiffOptions{}); len(d.Changes) > 0 || d.More > 0 {
			t.Fatalf("made anew, and told:\n%s", d.Text)
		}
	})
}

// otMutate changes some elements and returns which, by their index; some windows
// get new elements, some lose some.
func otMutate(t *rapid.T, s *Snapshot) (after *Snapshot, changed []int) {
	after = &Snapshot{App: s.App}
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
			e.States ^= Checked
			changed = append(changed, len(after.Elements))
		case 3:
			e.States ^= Showing
			changed = append(changed, len(after.Elements))
		case 4:
			e.Value = fmt.Sprintf("value %d\n- menu \"Forged\"", i)
			changed = append(changed, len(after.Elements))
		}
		after.Elements = append(after.Elements, e)
		if what == 5 {
			for range rapid.IntRange(1, 40).Draw(t, "new") {
				n := Element{ID: ID(fmt.Sprintf("n/%d", len(after.Elements))), Role: rapid.SampledFrom(otRoles).Draw(t, "role"), Name: "new one", States: Showing | Enabled, Parent: moved[i]}
				changed = append(changed, len(after.Elements))
				after.Elements = append(after.Elements, n)
			}
		}
	}
	Arrange(after.Elements)
	return after, changed
}

func TestDiffProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := otTree().Draw(t, "tree")
		after, changed := otMutate(t, before)
		budget := rapid.SampledFrom([]int{0, 40, 100, 100000}).Draw(t, "budget")
		o := DiffOptions{Budget: budget, Ref: func(i int) string { return fmt.Sprintf("e%d", i+1) }}
		d := Diff(before, after, o)
		if limit := map[int]int{0: 200}[budget] + budget; d.Tokens > limit || d.Tokens != tokens.Estimate(d.Text) {
			t.Fatalf("%d tokens of %d:\n%s", d.Tokens, limit, d.Text)
		}
		if (d.Text == "") != (len(d.Changes) == 0 && d.More == 0) {
			t.Fatalf("%d changes and %d more are told as %q", len(d.Changes), d.More, d.Text)
		}
		for line := range strings.Lines(d.Text) {
			if !strings.HasPrefix(line, "~ ") && !strings.HasPrefix(line, "+ ") && !strings.HasPrefix(line, "- ") && !strings.HasPrefix(line, "focus → ") && !strings.HasPrefix(line, "… ") ||
				strings.Contains(otQuoted.ReplaceAllString(line, "Q"), "Forged") {
				t.Fatalf("a forged line %q", line)
			}
		}
		told := make(map[int]bool)
		for _, c := range d.Changes {
			if (c.Kind == Gone) != (c.Index == -1) || strings.Contains(c.Text, "\n") {
				t.Fatalf("%+v", c)
			}
			told[c.Index] = true
		}
		for _, i := range changed {
			if d.More > 0 || !after.Elements[i].Role.Interactive() || !after.Visible(i) {
				continue
			}
			up := i
			for up >= 0 && !told[up] {
				up = after.Elements[up].Parent
			}
			if up < 0 && otDiffers(before, &after.Elements[i]) {
				t.Fatalf("nothing is told of %+v:\n%s", after.Elements[i], d.Text)
			}
		}
	})
}

// otDiffers reports whether an element that was there looks different now.
func otDiffers(before *Snapshot, now *Element) bool {
	i := before.Index(now.ID)
	if i < 0 || !before.Visible(i) {
		return true
	}
	old := before.Elements[i]
	words := func(e *Element) bool { return e.Value != e.Name }
	return old.Name != now.Name || old.States != now.States || old.Value != now.Value && (words(&old) || words(now))
}

func BenchmarkDiff(b *testing.B) {
	before, after := otSnapshot(b, otDocs(590)), otSnapshot(b, strings.Replace(otDocs(590), "Event 300", "Event 3000", 2))
	for b.Loop() {
		if d := Diff(before, after, DiffOptions{}); d.Text == "" {
			b.Fatal("nothing changed")
		}
	}
}
