package policy

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// filling returns an allowed call that fills the secrets.
func filling(digest string, names ...string) *aai.Request {
	r := asking(notesApp("d1"), "add")
	for _, name := range names {
		r.Secrets = append(r.Secrets, aai.SecretUse{Name: name, Digest: digest, Argument: "text", Binding: aai.SecretBinding{App: notes, Field: "text"}})
	}
	return r
}

// TestSecretChoices checks the effect of each choice on this call, on the same call again, on another secret
// and on a secret with another source. A permission for every tool of the app covers no secret.
func TestSecretChoices(t *testing.T) {
	every := Grant{Caller: Wildcard, App: notes, Tool: Wildcard, Decision: Allow}
	for _, c := range []struct{ choice, now, again, other, changed string }{
		{choiceDeny, "PERMISSION_DENIED", "asks", "asks", "asks"},
		{"", "PERMISSION_DENIED", "asks", "asks", "asks"},
		{choiceAll, "PERMISSION_DENIED", "asks", "asks", "asks"},
		{choiceOnce, "admits", "asks", "asks", "asks"},
		{choiceSession, "admits", "admits", "asks", "asks"},
		{choiceAlways, "admits", "admits", "asks", "asks"},
		{choiceNever, "PERMISSION_DENIED", "CONSENT_REQUIRED", "asks", "CONSENT_REQUIRED"},
	} {
		t.Run(c.choice, func(t *testing.T) {
			d := newDesk(every)
			questions, err := d.Check(t.Context(), filling("s1", "mail", "bank"))
			assert.NilError(t, err)
			assert.Assert(t, is.Len(questions, 1))
			assert.Check(t, is.Contains(questions[0].Text, `fill the secret "mail"`))
			assert.Check(t, is.Contains(questions[0].Text, `fill the secret "bank"`))
			r := answered(filling("s1", "mail", "bank"), questions[0], c.choice)
			assert.Check(t, is.Equal(check(d, r), c.now))
			if c.now == "admits" {
				assert.Check(t, is.Len(r.AdmittedSecrets, 2))
				assert.Check(t, is.Equal(check(d, r), "admits"), "after it had to wait")
			}
			assert.Check(t, is.Equal(check(d, filling("s1", "mail", "bank")), c.again))
			assert.Check(t, is.Equal(check(d, filling("s1", "third")), c.other))
			assert.Check(t, is.Equal(check(d, filling("s2", "mail", "bank")), c.changed))
			again := answered(filling("s1", "third"), questions[0], choiceAlways)
			assert.Check(t, is.Equal(check(d, again), "CONSENT_REQUIRED"), "the answer to another question")
		})
	}
}
