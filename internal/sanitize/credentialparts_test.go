package sanitize

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestPartsOfCredentials checks that a part that is a credential itself is removed when it comes alone,
// and that other parts stay.
func TestPartsOfCredentials(t *testing.T) {
	for name, c := range map[string]struct{ secret, text, hidden, shown string }{
		"address":           {"postgres://bob:Sup3rS3cr3t@db.example/x", "the password is Sup3rS3cr3t of bob at db.example", "Sup3rS3cr3t", "db.example"},
		"encoded password":  {"postgres://bob:Sup3r%2FS3cr3t@db.example/x", "Sup3r/S3cr3t or Sup3r%2FS3cr3t", "S3cr3t", ""},
		"another scheme":    {"postgres://bob:Sup3rS3cr3t@db.example/x", "postgresql://bob:Sup3rS3cr3t@db.example/x", "Sup3rS3cr3t", "db.example"},
		"scheme and token":  {"Bearer abcDEF0123456789", "got abcDEF0123456789", "abcDEF", "got"},
		"user and password": {"robert:Sup3rS3cr3t", "robert has Sup3rS3cr3t", "Sup3rS3cr3t", "robert"},
		"JSON":              {`{"type": "service_account", "private_key": "-----BEGIN KEY-----\nMIIEvQIBADANBgkqh\n-----END KEY-----\n"}`, "a service_account: MIIEvQIBADANBgkqh", "MIIEvQ", "service_account"},
		"an address alone":  {"https://api.example.com/v1", "see api.example.com", "", "api.example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			var set SecretSet
			set.Add(c.secret)
			got := set.Redact(c.text)
			assert.Check(t, c.hidden == "" || !strings.Contains(got, c.hidden), "%q shows %q", got, c.hidden)
			assert.Check(t, is.Contains(got, c.shown))
		})
	}
}
