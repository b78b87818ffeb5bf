package netguard_test

import (
	"net/url"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway/internal/netguard"
)

func TestSame(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"example.com", "example.com", true},
		{"api.example.com", "login.example.com", true},
		{"example.com", "a.b.example.com", true},
		{"example.co.uk", "api.example.co.uk", true},
		{"one.co.uk", "two.co.uk", false},
		{"one.github.io", "two.github.io", false}, // each its own owner
		{"example.com", "example.org", false},
		{"example.com", "notexample.com", false},
		{"example.com", "example.com.evil.org", false},
		{"com", "com", true},
		{"com", "example.com", false},
		{"localhost", "localhost", true},
		{"localhost", "app.localhost", false},
		{"jira", "wiki", false},
		{"co.uk", "co.uk", true},
		{"10.0.0.1", "10.0.0.1", true},
		{"10.0.0.1", "11.0.0.1", false},
		{"1.0.0.1", "2.0.0.1", false}, // not two names of the domain "0.1"
		{"::1", "::1", true},
		{"fd00::1", "fd00::2", false},
		{"", "", false},
		{"", "example.com", false},
		{"..", ".", false},
		{".example.com", "example.com", false},
	} {
		assert.Check(t, is.Equal(netguard.SameSite(c.a, c.b), c.same), "%q %q", c.a, c.b)
		assert.Check(t, is.Equal(netguard.SameSite(c.b, c.a), c.same), "%q %q", c.a, c.b)
	}
}

// TestSameIsAnEquivalence: for names with a registrable domain SameSite is transitive, and a
// subdomain belongs to the site of its parent.
func TestSameIsAnEquivalence(t *testing.T) {
	label := rapid.StringMatching(`[a-z]{1,4}`)
	host := rapid.Custom(func(t *rapid.T) string {
		end := rapid.SampledFrom([]string{"com", "co.uk", "github.io", "example.com", "example.co.uk"}).Draw(t, "end")
		return strings.Join(append(rapid.SliceOfN(label, 1, 3).Draw(t, "labels"), end), ".")
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := host.Draw(t, "a"), host.Draw(t, "b"), host.Draw(t, "c")
		assert.Assert(t, netguard.SameSite(a, a), "%s %s", a, b)
		assert.Equal(t, netguard.SameSite(a, b), netguard.SameSite(b, a), "%s %s", a, b)
		assert.Assert(t, !netguard.SameSite(a, b) || !netguard.SameSite(b, c) || netguard.SameSite(a, c), "%s %s %s", a, b, c)
		if netguard.RegistrableDomain(a) != "" && !netguard.SameSite(a, "x."+a) { // some of these are public suffixes, such as "sa.com"
			t.Fatalf("x.%s", a)
		}
	})
}

func TestOrigin(t *testing.T) {
	for address, want := range map[string]string{
		"https://Example.com/a?b#c":     "https://example.com",
		"https://example.com:443/":      "https://example.com",
		"https://example.com:":          "https://example.com",
		"https://example.com:80":        "https://example.com:80",
		"http://example.com:80":         "http://example.com",
		"http://example.com:443":        "http://example.com:443",
		"HTTPS://user@example.com:8443": "https://example.com:8443",
		"https://[2001:DB8::1]":         "https://[2001:db8::1]",
		"https://[2001:db8::1]:443":     "https://[2001:db8::1]",
		"http://[::1]:8080/x":           "http://[::1]:8080",
	} {
		u, err := url.Parse(address)
		assert.NilError(t, err)
		assert.Check(t, is.Equal(netguard.Origin(u), want), address)
	}
}
