package operate

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/query"
	"github.com/gybob/aai-gateway/internal/desktop/refs"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
	"github.com/gybob/aai-gateway/internal/gui/params"
	"github.com/gybob/aai-gateway/internal/gui/programs"
)

// FindTimeout limits how long a query waits for an element to appear.
const FindTimeout = 500 * time.Millisecond

// findAnywhere finds the elements of the query in view or, if there are none, out of view, and reports whether there
// are any. It ignores elements hidden by a dialog, closed tab, window or menu.
func (v *View) findAnywhere(ctx context.Context, q *query.Query) (query.Result, bool) {
	found := q.Find(v.Snapshot, query.Options{Root: -1, Hidden: true})
	seen := v.Snapshot.VisibleElements()
	if in := slices.DeleteFunc(slices.Clone(found.Matches), func(i int) bool { return !seen[i] }); len(in) > 0 {
		found.Matches = in
		return found, true
	}
	found.Matches = slices.DeleteFunc(slices.Clone(found.Matches), func(i int) bool { return v.hiddenReason(ctx, i) != "" })
	return found, len(found.Matches) > 0
}

// WithView runs f with a fresh view of the program that the call names. The call holds the
// program's queue slot.
func (d *Engine) WithView(ctx context.Context, call *aai.Call, f func(context.Context, *View) (*aai.Result, error)) (*aai.Result, error) {
	return d.runWithView(ctx, call, false, f)
}

// WithViewToAct is WithView for a call that acts on the program. It first waits for the effect of
// the last action, so that the effect is not attributed to this call.
func (d *Engine) WithViewToAct(ctx context.Context, call *aai.Call, f func(context.Context, *View) (*aai.Result, error)) (*aai.Result, error) {
	return d.runWithView(ctx, call, true, f)
}

func (d *Engine) runWithView(ctx context.Context, call *aai.Call, acts bool, f func(context.Context, *View) (*aai.Result, error)) (*aai.Result, error) {
	return d.WithViewUnqueued(ctx, call, func(ctx context.Context, v *View) (*aai.Result, error) {
		v.AmbientChanges = d.Cache.AmbientChangesOf(v.App)
		if err := v.awaitPending(ctx, acts); err != nil {
			return nil, err
		}
		v.learnAmbient()
		since := joined(v.changesSince(), v.foreignWindowsSince(ctx))
		result, err := f(ctx, v)
		return withSince(result, err, since)
	})
}

// WithViewUnqueued is WithView without a queue slot, for calls that do not act on the program.
func (d *Engine) WithViewUnqueued(ctx context.Context, call *aai.Call, f func(context.Context, *View) (*aai.Result, error)) (result *aai.Result, err error) {
	app, err := d.AdmittedApp(ctx, call)
	if err != nil {
		return nil, err
	}
	v := &View{Engine: d, Backend: d.OpenBackend(), Call: call, App: app, treeOptional: params.IsByPoint(call)}
	if d.RefStore.IsPersistent(call) {
		known, done, err := d.RefStore.Open(ctx, app, programs.NewTarget(app).Digest)
		if err != nil {
			return nil, err
		}
		defer func() {
			if err := done(); err != nil {
				d.Log.Warn("references are not kept", "error", err)
			}
		}()
		v.Refs = known
	} else {
		v.Refs = d.Sessions.For(call).RefsOf(app)
	}
	if err := v.Refresh(ctx); err != nil {
		return nil, err
	}
	return f(ctx, v)
}

// Refresh reads the program's tree again.
func (v *View) Refresh(ctx context.Context) error {
	shot, err := v.Backend.Tree.Snapshot(ctx, v.App)
	if v.treeless(err) {
		shot, err, v.NoTree = &desktop.Snapshot{App: v.App}, nil, true
	}
	if err != nil {
		return v.unreadableError(guierr.Unreadable(err))
	}
	v.Snapshot = shot
	return nil
}

// Read reads one element again.
func (v *View) Read(ctx context.Context, id desktop.ID) (desktop.Element, error) {
	e, err := v.Backend.Tree.Read(ctx, v.App, id)
	if err != nil {
		return e, guierr.Unreadable(err)
	}
	return e, nil
}

// Match is the index of an element in the snapshot of the view, with the strategy by which a query found it.
type Match struct {
	Index    int
	Strategy query.Strategy
}

