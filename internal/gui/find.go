package gui

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gui/params"
)

const findName = "ax_find"

func (d *engine) findTool() spec {
	return spec{
		name: findName, title: "Find UI element", effect: aai.Reads, timeout: visionTimeout,
		returns: `"found": {"type": "boolean"}, "method": {"type": "string"}, "strategy": {"type": "string"}, ` + elementReturns + `,
			"position": ` + pairReturns + `, "size": ` + pairReturns + `,
			"enabled": {"type": "boolean"}, "focused": {"type": "boolean"}, "in": {"type": "string"}, "row": {"type": "string"}, "states": {"type": "array", "items": {"type": "string"}}`,
		description: "Find one element of a program's windows, in view or not. Returns its ref and the text of its row.",
		params: appProp + `,` + queryProp + `,` + nthProp + `,
			"strategy": {"type": "string", "enum": ["auto", "exact", "contains", "regex", "role", "identifier", "xpath"], "default": "auto"}`,
		required: `["app", "query"]`,
		run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
			gateway.Progress(ctx, 1, 2, "Searching accessibility tree")
			return d.withView(ctx, call, func(ctx context.Context, v *view) (*aai.Result, error) {
				v.includeOffscreen, v.includeMenus = true, true
				m, err := v.locate(ctx, params.String(call, "query"))
				if err != nil {
					return v.findDrawn(ctx, err)
				}
				gateway.Progress(ctx, 2, 2, "Element found")
				row := v.row(m.index)
				return &aai.Result{Text: v.foundText(ctx, m.index, row), DataComplete: true, Data: struct {
					Found    bool   `json:"found"`
					Method   string `json:"method"`
					Strategy string `json:"strategy"`
					elementView
					In  string `json:"in,omitempty"`
					Row string `json:"row,omitempty"`
				}{true, "accessibility", string(m.strategy), v.summarize(m.index), strings.Join(v.path(m.index), " in "), row}}, nil
			})
		},
	}
}

// foundText describes the element, its containers and its row.
func (v *view) foundText(ctx context.Context, i int, row string) string {
	text := v.describe(i)
	menu := v.inClosedMenu(i)
	if !menu && !v.snapshot.IsVisible(i) && !v.snapshot.IsOffscreen(i) { // describe already contains that
		text += " out of view"
	}
	for _, part := range v.path(i) {
		text += " in " + part
	}
	if menu {
		text += ", a closed menu"
		if v.modal(ctx, v.snapshot.WindowOf(i)) < 0 {
			text += ": ax_click chooses it there"
		}
	}
	if row != "" {
		text += "; its row: " + row
	}
	return text
}

// Limits for the row text in a reply about an element.
const (
	maxRow     = 240 // bytes of all words
	maxRowWord = 60  // bytes of one word
	maxCard    = 40  // maximum of elements in a container that is no row but shown as one
)

// row returns the texts beside the element in its row, card or list item, interactive ones with
// their ref: "37", "30.11 EUR", button "Buy" [e42]. It returns "" if there is no row, or nothing
// else in it.
func (v *view) row(i int) string {
	all := v.snapshot.Elements
	for p := i; p >= 0; p = all[p].Parent {
		e := &all[p]
		line := e.Role == desktop.Row || e.Role == desktop.ListItem || e.Role == desktop.Option || e.Role == desktop.TreeItem || e.Role == desktop.Article
		switch {
		case p == i && !line:
			continue
		case !line && (e.Role.IsTextual() || e.Role.IsRefContainer() || e.End-p > maxCard || e.Parent < 0):
			return ""
		}
		if words := v.rowWords(p, i); words != "" || line {
			return words
		}
	}
	return ""
}

// rowWords returns the texts in a row, without the element itself.
func (v *view) rowWords(row, but int) string {
	var told, texts []string
	length := 0
	v.eachText(row, but, func(j int, text string) bool {
		if slices.Contains(texts, text) {
			return true
		}
		e := &v.snapshot.Elements[j]
		word := desktop.Quote(text, maxRowWord)
		if e.Role.IsInteractive() || e.States.Has(desktop.Editable) {
			word = string(e.Role) + " " + word + " [" + v.ref(j) + "]"
		}
		if length += len(word); length > maxRow {
			told = append(told, "…")
			return false
		}
		told, texts = append(told, word), append(texts, text)
		return true
	})
	return strings.Join(told, ", ")
}

// eachText calls f for each visible text in the element, without the element but, until f returns
// false. If a container has the text of a child, as a cell of its button, only the child counts.
func (v *view) eachText(of, but int, f func(i int, text string) bool) {
	all := v.snapshot.Elements
	seen := v.snapshot.IsVisible(of)
	for j := of + 1; j < all[of].End; j++ {
		e := &all[j]
		if j == but {
			j = e.End - 1
			continue
		}
		text := strings.TrimSpace(cmp.Or(e.Name, e.Value))
		if e.States.Has(desktop.Protected) || seen && !e.States.Has(desktop.Showing) || text == "" || j < but && but < e.End {
			continue
		}
		if j+1 < e.End && slices.ContainsFunc(all[j+1:e.End], func(in desktop.Element) bool { return strings.TrimSpace(in.Name) == text }) {
			continue
		}
		if !f(j, text) {
			return
		}
	}
}

// replaceGroups replaces groups by the control inside that has the same name and is out of view, such as the button in a
// menu button of GTK 4.
func (v *view) replaceGroups(matches []int) {
	for n, i := range matches {
		e := &v.snapshot.Elements[i]
		for c := i + 1; c < e.End && e.Role == desktop.Group; c++ {
			if inner := &v.snapshot.Elements[c]; inner.Name == e.Name && inner.Role.IsInteractive() && v.snapshot.IsOffscreen(c) {
				matches[n] = c
				break
			}
		}
	}
}
