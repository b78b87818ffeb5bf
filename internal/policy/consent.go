package policy

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// The choices of the consent question. The refusal comes first.
const (
	choiceDeny    = "deny"
	choiceOnce    = "once"
	choiceSession = "session"
	choiceAlways  = "always"
	choiceAll     = "all"
	choiceNever   = "never"
)

// questionID identifies the gate's question among the questions of a call.
const questionID = "consent"

// ConsentConfig configures a Consent gate. Store must be set.
type ConsentConfig struct {
	Store Store // stores the decisions
	// Preapproved are the grants of the configuration. They have no digest, and are valid
	// until they expire.
	Preapproved []Grant
	// Elicitation lists the callers, by Grant.Identity or as "*" for all, that may ask for
	// consent to reversible tools through their own client. Empty means none.
	Elicitation []string
	// Revocations end session grants. Nil means that none ends early.
	Revocations *Revocations
	// ModeGate provides the current mode. Nil means normal.
	ModeGate *ModeGate
	// BuiltinNeedsConsent reports whether a request to the gateway's own app needs consent
	// like one to any other app. Nil means never.
	BuiltinNeedsConsent func(*aai.Request) bool
	// Authenticator reauthenticates the person. With nil, the question appears in a dialog
	// or at a terminal, without reauthentication.
	Authenticator Authenticator
	// DialogUnavailable reports whether the person's screen can show no dialog, so that a
	// terminal may allow one call of the command line. Nil means that it can show one.
	DialogUnavailable func() bool
	// Language returns the language of questions, "zh" or English. The gate calls it for
	// each question. Nil means English.
	Language func() string
}

// Consent is the gate that admits a call to a tool only after a person has allowed it.
// A grant is per caller, target app and tool, and bound to the digest of the tool as
// shown: when the digest changes, the gate asks again. Consent is safe for concurrent use.
type Consent struct {
	store               Store
	preapproved         []Grant
	elicitation         []string
	dialogUnavailable   func() bool
	mode                *ModeGate
	authenticator       Authenticator
	builtinNeedsConsent func(*aai.Request) bool
	words               func() words
	seals               *sealer
	sessions            *sessionGrants
	now                 func() time.Time
}

// NewConsent returns the gate.
func NewConsent(cfg ConsentConfig) *Consent {
	if cfg.Language == nil {
		cfg.Language = func() string { return "" }
	}
	if cfg.DialogUnavailable == nil {
		cfg.DialogUnavailable = func() bool { return false }
	}
	return &Consent{
		dialogUnavailable: cfg.DialogUnavailable,
		store:             cfg.Store, preapproved: cfg.Preapproved, elicitation: cfg.Elicitation, mode: cfg.ModeGate, authenticator: cfg.Authenticator,
		builtinNeedsConsent: cfg.BuiltinNeedsConsent, words: func() words { return wordsIn(cfg.Language()) },
		seals: newSealer(), sessions: newSessionGrants(cfg.Revocations), now: time.Now,
	}
}

// Preapproved returns the grants of the configuration.
func (c *Consent) Preapproved() []Grant { return c.preapproved }

// Check admits the call if a grant allows it, refuses it if a grant denies it,
// and asks otherwise. The secrets that the call fills need grants of their own.
func (c *Consent) Check(_ context.Context, r *aai.Request) ([]aai.Question, error) {
	questions, err := c.checkCall(r)
	if err != nil || len(r.Secrets) == 0 {
		return questions, err
	}
	more, err := c.checkSecrets(r)
	if err != nil {
		return nil, err
	}
	return append(questions, more...), nil
}

// checkCall is Check without the secrets.
func (c *Consent) checkCall(r *aai.Request) ([]aai.Question, error) {
	ofOwn := r.App.ID == aai.BuiltinApp
	if ofOwn && (c.builtinNeedsConsent == nil || !c.builtinNeedsConsent(r)) || onlyMakesCalls(r.App, r.Tool) {
		return nil, nil
	}
	now := c.now()
	// The store comes first: a person's refusal overrides all other grants, and while the
	// store is unreadable refusals are unknown.
	grants, err := c.store.Grants()
	if p := c.preapproval(r, now); err != nil && p != nil && p.Channel == RootPolicyChannel && !c.alwaysAsks(r) {
		r.Consent = "preapproved" + consentSource(RootPolicyChannel) // root's policy overrides anything in the store
		return nil, nil
	}
	if err != nil {
		return nil, consentsUnreadable(err)
	}
	decided, old := decide(grants, r, now)
	each := c.alwaysAsks(r) || hasExtraArgs(r) && c.preapproval(r, now) == nil
	switch {
	case decided != nil && decided.Decision == Deny:
		return nil, refused(r, *decided)
	case each && r.Call.RepeatOver != "":
		return nil, repeatRefused(r)
	case r.AdmittedPermission != "" && r.AdmittedPermission == r.Permission() && len(r.Call.Answers) > 0 && c.sessions.noneSince(r.LastRevocation):
		return nil, nil // a person allowed this very call before it had to wait
	case each: // earlier grants do not count
		return c.ask(r, nil, grants, now)
	case c.preapproval(r, now) != nil:
		r.Consent = "preapproved" + consentSource(c.preapproval(r, now).Channel)
	case c.sessions.has(r):
		r.Consent = choiceSession
	case decided != nil:
		r.Consent = fmt.Sprintf("%s since %s", choiceAlways, decided.GrantedAt.UTC().Format(time.RFC3339)) + consentSource(decided.Channel)
		if decided.Unsealed {
			r.Consent += ", not sealed"
		}
	default:
		return c.ask(r, old, grants, now)
	}
	return nil, nil
}

