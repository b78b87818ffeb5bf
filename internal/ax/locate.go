package ax

import (
	"context"
	"fmt"
	"slices"
	"time"

	"aai"
	"aai/internal/desktop"
	"aai/internal/desktop/delta"
	"aai/internal/desktop/query"
	"aai/internal/desktop/refs"
)

// A view is a program as one call sees it.
type view struct {
	desk    *desk
	backend desktop.Backend
	call    *aai.Call
	app     desktop.App
	refs    *refs.Table
	shot    *desktop.Snapshot
	// alsoHidden makes queries mean what is not showing where nothing that shows
	// is meant.
	alsoHidden bool
	// alsoMenus makes queries mean items of closed menus too, where nothing that
	// shows is meant.
	alsoMenus bool
	acting    bool                  // the element is to be acted upon, under the name that the caller knows
	silent    bool                  // errors are told to nobody, so that no reference is given
	surely    bool                  // queries mean only what they mean without a doubt
	together  bool                  // what is acted upon is one of several, which are told together
	said      map[desktop.ID]string // what was said already that is acted upon, and what was read on it
	beyond    bool                  // queries mean what is out of view as well as what shows
	far       bool                  // what is out of view was read, too
	byPicture bool                  // the call can do without a tree
	blind     bool                  // there is none
	sight     *sight                // of the window that gets input, where that is looked at; nil where not
	brought   bool                  // the element was out of view, and was brought into it
	unrest    *delta.Unrest
}

// look runs f with a fresh view of the program that the call names. The call has the
// program's turn.
func (d *desk) look(ctx context.Context, call *aai.Call, f func(context.Context, *view) (*aai.Result, error)) (*aai.Result, error) {
	return d.glance(ctx, call, func(ctx context.Context, v *view) (*aai.Result, error) {
		v.unrest = d.lately.unrestOf(v.app)
		if err := v.awaitLate(ctx); err != nil {
			return nil, err
		}
		v.learn()
		since := v.since()
		result, err := f(ctx, v)
		return withSince(result, err, since)
	})
}

// glance is look for who has no turn, and does nothing.
func (d *desk) glance(ctx context.Context, call *aai.Call, f func(context.Context, *view) (*aai.Result, error)) (result *aai.Result, err error) {
	app, err := d.running(ctx, call)
	if err != nil {
		return nil, err
	}
	v := &view{desk: d, backend: d.open(), call: call, app: app, byPicture: pointed(call)}
	if d.memory.remembers(call) {
		known, done, err := d.memory.open(ctx, app)
		if err != nil {
			return nil, err
		}
		defer func() {
			if err := done(); err != nil {
				d.log.Warn("references are not kept", "error", err)
			}
		}()
		v.refs = known
	} else {
		v.refs = d.sessions.of(call).refsOf(app)
	}
	if err := v.refresh(ctx); err != nil {
		return nil, err
	}
	return f(ctx, v)
}

// refresh reads the program again.
func (v *view) refresh(ctx context.Context) error {
	shot, err := v.backend.Tree.Snapshot(ctx, v.app)
	if v.treeless(err) {
		shot, err, v.blind = &desktop.Snapshot{App: v.app}, nil, true
	}
	if err != nil {
		return v.withoutTree(unread(err))
	}
	v.shot = shot
	return nil
}

// read reads one element afresh.
func (v *view) read(ctx context.Context, id desktop.ID) (desktop.Element, error) {
	e, err := v.backend.Tree.Read(ctx, v.app, id)
	if err != nil {
		return e, unread(err)
	}
	return e, nil
}

// unread is the error of a program that cannot be read: whether or not it got the
// question, nothing was asked of it that it could do.
func unread(err error) error {
	e := *aai.AsError(err)
	e.Delivery = aai.NotDelivered
	return &e
}

// ref is the reference to the snapshot's i'th element.
func (v *view) ref(i int) string { return v.refs.Ref(v.shot, i) }

// name is an element for people and models: button "Save" [e12].
func (v *view) name(i int) string {
	return desktop.Describe(&v.shot.Elements[i]) + " [" + v.ref(i) + "]"
}

// A match is an element that a query means, and how it was found.
type match struct {
	index    int
	strategy query.Strategy
}

