package operate

import (
	"context"
	"fmt"
	"slices"
	"time"

	"aai"
	"aai/internal/ax/asked"
	"aai/internal/ax/fault"
	"aai/internal/ax/programs"
	"aai/internal/desktop"
	"aai/internal/desktop/query"
	"aai/internal/desktop/refs"
)

// FindPatience is how long a query waits for something to appear.
const FindPatience = 500 * time.Millisecond

// anywhere finds what the query means in view or, where nothing is there, out of it. What a
// dialog, a closed tab, window or menu hides is none of that.
func (v *View) anywhere(ctx context.Context, q *query.Query) (query.Found, bool) {
	found := q.Find(v.Shot, query.Options{Root: -1, Hidden: true})
	seen := v.Shot.Seen()
	if in := slices.DeleteFunc(slices.Clone(found.Matches), func(i int) bool { return !seen[i] }); len(in) > 0 {
		found.Matches = in
		return found, true
	}
	found.Matches = slices.DeleteFunc(slices.Clone(found.Matches), func(i int) bool { return v.hiddenBy(ctx, i) != "" })
	return found, len(found.Matches) > 0
}

// Look runs f with a fresh view of the program that the call names. The call has the
// program's turn.
func (d *Desk) Look(ctx context.Context, call *aai.Call, f func(context.Context, *View) (*aai.Result, error)) (*aai.Result, error) {
	return d.look(ctx, call, false, f)
}

// Act is look for what acts on the program: what came of the act before is not taken for what
// comes of this one.
func (d *Desk) Act(ctx context.Context, call *aai.Call, f func(context.Context, *View) (*aai.Result, error)) (*aai.Result, error) {
	return d.look(ctx, call, true, f)
}

func (d *Desk) look(ctx context.Context, call *aai.Call, acts bool, f func(context.Context, *View) (*aai.Result, error)) (*aai.Result, error) {
	return d.Glance(ctx, call, func(ctx context.Context, v *View) (*aai.Result, error) {
		v.Unrest = d.Lately.UnrestOf(v.App)
		if err := v.awaitLate(ctx, acts); err != nil {
			return nil, err
		}
		v.learn()
		since := joined(v.since(), v.guestsSince(ctx))
		result, err := f(ctx, v)
		return withSince(result, err, since)
	})
}

// Glance is look for who has no turn, and does nothing.
func (d *Desk) Glance(ctx context.Context, call *aai.Call, f func(context.Context, *View) (*aai.Result, error)) (result *aai.Result, err error) {
	app, err := d.Running(ctx, call)
	if err != nil {
		return nil, err
	}
	v := &View{Desk: d, Backend: d.Open(), Call: call, App: app, byPicture: asked.Pointed(call)}
	if d.Memory.Remembers(call) {
		known, done, err := d.Memory.Open(ctx, app, programs.Target(app).Digest)
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
		v.Refs = d.Sessions.Of(call).RefsOf(app)
	}
	if err := v.Refresh(ctx); err != nil {
		return nil, err
	}
	return f(ctx, v)
}

// Refresh reads the program again.
func (v *View) Refresh(ctx context.Context) error {
	shot, err := v.Backend.Tree.Snapshot(ctx, v.App)
	if v.treeless(err) {
		shot, err, v.Blind = &desktop.Snapshot{App: v.App}, nil, true
	}
	if err != nil {
		return v.withoutTree(fault.Unread(err))
	}
	v.Shot = shot
	return nil
}

// Read reads one element afresh.
func (v *View) Read(ctx context.Context, id desktop.ID) (desktop.Element, error) {
	e, err := v.Backend.Tree.Read(ctx, v.App, id)
	if err != nil {
		return e, fault.Unread(err)
	}
	return e, nil
}

// A Match is an element that a query means, and how it was found.
type Match struct {
	Index    int
	Strategy query.Strategy
}

