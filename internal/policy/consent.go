package policy

import (
	"context"
	"fmt"
	"slices"
	"time"

	"aai"
)

// The choices of the question about consent. The refusal comes first.
const (
	choiceDeny    = "deny"
	choiceOnce    = "once"
	choiceSession = "session"
	choiceAlways  = "always"
	choiceAll     = "all"
	choiceNever   = "never"
)

// questionID names the gate's question among those of its call.
const questionID = "consent"

// Consent is the gate that lets a caller use a tool only after a person allowed
// it. Consent is per caller, target app and tool, and bound to the digest of the
// descriptor that was shown: when the descriptor changes, the person is asked
// again. It is safe for concurrent use.
type Consent struct {
	store       Store
	preapproved []Grant
	seals       *sealer
	sessions    *sessionGrants
	now         func() time.Time
}

// NewConsent returns the gate. Grants that people give are kept in store;
// preapproved ones come from the configuration, have no digest, and hold until
// they expire.
func NewConsent(store Store, preapproved []Grant) *Consent {
	return &Consent{store: store, preapproved: preapproved, seals: newSealer(), sessions: newSessionGrants(), now: time.Now}
}

// Preapproved returns the grants of the configuration.
func (c *Consent) Preapproved() []Grant { return c.preapproved }

// Check admits the call if somebody has allowed it, refuses it if somebody has
// refused it, and asks otherwise.
func (c *Consent) Check(_ context.Context, r *aai.Request) ([]aai.Question, error) {
	if r.App.ID == aai.OwnApp {
		return nil, nil
	}
	now := c.now()
	// The store comes first: what a person refused beats every other word, and
	// while it cannot be read nobody knows what was refused.
	grants, err := c.store.Grants()
	if err != nil {
		return nil, &aai.Error{Code: aai.ConsentRequired, Message: "the consents given so far cannot be read, so none is assumed", Hint: err.Error(), Err: err}
	}
	decided, changed := decide(grants, r, now)
	switch {
	case decided != nil && decided.Decision == Deny:
		return nil, refused(r, *decided)
	case c.isPreapproved(r, now):
		r.Consent = "preapproved"
	case c.sessions.has(r):
		r.Consent = choiceSession
	case decided != nil:
		r.Consent = fmt.Sprintf("%s since %s", choiceAlways, decided.GrantedAt.UTC().Format(time.RFC3339))
	default:
		if answer, ok := r.Call.Answers[questionID]; ok {
			return nil, c.judge(r, answer, grants, now)
		}
		return []aai.Question{c.question(r, changed, now)}, nil
	}
	return nil, nil
}

func (c *Consent) isPreapproved(r *aai.Request, now time.Time) bool {
	return slices.ContainsFunc(c.preapproved, func(g Grant) bool {
		return g.Decision == Allow && g.covers(r) && !g.expired(now)
	})
}

// decide finds what the stored grants say of the request. A refusal beats a
// permission. changed reports that a grant would have held for an earlier form
// of the descriptor.
func decide(grants []Grant, r *aai.Request, now time.Time) (decided *Grant, changed bool) {
	for i, g := range grants {
		if !g.covers(r) || g.expired(now) {
			continue
		}
		if g.Digest != r.Digest() && g.Decision == Allow {
			changed = true
			continue
		}
		if g.Decision == Deny {
			return &grants[i], false
		}
		decided = &grants[i]
	}
	return decided, changed
}

// judge acts on an answer. One whose seal does not belong to this very call, or
// that came by a way in which the question may not be put, counts as no answer
// at all, and no answer is no.
func (c *Consent) judge(r *aai.Request, a aai.Answer, decided []Grant, now time.Time) error {
	err := c.seals.open(a.Seal, binding(r), now)
	if err == nil && !slices.Contains(channels(), a.Channel) {
		err = errChannel
	}
	if err != nil {
		e := aai.Errorf(aai.ConsentRequired, "the answer does not belong to this call: %w", err)
		e.Hint = "Make the call again without answers, and put its question to the person."
		return e
	}
	grant := Grant{
		Caller: r.Call.Caller.String(), App: r.Target.ID, Tool: r.Permission(),
		Digest: r.Digest(), Decision: Allow, GrantedAt: now, Channel: a.Channel,
	}
	if !slices.ContainsFunc(choices(r), func(c aai.Choice) bool { return c.ID == a.Choice }) {
		return saidNo(r)
	}
	var kept []Grant
	switch a.Choice {
	case choiceOnce:
	case choiceSession:
		c.sessions.add(r)
	case choiceAlways:
		kept = []Grant{grant}
	case choiceAll:
		kept = forEach(grant, permissions(r), decided)
	case choiceNever:
		grant.Decision = Deny
		if err := c.store.Add(grant); err != nil {
			return notKept(err)
		}
		return saidNo(r)
	default:
		return saidNo(r)
	}
	if len(kept) > 0 {
		if err := c.store.Add(kept...); err != nil {
			return notKept(err)
		}
	}
	r.Consent = fmt.Sprintf("%s (%s)", a.Choice, a.Channel)
	return nil
}

func saidNo(r *aai.Request) error {
	e := aai.Errorf(aai.PermissionDenied, "the person at this computer said no to %s of %s", r.Permission(), r.Target.ID)
	e.Hint = "Do not try again unless the person asks for it."
	return e
}

func notKept(err error) error {
	return &aai.Error{Code: aai.ConsentRequired, Message: "the person's consent could not be kept, so the call did not run", Hint: err.Error(), Err: err}
}

func refused(r *aai.Request, g Grant) error {
	e := aai.Errorf(aai.ConsentRequired, "the person at this computer refused %s %s of %s on %s",
		r.Call.Caller, r.Permission(), r.Target.ID, g.GrantedAt.Local().Format(time.DateOnly))
	e.Hint = fmt.Sprintf("Only the person can change that: aai-gateway consent revoke %s %s", r.Target.ID, r.Permission())
	return e
}

// permissions are all that a person could allow where the request asks for one.
func permissions(r *aai.Request) []string {
	switch {
	case r.App.Targets == nil:
	case r.Permission() == aai.PermissionStart:
		// What will run may be another program than the script that starts it.
		return []string{aai.PermissionStart}
	default:
		return []string{aai.PermissionSee, aai.PermissionAct}
	}
	names := make([]string, len(r.App.Tools))
	for i, t := range r.App.Tools {
		names[i] = t.Name
	}
	return names
}

// forEach returns the grant once for each of the permissions that the same caller
// was not refused for good: "all" is no word about that one.
func forEach(g Grant, permissions []string, decided []Grant) []Grant {
	grants := make([]Grant, 0, len(permissions))
	for _, permission := range permissions {
		g.Tool = permission
		if !slices.ContainsFunc(decided, func(old Grant) bool {
			return old.Decision == Deny && old.Caller == g.Caller && old.App == g.App && old.Tool == g.Tool
		}) {
			grants = append(grants, g)
		}
	}
	return grants
}
