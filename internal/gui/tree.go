package gui

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/render"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
	"github.com/gybob/aai-gateway/internal/gui/params"
	"github.com/gybob/aai-gateway/internal/gui/patterns"
	"github.com/gybob/aai-gateway/internal/gui/programs"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// Token budgets of the rendered tree.
const (
	defaultBudget = 1500
	moreTokens    = 70 // for the lines with the cursor and the totals
	sizeTokens    = 8  // for the page's own size
)

const getTreeName = "ax_get_tree"

func (d *engine) getTreeTool() spec {
	return spec{
		name: getTreeName, title: "Get element tree", effect: aai.Reads,
		description: "Outline a program's windows, with refs. Fits budget_tokens; more continues it, root drills down.",
		params: appProp + `,
			"root": {"type": "string", "description": "Ref or query of the element to begin at"},
			"budget_tokens": {"type": "integer", "minimum": 400, "maximum": 50000, "default": 1500},
			"window_index": {"type": "integer"},
			"more": {"type": "string", "description": "The cursor of the page before"},
			"max_depth": {"type": "integer", "minimum": 1},
			"include_invisible": {"type": "boolean", "default": false},
			"compact": {"type": "boolean", "default": false, "description": "Roles and names only"},
			"format": {"type": "string", "enum": ["outline", "json"], "default": "outline"}`,
		required: `["app"]`, renamed: map[string]string{"root_query": "root"}, lengthy: true,
		run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) { return d.withView(ctx, call, tree) },
	}
}

