package aai

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/gybob/aai-gateway/internal/sanitize"
)

// minPINLength is the length in bytes from which a secret with a digit may be a PIN.
const minPINLength = 4

// A TargetElement is the element of a window that a call acts on, such as a button, in display
// form. The zero value means unknown.
type TargetElement struct {
	Role   string `json:"role,omitempty"`
	Name   string `json:"name,omitempty"` // visible text; the names of all if there are several
	ID     string `json:"id,omitempty"`   // identifier set by the app's author
	Window string `json:"window,omitempty"`
	// Key is the pressed key if it closes or deletes, such as "ctrl+w"; other keys are omitted.
	Key string `json:"key,omitempty"`
	// UnknownEffect reports that the effect is not known beforehand, as for a key or for a place
	// without a known element.
	UnknownEffect bool `json:"effect_unknown,omitempty"`
	// AllText is all visible and descriptive text of the possible elements, by which gates judge.
	AllText string `json:"-"`
	// Irreversible reports that the action cannot be undone on any element.
	Irreversible bool `json:"-"`
}

// String returns the element in one line, such as button "Save" #save-btn in "Notes". All text of
// the app is cleaned and quoted.
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

// equal reports whether both show the same element to people.
func (h TargetElement) equal(other TargetElement) bool {
	h.AllText, h.Irreversible = other.AllText, other.Irreversible
	return h == other
}

// sanitized returns the element with each text as one harmless line, without the call's secrets.
// In windows, secrets that are too short to identify stay in longer names.
func (h TargetElement) sanitized(r *Request) TargetElement {
	if h == (TargetElement{}) {
		return h
	}
	values := r.secretValues(r.SecretParams())
	telling := values
	if r.App != nil && r.App.OperatesOthers() {
		// Every value set in a window counts as secret: "form" in "Sign-up form" is harmless, but
		// a number may be a PIN.
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

// ResolveTarget returns the element that the call will act on, as far as known, and stores it in
// Element.
func (r *Request) ResolveTarget(ctx context.Context) TargetElement {
	if r.App.ResolveTarget != nil && !r.targetResolved {
		r.Element = r.App.ResolveTarget(ctx, r.Call)
	}
	return r.Element
}

// IsTargetResolved reports whether Element is the one that the Action reported in place of the one that the
// gates had judged. The gates then judge Element and search no more.
func (r *Request) IsTargetResolved() bool { return r.targetResolved }

// ReportTargetElement reports the element that the context's call is about to act on. An Action
// calls it from its own goroutine before it acts. The last report is recorded, redacted. If the
// element differs from the judged one, the gates check again; they may refuse by an error, and no
// person is asked.
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

// recheckTarget asks the gates about the element if it differs from the judged one.
func (p *invocation) recheckTarget(ctx context.Context, hit TargetElement) *Error {
	r := p.request
	if !r.App.OperatesOthers() || r.Effect() == Reads || hit == r.Element {
		return nil
	}
	if r.Destructive {
		if len(r.Call.Answers) == 0 || r.Element.Role == "" || hit.equal(r.Element) {
			return nil // the consent was for any destruction, or for this element
		}
		return r.targetChanged(hit)
	}
	// the question concerned any element, or the same one with other text
	anything := r.Element.Role == "" && r.Element.Key == "" || hit.equal(r.Element)
	r.Element, r.targetResolved = hit, true
	answers := r.Call.Answers // for the earlier question only
	r.Call.Answers = nil
	questions, err := p.checkGates(ctx)
	r.Call.Answers = answers
	if err == nil && len(questions) > 0 && anything && !r.Destructive {
		questions, err = p.checkGates(ctx) // consent to any element of the windows includes this one
	}
	if err != nil {
		return err
	}
	if len(questions) > 0 {
		return r.targetChanged(hit)
	}
	return nil
}

// targetChanged returns the error of a call that would act on another element than the permitted
// one.
func (r *Request) targetChanged(hit TargetElement) *Error {
	e := Errorf(ConsentRequired, "it would act on %s, and a person must allow that: %s of %s", hit.sanitized(r), r.Permission(), r.Call.Target.ID)
	e.Hint = "If that is right, call again: the gateway asks the person."
	return withNeeds(r, e)
}
