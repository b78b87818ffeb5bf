package ax

import (
	"context"
	"fmt"
	"strings"
	"time"

	"aai"
	"aai/internal/ax/asked"
	"aai/internal/ax/fault"
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
	call := v.Call
	o := outline.Options{
		Budget: asked.Int(call, "budget_tokens", defaultBudget), Root: -1, After: asked.Text(call, "more"),
		Hidden: asked.Flag(call, "include_invisible"), MaxDepth: asked.Int(call, "max_depth", 0),
		Compact: asked.Flag(call, "compact"), Ref: v.Ref,
	}
	if root := asked.Text(call, "root"); root != "" {
		m, err := v.Locate(ctx, root)
		if err != nil {
			return nil, err
		}
		o.Root = m.Index
	}
	if outline.Beyond(o.After) || o.Root >= 0 && v.Shot.Beyond(o.Root) {
		if id := v.IDOf(o.Root); v.LookFar(ctx) && o.Root >= 0 {
			if o.Root = v.Shot.Index(id); o.Root < 0 {
				return nil, fault.Failed(aai.NotDelivered, "the root went while it was read")
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
	if asked.Text(call, "format") == "json" {
		out.Text = "" // the data is the same
	}
	if pageless {
		page.Warnings = append(page.Warnings, "its page is empty so far; look again in a moment")
	}
	if text := strings.Join(append(page.Warnings, v.Shot.Warnings...), "; "); text != "" {
		out.Warning = aai.CleanLabel(text, 500)
	}
	if v.App.Hidden != "" && page.Total == 0 {
		out.Warning = aai.CleanLabel(v.App.Hidden, 500)
	}
	return out, nil
}

// pagePatience is how long a browser's page is waited for that is on its way.
const pagePatience = 2 * time.Second

// awaitPage waits until a browser shows a page that has come, and reports whether it does
// not: its windows are there before what is in them.
func (v *view) awaitPage(ctx context.Context) (pageless bool, err error) {
	if !v.App.Browser {
		return false, nil
	}
	for p := v.Patience(pagePatience); v.Pageless(); {
		if !p.Changed(ctx) {
			return true, nil
		}
		if err := v.Refresh(ctx); err != nil {
			return false, err
		}
	}
	return false, nil
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
	name := aai.CleanLabel(v.App.Name, 60)
	if asked.Text(v.Call, "format") == "json" {
		tree, page, err := outline.JSON(v.Shot, o)
		return page, pageView{name, page.Tokens, page.Shown, page.Total, page.Beyond, page.More, tree}, err
	}
	o.Budget = max(outline.MinBudget, o.Budget-tokens.Estimate(desktop.Fence("", v.App.Name))-moreTokens)
	page, err := outline.Text(v.Shot, o)
	if err != nil {
		return page, nil, err
	}
	page.Text = desktop.Fence(page.Text, v.App.Name)
	if page.Shown == page.Total && page.Beyond == "" && page.More == "" && o.After == "" { // that it is all goes without saying
		page.Tokens = tokens.Estimate(page.Text)
		return page, pageView{name, page.Tokens, page.Shown, page.Total, "", "", nil}, nil
	}
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
