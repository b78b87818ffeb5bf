package outline

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"aai/internal/desktop"
	"aai/internal/desktop/shottest"
)

func TestGolden(t *testing.T) {
	for name, c := range map[string]struct {
		screen string
		o      Options
	}{
		"editor":         {shottest.Editor, Options{Root: -1}},
		"editor-hidden":  {shottest.Editor, Options{Root: -1, Hidden: true}},
		"editor-compact": {shottest.Editor, Options{Root: -1, Compact: true}},
		"calculator":     {shottest.Calculator, Options{Root: -1}},
		"form":           {shottest.Form, Options{Root: -1}},
		"form-small":     {shottest.Form, Options{Root: -1, Budget: MinBudget}},
		"form-depth":     {shottest.Form, Options{Root: -1, MaxDepth: 2}},
		"table":          {shottest.Table(200), Options{Root: -1}},
		"files":          {shottest.Files(), Options{Root: -1}},
		"docs":           {shottest.Docs(60), Options{Root: -1}},
		"docs-short":     {shottest.Docs(4), Options{Root: -1, Budget: 600}},
		"sheet":          {shottest.Sheet(), Options{Root: -1}},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			for i, p := range allPages(t, shottest.Read(t, c.screen), c.o) {
				fmt.Fprintf(&b, "== page %d: %d tokens, %d of %d, %q\n%s", i+1, p.Tokens, p.Shown, p.Total, p.Warnings, p.Text)
			}
			golden(t, name, b.String())
		})
	}
}

func TestJSONGolden(t *testing.T) {
	for name, screen := range map[string]string{"form.json": shottest.Form, "table.json": shottest.Table(200)} {
		t.Run(name, func(t *testing.T) {
			s := shottest.Read(t, screen)
			s.Elements[1].Frame = desktop.Rect{X: 1, Y: 2, W: 30, H: 40}
			tree, _, err := JSON(s, Options{Root: -1, Budget: 4000})
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.MarshalIndent(tree, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name, string(text)+"\n")
		})
	}
}