// locate finds the one element that the query means. A query without an answer
// waits for one until findPatience is over: many things appear a moment after what
// made them appear.
func (v *view) locate(ctx context.Context, query string) (match, error) {
	until := time.Now().Add(findPatience)
	for {
		m, err := v.find(ctx, query)
		if v.mayBeFar(m, err) && v.lookFar(ctx) {
			m, err = v.find(ctx, query)
		}
		if err == nil || aai.AsError(err).Code != aai.ElementNotFound || refs.Is(query) || time.Now().After(until) {
			return m, err
		}
		if !v.changed(ctx, until) {
			return m, err
		}
		if err := v.refresh(ctx); err != nil {
			return m, err
		}
	}
}

// likeliest is find for who judges what a call is about: what would be acted upon, or
// else what the words are likest to.
func (v *view) likeliest(ctx context.Context, query string) (match, error) {
	v.surely = true
	m, err := v.find(ctx, query)
	if v.surely = false; err != nil {
		return v.find(ctx, query)
	}
	return m, nil
}

// find finds the one element that the query means now.
func (v *view) find(ctx context.Context, query string) (match, error) {
	if refs.Is(query) {
		i, err := v.refs.Resolve(v.shot, query)
		if told, renamed := v.refs.Renamed(v.shot, query); err == nil && renamed && v.acting {
			return match{}, v.renamed(query, i, told)
		}
		return match{i, "ref"}, err
	}
	found, err := v.search(ctx, query)
	if err != nil {
		return match{}, err
	}
	nth := intArg(v.call, "nth", 0)
	switch {
	case len(found.Matches) == 0:
		return match{}, v.notFound(ctx, query, found)
	case nth > len(found.Matches):
		e := aai.Errorf(aai.ElementNotFound, "nth: expected at most %d, as many match %s", len(found.Matches), quoted(query))
		e.Delivery = aai.NotDelivered
		e.Candidates = v.candidates(found.Matches)
		return match{}, e
	case nth > 0:
		return match{found.Matches[nth-1], found.Strategy}, nil
	case len(found.Matches) == 1:
		return match{found.Matches[0], found.Strategy}, nil
	}
	e := aai.Errorf(aai.AmbiguousTarget, "%d elements match %s", len(found.Matches), quoted(query))
	e.Delivery = aai.NotDelivered
	e.Candidates = v.candidates(found.Matches)
	e.Hint = "Give the ref of the one you mean as query, or nth."
	return match{}, e
}

// certain leaves of what the query surely means what is in front: nothing that is behind a
// modal dialog, in a dialog before what is behind it, in a page before its browser's own. Where it means nothing surely,
// the error names what is like it.
func (v *view) certain(ctx context.Context, q *query.Query, text string, found query.Found) (query.Found, error) {
	if len(found.Matches) > 0 {
		found.Matches = q.Closest(v.shot, v.inside(v.inDialog(ctx, v.usable(ctx, found.Matches)), func(p int) bool {
			return v.shot.Elements[p].Role == desktop.Document
		}))
		return found, nil
	}
	like := q.Find(v.shot, query.Options{Root: -1})
	if len(like.Matches) == 0 || len(found.HiddenMatches) > 0 {
		found.Nearest = append(like.Nearest, like.Matches...)
		return found, nil
	}
	e := aai.Errorf(aai.ElementNotFound, "nothing in %s is called %s; what is like it is no good guess to act on", aai.CleanLabel(v.app.Name, 60), quoted(text))
	e.Delivery = aai.NotDelivered
	e.Candidates = v.candidates(like.Matches)
	e.Hint = "Give the ref of the one you mean as query, or its whole name; contains: before the words means whatever has them." + v.unmade() + v.unsearched()
	return found, e
}

