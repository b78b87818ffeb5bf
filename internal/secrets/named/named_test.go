package named

import (
	"context"
	"crypto/sha1"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestCodesOfTheStandard: the codes are those of RFC 6238, appendix B.
func TestCodesOfTheStandard(t *testing.T) {
	one := seed{key: []byte("12345678901234567890"), hash: sha1.New, digits: 8, period: 30 * time.Second}
	for at, want := range map[int64]string{59: "94287082", 1111111109: "07081804", 1234567890: "89005924", 20000000000: "65353130"} {
		assert.Check(t, is.Equal(one.code(one.step(time.Unix(at, 0))), want), "%d", at)
	}
}

// TestSeeds: a seed is base32 as sites show it, or an address of an authenticator.
func TestSeeds(t *testing.T) {
	for text, want := range map[string]string{
		"GEZD GNBV-GY3T qojqgezdgnbvgy3tqojq":                                 "287082",
		"otpauth://totp/a:b?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&digits=8": "94287082",
		"otpauth://hotp/a?secret=GEZDGNBVGY3TQOJQ":                            "",
		"otpauth://totp/a?secret=GEZDGNBVGY3TQOJQ&algorithm=MD5":              "",
		"otpauth://totp/a?secret=GEZDGNBVGY3TQOJQ&period=0":                   "",
		"hunter2 is no seed":                                                  "",
		"GEZDGNBV":                                                            "",
	} {
		one, err := parseSeed(text)
		got := ""
		if err == nil {
			got = one.code(one.step(time.Unix(59, 0)))
		}
		assert.Check(t, is.Equal(got, want), "%s %v", text, err)
	}
}

// TestOrigins: a binding has the origin as browsers write it, and other hosts, ports and schemes are other places.
func TestOrigins(t *testing.T) {
	for target, want := range map[string]string{
		"https://GitHub.com/": "https://github.com", "https://github.com:443": "https://github.com", "http://127.0.0.1:8080": "http://127.0.0.1:8080",
		"https://münchen.example": "https://xn--mnchen-3ya.example", "https://github.com/login": "", "ftp://github.com": "", "https://ann@github.com": "",
		"https://": "", "https://github.com?x": "", "https://git hub.com": "",
	} {
		b, err := parseBinding(target, "")
		assert.Check(t, is.Equal(b.Origin, want), "%s %v", target, err)
		assert.Check(t, is.Equal((err == nil), (want != "")), "%s %v", target, err)
	}
}

// TestPlaces: a secret goes to its place and nowhere else.
func TestPlaces(t *testing.T) {
	site := aai.SecretUse{Name: "s", Binding: aai.SecretBinding{Origin: "https://github.com"}}
	field := aai.SecretUse{Name: "s", Binding: aai.SecretBinding{Origin: "https://github.com", Field: "textbox:One-time code"}}
	program := aai.SecretUse{Name: "s", Binding: aai.SecretBinding{App: "desktop/chromium"}}
	tool := aai.SecretUse{Name: "s", Binding: aai.SecretBinding{App: "org.example.App", Field: "user.key"}}
	code := site
	code.IsCode = true
	page := func(address string, password bool) aai.SecretPlace {
		return aai.SecretPlace{App: "desktop/chromium", InPage: true, Address: address, IsPassword: password, IsText: true, Role: "textbox", Name: "Password"}
	}
	named := page("https://github.com/x", false)
	named.Name, named.ID = "One-time code *", "otp"
	for name, c := range map[string]struct {
		use  aai.SecretUse
		at   aai.SecretPlace
		goes bool
	}{
		"password field of the site": {site, page("https://github.com/login?x#y", true), true},
		"default port":               {site, page("https://github.com:443/", true), true},
		"plain field of the site":    {site, page("https://github.com/", false), false},
		"code in a plain field":      {code, page("https://github.com/", false), true},
		"look-alike host":            {site, page("https://github.com.evil.example/", true), false},
		"host in the path":           {site, page("https://evil.example/https://github.com", true), false},
		"host as user":               {site, page("https://github.com@evil.example/", true), false},
		"http":                       {site, page("http://github.com/", true), false},
		"other port":                 {site, page("https://github.com:8443/", true), false},
		"subdomain":                  {site, page("https://gist.github.com/", true), false},
		"unknown address":            {site, page("", true), false},
		"data":                       {site, page("data:text/html,https://github.com", true), false},
		"blob":                       {site, page("blob:https://github.com/x", true), false},
		"srcdoc":                     {site, page("about:srcdoc", true), false},
		"outside of pages":           {site, aai.SecretPlace{App: "desktop/chromium", IsPassword: true, IsText: true}, false},
		"named field":                {field, named, true},
		"other field":                {field, page("https://github.com/", true), false},
		"program outside of pages":   {program, aai.SecretPlace{App: "desktop/chromium", IsPassword: true, IsText: true}, true},
		"program in a page":          {program, page("https://evil.example/", true), false},
		"program in a local file":    {program, page("file:///tmp/x.html", true), false},
		"other program":              {program, aai.SecretPlace{App: "desktop/gedit", IsPassword: true, IsText: true}, false},
		"argument":                   {tool, aai.SecretPlace{App: "org.example.App", Argument: "user.key"}, true},
		"other argument":             {tool, aai.SecretPlace{App: "org.example.App", Argument: "user.name"}, false},
		"argument of another app":    {tool, aai.SecretPlace{App: "org.example.Other", Argument: "user.key"}, false},
		"argument for a site":        {site, aai.SecretPlace{App: "https://github.com", Argument: "x"}, false},
		"element that takes no text": {site, aai.SecretPlace{InPage: true, Address: "https://github.com/", IsPassword: true}, false},
	} {
		err := check(c.use, c.at)
		assert.Check(t, is.Equal((err == nil), c.goes), "%s %v", name, err)
	}
}

// plainStore returns a store with a file that is not sealed.
func plainStore(t *testing.T, values ...string) *Store {
	plain := func(_ context.Context, content []byte) ([]byte, error) { return content, nil }
	return New(Config{
		File: filepath.Join(t.TempDir(), "secrets.sealed"), Seal: plain, Open: plain, Environ: os.Environ,
		AskValue: func(context.Context, *aai.Call, ValueRequest) (string, error) {
			value := values[0]
			values = values[1:]
			return value, nil
		},
	})
}

func (s *Store) mustSet(t *testing.T, args map[string]any) {
	t.Helper()
	_, err := s.set(t.Context(), &aai.Call{Args: args})
	assert.NilError(t, err, args)
}

// TestChangedSecret: a secret that was bound to another place since the question is not filled, and its name has no value
// for agents.
func TestChangedSecret(t *testing.T) {
	s := plainStore(t, "first-value", "second-value", "short")
	s.mustSet(t, map[string]any{"name": "a", "for": "https://one.example"})
	use, err := s.Use(t.Context(), "a")
	assert.NilError(t, err)
	other := map[string]any{"name": "a", "for": "https://two.example"}
	_, err = s.set(t.Context(), &aai.Call{Args: other})
	assert.Check(t, is.ErrorContains(err, "https://one.example"), "bound to another place: %v", err)
	_, err = s.remove(t.Context(), &aai.Call{Args: map[string]any{"name": "a"}})
	assert.NilError(t, err)
	s.mustSet(t, other)
	at := aai.SecretPlace{InPage: true, Address: "https://two.example/", IsPassword: true, IsText: true}
	value, err := s.Value(t.Context(), use, at)
	assert.Check(t, err != nil, "filled %q", value)
	_, err = s.set(t.Context(), &aai.Call{Args: map[string]any{"name": "b", "for": "https://one.example"}})
	assert.Check(t, err != nil, "a value that occurs in other texts was kept")
	list, err := s.list(t.Context(), nil)
	assert.NilError(t, err, list)
	assert.Assert(t, !strings.Contains(list.Text, "value"), list)
	_, err = s.remove(t.Context(), &aai.Call{Args: map[string]any{"name": "a"}})
	assert.Check(t, err)
	_, err = os.Stat(s.config.File)
	assert.Check(t, is.ErrorIs(err, os.ErrNotExist), "without secrets there is a file: %v", err)
}

// TestFilledElsewhere: a value of a reference that one gateway has filled is kept out of the replies of another one.
func TestFilledElsewhere(t *testing.T) {
	one, other := plainStore(t), plainStore(t)
	one.config.FilledFile = filepath.Join(t.TempDir(), "filled.sealed")
	other.config.FilledFile = one.config.FilledFile
	assert.NilError(t, one.share(t.Context(), "of-a-reference"))
	said := other.Redactions(t.Context()).Redact("it is of-a-reference")
	assert.Check(t, !strings.Contains(said, "of-a-reference"), "another gateway says %q", said)
	later := time.Now().Add(filledLifetime + time.Minute)
	one.config.Now = func() time.Time { return later }
	assert.NilError(t, one.share(t.Context(), "another-value"))
	third := plainStore(t)
	third.config.FilledFile = one.config.FilledFile
	said = third.Redactions(t.Context()).Redact("it is of-a-reference")
	assert.Check(t, is.Contains(said, "of-a-reference"), "after its lifetime the value is still kept: %q", said)
}
