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

// RunsCommand reports whether a call would type into a terminal, as far as that is known in
// time. The call checks again before it types.
func (d *engine) RunsCommand(ctx context.Context, call *aai.Call) bool {
	if call.Target == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	found := false
	_, err := d.withViewUnqueued(ctx, call, func(ctx context.Context, v *view) (*aai.Result, error) {
		queries := params.Queries(call)
		if len(queries) == 0 {
			m, err := v.typingTarget(ctx, v.findLikely)
			found = err == nil && v.isShell(m.index)
			return nil, err
		}
		var failure error
		for _, query := range queries {
			m, err := v.findLikely(ctx, query)
			found = found || err == nil && v.isShell(m.index)
			failure = cmp.Or(failure, err)
		}
		return nil, failure
	})
	if err != nil {
		d.Log.Debug("the input target of a call is not known", "error", err)
	}
	return found
}

// isShell reports whether text typed into the element runs as commands. It is a terminal, contains
// or is inside one, or is the text box of a terminal in a web page, recognized by name. For a
// name by place, which is not the element's own, the description counts as well.
func (v *view) isShell(i int) bool {
	e := &v.snapshot.Elements[i]
	named := func(name string) bool { return strings.HasPrefix(strings.ToLower(name), "terminal") }
	if takesText(e) && (named(e.Name) || e.States.Has(desktop.Placed) && named(e.Description)) {
		return true
	}
	if e.Role == desktop.Combobox && slices.ContainsFunc(v.snapshot.Elements[i+1:e.End], func(c desktop.Element) bool {
		return takesText(&c) && (c.Role == desktop.Terminal || named(c.Name))
	}) {
		return true
	}
	if v.leadsIntoShell(i) {
		return true
	}
	for j := i; j >= 0; j = v.snapshot.Elements[j].Parent {
		if v.snapshot.Elements[j].Role == desktop.Terminal {
			return true
		}
	}
	for j := i + 1; j < e.End && e.Role != desktop.Window; j++ {
		if v.snapshot.Elements[j].Role == desktop.Terminal && v.snapshot.Elements[j].States.Has(desktop.Focused) {
			return true
		}
	}
	return false
}

// leadsIntoShell reports whether the text for a single-line field may continue in a terminal of its
// window. A tab or line end may move the focus there.
func (v *view) leadsIntoShell(i int) bool {
	text, e := v.inputText(), &v.snapshot.Elements[i]
	if !keysIn(e, text) || strings.TrimSpace(text[strings.IndexAny(text, "\n\r\t"):]) == "" {
		return false
	}
	top := v.snapshot.WindowOf(i)
	for j := top; j >= 0 && j < v.snapshot.Elements[top].End; j++ {
		if v.snapshot.Elements[j].Role == desktop.Terminal && v.snapshot.IsVisible(j) {
			return true
		}
	}
	return false
}

// mayType returns an error for typing into a terminal if the call has no permission for that. The
// focus may have moved since the permission was asked.
func (v *view) mayType(ctx context.Context, i int) error {
	if gateway.AdmittedPermission(ctx) == aai.PermissionRun || !v.isShell(i) {
		return nil
	}
	is := "is"
	if v.leadsIntoShell(i) {
		is = "leads into"
	}
	e := aai.Errorf(aai.ConsentRequired, "%s %s a terminal, and to type there runs commands: a person must allow %s of %s", v.name(i), is, aai.PermissionRun, v.call.Target.ID)
	e.Hint = "Make the call again, with the terminal named by query; the person is asked for it."
	e.Delivery = aai.NotDelivered
	return e
}