// Locate finds the one element of the query. Without a match it retries until FindTimeout: many
// elements appear a moment after the action that caused them.
func (v *View) Locate(ctx context.Context, query string) (Match, error) {
	for p := v.NewAdaptiveWait(FindTimeout); ; {
		m, err := v.FindWithOffscreen(ctx, query)
		if err == nil || aai.AsError(err).Code != aai.ElementNotFound || refs.Is(query) || !p.AwaitChange(ctx) {
			return m, err
		}
		if err := v.Refresh(ctx); err != nil {
			return m, err
		}
	}
}

// FindLikely is Find for the gates that judge a call: it returns the element that the call would
// act upon, or else the likeliest match.
func (v *View) FindLikely(ctx context.Context, query string) (Match, error) {
	v.CertainOnly = true
	m, err := v.Find(ctx, query)
	if v.CertainOnly = false; err != nil {
		return v.Find(ctx, query)
	}
	return m, nil
}

// FindWithOffscreen is Find that also reads elements out of view, if the target may be there.
func (v *View) FindWithOffscreen(ctx context.Context, query string) (Match, error) {
	m, err := v.Find(ctx, query)
	if v.mayBeOffscreen(m, err) && v.ReadOffscreen(ctx) {
		m, err = v.Find(ctx, query)
	}
	if err != nil && aai.AsError(err).Code == aai.ElementNotFound && v.ReadSheetCell(ctx, query) {
		m, err = v.Find(ctx, query)
	}
	return m, err
}

// Find returns the one element of the present snapshot that the query or ref matches. If several match, it fails
// unless the argument nth of the call selects one.
func (v *View) Find(ctx context.Context, text string) (Match, error) {
	if refs.Is(text) {
		i, err := v.Refs.Resolve(v.Snapshot, text)
		if told, renamed := v.Refs.NameChanged(v.Snapshot, text); err == nil && renamed && v.ForAction {
			return Match{}, v.RenamedError(text, i, told)
		}
		if e := aai.AsError(err); e != nil && e.Code == aai.StaleRef {
			v.behindDialog(e)
		}
		if err == nil && v.ForAction {
			i = query.WrappedControl(v.Snapshot, i)
		}
		return Match{i, "ref"}, err
	}
	found, err := v.search(ctx, text)
	if err != nil {
		return Match{}, err
	}
	nth := params.Int(v.Call, "nth", 0)
	switch {
	case len(found.Matches) == 0:
		return Match{}, v.notFound(ctx, text, found)
	case nth > len(found.Matches):
		e := aai.Errorf(aai.ElementNotFound, "nth: %d is more than the %d that match %s", nth, len(found.Matches), guierr.QuoteQuery(text))
		e.Delivery = aai.NotDelivered
		e.Candidates = v.Candidates(found.Matches)
		return Match{}, e
	case nth > 0:
		return Match{found.Matches[nth-1], found.Strategy}, nil
	case len(found.Matches) == 1:
		return Match{found.Matches[0], found.Strategy}, nil
	}
	e := aai.Errorf(aai.AmbiguousTarget, "%d elements match %s", len(found.Matches), guierr.QuoteQuery(text))
	e.Delivery = aai.NotDelivered
	e.Candidates = v.Candidates(found.Matches)
	e.Hint = "Give the ref of the one you mean as query, or nth."
	return Match{}, e
}

// filterCertain narrows the matches of a query with CertainOnly. It drops matches behind a modal dialog. It prefers
// those in a dialog in front, and those in a page over the elements of the browser. Without a match, the error or the
// suggestions name similar elements.
func (v *View) filterCertain(ctx context.Context, q *query.Query, text string, found query.Result) (query.Result, error) {
	if len(found.Matches) > 0 {
		whole := q.FilterWholeNames(v.Snapshot, v.inDialog(ctx, v.usable(ctx, found.Matches)))
		found.Matches = q.ClosestMatches(v.Snapshot, v.FilterInside(whole, func(p int) bool { return v.Snapshot.Elements[p].Role == desktop.Document }))
		return found, nil
	}
	like := q.Find(v.Snapshot, query.Options{Root: -1})
	if len(like.Matches) == 0 || len(found.HiddenMatches) > 0 {
		found.Suggestions = append(like.Suggestions, like.Matches...)
		return found, nil
	}
	e := aai.Errorf(aai.ElementNotFound, "nothing in %s is called %s; similar elements are too uncertain to act on", aai.CleanLabel(v.App.Name, 60), guierr.QuoteQuery(text))
	e.Delivery = aai.NotDelivered
	e.Candidates = v.Candidates(like.Matches)
	e.Hint = "Give its ref or its whole name as query; contains: before the words matches any element that has them." + v.UnloadedMenusHint() + v.UnsearchedHint()
	return found, e
}

