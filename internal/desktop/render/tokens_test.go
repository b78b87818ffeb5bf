package render

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/sanitize"
	"github.com/gybob/aai-gateway/internal/testkit/snapshottest"
	"github.com/gybob/aai-gateway/internal/testkit/tokencount"
)

// windowOf returns a window with the given texts.
func windowOf(t testing.TB, words string) *desktop.Snapshot {
	roles := []string{"button", "menuitem", "checkbox checkable", "text", "link", "label", "tab selectable", "heading", "radio checkable checked", "button", "textbox editable"}
	var b strings.Builder
	b.WriteString("window \"Test\" active\n")
	for i, name := range strings.Split(words, "|") {
		role, states, _ := strings.Cut(roles[i%len(roles)], " ")
		value := ""
		if role == "textbox" {
			value = fmt.Sprintf(" value=%q", name)
		}
		fmt.Fprintf(&b, "  %s %q %s%s\n", role, name, states, value)
	}
	return snapshottest.Read(t, b.String())
}

// TestTokensOfOutlines compares the estimate for whole outlines with the real vocabulary.
func TestTokensOfOutlines(t *testing.T) {
	outlines := map[string]string{}
	for language, words := range tokencount.SampleTexts() {
		s := windowOf(t, words)
		outlines[language] = oneText(t, s, Options{Root: -1})
		outlines[language+", compact"] = oneText(t, s, Options{Root: -1, Compact: true})
		_, page, err := JSON(s, Options{Root: -1, Budget: 9000})
		assert.NilError(t, err)
		outlines[language+", JSON"] = page.Text
	}
	for name, screen := range map[string]string{
		"editor": snapshottest.Editor, "calculator": snapshottest.Calculator, "form": snapshottest.Form, "table": snapshottest.Table(200), "files": snapshottest.Files(), "docs": snapshottest.Docs(60), "sheet": snapshottest.Sheet(),
	} {
		for i, p := range allPages(t, snapshottest.Read(t, screen), Options{Root: -1}) {
			outlines[fmt.Sprintf("%s, page %d", name, i+1)] = p.Text
		}
	}
	for name, text := range outlines {
		estimate, real := sanitize.EstimateTokens(text), tokencount.Count(t, text)
		t.Logf("%-20s %5d of %5d: %+.1f %%", name, estimate, real, 100*float64(estimate-real)/float64(real))
		assert.Check(t, !(float64(estimate) < 0.97*float64(real)), "%s: estimated %d, it is %d tokens", name, estimate, real)
		assert.Check(t, !(float64(estimate) > 1.15*float64(real)+1), "%s: estimated %d, it is %d tokens", name, estimate, real)
	}
}

func BenchmarkOutline(b *testing.B) {
	for _, c := range []struct {
		name   string
		screen string
	}{{"form", snapshottest.Form}, {"docs-1300", snapshottest.Docs(78)}, {"table-1200", snapshottest.Table(200)}, {"docs-10000", snapshottest.Docs(590)}, {"table-10000", snapshottest.Table(1670)}} {
		s := snapshottest.Read(b, c.screen)
		b.Run(fmt.Sprintf("%s=%d", c.name, len(s.Elements)), func(b *testing.B) {
			for b.Loop() {
				_, err := Text(s, Options{Root: -1})
				assert.NilError(b, err)
			}
		})
	}
}
