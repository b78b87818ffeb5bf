package ax

import (
	"context"
	"fmt"
	"strings"
	"time"

	"aai"
	"aai/internal/desktop"
	"aai/internal/desktop/outline"
	"aai/internal/tokens"
)

// The tokens of an outline.
const (
	defaultBudget = 1500
	moreTokens    = 70 // of the lines that name the cursor and say how much there is
	sizeTokens    = 8  // of the page's own size
)

func (d *desk) getTreeTool() *aai.Tool {
	return spec{
		name: "ax_get_tree", title: "Get element tree", effect: aai.Reads,
		returns: `"app": {"type": "string"}, "tokens": {"type": "integer"}, "interactive_shown": {"type": "integer"}, "interactive_total": {"type": "integer"},
			"not_in_view": {"type": "string"}, "more": {"type": "string"}, "tree": {"type": "object"}`,
		description: "Outline what a program's windows show, with refs. Fits budget_tokens; more continues it, root drills down.",
		params: appProp + `,
			"root": {"type": "string", "description": "Ref or query of the element to begin at"},
			"budget_tokens": {"type": "integer", "minimum": 400, "maximum": 50000, "default": 1500},
			"more": {"type": "string", "description": "The cursor of the page before"},
			"max_depth": {"type": "integer", "minimum": 1},
			"include_invisible": {"type": "boolean", "default": false},
			"compact": {"type": "boolean", "default": false, "description": "Roles and names only"},
			"format": {"type": "string", "enum": ["outline", "json"], "default": "outline"}`,
		required: `["app"]`,
		run:      func(ctx context.Context, call *aai.Call) (*aai.Result, error) { return d.look(ctx, call, tree) },
	}.tool()
}

func tree(ctx context.Context, v *view) (*aai.Result, error) {
	call := v.call
	o := outline.Options{
		Budget: intArg(call, "budget_tokens", defaultBudget), Root: -1, After: textArg(call, "more"),
		Hidden: flagArg(call, "include_invisible"), MaxDepth: intArg(call, "max_depth", 0),
		Compact: flagArg(call, "compact"), Ref: v.ref,
	}
	if root := textArg(call, "root"); root != "" {
		m, err := v.locate(ctx, root)
		if err != nil {
			return nil, err
		}
		o.Root = m.index
	}
	if outline.Beyond(o.After) || o.Root >= 0 && v.shot.Beyond(o.Root) {
		if id := v.idOf(o.Root); v.lookFar(ctx) && o.Root >= 0 {
			if o.Root = v.shot.Index(id); o.Root < 0 {
				return nil, failed(aai.NotDelivered, "the root went while it was read")
			}
		}
	}
	pageless := false
	if o.Root < 0 && o.After == "" {
		var err error
		if pageless, err = v.awaitPage(ctx); err != nil {
			return nil, err
		}
	}
	page, data, err := v.page(o)
	if err != nil {
		return nil, err
	}
	out := &aai.Result{Text: page.Text, Data: data}
	if textArg(call, "format") == "json" {
		out.Text = "" // the data is the same
	}
	if pageless {
		page.Warnings = append(page.Warnings, "its page is empty so far; look again in a moment")
	}
	if text := strings.Join(append(page.Warnings, v.shot.Warnings...), "; "); text != "" {
		out.Warning = aai.CleanLabel(text, 500)
	}
	if v.app.Hidden != "" && page.Total == 0 {
		out.Warning = aai.CleanLabel(v.app.Hidden, 500)
	}
	return out, nil
}

// idOf is the ID of the snapshot's i'th element; "" for -1.
func (v *view) idOf(i int) desktop.ID {
	if i < 0 {
		return ""
	}
	return v.shot.Elements[i].ID
}

// pagePatience is how long a browser's page is waited for that is on its way.
const pagePatience = 2 * time.Second

// awaitPage waits until a browser shows a page that has come, and reports whether it does
// not: its windows are there before what is in them.
func (v *view) awaitPage(ctx context.Context) (pageless bool, err error) {
	if !v.app.Browser {
		return false, nil
	}
	for until := time.Now().Add(pagePatience); v.pageless(); {
		if time.Now().After(until) || !v.changed(ctx, until) {
			return true, nil
		}
		if err := v.refresh(ctx); err != nil {
			return false, err
		}
	}
	return false, nil
}

// pageless reports whether no document shows that has a name or anything in it, nor a
// dialog that is before it.
func (v *view) pageless() bool {
	for i := range v.shot.Elements {
		e := &v.shot.Elements[i]
		if e.Role == desktop.Document && e.States.Has(desktop.Showing) && (e.Name != "" || e.End > i+1) {
			return false
		}
	}
	return v.beforePage() < 0
}

// beforePage is the dialog that shows where a browser shows nothing of its page as long as
// it is open, as an alert of the page; -1 where there is none.
func (v *view) beforePage() int {
	dialog := -1
	for i := range v.shot.Elements {
		switch e := &v.shot.Elements[i]; {
		case !e.States.Has(desktop.Showing):
		case e.Role == desktop.Document && e.Name != "":
			return -1
		case e.Role == desktop.Dialog || e.Role == desktop.AlertDialog:
			dialog = i
		}
	}
	return dialog
}

// A pageView is a page of an outline for programs.
type pageView struct {
	App    string `json:"app"`
	Tokens int    `json:"tokens"` // estimated, o200k_base
	Shown  int    `json:"interactive_shown"`
	Total  int    `json:"interactive_total"`
	Beyond string `json:"not_in_view,omitempty"`
	More   string `json:"more,omitempty"`
	Tree   any    `json:"tree,omitempty"`
}

// page makes the page in the form that the call asks for.
func (v *view) page(o outline.Options) (outline.Page, any, error) {
	name := aai.CleanLabel(v.app.Name, 60)
	if textArg(v.call, "format") == "json" {
		tree, page, err := outline.JSON(v.shot, o)
		return page, pageView{name, page.Tokens, page.Shown, page.Total, page.Beyond, page.More, tree}, err
	}
	o.Budget = max(outline.MinBudget, o.Budget-tokens.Estimate(desktop.Fence("", v.app.Name))-moreTokens)
	page, err := outline.Text(v.shot, o)
	if err != nil {
		return page, nil, err
	}
	page.Text = desktop.Fence(page.Text, v.app.Name)
	page.Text += fmt.Sprintf("%d of %d things to act on", page.Shown, page.Total)
	switch {
	case outline.Beyond(o.After):
		page.Text += " that are out of view"
	case page.Beyond != "":
		page.Text += "; out of view: " + page.Beyond
	}
	if page.More != "" {
		page.Text += fmt.Sprintf("; more: %q", page.More)
	}
	page.Tokens = tokens.Estimate(page.Text) + sizeTokens
	page.Text += fmt.Sprintf("; about %d tokens\n", page.Tokens)
	return page, pageView{name, page.Tokens, page.Shown, page.Total, page.Beyond, page.More, nil}, nil
}