// usable keeps the matches that are not behind a modal dialog, or all if there are none.
func (v *View) usable(ctx context.Context, matches []int) []int {
	if len(matches) < 2 {
		return matches
	}
	behind := make(map[int]bool) // by window
	left := slices.DeleteFunc(slices.Clone(matches), func(i int) bool {
		top := v.Snapshot.WindowOf(i)
		if _, known := behind[top]; !known {
			behind[top] = v.modal(ctx, top) >= 0
		}
		return behind[top]
	})
	if len(left) == 0 {
		return matches
	}
	return left
}

// inDialog keeps the matches that are in a dialog in front, or all if there are none.
func (v *View) inDialog(ctx context.Context, matches []int) []int {
	const unknown = -2
	front := unknown
	return v.FilterInside(matches, func(p int) bool {
		e := &v.Snapshot.Elements[p]
		switch {
		case e.Role != desktop.Dialog && e.Role != desktop.AlertDialog:
			return false
		case e.Parent >= 0 || e.States.HasAny(desktop.Modal|desktop.Active):
			return true
		case front == unknown:
			front = v.FrontTopLevel(ctx)
		}
		return p == front
	})
}

// search returns all matches of the query.
func (v *View) search(ctx context.Context, text string) (query.Result, error) {
	strategy := query.Strategy(params.String(v.Call, "strategy"))
	if strategy == "" {
		strategy = "auto"
	}
	q, err := query.Parse(text, strategy)
	if err != nil {
		return query.Result{}, err
	}
	if v.IncludeOffscreen {
		if found, some := v.findAnywhere(ctx, q); some {
			found.Matches = v.WithoutHiddenMenuBars(found.Matches)
			return found, nil
		}
	}
	find := q.Find
	if v.CertainOnly {
		find = q.FindForAction
	}
	found := find(v.Snapshot, query.Options{Root: -1})
	found.Matches, found.HiddenMatches = v.WithoutHiddenMenuBars(found.Matches), v.WithoutHiddenMenuBars(found.HiddenMatches)
	if len(found.Matches) == 0 {
		found.Matches = v.OutOfView(found.HiddenMatches)
	}
	if v.IncludeHidden && len(found.Matches) == 0 {
		found.Matches = found.HiddenMatches
	}
	if v.IncludeMenus && len(found.Matches) == 0 {
		for _, i := range found.HiddenMatches {
			if v.InClosedMenu(i) {
				found.Matches = append(found.Matches, i)
			}
		}
	}
	if v.CertainOnly {
		return v.filterCertain(ctx, q, text, found)
	}
	return found, nil
}

// behindDialog adds to e the dialog that makes a browser hide its page, or else the open modal dialog of the page.
// Elements behind the dialog are absent from the tree while it is open.
func (v *View) behindDialog(e *aai.Error) {
	if dialog := v.AlertOfPage(); dialog >= 0 && v.App.IsBrowser && !v.WithoutNewRefs {
		e.Message += "; " + v.Name(dialog) + " is before its page"
		e.Hint = "Answer or close that dialog first."
	} else if dialog := v.PageModal(); dialog >= 0 && v.App.IsBrowser && !v.WithoutNewRefs {
		e.Message += "; " + v.Name(dialog) + " is open"
		e.Hint = "Elements of the page behind that dialog are not there until it is closed. " + e.Hint
	}
}

func (v *View) notFound(ctx context.Context, text string, found query.Result) error {
	e := aai.Errorf(aai.ElementNotFound, "nothing in %s matches %s", aai.CleanLabel(v.App.Name, 60), guierr.QuoteQuery(text))
	e.Delivery = aai.NotDelivered
	e.Candidates = v.Candidates(found.Suggestions)
	e.Hint = "ax_get_tree shows what is there." + v.UnloadedMenusHint() + v.UnsearchedHint()
	v.behindDialog(e)
	if len(found.HiddenMatches) > 0 {
		e.Message += fmt.Sprintf("; %s is there, but not showing", desktop.Describe(&v.Snapshot.Elements[found.HiddenMatches[0]]))
		e.Hint = v.revealHint(ctx, found.HiddenMatches[0])
		if v.InClosedMenu(found.HiddenMatches[0]) {
			e.Candidates = append(v.Candidates(found.HiddenMatches), e.Candidates...)
		}
	}
	return e
}
