package gui

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/delta"
	"github.com/gybob/aai-gateway/internal/desktop/query"
	"github.com/gybob/aai-gateway/internal/desktop/refs"
	"github.com/gybob/aai-gateway/internal/gui/conversation"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
	"github.com/gybob/aai-gateway/internal/gui/params"
	"github.com/gybob/aai-gateway/internal/gui/programs"
	"github.com/gybob/aai-gateway/internal/gui/screenshot"
	"github.com/gybob/aai-gateway/internal/gui/snapview"
)

// view holds the state of one call that operates a program: its latest snapshot with refs, the backend and the
// options. Set the options before a query.
type view struct {
	snapview.RefSnapshot
	engine  *engine
	backend desktop.Backend
	call    *aai.Call
	app     desktop.App
	// includeHidden lets queries match elements that are not visible if no visible one matches.
	includeHidden bool
	// includeMenus lets queries match items of closed menus if no visible element matches.
	includeMenus     bool
	forAction        bool                  // the element must still have the name that the caller knows
	certainOnly      bool                  // queries accept only certain matches
	batched          bool                  // the action is one of several with a common report
	announced        map[desktop.ID]string // elements already announced, with their texts then
	includeOffscreen bool                  // queries match elements out of view as well as visible ones
	offscreenRead    bool                  // elements out of view were read, too
	treeOptional     bool                  // the call works without a tree
	noTree           bool                  // the program has no tree
	screenWatcher    *screenshot.Watcher   // compares screenshots of the window that gets input; nil if off
	scrolledIntoView bool                  // the element was out of view and was scrolled into view
	keyboardGuard    *keyboardGuard        // from before the first of several actions; nil for a single one
	ambientChanges   *delta.AmbientChanges
	previousAction   *conversation.LastAction // the action before this call's; nil until it acts
}

// findTimeout limits how long a query waits for an element to appear.
const findTimeout = 500 * time.Millisecond

// findAnywhere finds the elements of the query in view or, if there are none, out of view, and reports whether there
// are any. It ignores elements hidden by a dialog, closed tab, window or menu.
func (v *view) findAnywhere(ctx context.Context, q *query.Query) (query.Result, bool) {
	found := q.Find(v.Snapshot, query.Options{Root: -1, Hidden: true})
	seen := v.Snapshot.VisibleElements()
	if in := slices.DeleteFunc(slices.Clone(found.Matches), func(i int) bool { return !seen[i] }); len(in) > 0 {
		found.Matches = in
		return found, true
	}
	found.Matches = slices.DeleteFunc(slices.Clone(found.Matches), func(i int) bool { return v.hiddenReason(ctx, i) != "" })
	return found, len(found.Matches) > 0
}

// withView runs f with a fresh view of the program that the call names. The call holds the
// program's queue slot.
func (d *engine) withView(ctx context.Context, call *aai.Call, f func(context.Context, *view) (*aai.Result, error)) (*aai.Result, error) {
	return d.runWithView(ctx, call, false, f)
}

// withViewToAct is withView for a call that acts on the program. It first waits for the effect of
// the last action, so that the effect is not attributed to this call.
func (d *engine) withViewToAct(ctx context.Context, call *aai.Call, f func(context.Context, *view) (*aai.Result, error)) (*aai.Result, error) {
	return d.runWithView(ctx, call, true, f)
}

func (d *engine) runWithView(ctx context.Context, call *aai.Call, acts bool, f func(context.Context, *view) (*aai.Result, error)) (*aai.Result, error) {
	return d.withViewUnqueued(ctx, call, func(ctx context.Context, v *view) (*aai.Result, error) {
		v.ambientChanges = d.Cache.AmbientChangesOf(v.app)
		if err := v.awaitPending(ctx, acts); err != nil {
			return nil, err
		}
		v.learnAmbient()
		since := joined(v.changesSince(), v.foreignWindowsSince(ctx))
		result, err := f(ctx, v)
		return withSince(result, err, since)
	})
}

