package netguard_test

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway/internal/netguard"
)

func TestParseHost(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"example.com", "example.com"},
		{"EXAMPLE.com.", "example.com"},
		{"example.com:443", "example.com"},
		{"example.com:8443", "example.com:8443"},
		{"bücher.example", "xn--bcher-kva.example"},
		{"ＥＸＡＭＰＬＥ。com", "example.com"}, // full width, as browsers map it
		{"faß.de", "xn--fa-hia.de"},
		{"xn--bcher-kva.example", "xn--bcher-kva.example"},
		{"аpple.com", "xn--pple-43d.com"}, // the first letter is Cyrillic, and is seen to be
		{"93.184.216.34", "93.184.216.34"},
		{"[2606:4700::1111]:8443", "[2606:4700::1111]:8443"},
		{"[2606:4700:0::1111]", "[2606:4700::1111]"},
		{"[::ffff:127.0.0.1]", "127.0.0.1"},
		{"localhost", "localhost"},
		{"3com.com", "3com.com"},
		{"a-b.c0", "a-b.c0"},

		{"", ""}, {".", ""}, {"..", ""}, {"a..b", ""}, {"-a.com", ""}, {"a-.com", ""}, {"a_b.com", ""}, {"a b.com", ""}, {"a/b", ""},
		{"a.com:", ""}, {"a.com:0", ""}, {"a.com:080", ""}, {"a.com:+80", ""}, {"a.com:65536", ""}, {"a.com:http", ""}, {"a.com:1:2", ""},
		{"::1", ""}, {"[::1", ""}, {"::1]", ""}, {"[::1]x", ""}, {"[127.0.0.1]", ""}, {"[fe80::1%eth0]", ""}, {"[]", ""},
		{"0177.0.0.1", ""}, {"127.1", ""}, {"2130706433", ""}, {"0x7f.1", ""}, {"0x7f000001", ""}, {"1.2.3.4.5", ""}, {"256.1.1.1", ""},
		{"a.0x", ""}, {"a.09", ""}, {"1.2.3.4.", "1.2.3.4"}, {"①.com", "1.com"}, {"127.0.0.①", "127.0.0.1"},
		{"user@a.com", ""}, {"a.com#b", ""}, {"a.com?b", ""}, {"a%2ecom", ""}, {"a\x00.com", ""}, {"a\n.com", ""}, {"../etc", ""},
		{strings.Repeat("a", 64) + ".com", ""}, {strings.Repeat("a.", 127) + "com", ""}, {strings.Repeat("a", 1<<20), ""},
		{"ex\u00adample.com", "example.com"}, {"a\u200db.com", ""}, {"\u202ecom", ""},
	} {
		h, err := netguard.ParseHost(test.in)
		switch {
		case test.want == "" && err == nil:
			t.Errorf("%.40q is %s", test.in, h)
		case test.want != "" && (err != nil || h.String() != test.want):
			t.Errorf("%.40q is %s, %v, want %s", test.in, h, err, test.want)
		}
	}
}

func TestSameSite(t *testing.T) {
	for _, test := range []struct {
		a, b string
		same bool
	}{
		{"example.com", "example.com", true},
		{"example.com", "api.example.com:8443", true},
		{"a.b.example.co.uk", "c.example.co.uk", true},
		{"a.co.uk", "b.co.uk", false},
		{"alice.github.io", "bob.github.io", false},
		{"github.io", "alice.github.io", false},
		{"example.com", "example.org", false},
		{"example.com", "notexample.com", false},
		{"93.184.216.34", "93.184.216.34", true},
		{"93.184.216.34", "1.184.216.34", false},
		{"localhost", "localhost:8080", true},
		{"jira", "wiki", false},
		{"com", "com", true},
		{"com", "example.com", false},
	} {
		a, errA := netguard.ParseHost(test.a)
		b, errB := netguard.ParseHost(test.b)
		assert.NilError(t, errA, "%s %s", test.a, test.b)
		assert.NilError(t, errB, "%s %s", test.a, test.b)
		assert.Equal(t, a.SameSite(b), test.same, "%s %s", test.a, test.b)
		assert.Equal(t, b.SameSite(a), test.same, "%s %s", test.a, test.b)
	}
	assert.Check(t, !(netguard.Host{}).SameSite(netguard.Host{}), "nowhere is the same site as nowhere")
}

func TestHostIsLoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "app.localhost:99": true, "127.0.0.1": true, "127.9.9.9": true, "[::1]": true, "[::ffff:127.0.0.1]": true,
		"localhost.example.com": false, "10.0.0.1": false, "0.0.0.0": false, "example.com": false, "notlocalhost": false,
	} {
		h, err := netguard.ParseHost(host)
		assert.NilError(t, err, host)
		assert.Equal(t, h.IsLoopback(), want, host)
	}
}

// checkHost checks the guarantees of ParseHost for its result.
func checkHost(t interface{ Fatalf(string, ...any) }, in string, h netguard.Host) {
	again, err := netguard.ParseHost(h.String())
	if err != nil || again != h {
		t.Fatalf("%q gives %q, which gives %q, %v", in, h, again, err)
	}
	if name := h.Name(); name == "" || len(name) > 253 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789.-:") != "" ||
		strings.HasPrefix(name, ".") || strings.Contains(name, "..") {
		t.Fatalf("%q gives the name %q", in, name)
	}
	u, err := url.Parse(h.Origin())
	if err != nil || u.Host != h.String() || u.Hostname() != h.Name() || u.Path != "" || u.User != nil {
		t.Fatalf("%q gives the origin %q, which net/url reads as %+v, %v", in, h.Origin(), u, err)
	}
	if ip, err := netip.ParseAddr(h.Name()); err == nil && (ip.String() != h.Name() || ip.Is4In6() || ip.Zone() != "") {
		t.Fatalf("%q gives the address %q", in, h.Name())
	}
}

func FuzzParseHost(f *testing.F) {
	for _, seed := range []string{"example.com", "EXAMPLE.com.:8443", "[::1]:443", "[::ffff:1.2.3.4]", "0x7f.1", "bücher.example", "１２７.０.０.１", "a:1:2", "xn--a", "%31"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		if h, err := netguard.ParseHost(in); err == nil {
			checkHost(t, in, h)
		}
	})
}

func TestHostsOfAnyForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.StringMatching(`(\[?[0-9a-fA-F:.]{0,20}\]?|([a-zA-Z0-9ßéЖ。-]{1,8}\.){0,4}[a-z0-9]{1,5})(:[0-9]{1,5})?`).Draw(t, "host")
		if h, err := netguard.ParseHost(in); err == nil {
			checkHost(t, in, h)
		}
	})
}

func TestSharesLogin(t *testing.T) {
	for _, c := range []struct {
		a, b   string
		shares bool
	}{
		{"https://example.com", "https://api.example.com:8443", true},
		{"https://example.com", "https://example.org", false},
		{"http://127.0.0.1:18101", "http://127.0.0.1:18101/v2", true},
		{"http://127.0.0.1:18101", "http://127.0.0.1:18102", false},
		{"http://localhost", "http://localhost:8080", false},
		{"https://jira", "http://jira", false},
	} {
		assert.Check(t, is.Equal(netguard.SharesLogin(c.a, c.b), c.shares), "%s %s", c.a, c.b)
	}
}
