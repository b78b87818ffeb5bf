package netguard_test

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway/internal/netguard"
)

// TestIsLoopback covers all unusual spellings: certain, possible and no loopback hosts.
func TestIsLoopback(t *testing.T) {
	const (
		certain = "certain"
		maybe   = "maybe"
		no      = "no"
	)
	for host, want := range map[string]string{
		"localhost": certain, "LocalHost": certain,
		"127.0.0.1": certain, "127.9.9.9": certain, "::1": certain, "0:0:0:0:0:0:0:1": certain,
		"::ffff:127.0.0.1": certain, "::FFFF:7f00:1": certain,

		"localhost.": maybe, "app.localhost": maybe, "App.LOCALHOST.": maybe, "localhost.localdomain": maybe, "ip6-loopback": maybe,
		"0.0.0.0": maybe, "::": maybe, "::ffff:0.0.0.0": maybe, "0": maybe,
		"127": maybe, "127.1": maybe, "127.0.1": maybe, "0177.0.0.1": maybe, "0x7f.1": maybe, "0x7F000001": maybe, "2130706433": maybe, "127.0.0.1.": maybe,
		"127.00.0.1": maybe, "127.0.0.256": maybe,
		"[::1]": maybe, "::1%lo": maybe, "::1%25lo": maybe, "[::1%lo]": maybe, "": maybe, ".": maybe,

		"localhost.example.com": no, "127.0.0.1.example.com": no, "notlocalhost": no, "localhosts": no, "localdomain": no,
		"128.0.0.1": no, "10.0.0.1": no, "192.168.0.1": no, "::2": no, "::ffff:10.0.0.1": no, "fe80::1%lo": no,
		"example.com": no, "jira": no, "0x7f.example.com": no, "l\u043ecalhost": no,
	} {
		got := no
		if netguard.MightBeLoopback(host) {
			got = maybe
		}
		if netguard.IsLoopback(host) {
			got = certain
		}
		assert.Check(t, is.Equal(got, want), "%q", host)
	}
}

// TestWhatIsCertainMayBe: each host that IsLoopback accepts, MightBeLoopback accepts too.
func TestWhatIsCertainMayBe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		host := rapid.OneOf(rapid.String(), rapid.StringMatching(`(localhost|127\.[0-9]{1,3}\.0\.[0-9]|::(ffff:)?[0-9.:]{1,9}|0x7f)(\.|%[a-z]|\.localhost)?`)).Draw(t, "host")
		assert.Assert(t, !netguard.IsLoopback(host) || netguard.MightBeLoopback(host), "%q", host)
	})
}

func TestIntrudes(t *testing.T) {
	for _, c := range []struct {
		from, to string
		want     bool
	}{
		{"example.com", "localhost", true},
		{"example.com", "127.1", true},
		{"example.com", "0.0.0.0", true},
		{"example.com", "app.localhost", true},
		{"example.com", "api.example.com", false},
		{"example.com", "10.0.0.1", false}, // whether that is reached is another question
		{"localhost", "127.0.0.1", false},
		{"::1", "app.localhost", false},
		{"app.localhost", "app.localhost", false},
		{"app.localhost", "App.localhost", false},
		{"app.localhost", "localhost", true}, // the resolver of that name is unknown
		{"app.localhost", "other.localhost", true},
		{"127.1", "127.0.0.1", true},
		{"", "localhost", true},
	} {
		assert.Check(t, is.Equal(netguard.CrossesToLoopback(c.from, c.to), c.want), "%q %q %v", c.from, c.to, !c.want)
	}
}