func consentsUnreadable(err error) error {
	return &aai.Error{Code: aai.ConsentRequired, Message: "the consents given so far cannot be read, so none is assumed", Hint: err.Error(), Err: err}
}

// ask judges the call's answer, or returns the question.
func (c *Consent) ask(r *aai.Request, old *Grant, grants []Grant, now time.Time) ([]aai.Question, error) {
	// The answer counts once: a request that was admitted and has changed since needs a new question.
	if answer, ok := r.Call.Answers[questionID]; ok && r.AdmittedPermission == "" {
		return nil, c.judge(r, answer, grants, now)
	}
	q, err := c.question(r, old, now)
	if err != nil {
		return nil, err
	}
	return []aai.Question{q}, nil
}

// repeatRefused returns the error for a call over a list of values if each call needs confirmation.
func repeatRefused(r *aai.Request) error {
	e := aai.Errorf(aai.ConsentRequired, "the person was not asked: each call of %s needs its own confirmation, and this one repeats for each value of a list", aai.CleanLabel(r.Tool.Name, maxName))
	e.Hint = "Make a call, or a step, for each of the values."
	return e
}

// alwaysAsks reports whether the mode requires a confirmation of each call, or the call records the person or runs a script of the
// caller by itself.
func (c *Consent) alwaysAsks(r *aai.Request) bool {
	if a := r.Assessment(); a.RecordsPerson || a.RunsScript && !a.OnlyMakesCalls {
		return true
	}
	if !r.App.OperatesOthers() { // most calls need no look at the file of the mode
		return riskOfTool(r.Tool) == irreversible && c.mode.Current() != Normal
	}
	if c.mode.Current() == Normal {
		return false
	}
	return r.Permission() == aai.PermissionDestroy || r.StartsProgram() || r.Permission() == aai.PermissionHost && r.Tool.Effect != aai.Reads
}

// preapproval returns the grant of the configuration that covers the request, or nil.
func (c *Consent) preapproval(r *aai.Request, now time.Time) *Grant {
	i := slices.IndexFunc(c.preapproved, func(g Grant) bool {
		return g.Decision == Allow && g.covers(r) && !g.expired(now)
	})
	if i < 0 {
		return nil
	}
	return &c.preapproved[i]
}

// consentSource returns the grant's channel for the record, or "" if it is unknown.
func consentSource(ch aai.Channel) string {
	if ch == "" {
		return ""
	}
	return " (" + string(ch) + ")"
}

// decide returns the stored grant that decides the request. A refusal overrides a
// permission. old is a grant for an earlier form of the tool.
func decide(grants []Grant, r *aai.Request, now time.Time) (decided, old *Grant) {
	for i, g := range grants {
		if !g.covers(r) || g.expired(now) {
			continue
		}
		if !g.matchesDigest(r) && g.Decision == Allow {
			old = &grants[i]
			continue
		}
		if g.Decision == Deny {
			return &grants[i], nil
		}
		decided = &grants[i]
	}
	return decided, old
}

// judge stores the decision in an answer, and returns an error unless it admits the call.
// An answer with the seal of another call, or from a channel that the question does not
// permit, is an error. An empty choice refuses this call only.
func (c *Consent) judge(r *aai.Request, a aai.Answer, decided []Grant, now time.Time) error {
	if err := c.accept(r, a, binding(r), c.channels(r, r.Permission()), c.choices(r, false), now); err != nil {
		return err
	}
	grant := Grant{
		Caller: r.Call.Caller.String(), Identity: r.Call.Caller.Identity, App: r.Call.Target.ID, Tool: r.Permission(),
		Digest: r.Digest(), Decision: Allow, GrantedAt: now, Channel: a.Channel, Terms: termsOf(r, r.Permission()),
	}
	grants := []Grant{grant}
	if a.Choice == choiceAll {
		grants = expandGrants(grant, r, decided)
	}
	if err := c.keep(a.Choice, grants, r); err != nil {
		return err
	}
	r.Consent, r.LastRevocation = fmt.Sprintf("%s (%s)", a.Choice, a.Channel), c.sessions.latestRevocation()
	return nil
}

