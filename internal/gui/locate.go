package gui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/query"
	"github.com/gybob/aai-gateway/internal/desktop/refs"
	"github.com/gybob/aai-gateway/internal/gui/conversation"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
	"github.com/gybob/aai-gateway/internal/gui/params"
)

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
	if (v.mayBeOffscreen(m, err) || err == nil && v.hasLongerName(m.index, query)) && v.readOffscreen(ctx) {
		m, err = v.find(ctx, query)
	}
	if err != nil && aai.AsError(err).Code == aai.ElementNotFound && v.readSheetCell(ctx, query) {
		m, err = v.find(ctx, query)
	}
	return m, err
}

// Queries also find elements that are scrolled out of view, if no visible one matches. An action
// scrolls such an element into view first, and reports that.

// hasLongerName reports whether the action is for an element whose name only contains the query: an element out of view
// may have the whole name.
func (v *view) hasLongerName(i int, query string) bool {
	name := folded(v.snapshot.Elements[i].Name)
	return v.forAction && name != folded(query) && strings.Contains(name, folded(query))
}

// mayBeOffscreen reports whether the match is out of view, or nothing was found.
func (v *view) mayBeOffscreen(m match, err error) bool {
	if err != nil {
		return aai.AsError(err).Code == aai.ElementNotFound
	}
	return v.snapshot.IsOffscreen(m.index)
}

// readOffscreen also reads elements that are entirely out of view, and reports whether it did. It
// reads once per view, and only if there are any.
func (v *view) readOffscreen(ctx context.Context) bool {
	if v.offscreenRead || v.backend.Offscreen == nil {
		return false
	}
	for i := range v.snapshot.Elements {
		if !v.snapshot.IsOffscreen(i) {
			continue
		}
		shot, err := v.backend.Offscreen.SnapshotOffscreen(ctx, v.app)
		if err != nil {
			return false // the visible elements are known anyway
		}
		v.snapshot, v.offscreenRead = shot, true
		return true
	}
	return false
}

// find returns the one element of the present snapshot that the query or ref matches. If several match, it fails
// unless the argument nth of the call selects one. For a call that types, it returns the field inside an editable
// combo box in place of the box, and the field of a label, so that the gates judge the element that receives the text.
func (v *view) find(ctx context.Context, text string) (match, error) {
	m, err := v.findMatch(ctx, text)
	if err == nil && typesInto(v.call, text) {
		m.index = v.fieldOf(ctx, m.index, text)
	}
	return m, err
}

// findMatch is find without regard to the kind of call.
func (v *view) findMatch(ctx context.Context, text string) (match, error) {
	if refs.Is(text) {
		i, err := v.refs.Resolve(v.snapshot, text)
		if told, renamed := v.refs.NameChanged(v.snapshot, text); err == nil && renamed && v.forAction {
			return match{}, v.renamedError(text, i, told)
		}
		if e := aai.AsError(err); e != nil && e.Code == aai.StaleRef {
			v.behindDialog(e)
		}
		if err == nil && v.forAction {
			i = query.WrappedControl(v.snapshot, i)
		}
		return match{i, "ref"}, err
	}
	found, err := v.search(ctx, text)
	if err != nil {
		return match{}, err
	}
	nth := params.Int(v.call, "nth", 0)
	switch {
	case len(found.Matches) == 0 && conversation.IsPictureWord(text):
		return match{}, v.lostWordError(text)
	case len(found.Matches) == 0:
		return match{}, v.notFound(ctx, text, found)
	case nth > len(found.Matches):
		e := aai.Errorf(aai.ElementNotFound, "nth: %d is more than the %d that match %s", nth, len(found.Matches), guierr.QuoteQuery(text))
		e.Delivery = aai.NotDelivered
		setCandidates(e, v.candidates(found.Matches), len(found.Matches))
		return match{}, e
	case nth > 0:
		return match{found.Matches[nth-1], found.Strategy}, nil
	case len(found.Matches) == 1:
		return match{found.Matches[0], found.Strategy}, nil
	}
	e := aai.Errorf(aai.AmbiguousTarget, "%d elements match %s", len(found.Matches), guierr.QuoteQuery(text))
	e.Delivery, e.Query = aai.NotDelivered, text
	setCandidates(e, v.candidates(found.Matches), len(found.Matches))
	e.Hint = "Give the ref of the one you mean as query, or nth."
	return match{}, e
}