func tree(ctx context.Context, v *view) (*aai.Result, error) {
	call := v.call
	reportElements(ctx, len(v.snapshot.Elements))
	o := render.Options{
		Budget: params.Int(call, "budget_tokens", defaultBudget), Root: -1, After: params.String(call, "more"),
		Hidden: params.Bool(call, "include_invisible"), MaxDepth: params.Int(call, "max_depth", 0),
		Compact: params.Bool(call, "compact"), Ref: v.ref,
	}
	if root := params.String(call, "root"); root != "" {
		m, err := v.locate(ctx, root)
		if err != nil {
			return nil, err
		}
		o.Root = m.index
	} else if params.Has(call, "window_index") {
		var err error
		if o.Root, err = v.topLevelOf(ctx, params.Int(call, "window_index", 0)); err != nil {
			return nil, err
		}
	}
	if render.IsOffscreenCursor(o.After) || o.Root >= 0 && v.snapshot.IsOffscreen(o.Root) {
		if id := v.idOf(o.Root); v.readOffscreen(ctx) && o.Root >= 0 {
			if o.Root = v.snapshot.Index(id); o.Root < 0 {
				return nil, guierr.Failed(aai.NotDelivered, "the root disappeared while it was read")
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
	if o.Root < 0 && o.After == "" {
		out.Text = v.toolsOfPages(ctx) + patternLine(v.snapshot) + out.Text
	}
	if params.String(call, "format") == "json" {
		out.Text = "" // the data is the same
	}
	if pageless {
		page.Warnings = append(page.Warnings, "its page is empty so far; look again in a moment")
	}
	if text := strings.Join(append(page.Warnings, v.snapshot.Warnings...), "; "); text != "" {
		out.Warning = aai.CleanLabel(text, 500)
	}
	if v.app.HiddenReason != "" && page.Total == 0 {
		out.Warning = aai.CleanLabel(v.app.HiddenReason, 500)
	}
	return out, nil
}

// patternLine says which kind of window is in front, where a rule knows it and it asks for a certain next step.
func patternLine(s *desktop.Snapshot) string {
	switch found := patterns.Detect(s); found.Pattern {
	case patterns.None, patterns.Browser, patterns.Editor, patterns.Table, patterns.Form:
		return ""
	default:
		return fmt.Sprintf("Kind: %s; state: %s.\n", found.Pattern, found.State)
	}
}

// topLevelOf returns the index of the element of the program's n'th window, the front one first.
func (v *view) topLevelOf(ctx context.Context, n int) (int, error) {
	own, err := v.appWindows(ctx)
	if err != nil {
		return -1, err
	}
	if n >= 0 && n < len(own) {
		for _, top := range v.snapshot.Children(-1) {
			if w, sure := programs.BestWindow(own, &v.snapshot.Elements[top]); sure && w.ID == own[n].ID {
				return top, nil
			}
		}
		return -1, guierr.Failed(aai.NotDelivered, "the tree has no element of the window %s", desktop.Quote(own[n].Title, 60))
	}
	return -1, noSuchWindow(v.app, len(own))
}

// noSuchWindow returns the error for an index beyond the program's windows.
func noSuchWindow(app desktop.App, windows int) error {
	e := aai.Errorf(aai.ElementNotFound, "window_index: %s has %s on the screen", aai.CleanLabel(app.Name, 60), aai.Count(windows, "window"))
	e.Hint = "ax_list_windows lists them."
	return e
}

// toolsOfPages returns a line with the apps of the open pages that declare tools, or "".
func (v *view) toolsOfPages(ctx context.Context) string {
	if v.engine.pagesOf == nil || !v.app.IsBrowser {
		return ""
	}
	pages := v.engine.pagesOf(ctx, v.app.PID)
	if len(pages) == 0 {
		return ""
	}
	return "Open pages declare tools, which are surer than acts on their elements: guides of " + strings.Join(pages, ", ") + "\n"
}

// pageTimeout limits the wait for a browser's page that is loading.
const pageTimeout = 2 * time.Second

// awaitPage waits until a browser shows a page, and reports whether there is none: its windows
// appear before their content.
func (v *view) awaitPage(ctx context.Context) (pageless bool, err error) {
	if !v.app.IsBrowser {
		return false, nil
	}
	for p := v.newAdaptiveWait(pageTimeout); v.hasNoPage(); {
		if !p.awaitChange(ctx) {
			return true, nil
		}
		if err := v.refresh(ctx); err != nil {
			return false, err
		}
	}
	return false, nil
}

// pageView is a page of the rendered tree, as data.
type pageView struct {
	App    string `json:"app"`
	Tokens int    `json:"tokens"` // estimated, o200k_base
	Shown  int    `json:"interactive_shown"`
	Total  int    `json:"interactive_total"`
	Beyond string `json:"not_in_view,omitempty"`
	More   string `json:"more,omitempty"`
	Tree   any    `json:"tree,omitempty"`
}

// page renders the page in the format of the call.
func (v *view) page(o render.Options) (render.Page, any, error) {
	name := aai.CleanLabel(v.app.Name, 60)
	if params.String(v.call, "format") == "json" {
		tree, page, err := render.JSON(v.snapshot, o)
		return page, pageView{name, page.Tokens, page.Shown, page.Total, page.Offscreen, page.More, tree}, err
	}
	o.Budget = max(render.MinBudget, o.Budget-sanitize.EstimateTokens(desktop.Fence("", v.app.Name))-moreTokens)
	page, err := render.Text(v.snapshot, o)
	if err != nil {
		return page, nil, err
	}
	page.Text = desktop.Fence(page.Text, v.app.Name)
	if page.Shown == page.Total && page.Offscreen == "" && page.More == "" && o.After == "" { // a complete tree needs no totals
		page.Tokens = sanitize.EstimateTokens(page.Text)
		return page, pageView{name, page.Tokens, page.Shown, page.Total, "", "", nil}, nil
	}
	page.Text += fmt.Sprintf("%d of %s to act on", page.Shown, aai.Count(page.Total, "thing"))
	switch {
	case render.IsOffscreenCursor(o.After):
		page.Text += " that are out of view"
	case page.Offscreen != "":
		page.Text += "; out of view: " + page.Offscreen
	}
	if page.More != "" {
		page.Text += fmt.Sprintf("; more: %q", page.More)
	}
	page.Tokens = sanitize.EstimateTokens(page.Text) + sizeTokens
	page.Text += fmt.Sprintf("; about %d tokens\n", page.Tokens)
	return page, pageView{name, page.Tokens, page.Shown, page.Total, page.Offscreen, page.More, nil}, nil
}
