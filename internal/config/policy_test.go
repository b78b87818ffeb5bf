package config

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/policy"
)

func TestPolicySettings(t *testing.T) {
	for text, want := range map[string]func(*Policy){
		`{}`:                                  func(*Policy) {},
		`{"consent": {"elicitation": true}}`:  func(p *Policy) { p.ElicitationClients = []string{policy.Wildcard} },
		`{"consent": {"elicitation": false}}`: func(*Policy) {},
		`{"consent": {"elicitation": ["/usr/bin/claude"]}}`:       func(p *Policy) { p.ElicitationClients = []string{"/usr/bin/claude"} },
		`{"server": {"security_mode": "sandboxed"}}`:              func(p *Policy) { p.Mode = policy.Sandboxed },
		`{"security": {"denied_apps": ["1Password", "*Access"]}}`: func(p *Policy) { p.DeniedApps = []string{"1Password", "*Access"} },
		`{"rate_limits": {"rps": 7, "script_rpm": 1}}`: func(p *Policy) {
			p.Limits[policy.KindDesktop] = policy.Limit{PerSecond: 7, PerMinute: 1000, Concurrent: 20}
			p.Limits[policy.KindScript] = policy.Limit{PerSecond: 5, PerMinute: 1, Concurrent: 10}
		},
	} {
		c, err := newTestHome(t).readFile(t, text)
		expected := defaultPolicy()
		want(&expected)
		assert.Check(t, is.DeepEqual(expected, mustRead(t, c, err).Policy), "%s", text)
	}
}

func TestBadPolicySettings(t *testing.T) {
	for text, message := range map[string]string{
		`{"consent": {"dialog": "on"}}`:                            `FILE: consent.dialog: expected "auto" or "off"`,
		`{"consent": {"elicitation": "claude-ai"}}`:                `FILE: consent.elicitation: expected true, false or a list of identities such as "/usr/bin/claude"`,
		`{"consent": {"elicitation": [7]}}`:                        `FILE: consent.elicitation: [0]: expected a text`,
		`{"server": {"security_mode": "loose"}}`:                   `FILE: server.security_mode: expected "normal", "safe" or "sandboxed"`,
		`{"server": {"security_mode": null}}`:                      `FILE: server.security_mode: expected "normal", "safe" or "sandboxed"`,
		`{"security": {"denied_apps": ["["]}}`:                     `FILE: security.denied_apps: "[" is no pattern`,
		`{"security": {"denied_apps": ["aai"]}}`:                   `FILE: security.denied_apps: the gateway itself cannot be listed`,
		`{"security": {"allowed_apps": [" "]}}`:                    `FILE: security.allowed_apps: [0]: expected a text`,
		`{"security": {"destructive_words": "delete"}}`:            `FILE: security.destructive_words: expected a list of words`,
		`{"server": {"confirm_destructive": "maybe"}}`:             `FILE: server.confirm_destructive: expected true or false`,
		`{"rate_limits": {"rps": 0}}`:                              `FILE: rate_limits.rps: expected a whole number from 1 to 10000000`,
		`{"rate_limits": {"rps": 0}, "consent": {"dialog": "on"}}`: `FILE: consent.dialog: expected "auto" or "off"; rate_limits.rps: expected a whole number from 1 to 10000000`,
		`{"rate_limits": {"rps": 1.5}}`:                            `FILE: rate_limits.rps: expected a whole number from 1 to 10000000`,
	} {
		_, err := newTestHome(t).readFile(t, text)
		t.Run(text, func(t *testing.T) { expectInvalid(t, err, message) })
	}
}

// TestLimitsByDefault checks axterminator's default limits, and ours for descriptors.
func TestLimitsByDefault(t *testing.T) {
	want := map[policy.Kind]policy.Limit{
		policy.KindDesktop:  {PerSecond: 50, PerMinute: 1000, Concurrent: 20},
		policy.KindVision:   {PerSecond: 10, PerMinute: 10, Concurrent: 10},
		policy.KindScript:   {PerSecond: 5, PerMinute: 5, Concurrent: 10},
		policy.KindDeclared: {PerSecond: 500, PerMinute: 30_000, Concurrent: 128},
	}
	assert.Check(t, is.DeepEqual(want, defaultPolicy().Limits))
}