// renamedError returns the error for a ref of an element that was renamed since the caller saw it.
// It contains the new name, so that the caller may go on.
func (v *view) renamedError(ref string, i int, told string) error {
	e := aai.Errorf(aai.StaleRef, "%s was %q and is %s now", ref, aai.CleanLabel(told, 60), desktop.Describe(&v.snapshot.Elements[i]))
	e.Delivery = aai.NotDelivered
	e.Candidates = v.candidates([]int{i})
	e.Hint = "If you mean this element, call again."
	return e
}

// findAnywhere finds the elements of the query in view and out of view, those in view first, and reports whether there
// are any. A single one in view is the match. It ignores elements hidden by a dialog, closed tab, window or menu.
func (v *view) findAnywhere(ctx context.Context, q *query.Query) (query.Result, bool) {
	found := q.Find(v.snapshot, query.Options{Root: -1, Hidden: true})
	seen := v.snapshot.VisibleElements()
	in := slices.DeleteFunc(slices.Clone(found.Matches), func(i int) bool { return !seen[i] })
	if len(in) == 1 && params.Int(v.call, "nth", 0) < 2 {
		found.Matches = in
		return found, true
	}
	out := slices.DeleteFunc(found.Matches, func(i int) bool { return seen[i] || v.hiddenReason(ctx, i) != "" })
	found.Matches = append(in, out...)
	return found, len(found.Matches) > 0
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
			found.Matches = v.withoutHiddenMenuBars(found.Matches)
			return found, nil
		}
	}
	find := q.Find
	if v.certainOnly {
		find = q.FindForAction
	}
	found := find(v.snapshot, query.Options{Root: -1})
	found.Matches, found.HiddenMatches = v.withoutHiddenMenuBars(found.Matches), v.withoutHiddenMenuBars(found.HiddenMatches)
	if len(found.Matches) == 0 {
		found.Matches = v.outOfView(found.HiddenMatches)
	} else {
		if params.Int(v.call, "nth", 0) > len(found.Matches) { // in the order of ax_find
			found.Matches = append(found.Matches, v.outOfView(find(v.snapshot, query.Options{Root: -1, Hidden: true}).Matches)...)
		}
		if v.certainOnly {
			v.replaceGroups(found.Matches)
		}
	}
	if v.includeHidden && len(found.Matches) == 0 {
		found.Matches = found.HiddenMatches
	}
	if v.includeMenus && len(found.Matches) == 0 {
		for _, i := range found.HiddenMatches {
			if v.inClosedMenu(i) {
				found.Matches = append(found.Matches, i)
			}
		}
	}
	if v.certainOnly {
		return v.filterCertain(ctx, q, text, found)
	}
	return found, nil
}

// outOfView returns those of matches that are only scrolled out of view.
func (v *view) outOfView(matches []int) []int {
	var out []int
	for _, i := range matches {
		if v.snapshot.IsOffscreen(i) {
			out = append(out, i)
		}
	}
	return out
}

// withoutHiddenMenuBars removes matches in invisible menu bars, unless none would remain.
func (v *view) withoutHiddenMenuBars(matches []int) []int {
	if len(matches) < 2 {
		return matches
	}
	left := slices.DeleteFunc(slices.Clone(matches), v.isInHiddenMenuBar)
	if len(left) == 0 {
		return matches
	}
	return left
}

// isInHiddenMenuBar reports whether the element is in an invisible menu bar of a window that also
// has a visible one. GTK draws LibreOffice's menus, but LibreOffice also reports its own menu bar
// as showing, with no height.
func (v *view) isInHiddenMenuBar(i int) bool {
	for p := v.snapshot.Elements[i].Parent; p >= 0; p = v.snapshot.Elements[p].Parent {
		if v.snapshot.Elements[p].Role == desktop.Menubar {
			return v.snapshot.Elements[p].Frame.Empty() && v.hasMenuBar(v.snapshot.WindowOf(p))
		}
	}
	return false
}

// hasMenuBar reports whether the window has a visible menu bar.
func (v *view) hasMenuBar(window int) bool {
	for j := window; j < v.snapshot.Elements[window].End; j++ {
		if e := &v.snapshot.Elements[j]; e.Role == desktop.Menubar && !e.Frame.Empty() && v.snapshot.IsVisible(j) {
			return true
		}
	}
	return false
}