// Locate finds the one element that the query means. A query without an answer
// waits for one for a while (FindPatience): many things appear a moment after what
// made them appear.
func (v *View) Locate(ctx context.Context, query string) (Match, error) {
	for p := v.Patience(FindPatience); ; {
		m, err := v.Seek(ctx, query)
		if err == nil || aai.AsError(err).Code != aai.ElementNotFound || refs.Is(query) || !p.Changed(ctx) {
			return m, err
		}
		if err := v.Refresh(ctx); err != nil {
			return m, err
		}
	}
}

// Likeliest is find for who judges what a call is about: what would be acted upon, or
// else what the words are likest to.
func (v *View) Likeliest(ctx context.Context, query string) (Match, error) {
	v.Surely = true
	m, err := v.Find(ctx, query)
	if v.Surely = false; err != nil {
		return v.Find(ctx, query)
	}
	return m, nil
}

// Seek is Find that reads what is out of view too, where it may be there.
func (v *View) Seek(ctx context.Context, query string) (Match, error) {
	m, err := v.Find(ctx, query)
	if v.mayBeFar(m, err) && v.LookFar(ctx) {
		m, err = v.Find(ctx, query)
	}
	if err != nil && aai.AsError(err).Code == aai.ElementNotFound && v.LookInSheet(ctx, query) {
		m, err = v.Find(ctx, query)
	}
	return m, err
}

// Find finds the one element that the query means now.
func (v *View) Find(ctx context.Context, text string) (Match, error) {
	if refs.Is(text) {
		i, err := v.Refs.Resolve(v.Shot, text)
		if told, renamed := v.Refs.Renamed(v.Shot, text); err == nil && renamed && v.Acting {
			return Match{}, v.Renamed(text, i, told)
		}
		if e := aai.AsError(err); e != nil && e.Code == aai.StaleRef {
			v.behindDialog(e)
		}
		if err == nil && v.Acting {
			i = query.Control(v.Shot, i)
		}
		return Match{i, "ref"}, err
	}
	found, err := v.search(ctx, text)
	if err != nil {
		return Match{}, err
	}
	nth := asked.Int(v.Call, "nth", 0)
	switch {
	case len(found.Matches) == 0:
		return Match{}, v.notFound(ctx, text, found)
	case nth > len(found.Matches):
		e := aai.Errorf(aai.ElementNotFound, "nth: %d is more than the %d that match %s", nth, len(found.Matches), fault.Quoted(text))
		e.Delivery = aai.NotDelivered
		e.Candidates = v.Candidates(found.Matches)
		return Match{}, e
	case nth > 0:
		return Match{found.Matches[nth-1], found.Strategy}, nil
	case len(found.Matches) == 1:
		return Match{found.Matches[0], found.Strategy}, nil
	}
	e := aai.Errorf(aai.AmbiguousTarget, "%d elements match %s", len(found.Matches), fault.Quoted(text))
	e.Delivery = aai.NotDelivered
	e.Candidates = v.Candidates(found.Matches)
	e.Hint = "Give the ref of the one you mean as query, or nth."
	return Match{}, e
}

// certain leaves of what the query surely means what is in front: nothing that is behind a
// modal dialog, in a dialog before what is behind it, in a page before its browser's own. Where it means nothing surely,
// the error names what is like it.
func (v *View) certain(ctx context.Context, q *query.Query, text string, found query.Found) (query.Found, error) {
	if len(found.Matches) > 0 {
		whole := q.Whole(v.Shot, v.inDialog(ctx, v.usable(ctx, found.Matches)))
		found.Matches = q.Closest(v.Shot, v.Inside(whole, func(p int) bool { return v.Shot.Elements[p].Role == desktop.Document }))
		return found, nil
	}
	like := q.Find(v.Shot, query.Options{Root: -1})
	if len(like.Matches) == 0 || len(found.HiddenMatches) > 0 {
		found.Nearest = append(like.Nearest, like.Matches...)
		return found, nil
	}
	e := aai.Errorf(aai.ElementNotFound, "nothing in %s is called %s; what is like it is no good guess to act on", aai.CleanLabel(v.App.Name, 60), fault.Quoted(text))
	e.Delivery = aai.NotDelivered
	e.Candidates = v.Candidates(like.Matches)
	e.Hint = "Give the ref of the one you mean as query, or its whole name; contains: before the words means whatever has them." + v.Unmade() + v.Unsearched()
	return found, e
}

