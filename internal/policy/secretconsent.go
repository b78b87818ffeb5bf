package policy

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
)

// secretQuestionID identifies the question about secrets among the questions of a call.
const secretQuestionID = "secret"

// secretRequest returns a request for the permission to fill a secret in the call.
func secretRequest(r *aai.Request, use aai.SecretUse) *aai.Request {
	return &aai.Request{Call: r.Call, App: r.App, Tool: r.Tool, Outer: r.Outer, Secret: &use}
}

// checkSecrets admits the secrets that the call fills. A grant for a secret is per caller, program or tool, and bound to
// the place of the secret.
func (c *Consent) checkSecrets(r *aai.Request) ([]aai.Question, error) {
	now := c.now()
	grants, err := c.store.Grants()
	if err != nil {
		return nil, consentsUnreadable(err)
	}
	var open []aai.SecretUse
	for _, use := range r.Secrets {
		one := secretRequest(r, use)
		decided, _ := decide(grants, one, now)
		switch {
		case decided != nil && decided.Decision == Deny:
			return nil, refused(one, *decided)
		case slices.Contains(r.AdmittedSecrets, one.Digest()) && c.sessions.noneSince(r.LastRevocation):
		case decided != nil, c.preapproval(one, now) != nil, c.sessions.has(one):
		default:
			open = append(open, use)
		}
	}
	if len(open) == 0 {
		return nil, nil
	}
	if answer, ok := r.Call.Answers[secretQuestionID]; ok && r.AdmittedSecrets == nil {
		return nil, c.judgeSecrets(r, open, answer, now)
	}
	q, err := c.secretQuestion(r, open, now)
	if err != nil {
		return nil, err
	}
	return []aai.Question{q}, nil
}

// secretBinding returns the digest of the request with its secrets, to which an answer is bound.
func secretBinding(r *aai.Request) [sha256.Size]byte {
	of := binding(r)
	b, _ := json.Marshal([]any{"secrets", of[:], r.Secrets}) // texts can always be encoded
	return sha256.Sum256(b)
}

// judgeSecrets stores the decision in an answer, and returns an error unless it admits the secrets.
func (c *Consent) judgeSecrets(r *aai.Request, open []aai.SecretUse, a aai.Answer, now time.Time) error {
	first := secretRequest(r, open[0])
	if err := c.accept(first, a, secretBinding(r), c.availableChannels(), c.secretChoices(r), now); err != nil {
		return err
	}
	var grants []Grant
	var requests []*aai.Request
	for _, use := range open {
		one := secretRequest(r, use)
		requests = append(requests, one)
		grants = append(grants, Grant{
			Caller: r.Call.Caller.String(), Identity: r.Call.Caller.Identity, App: r.Call.Target.ID, Tool: one.Permission(), Digest: one.Digest(),
			Decision: Allow, GrantedAt: now, Channel: a.Channel, Terms: Terms{Description: use.Binding.Target(), Parameters: use.Binding.Field},
		})
	}
	if err := c.keep(a.Choice, grants, requests...); err != nil {
		return err
	}
	for _, g := range grants {
		r.AdmittedSecrets = append(r.AdmittedSecrets, g.Digest)
	}
	r.LastRevocation = c.sessions.latestRevocation()
	return nil
}

// secretChoices returns the possible answers, with the refusal first.
func (c *Consent) secretChoices(r *aai.Request) []aai.Choice {
	w := c.words()
	offered := []aai.Choice{{ID: choiceDeny, Label: w.deny}, {ID: choiceOnce, Label: w.once}}
	if c.allowsOnlyOnce(r) {
		return offered
	}
	if r.Call.Caller.Session != "" {
		offered = append(offered, aai.Choice{ID: choiceSession, Label: w.session})
	}
	if c.store.CheckWritable() != nil {
		return offered
	}
	if r.Call.Caller.Identity != "" {
		offered = append(offered, aai.Choice{ID: choiceAlways, Label: w.always})
	}
	return append(offered, aai.Choice{ID: choiceNever, Label: w.never, IsRefusal: true})
}

// secretQuestion returns the question whether the call may fill the secrets. It names each secret and its place.
func (c *Consent) secretQuestion(r *aai.Request, open []aai.SecretUse, now time.Time) (aai.Question, error) {
	w := c.words()
	text := w.callerLines(r.Call.Caller)
	for _, use := range open {
		text.addOwn("%s", w.fillSecret(use))
	}
	where, err := w.targetLines(r)
	if err != nil {
		return aai.Question{}, err
	}
	text = append(text, where...)
	text.addOwn("%s", w.valueUnseen)
	title := fmt.Sprintf(w.titleFills, w.shortAsker(r.Call.Caller), len(open))
	if len(open) == 1 {
		title = fmt.Sprintf(w.titleFill, w.shortAsker(r.Call.Caller), quoteTruncated(open[0].Name, maxName))
	}
	return aai.Question{
		ID: secretQuestionID, Channels: c.availableChannels(), Title: title, Text: strings.Join(text, "\n"),
		Details: strings.Join(c.details(r), "\n"), Choices: c.secretChoices(r), Seal: c.seals.seal(secretBinding(r), now),
	}, nil
}

// fillSecret describes in one line which secret goes where.
func (w words) fillSecret(use aai.SecretUse) string {
	where := plainOrQuoted(use.Binding.Target())
	if use.Binding.Origin != "" {
		where = truncateMiddle(use.Binding.Origin, maxHost+len("https://:65535"))
	}
	field := w.hiddenField
	switch {
	case use.Argument != "":
		field = fmt.Sprintf(w.argument, quoteTruncated(use.Argument, maxName))
	case use.Binding.Field != "":
		field = fmt.Sprintf(w.field, quoteTruncated(use.Binding.Field, maxName))
	case use.IsCode:
		field = w.textField
	}
	format := w.fillsValue
	if use.IsCode {
		format = w.fillsCode
	}
	return fmt.Sprintf(format, quoteTruncated(use.Name, maxName), field, where)
}