// withViewUnqueued is withView without a queue slot, for calls that do not act on the program.
func (d *engine) withViewUnqueued(ctx context.Context, call *aai.Call, f func(context.Context, *view) (*aai.Result, error)) (result *aai.Result, err error) {
	app, err := d.AdmittedApp(ctx, call)
	if err != nil {
		return nil, err
	}
	v := &view{engine: d, backend: d.OpenBackend(), call: call, app: app, treeOptional: params.IsByPoint(call)}
	if d.refStore.IsPersistent(call) {
		known, done, err := d.refStore.Open(ctx, app, programs.NewTarget(app).Digest)
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
	if err := v.refresh(ctx); err != nil {
		return nil, err
	}
	return f(ctx, v)
}

// refresh reads the program's tree again.
func (v *view) refresh(ctx context.Context) error {
	shot, err := v.backend.Tree.Snapshot(ctx, v.app)
	if v.treeless(err) {
		shot, err, v.noTree = &desktop.Snapshot{App: v.app}, nil, true
	}
	if err != nil {
		return v.unreadableError(guierr.Unreadable(err))
	}
	v.Snapshot = shot
	return nil
}

// read reads one element again.
func (v *view) read(ctx context.Context, id desktop.ID) (desktop.Element, error) {
	e, err := v.backend.Tree.Read(ctx, v.app, id)
	if err != nil {
		return e, guierr.Unreadable(err)
	}
	return e, nil
}

// match is the index of an element in the snapshot of the view, with the strategy by which a query found it.
type match struct {
	index    int
	strategy query.Strategy
}

// locate finds the one element of the query. Without a match it retries until findTimeout: many
// elements appear a moment after the action that caused them.
func (v *view) locate(ctx context.Context, query string) (match, error) {
	for p := v.newAdaptiveWait(findTimeout); ; {
		m, err := v.findWithOffscreen(ctx, query)
		if err == nil || aai.AsError(err).Code != aai.ElementNotFound || refs.Is(query) || !p.awaitChange(ctx) {
			return m, err
		}
		if err := v.refresh(ctx); err != nil {
			return m, err
		}
	}
}

// findLikely is find for the gates that judge a call: it returns the element that the call would
// act upon, or else the likeliest match.
func (v *view) findLikely(ctx context.Context, query string) (match, error) {
	v.certainOnly = true
	m, err := v.find(ctx, query)
	if v.certainOnly = false; err != nil {
		return v.find(ctx, query)
	}
	return m, nil
}

// findWithOffscreen is find that also reads elements out of view, if the target may be there.
func (v *view) findWithOffscreen(ctx context.Context, query string) (match, error) {
	m, err := v.find(ctx, query)
	if v.mayBeOffscreen(m, err) && v.readOffscreen(ctx) {
		m, err = v.find(ctx, query)
	}
	if err != nil && aai.AsError(err).Code == aai.ElementNotFound && v.readSheetCell(ctx, query) {
		m, err = v.find(ctx, query)
	}
	return m, err
}

// find returns the one element of the present snapshot that the query or ref matches. If several match, it fails
// unless the argument nth of the call selects one.
func (v *view) find(ctx context.Context, text string) (match, error) {
	if refs.Is(text) {
		i, err := v.Refs.Resolve(v.Snapshot, text)
		if told, renamed := v.Refs.NameChanged(v.Snapshot, text); err == nil && renamed && v.forAction {
			return match{}, v.RenamedError(text, i, told)
		}
		if e := aai.AsError(err); e != nil && e.Code == aai.StaleRef {
			v.behindDialog(e)
		}
		if err == nil && v.forAction {
			i = query.WrappedControl(v.Snapshot, i)
		}
		return match{i, "ref"}, err
	}
	found, err := v.search(ctx, text)
	if err != nil {
		return match{}, err
	}
	nth := params.Int(v.call, "nth", 0)
	switch {
	case len(found.Matches) == 0:
		return match{}, v.notFound(ctx, text, found)
	case nth > len(found.Matches):
		e := aai.Errorf(aai.ElementNotFound, "nth: %d is more than the %d that match %s", nth, len(found.Matches), guierr.QuoteQuery(text))
		e.Delivery = aai.NotDelivered
		e.Candidates = v.Candidates(found.Matches)
		return match{}, e
	case nth > 0:
		return match{found.Matches[nth-1], found.Strategy}, nil
	case len(found.Matches) == 1:
		return match{found.Matches[0], found.Strategy}, nil
	}
	e := aai.Errorf(aai.AmbiguousTarget, "%d elements match %s", len(found.Matches), guierr.QuoteQuery(text))
	e.Delivery = aai.NotDelivered
	e.Candidates = v.Candidates(found.Matches)
	e.Hint = "Give the ref of the one you mean as query, or nth."
	return match{}, e
}

// filterCertain narrows the matches of a query with certainOnly. It drops matches behind a modal dialog. It prefers
// those in a dialog in front, and those in a page over the elements of the browser. Without a match, the error or the
// suggestions name similar elements.
func (v *view) filterCertain(ctx context.Context, q *query.Query, text string, found query.Result) (query.Result, error) {
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
	e := aai.Errorf(aai.ElementNotFound, "nothing in %s is called %s; similar elements are too uncertain to act on", aai.CleanLabel(v.app.Name, 60), guierr.QuoteQuery(text))
	e.Delivery = aai.NotDelivered
	e.Candidates = v.Candidates(like.Matches)
	e.Hint = "Give its ref or its whole name as query; contains: before the words matches any element that has them." + v.UnloadedMenusHint() + v.UnsearchedHint()
	return found, e
}

// usable keeps the matches that are not behind a modal dialog, or all if there are none.
func (v *view) usable(ctx context.Context, matches []int) []int {
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
func (v *view) inDialog(ctx context.Context, matches []int) []int {
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
			front = v.frontTopLevel(ctx)
		}
		return p == front
	})
}

