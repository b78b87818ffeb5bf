package aai

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"aai/internal/hygiene"
)

// shortPIN is how many signs have the shortest numbers by which people are known.
const shortPIN = 4

// A Hit is what a call acts on in a window, as people know it: an element, such as a
// button. The zero Hit is nothing that is known.
type Hit struct {
	Role   string `json:"role,omitempty"`
	Name   string `json:"name,omitempty"` // what is to be read on it; of several, the names of all
	ID     string `json:"id,omitempty"`   // what the app's author calls it
	Window string `json:"window,omitempty"`
	// Key is the key that does it, where that is one that closes or deletes, such as
	// "ctrl+w"; no other key is told.
	Key string `json:"key,omitempty"`
	// Unforeseen says that what the call does is not known before it is done, as of a key
	// or of a place where nothing is known to be.
	Unforeseen bool `json:"effect_unknown,omitempty"`
	// Says is all that is to be read on what may be hit, and said of it: gates judge by it.
	Says string `json:"-"`
	// Destroys says that what is done cannot be undone, whatever it is done to.
	Destroys bool `json:"-"`
}

// String is the element in one line, such as button "Save" #save-btn in "Notes". Every
// text of the app's is cleaned and quoted.
func (h Hit) String() string {
	text := h.Role
	if h.Name != "" {
		text += " " + strconv.Quote(h.Name)
	}
	if h.ID != "" {
		text += " #" + h.ID
	}
	switch {
	case h.Key != "" && text != "":
		text = h.Key + " at " + text
	case h.Key != "":
		text = h.Key
	}
	if h.Window != "" {
		text += " in " + strconv.Quote(h.Window)
	}
	return CleanLabel(text, 2*maxName)
}

// same reports whether both are the same thing, as people know it.
func (h Hit) same(other Hit) bool {
	h.Says, h.Destroys = other.Says, other.Destroys
	return h == other
}

// clean is the Hit with texts that are one harmless line each, without what is secret in
// the call; of things in windows what is too short to tell stays in a longer name.
func (h Hit) clean(r *Request) Hit {
	if h == (Hit{}) {
		return h
	}
	values := r.secrets(r.SecretParams())
	telling := values
	if r.App != nil && r.App.OperatesOthers() {
		// All that is set in a window counts as secret: "form" in "Sign-up form" is none, a
		// number may be somebody's PIN.
		telling = slices.DeleteFunc(slices.Clone(values), func(secret string) bool {
			return len(secret) < tellingSecret && (len(secret) < shortPIN || !strings.ContainsFunc(secret, unicode.IsNumber))
		})
	}
	secrets := hygiene.NewVeil(telling)
	for _, text := range []*string{&h.Role, &h.Name, &h.ID, &h.Window} {
		if slices.Contains(values, *text) {
			*text = hygiene.Redacted
		}
		*text = secrets.Over(CleanLabel(*text, maxName))
	}
	h.Says, h.Destroys = "", false
	return h
}

// Aim says what the call will act on, as far as that is known, and keeps it in Hit.
func (r *Request) Aim(ctx context.Context) Hit {
	if r.App.Aim != nil && !r.aimed {
		r.Hit = r.App.Aim(ctx, r.Call)
	}
	return r.Hit
}

// Aimed reports whether the Action itself has said what it is about to hit: nobody needs
// to look for it any more.
func (r *Request) Aimed() bool { return r.aimed }

// ActsOn says on what the call of the context is about to act: an Action does so before
// it acts. It goes on record, the last one of them, without what is secret. Where it is
// not what the gates have judged, they judge again: they may refuse it by an error, and
// ask nobody. It is called by the Action's own goroutine.
func ActsOn(ctx context.Context, hit Hit) error {
	p, _ := ctx.Value(passageKey{}).(*passage)
	if p == nil {
		return nil
	}
	if why := p.stopped(); why != nil {
		return notBegun(why)
	}
	told := hit.clean(p.r)
	p.know(func(p *passage) { p.on = told })
	if err := p.judgeAgain(ctx, hit); err != nil {
		e := *err
		e.Delivery = NotDelivered
		return &e
	}
	return nil
}

// judgeAgain asks the gates about what is hit, where that is not what they know.
func (p *passage) judgeAgain(ctx context.Context, hit Hit) *Error {
	r := p.r
	if !r.App.OperatesOthers() || r.Effect() == Reads || hit == r.Hit {
		return nil
	}
	if r.Destructive {
		if len(r.Call.Answers) == 0 || r.Hit.Role == "" || hit.same(r.Hit) {
			return nil // it was allowed for whatever may be destroyed, or for this
		}
		return r.changed(hit)
	}
	// was asked about: nobody knew what, or the same thing, of which other words are read now
	anything := r.Hit.Role == "" && r.Hit.Key == "" || hit.same(r.Hit)
	r.Hit, r.aimed = hit, true
	answers := r.Call.Answers // are to what was asked, and not to this
	r.Call.Answers = nil
	questions, err := p.inTime(ctx)
	r.Call.Answers = answers
	if err == nil && len(questions) > 0 && anything && !r.Destructive {
		questions, err = p.inTime(ctx) // a yes to anything in its windows is one to this
	}
	if err != nil {
		return err
	}
	if len(questions) > 0 {
		return r.changed(hit)
	}
	return nil
}

// changed is the error of a call that would hit something else than what was allowed.
func (r *Request) changed(hit Hit) *Error {
	e := Errorf(ConsentRequired, "it would hit %s, and a person must allow that: %s of %s", hit.clean(r), r.Permission(), r.Call.Target.ID)
	e.Hint = "Make the call again if that is meant: the person is asked."
	return needing(r, e)
}