// usable leaves those that are not behind a modal dialog, if some are not.
func (v *view) usable(ctx context.Context, matches []int) []int {
	if len(matches) < 2 {
		return matches
	}
	behind := make(map[int]bool) // by window
	left := slices.DeleteFunc(slices.Clone(matches), func(i int) bool {
		top := v.shot.Window(i)
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

// inDialog leaves those that are in a dialog in front, if some are.
func (v *view) inDialog(ctx context.Context, matches []int) []int {
	const unknown = -2
	front := unknown
	return v.inside(matches, func(p int) bool {
		e := &v.shot.Elements[p]
		switch {
		case e.Role != desktop.Dialog && e.Role != desktop.AlertDialog:
			return false
		case e.Parent >= 0 || e.States.Any(desktop.Modal|desktop.Active):
			return true
		case front == unknown:
			front = v.frontTop(ctx)
		}
		return p == front
	})
}

// inside leaves those that are in such an element, if some are.
func (v *view) inside(matches []int, such func(i int) bool) []int {
	if len(matches) < 2 {
		return matches
	}
	within := func(i int) bool {
		for p := v.shot.Elements[i].Parent; p >= 0; p = v.shot.Elements[p].Parent {
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

// renamed is the error for a reference whose element has another name than the
// caller was told. The error tells the new one, so that the caller may go on.
func (v *view) renamed(ref string, i int, told string) error {
	e := aai.Errorf(aai.StaleRef, "%s was %q and is %s now", ref, aai.CleanLabel(told, 60), desktop.Describe(&v.shot.Elements[i]))
	e.Delivery = aai.NotDelivered
	e.Candidates = v.candidates([]int{i})
	e.Hint = "If that is what you mean, call again."
	return e
}

// search finds all that the query means.
func (v *view) search(ctx context.Context, asked string) (query.Found, error) {
	strategy := query.Strategy(textArg(v.call, "strategy"))
	if strategy == "" {
		strategy = "auto"
	}
	q, err := query.Parse(asked, strategy)
	if err != nil {
		return query.Found{}, err
	}
	if v.beyond {
		if found, some := v.anywhere(ctx, q); some {
			found.Matches = v.once(found.Matches)
			return found, nil
		}
	}
	find := q.Find
	if v.surely {
		find = q.Surely
	}
	found := find(v.shot, query.Options{Root: -1})
	found.Matches, found.HiddenMatches = v.once(found.Matches), v.once(found.HiddenMatches)
	if len(found.Matches) == 0 {
		found.Matches = v.outOfView(found.HiddenMatches)
	}
	if v.alsoHidden && len(found.Matches) == 0 {
		found.Matches = found.HiddenMatches
	}
	if v.alsoMenus && len(found.Matches) == 0 {
		for _, i := range found.HiddenMatches {
			if v.inClosedMenu(i) {
				found.Matches = append(found.Matches, i)
			}
		}
	}
	if v.surely {
		return v.certain(ctx, q, asked, found)
	}
	return found, nil
}

func (v *view) notFound(ctx context.Context, asked string, found query.Found) error {
	e := aai.Errorf(aai.ElementNotFound, "nothing in %s matches %s", aai.CleanLabel(v.app.Name, 60), quoted(asked))
	e.Delivery = aai.NotDelivered
	e.Candidates = v.candidates(found.Nearest)
	e.Hint = "ax_get_tree shows what is there." + v.unmade() + v.unsearched()
	if dialog := v.beforePage(); dialog >= 0 && v.app.Browser && !v.silent {
		e.Message += "; " + v.name(dialog) + " is before its page"
		e.Hint = "Answer or close that dialog first."
	}
	if len(found.HiddenMatches) > 0 {
		e.Message += fmt.Sprintf("; %s is there, but not showing", desktop.Describe(&v.shot.Elements[found.HiddenMatches[0]]))
		e.Hint = v.wayTo(ctx, found.HiddenMatches[0])
		if v.inClosedMenu(found.HiddenMatches[0]) {
			e.Candidates = append(v.candidates(found.HiddenMatches), e.Candidates...)
		}
	}
	return e
}

// changed waits until something happens in the program, and reports false if
// nothing does until then.
func (v *view) changed(ctx context.Context, until time.Time) bool {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	if v.backend.Events != nil {
		// What happened before the watch began is seen by looking now and then.
		if events, err := v.backend.Events.Watch(ctx, v.app); err == nil {
			select {
			case <-events:
			case <-time.After(lookAgain):
			}
			return ctx.Err() == nil
		}
	}
	select {
	case <-time.After(lookAgain):
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// lookAgain is how often a program is looked at that may tell nothing.
const lookAgain = 100 * time.Millisecond

func quoted(query string) string { return fmt.Sprintf("%q", aai.CleanLabel(query, 100)) }
