package delta

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

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

// TestTicks checks that a text with the right time before and after, in any zone, is a clock, and that a
// clock set by an action never is one.
func TestTicks(t *testing.T) {
	for _, c := range []struct {
		at       string // time of the first snapshot in UTC; the second is 3 s later
		was, is  string
		changing bool
	}{
		{"16:30:05", "16:30:05", "16:30:08", true},
		{"16:30:05", "18:30:04", "18:30:07", true}, // another zone, a little late
		{"16:30:05", "22:15:05 - 51.3 MB", "22:15:08 - 51.8 MB", true},
		{"16:30:05", "4:30:05 PM", "4:30:08 PM", true},
		{"16:30:58", "4:30", "4:31", true},
		{"23:59:58", "23:59:58", "00:00:01", true},
		{"12:59:58", "12:59:58", "1:00:01", true},
		{"16:30:05", "used 51.3 MB", "used 51.8 MB", true},
		{"16:30:05", "0:00", "5:00", false}, // each is the time in some zone
		{"16:30:05", "0:00:00", "5:00:00", false},
		{"16:30:05", "16:30:05", "16:45:08", false},
		{"16:41:05", "0:00", "5:00", false},
		{"16:41:05", "0:00:05", "0:00:08", false},
		{"16:30:05", "done 0", "done 1", false},
	} {
		at, err := time.Parse(time.TimeOnly, c.at)
		assert.NilError(t, err)
		shot := func(text string, after time.Duration) *desktop.Snapshot {
			return &desktop.Snapshot{Version: uint64(1 + after), Taken: at.Add(after), Elements: []desktop.Element{
				{ID: "window", Role: desktop.Window, Name: "Timer", States: desktop.Showing, Parent: -1, End: 2},
				{ID: "text", Role: desktop.Text, Name: text, States: desktop.Showing, Parent: 0, End: 2},
			}}
		}
		d := Between(shot(c.was, 0), shot(c.is, 3*time.Second), Options{Ref: func(int) string { return "" }})
		assert.Assert(t, is.Len(d.Changes, 1), "%s %q %q", c.at, c.was, c.is)
		assert.Equal(t, d.Changes[0].Ambient, c.changing, "%s %q %q", c.at, c.was, c.is)
	}
}

// TestTabsTellOfTheirMemory checks that a browser's tab may begin and stop to show its memory.
func TestTabsTellOfTheirMemory(t *testing.T) {
	shot := func(role desktop.Role, text string, version uint64) *desktop.Snapshot {
		return &desktop.Snapshot{Version: version, Elements: []desktop.Element{
			{ID: "window", Role: desktop.Window, Name: "Browser", States: desktop.Showing, Parent: -1, End: 2},
			{ID: "tab", Role: role, Name: text, States: desktop.Showing, Parent: 0, End: 2},
		}}
	}
	for _, c := range []struct {
		role     desktop.Role
		was, is  string
		changing bool
	}{
		{desktop.Tab, "Shop", "Shop - Memory usage - 38.2 MB", true}, {desktop.Tab, "Shop - Speichernutzung - 38,2 MB", "Shop", true},
		{desktop.Tab, "Shop", "Shop - 2 new", false}, {desktop.Tab, "Shop", "Mail - Memory usage - 38.2 MB", false}, {desktop.Button, "Shop", "Shop - Memory usage - 38.2 MB", false},
	} {
		d := Between(shot(c.role, c.was, 1), shot(c.role, c.is, 2), Options{})
		assert.Assert(t, is.Len(d.Changes, 1), "%s %q %q", c.role, c.was, c.is)
		assert.Equal(t, d.Changes[0].Ambient, c.changing, "%s %q %q", c.role, c.was, c.is)
	}
}
