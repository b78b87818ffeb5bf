package web

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway/internal/answer"
)

// A sessionUse is a consent for a session, and its last use. Gateways keep such consents in
// memory only; the journal records their uses.
type sessionUse struct {
	Who, App, Tool string
	Last           time.Time
}

const (
	// maxSessionUses limits the calls that are searched.
	maxSessionUses = 200
	// sessionWord is the start of a record's consent for calls that a session consent permitted.
	sessionWord = "session"
)

// sessionUses returns the recorded uses since session consents were last revoked, the latest first;
// nil if the journal cannot be read.
func (v *pageRequest) sessionUses() []sessionUse {
	var past, revoked []answer.CallRecord
	if v.read("history", map[string]any{"text": sessionWord, "looks": false, "limit": maxSessionUses}, &past) != nil {
		return nil
	}
	past = slices.DeleteFunc(past, func(p answer.CallRecord) bool { return !strings.HasPrefix(p.Consent, sessionWord) })
	if len(past) == 0 || v.read("history", map[string]any{"app": "aai", "tool": "consent_revoke", "result": "ok", "limit": 1}, &revoked) != nil {
		return nil
	}
	var uses []sessionUse
	for _, p := range past {
		if len(revoked) > 0 && p.Time.Before(revoked[0].Time) {
			continue
		}
		use := sessionUse{Who: cmp.Or(p.Identity, p.Caller), App: cmp.Or(p.Target, p.App), Tool: p.Tool, Last: p.Time}
		if !slices.ContainsFunc(uses, func(u sessionUse) bool { return u.Who == use.Who && u.App == use.App && u.Tool == use.Tool }) {
			uses = append(uses, use)
		}
	}
	return uses
}

// endSessions revokes all session consents, in every gateway.
func endSessions(v *pageRequest) (any, error) {
	if _, err := v.call("consent_revoke", map[string]any{"sessions": true}); err != nil {
		return nil, err
	}
	v.setNotice(v.text("consent", "sessions.ended"))
	return nil, nil
}