// usable leaves those that are not behind a modal dialog, if some are not.
func (v *View) usable(ctx context.Context, matches []int) []int {
	if len(matches) < 2 {
		return matches
	}
	behind := make(map[int]bool) // by window
	left := slices.DeleteFunc(slices.Clone(matches), func(i int) bool {
		top := v.Shot.Window(i)
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
func (v *View) inDialog(ctx context.Context, matches []int) []int {
	const unknown = -2
	front := unknown
	return v.Inside(matches, func(p int) bool {
		e := &v.Shot.Elements[p]
		switch {
		case e.Role != desktop.Dialog && e.Role != desktop.AlertDialog:
			return false
		case e.Parent >= 0 || e.States.Any(desktop.Modal|desktop.Active):
			return true
		case front == unknown:
			front = v.FrontTop(ctx)
		}
		return p == front
	})
}

// search finds all that the query means.
func (v *View) search(ctx context.Context, text string) (query.Found, error) {
	strategy := query.Strategy(asked.Text(v.Call, "strategy"))
	if strategy == "" {
		strategy = "auto"
	}
	q, err := query.Parse(text, strategy)
	if err != nil {
		return query.Found{}, err
	}
	if v.Beyond {
		if found, some := v.anywhere(ctx, q); some {
			found.Matches = v.Once(found.Matches)
			return found, nil
		}
	}
	find := q.Find
	if v.Surely {
		find = q.Surely
	}
	found := find(v.Shot, query.Options{Root: -1})
	found.Matches, found.HiddenMatches = v.Once(found.Matches), v.Once(found.HiddenMatches)
	if len(found.Matches) == 0 {
		found.Matches = v.OutOfView(found.HiddenMatches)
	}
	if v.AlsoHidden && len(found.Matches) == 0 {
		found.Matches = found.HiddenMatches
	}
	if v.AlsoMenus && len(found.Matches) == 0 {
		for _, i := range found.HiddenMatches {
			if v.InClosedMenu(i) {
				found.Matches = append(found.Matches, i)
			}
		}
	}
	if v.Surely {
		return v.certain(ctx, q, text, found)
	}
	return found, nil
}

// behindDialog adds to the error that a dialog of a page, or before it, is open: what is behind
// that is not there meanwhile.
func (v *View) behindDialog(e *aai.Error) {
	if dialog := v.BeforePage(); dialog >= 0 && v.App.Browser && !v.Silent {
		e.Message += "; " + v.Name(dialog) + " is before its page"
		e.Hint = "Answer or close that dialog first."
	} else if dialog := v.ModalOfPage(); dialog >= 0 && v.App.Browser && !v.Silent {
		e.Message += "; " + v.Name(dialog) + " is open"
		e.Hint = "What is behind that dialog of the page is not there until it is closed. " + e.Hint
	}
}

func (v *View) notFound(ctx context.Context, text string, found query.Found) error {
	e := aai.Errorf(aai.ElementNotFound, "nothing in %s matches %s", aai.CleanLabel(v.App.Name, 60), fault.Quoted(text))
	e.Delivery = aai.NotDelivered
	e.Candidates = v.Candidates(found.Nearest)
	e.Hint = "ax_get_tree shows what is there." + v.Unmade() + v.Unsearched()
	v.behindDialog(e)
	if len(found.HiddenMatches) > 0 {
		e.Message += fmt.Sprintf("; %s is there, but not showing", desktop.Describe(&v.Shot.Elements[found.HiddenMatches[0]]))
		e.Hint = v.wayTo(ctx, found.HiddenMatches[0])
		if v.InClosedMenu(found.HiddenMatches[0]) {
			e.Candidates = append(v.Candidates(found.HiddenMatches), e.Candidates...)
		}
	}
	return e
}