// filterCertain narrows the matches of a query with certainOnly. It drops matches behind a modal dialog. It prefers
// those in a dialog in front, and those in a page over the elements of the browser. Without a match, the error or the
// suggestions name similar elements.
func (v *view) filterCertain(ctx context.Context, q *query.Query, text string, found query.Result) (query.Result, error) {
	if len(found.Matches) > 0 {
		whole := q.FilterWholeNames(v.snapshot, v.inDialog(ctx, v.usable(ctx, found.Matches)))
		if !q.HasWords() {
			whole = v.fillable(text, whole)
		}
		found.Matches = q.ClosestMatches(v.snapshot, v.filterInside(whole, func(p int) bool { return v.snapshot.Elements[p].Role == desktop.Document }))
		return found, nil
	}
	like := q.Find(v.snapshot, query.Options{Root: -1})
	if len(like.Matches) == 0 || len(found.HiddenMatches) > 0 {
		found.Suggestions = append(like.Suggestions, like.Matches...)
		return found, nil
	}
	e := aai.Errorf(aai.ElementNotFound, "nothing in %s is called %s; similar elements are too uncertain to act on", aai.CleanLabel(v.app.Name, 60), guierr.QuoteQuery(text))
	e.Delivery = aai.NotDelivered
	setCandidates(e, v.candidates(like.Matches), len(like.Matches))
	e.Hint = "Give its ref or its whole name as query; contains: before the words matches any element that has them." + v.unloadedMenusHint() + v.unsearchedHint()
	return found, e
}

// usable keeps the matches that are not behind a modal dialog, or all if there are none.
func (v *view) usable(ctx context.Context, matches []int) []int {
	if len(matches) < 2 {
		return matches
	}
	behind := make(map[int]bool) // by window
	left := slices.DeleteFunc(slices.Clone(matches), func(i int) bool {
		top := v.snapshot.WindowOf(i)
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

// fillable keeps the matches that are fields, and not read-only, if the call enters a text, or all if there are none.
func (v *view) fillable(query string, matches []int) []int {
	if len(matches) < 2 || v.call.Tool == keyPressName || !typesInto(v.call, query) {
		return matches
	}
	left := slices.DeleteFunc(slices.Clone(matches), func(i int) bool {
		e := &v.snapshot.Elements[i]
		return e.States.Has(desktop.ReadOnly) || takesKeys(e)
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
	return v.filterInside(matches, func(p int) bool {
		e := &v.snapshot.Elements[p]
		switch {
		case e.Role != desktop.Dialog && e.Role != desktop.AlertDialog:
			return false
		case e.States.HasAny(desktop.Modal | desktop.Active):
			return true
		case e.Parent >= 0:
			return v.app.IsBrowser || v.document(p) >= 0 // a docked panel of Qt is a dialog too
		case front == unknown:
			front = v.frontTopLevel(ctx)
		}
		return p == front
	})
}

// filterInside keeps the matches with an ancestor for which such returns true, or all if there are none.
func (v *view) filterInside(matches []int, such func(i int) bool) []int {
	if len(matches) < 2 {
		return matches
	}
	within := func(i int) bool {
		for p := v.snapshot.Elements[i].Parent; p >= 0; p = v.snapshot.Elements[p].Parent {
			if such(p) {
				return true
			}
		}
		return false
	}
	if !slices.ContainsFunc(matches, within) {
		return matches
	}
	return slices.DeleteFunc(slices.Clone(matches), func(i int) bool { return !within(i) })
}

// behindDialog adds to e the dialog that makes a browser hide its page, or else the open modal dialog of the page.
// Elements behind the dialog are absent from the tree while it is open.
func (v *view) behindDialog(e *aai.Error) {
	if dialog := v.alertOfPage(); dialog >= 0 && v.app.IsBrowser && !v.withoutNewRefs {
		e.Message += "; " + v.name(dialog) + " is before its page"
		e.Hint = "Answer or close that dialog first."
	} else if dialog := v.pageModal(); dialog >= 0 && v.app.IsBrowser && !v.withoutNewRefs {
		e.Message += "; " + v.name(dialog) + " is open"
		e.Hint = "Elements of the page behind that dialog are not there until it is closed. " + e.Hint
	}
}

func (v *view) notFound(ctx context.Context, text string, found query.Result) error {
	e := aai.Errorf(aai.ElementNotFound, "nothing in %s matches %s", aai.CleanLabel(v.app.Name, 60), guierr.QuoteQuery(text))
	e.Delivery, e.Query = aai.NotDelivered, text
	e.Candidates = v.candidates(found.Suggestions)
	e.Hint = "ax_get_tree shows what is there." + v.unloadedMenusHint() + v.unsearchedHint()
	v.behindDialog(e)
	if len(found.HiddenMatches) > 0 {
		e.Message += fmt.Sprintf("; %s is there, but not showing", desktop.Describe(&v.snapshot.Elements[found.HiddenMatches[0]]))
		e.Hint = v.revealHint(ctx, found.HiddenMatches[0])
		if v.inClosedMenu(found.HiddenMatches[0]) {
			e.Candidates = append(v.candidates(found.HiddenMatches), e.Candidates...)
		}
	}
	return e
}
