package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"aai"
	"aai/internal/policy"
)

// Whether questions are put in windows.
const (
	DialogAuto = "auto" // where there is a screen
	DialogOff  = "off"
)

// Policy is what callers may do, and how people are asked.
type Policy struct {
	Dialog      string
	Elicitation []string // callers whose client may ask
	Mode        policy.Mode
	Allowed     []string
	Denied      []string
	Confirm     bool // what looks as if it could not be undone
	Words       []string
	Limits      map[policy.Kind]policy.Limit
}

func defaultPolicy() Policy {
	return Policy{
		Dialog: DialogAuto, Elicitation: []string{}, Allowed: []string{}, Denied: []string{},
		Confirm: true, Words: policy.DestructiveWords(), Limits: policy.DefaultLimits(),
	}
}

// policySettings is the part of the table that is about trust. The names under
// security and rate_limits are those of the desktop tools' own configuration.
func policySettings() []row {
	return []row{
		{"consent.dialog", otherwise, []string{"AAI_CONSENT_DIALOG"}, func(c *Config) any { return c.Policy.Dialog }, setDialog},
		{"consent.elicitation", otherwise, nil, func(c *Config) any { return c.Policy.Elicitation }, setElicitation},
		{"server.security_mode", takenBack, []string{"AAI_SECURITY_MODE", "AXTERMINATOR_SECURITY_MODE"}, func(c *Config) any { return c.Policy.Mode.String() }, setMode},
		{"security.allowed_apps", takenBack, []string{"AAI_ALLOWED_APPS", "AXTERMINATOR_ALLOWED_APPS"}, func(c *Config) any { return c.Policy.Allowed },
			appList(func(p *Policy) *[]string { return &p.Allowed })},
		{"security.denied_apps", takenBack, []string{"AAI_DENIED_APPS", "AXTERMINATOR_DENIED_APPS"}, func(c *Config) any { return c.Policy.Denied },
			appList(func(p *Policy) *[]string { return &p.Denied })},
		{"server.confirm_destructive", otherwise, []string{"AAI_CONFIRM_DESTRUCTIVE", "AXTERMINATOR_CONFIRM_DESTRUCTIVE"}, func(c *Config) any { return c.Policy.Confirm },
			boolean(func(c *Config, b bool) { c.Policy.Confirm = b })},
		{"security.destructive_words", otherwise, nil, func(c *Config) any { return c.Policy.Words }, func(c *Config, _ string, v any) error { return setTexts(&c.Policy.Words, "words", v) }},
		limit("rps", "RATE_LIMIT_RPS", policy.Windows, func(l *policy.Limit) *int { return &l.PerSecond }),
		limit("rpm", "RATE_LIMIT_RPM", policy.Windows, func(l *policy.Limit) *int { return &l.PerMinute }),
		limit("concurrency", "CONCURRENCY", policy.Windows, func(l *policy.Limit) *int { return &l.Concurrent }),
		limit("vlm_rpm", "VLM_RATE_LIMIT", policy.Vision, func(l *policy.Limit) *int { return &l.PerMinute }),
		limit("script_rpm", "SCRIPT_RATE_LIMIT", policy.Script, func(l *policy.Limit) *int { return &l.PerMinute }),
		limit("declared_rps", "", policy.Declared, func(l *policy.Limit) *int { return &l.PerSecond }),
		limit("declared_rpm", "", policy.Declared, func(l *policy.Limit) *int { return &l.PerMinute }),
		limit("declared_concurrency", "", policy.Declared, func(l *policy.Limit) *int { return &l.Concurrent }),
	}
}

// maxLimit bounds every limit: more is none.
const maxLimit = 10_000_000

// limit is the setting of one limit.
func limit(name, env string, kind policy.Kind, of func(*policy.Limit) *int) row {
	s := row{key: "rate_limits." + name, widens: whenMore}
	if env != "" {
		s.env = []string{"AAI_" + env, "AXTERMINATOR_" + env}
	}
	s.get = func(c *Config) any {
		l := c.Policy.Limits[kind]
		return *of(&l)
	}
	s.set = func(c *Config, _ string, value any) error {
		n, ok := whole(value, 1, maxLimit)
		if !ok {
			return fmt.Errorf("expected a whole number from 1 to %d", maxLimit)
		}
		l := c.Policy.Limits[kind]
		*of(&l) = n
		c.Policy.Limits[kind] = l
		return nil
	}
	return s
}

func setDialog(c *Config, _ string, value any) error {
	s, _ := value.(string)
	if s != DialogAuto && s != DialogOff {
		return fmt.Errorf("expected %q or %q", DialogAuto, DialogOff)
	}
	c.Policy.Dialog = s
	return nil
}

// setElicitation reads whose client may ask: true is everybody's.
func setElicitation(c *Config, _ string, value any) error {
	if all, ok := value.(bool); ok {
		c.Policy.Elicitation = []string{}
		if all {
			c.Policy.Elicitation = []string{policy.Every}
		}
		return nil
	}
	if _, ok := value.([]any); !ok {
		return errors.New(`expected true, false or a list of identities such as "/usr/bin/claude"`)
	}
	return setTexts(&c.Policy.Elicitation, "identities", value)
}

func setMode(c *Config, _ string, value any) error {
	s, _ := value.(string)
	mode, err := policy.ParseMode(s)
	if err != nil {
		return err
	}
	c.Policy.Mode = mode
	return nil
}

// appList reads names, ids and patterns of apps; in the environment, with commas
// between them.
func appList(of func(*Policy) *[]string) func(*Config, string, any) error {
	return func(c *Config, _ string, value any) error {
		if text, ok := value.(string); ok {
			var list []any
			for _, name := range strings.Split(text, ",") {
				if name = strings.TrimSpace(name); name != "" {
					list = append(list, name)
				}
			}
			value = list
		}
		var names []string
		if err := setTexts(&names, "apps", value); err != nil {
			return err
		}
		if slices.Contains(names, aai.OwnApp) {
			return errors.New("the gateway itself cannot be listed")
		}
		if bad := policy.BadPattern(names); bad != "" {
			return fmt.Errorf("%q is no pattern", aai.CleanLabel(bad, 60))
		}
		*of(&c.Policy) = names
		return nil
	}
}
