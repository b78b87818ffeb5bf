package desktop

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestOutlineGolden(t *testing.T) {
	for name, c := range map[string]struct {
		screen string
		o      OutlineOptions
	}{
		"editor":         {otEditor, OutlineOptions{Root: -1}},
		"editor-hidden":  {otEditor, OutlineOptions{Root: -1, Hidden: true}},
		"editor-compact": {otEditor, OutlineOptions{Root: -1, Compact: true}},
		"calculator":     {otCalculator, OutlineOptions{Root: -1}},
		"form":           {otForm, OutlineOptions{Root: -1}},
		"form-small":     {otForm, OutlineOptions{Root: -1, Budget: MinBudget}},
		"form-depth":     {otForm, OutlineOptions{Root: -1, MaxDepth: 2}},
		"table":          {otTable(200), OutlineOptions{Root: -1}},
		"files":          {otFiles(), OutlineOptions{Root: -1}},
		"docs":           {otDocs(60), OutlineOptions{Root: -1}},
		"docs-short":     {otDocs(4), OutlineOptions{Root: -1, Budget: 600}},
		"sheet":          {otSheet(), OutlineOptions{Root: -1}},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			for i, p := range otPages(t, otSnapshot(t, c.screen), c.o) {
				fmt.Fprintf(&b, "== page %d: %d tokens, %d of %d, %q\n%s", i+1, p.Tokens, p.Shown, p.Total, p.Warnings, p.Text)
			}
			otGolden(t, name, b.String())
		})
	}
}

func TestOutlineJSONGolden(t *testing.T) {
	for name, screen := range map[string]string{"form.json": otForm, "table.json": otTable(200)} {
		t.Run(name, func(t *testing.T) {
			s := otSnapshot(t, screen)
			s.Elements[1].Frame = Rect{1, 2, 30, 40}
			tree, _, err := OutlineJSON(s, OutlineOptions{Root: -1, Budget: 4000})
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.MarshalIndent(tree, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			otGolden(t, name, string(text)+"\n")
		})
	}
}