// accept consumes the seal of an answer to the question about the request, and returns an
// error unless it came through one of the channels and is one of the choices.
func (c *Consent) accept(r *aai.Request, a aai.Answer, to [sha256.Size]byte, channels []aai.Channel, choices []aai.Choice, now time.Time) error {
	err := c.seals.open(a.Seal, to, now)
	if err == nil && !slices.Contains(channels, a.Channel) {
		err = errChannel
	}
	if err != nil {
		return foreignAnswerError(err)
	}
	if err := c.checkReauth(a); err != nil {
		return err
	}
	if a.Choice == "" {
		return noAnswer(r)
	}
	if !slices.ContainsFunc(choices, func(c aai.Choice) bool { return c.ID == a.Choice }) {
		return refusedByPerson(r)
	}
	return nil
}

// keep stores the grants, which the choice made for the requests, as long as the choice
// says. It returns an error if the choice is a refusal.
func (c *Consent) keep(choice string, grants []Grant, requests ...*aai.Request) error {
	switch choice {
	case choiceOnce:
		return nil
	case choiceSession:
		for _, r := range requests {
			c.sessions.add(r)
		}
		return nil
	case choiceAlways, choiceAll:
	case choiceNever:
		for i := range grants {
			grants[i].Decision = Deny
		}
	default:
		return refusedByPerson(requests[0])
	}
	if err := c.store.Add(grants...); err != nil {
		return notStored(err)
	}
	if choice == choiceNever {
		return refusedByPerson(requests[0])
	}
	return nil
}

func refusedByPerson(r *aai.Request) error {
	e := aai.Errorf(aai.PermissionDenied, "the person at this computer denied %s of %s", r.Permission(), r.Call.Target.ID)
	e.Hint = "Do not try again unless the person asks for it."
	return e
}

func noAnswer(r *aai.Request) error {
	e := aai.Errorf(aai.PermissionDenied, "the person at this computer did not allow %s of %s: the question was closed without an answer", r.Permission(), r.Call.Target.ID)
	e.Hint = "Do not try again unless the person asks for it."
	return e
}

func notStored(err error) error {
	return &aai.Error{Code: aai.ConsentRequired, Message: "the person's consent could not be saved, so the call did not run", Hint: err.Error(), Err: err}
}

func refused(r *aai.Request, g Grant) error {
	e := aai.Errorf(aai.ConsentRequired, "the person at this computer refused %s %s of %s on %s",
		r.Call.Caller, r.Permission(), r.Call.Target.ID, g.GrantedAt.Local().Format(time.DateOnly))
	e.Hint = fmt.Sprintf("Only the person can change that: aai-gateway consent revoke %s %s", r.Call.Target.ID, sanitize.ShellJoin(r.Permission()))
	return e
}

// permissions returns all permissions that the person can allow together with the requested one.
func permissions(r *aai.Request) []string {
	switch {
	case r.App.ID == aai.BuiltinApp:
		return []string{r.Permission()} // to one builtin tool, never to the others
	case !r.App.OperatesOthers():
	case r.StartsProgram():
		// The program that runs may differ from the script that starts it.
		return []string{r.Permission()}
	case r.Permission() == aai.PermissionDestroy, needsOwnGrant(r.Permission()):
		return []string{r.Permission()}
	default:
		return []string{aai.PermissionSee, aai.PermissionAct}
	}
	names := make([]string, len(r.App.Tools))
	for i, t := range r.App.Tools {
		names[i] = t.Name
	}
	return names
}

// expandGrants returns the grant once for each permission, except those that are denied to
// the caller: "all" does not lift a refusal. Each grant is bound to the current digest of
// its own tool; tools that are added later are not included.
func expandGrants(g Grant, r *aai.Request, decided []Grant) []Grant {
	all := permissions(r)
	grants := make([]Grant, 0, len(all))
	for _, permission := range all {
		g.Tool, g.Terms = permission, termsOf(r, permission)
		if !r.App.OperatesOthers() {
			g.Digest = r.App.DigestOf(permission)
		}
		if !slices.ContainsFunc(decided, func(old Grant) bool {
			return old.Decision == Deny && !old.expired(g.GrantedAt) && old.coversCaller(r.Call.Caller) && old.App == g.App && old.Tool == g.Tool
		}) {
			grants = append(grants, g)
		}
	}
	return grants
}
