package render

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/snapshottest"
)

func TestGolden(t *testing.T) {
	for name, c := range map[string]struct {
		screen string
		o      Options
	}{
		"editor":         {snapshottest.Editor, Options{Root: -1}},
		"editor-hidden":  {snapshottest.Editor, Options{Root: -1, Hidden: true}},
		"editor-compact": {snapshottest.Editor, Options{Root: -1, Compact: true}},
		"calculator":     {snapshottest.Calculator, Options{Root: -1}},
		"form":           {snapshottest.Form, Options{Root: -1}},
		"form-small":     {snapshottest.Form, Options{Root: -1, Budget: MinBudget}},
		"form-depth":     {snapshottest.Form, Options{Root: -1, MaxDepth: 2}},
		"table":          {snapshottest.Table(200), Options{Root: -1}},
		"files":          {snapshottest.Files(), Options{Root: -1}},
		"docs":           {snapshottest.Docs(60), Options{Root: -1}},
		"docs-short":     {snapshottest.Docs(4), Options{Root: -1, Budget: 600}},
		"sheet":          {snapshottest.Sheet(), Options{Root: -1}},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			for i, p := range allPages(t, snapshottest.Read(t, c.screen), c.o) {
				fmt.Fprintf(&b, "== page %d: %d tokens, %d of %d, %q\n%s", i+1, p.Tokens, p.Shown, p.Total, p.Warnings, p.Text)
			}
			golden(t, name, b.String())
		})
	}
}

func TestJSONGolden(t *testing.T) {
	for name, screen := range map[string]string{"form.json": snapshottest.Form, "table.json": snapshottest.Table(200)} {
		t.Run(name, func(t *testing.T) {
			s := snapshottest.Read(t, screen)
			s.Elements[1].Frame = desktop.Rect{X: 1, Y: 2, W: 30, H: 40}
			tree, _, err := JSON(s, Options{Root: -1, Budget: 4000})
			assert.NilError(t, err)
			text, err := json.MarshalIndent(tree, "", " ")
			assert.NilError(t, err)
			golden(t, name, string(text)+"\n")
		})
	}
}
