package aai

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/gybob/aai-gateway/internal/sanitize"
)

// minPINLength is how many signs have the shortest numbers by which people are known.
const minPINLength = 4

// A Hit is what a call acts on in a window, as people know it: an element, such as a
// button. The zero Hit is nothing that is known.
type TargetElement struct {
	Role   string `json:"role,omitempty"`
	Name   string `json:"name,omitempty"` // what is to be read on it; of several, the names of all
	ID     string `json:"id,omitempty"`   // what the app's author calls it
	Window string `json:"window,omitempty"`
	// Key is the key that does it, where that is one that closes or deletes, such as
	// "ctrl+w"; no other key is told.
	Key string `json:"key,omitempty"`
	// UnknownEffect says that what the call does is not known before it is done, as of a key
	// or of a place where nothing is known to be.
	UnknownEffect bool `json:"effect_unknown,omitempty"`
	// AllText is all that is to be read on what may be hit, and said of it: gates judge by it.
	AllText string `json:"-"`
	// Irreversible says that what is done cannot be undone, whatever it is done to.
	Irreversible bool `json:"-"`
}

// String is the element in one line, such as button "Save" #save-btn in "Notes". Every
// text of the app's is cleaned and quoted.
func (h TargetElement) String() string {
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

// equal reports whether both are the same thing, as people know it.
func (h TargetElement) equal(other TargetElement) bool {
	h.AllText, h.Irreversible = other.AllText, other.Irreversible
	return h == other
}

// sanitized is the Hit with texts that are one harmless line each, without what is secret in
// the call; of things in windows what is too short to tell stays in a longer name.
func (h TargetElement) sanitized(r *Request) TargetElement {
	if h == (TargetElement{}) {
		return h
	}
	values := r.secretValues(r.SecretParams())
	telling := values
	if r.App != nil && r.App.OperatesOthers() {
		// All that is set in a window counts as secret: "form" in "Sign-up form" is none, a
		// number may be somebody's PIN.
		telling = slices.DeleteFunc(slices.Clone(values), func(secret string) bool {
			return len(secret) < minEchoedSecret && (len(secret) < minPINLength || !strings.ContainsFunc(secret, unicode.IsNumber))
		})
	}
	secrets := sanitize.NewRedactor(telling)
	for _, text := range []*string{&h.Role, &h.Name, &h.ID, &h.Window} {
		if slices.Contains(values, *text) {
			*text = sanitize.Redacted
		}
		*text = secrets.Redact(CleanLabel(*text, maxName))
	}
	h.AllText, h.Irreversible = "", false
	return h
}

// ResolveTarget says what the call will act on, as far as that is known, and keeps it in Hit.
func (r *Request) ResolveTarget(ctx context.Context) TargetElement {
	if r.App.ResolveTarget != nil && !r.targetResolved {
		r.Element = r.App.ResolveTarget(ctx, r.Call)
	}
	return r.Element
}

// IsTargetResolved reports whether the Action itself has said what it is about to hit: nobody needs
// to look for it any more.
func (r *Request) IsTargetResolved() bool { return r.targetResolved }

// ReportTargetElement says on what the call of the context is about to act: an Action does so before
// it acts. It goes on record, the last one of them, without what is secret. Where it is
// not what the gates have judged, they judge again: they may refuse it by an error, and
// ask nobody. It is called by the Action's own goroutine.
func ReportTargetElement(ctx context.Context, hit TargetElement) error {
	p, _ := ctx.Value(invocationKey{}).(*invocation)
	if p == nil {
		return nil
	}
	if why := p.checkStop(); why != nil {
		return asNotDelivered(why)
	}
	told := hit.sanitized(p.request)
	p.update(func(p *invocation) { p.element = told })
	if err := p.recheckTarget(ctx, hit); err != nil {
		e := *err
		e.Delivery = NotDelivered
		return &e
	}
	return nil
}

// recheckTarget asks the gates about what is hit, where that is not what they know.
func (p *invocation) recheckTarget(ctx context.Context, hit TargetElement) *Error {
	r := p.request
	if !r.App.OperatesOthers() || r.Effect() == Reads || hit == r.Element {
		return nil
	}
	if r.Destructive {
		if len(r.Call.Answers) == 0 || r.Element.Role == "" || hit.equal(r.Element) {
			return nil // it was allowed for whatever may be destroyed, or for this
		}
		return r.targetChanged(hit)
	}
	// was asked about: nobody knew what, or the same thing, of which other words are read now
	anything := r.Element.Role == "" && r.Element.Key == "" || hit.equal(r.Element)
	r.Element, r.targetResolved = hit, true
	answers := r.Call.Answers // are to what was asked, and not to this
	r.Call.Answers = nil
	questions, err := p.checkGates(ctx)
	r.Call.Answers = answers
	if err == nil && len(questions) > 0 && anything && !r.Destructive {
		questions, err = p.checkGates(ctx) // a yes to anything in its windows is one to this
	}
	if err != nil {
		return err
	}
	if len(questions) > 0 {
		return r.targetChanged(hit)
	}
	return nil
}

// targetChanged is the error of a call that would hit something else than what was allowed.
func (r *Request) targetChanged(hit TargetElement) *Error {
	e := Errorf(ConsentRequired, "it would hit %s, and a person must allow that: %s of %s", hit.sanitized(r), r.Permission(), r.Call.Target.ID)
	e.Hint = "Make the call again if that is meant: the person is asked."
	return withNeeds(r, e)
}