// search returns all matches of the query.
func (v *view) search(ctx context.Context, text string) (query.Result, error) {
	strategy := query.Strategy(params.String(v.call, "strategy"))
	if strategy == "" {
		strategy = "auto"
	}
	q, err := query.Parse(text, strategy)
	if err != nil {
		return query.Result{}, err
	}
	if v.includeOffscreen {
		if found, some := v.findAnywhere(ctx, q); some {
			found.Matches = v.WithoutHiddenMenuBars(found.Matches)
			return found, nil
		}
	}
	find := q.Find
	if v.certainOnly {
		find = q.FindForAction
	}
	found := find(v.Snapshot, query.Options{Root: -1})
	found.Matches, found.HiddenMatches = v.WithoutHiddenMenuBars(found.Matches), v.WithoutHiddenMenuBars(found.HiddenMatches)
	if len(found.Matches) == 0 {
		found.Matches = v.OutOfView(found.HiddenMatches)
	}
	if v.includeHidden && len(found.Matches) == 0 {
		found.Matches = found.HiddenMatches
	}
	if v.includeMenus && len(found.Matches) == 0 {
		for _, i := range found.HiddenMatches {
			if v.InClosedMenu(i) {
				found.Matches = append(found.Matches, i)
			}
		}
	}
	if v.certainOnly {
		return v.filterCertain(ctx, q, text, found)
	}
	return found, nil
}

// behindDialog adds to e the dialog that makes a browser hide its page, or else the open modal dialog of the page.
// Elements behind the dialog are absent from the tree while it is open.
func (v *view) behindDialog(e *aai.Error) {
	if dialog := v.AlertOfPage(); dialog >= 0 && v.app.IsBrowser && !v.WithoutNewRefs {
		e.Message += "; " + v.Name(dialog) + " is before its page"
		e.Hint = "Answer or close that dialog first."
	} else if dialog := v.PageModal(); dialog >= 0 && v.app.IsBrowser && !v.WithoutNewRefs {
		e.Message += "; " + v.Name(dialog) + " is open"
		e.Hint = "Elements of the page behind that dialog are not there until it is closed. " + e.Hint
	}
}

func (v *view) notFound(ctx context.Context, text string, found query.Result) error {
	e := aai.Errorf(aai.ElementNotFound, "nothing in %s matches %s", aai.CleanLabel(v.app.Name, 60), guierr.QuoteQuery(text))
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
