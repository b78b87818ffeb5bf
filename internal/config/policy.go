package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/policy"
)

// Values of Policy.Dialog: whether questions to the person appear in dialogs.
const (
	DialogAuto = "auto" // if there is a screen
	DialogOff  = "off"
)

// Policy configures the rights of callers and the questions to people.
type Policy struct {
	Dialog             string
	ElicitationClients []string // callers with a client that may ask
	Mode               policy.Mode
	AllowedApps        []string
	DeniedApps         []string
	ConfirmDestructive bool // actions that look irreversible
	DestructiveWords   []string
	Limits             map[policy.Kind]policy.Limit
}

func defaultPolicy() Policy {
	return Policy{
		Dialog: DialogAuto, ElicitationClients: []string{}, AllowedApps: []string{}, DeniedApps: []string{},
		ConfirmDestructive: true, DestructiveWords: policy.DestructiveWords(), Limits: policy.DefaultLimits(),
	}
}

// policySettings returns the settings about trust. The names under security and rate_limits are
// those of axterminator's configuration.
func policySettings() []settingSpec {
	return []settingSpec{
		{"consent.dialog", widensUnlessDefault, []string{"AAI_CONSENT_DIALOG"}, func(c *Config) any { return c.Policy.Dialog }, setDialog},
		{"consent.elicitation", widensUnlessDefault, nil, func(c *Config) any { return c.Policy.ElicitationClients }, setElicitation},
		{"server.security_mode", widensIfRelaxed, []string{"AAI_SECURITY_MODE", "AXTERMINATOR_SECURITY_MODE"}, func(c *Config) any { return c.Policy.Mode.String() }, setMode},
		{"security.allowed_apps", widensIfRelaxed, []string{"AAI_ALLOWED_APPS", "AXTERMINATOR_ALLOWED_APPS"}, func(c *Config) any { return c.Policy.AllowedApps },
			appListSetter(func(p *Policy) *[]string { return &p.AllowedApps })},
		{"security.denied_apps", widensIfRelaxed, []string{"AAI_DENIED_APPS", "AXTERMINATOR_DENIED_APPS"}, func(c *Config) any { return c.Policy.DeniedApps },
			appListSetter(func(p *Policy) *[]string { return &p.DeniedApps })},
		{"server.confirm_destructive", widensUnlessDefault, []string{"AAI_CONFIRM_DESTRUCTIVE", "AXTERMINATOR_CONFIRM_DESTRUCTIVE"}, func(c *Config) any { return c.Policy.ConfirmDestructive },
			boolSetter(func(c *Config, b bool) { c.Policy.ConfirmDestructive = b })},
		{"security.destructive_words", widensUnlessDefault, nil, func(c *Config) any { return c.Policy.DestructiveWords }, func(c *Config, _ string, v any) error { return setTexts(&c.Policy.DestructiveWords, "words", v) }},
		limitSpec("rps", "RATE_LIMIT_RPS", policy.KindDesktop, func(l *policy.Limit) *int { return &l.PerSecond }),
		limitSpec("rpm", "RATE_LIMIT_RPM", policy.KindDesktop, func(l *policy.Limit) *int { return &l.PerMinute }),
		limitSpec("concurrency", "CONCURRENCY", policy.KindDesktop, func(l *policy.Limit) *int { return &l.Concurrent }),
		limitSpec("vlm_rpm", "VLM_RATE_LIMIT", policy.KindVision, func(l *policy.Limit) *int { return &l.PerMinute }),
		limitSpec("script_rpm", "SCRIPT_RATE_LIMIT", policy.KindScript, func(l *policy.Limit) *int { return &l.PerMinute }),
		limitSpec("declared_rps", "", policy.KindDeclared, func(l *policy.Limit) *int { return &l.PerSecond }),
		limitSpec("declared_rpm", "", policy.KindDeclared, func(l *policy.Limit) *int { return &l.PerMinute }),
		limitSpec("declared_concurrency", "", policy.KindDeclared, func(l *policy.Limit) *int { return &l.Concurrent }),
	}
}

// maxLimit bounds every rate limit: more is no limit.
const maxLimit = 10_000_000

// limitSpec returns the setting of one limit.
func limitSpec(name, env string, kind policy.Kind, of func(*policy.Limit) *int) settingSpec {
	s := settingSpec{key: "rate_limits." + name, widens: widensIfMore}
	if env != "" {
		s.env = []string{"AAI_" + env, "AXTERMINATOR_" + env}
	}
	s.get = func(c *Config) any {
		l := c.Policy.Limits[kind]
		return *of(&l)
	}
	s.set = func(c *Config, _ string, value any) error {
		n, ok := parseInteger(value, 1, maxLimit)
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

// setElicitation reads the clients that may ask: true means all clients.
func setElicitation(c *Config, _ string, value any) error {
	if all, ok := value.(bool); ok {
		c.Policy.ElicitationClients = []string{}
		if all {
			c.Policy.ElicitationClients = []string{policy.Wildcard}
		}
		return nil
	}
	if _, ok := value.([]any); !ok {
		return errors.New(`expected true, false or a list of identities such as "/usr/bin/claude"`)
	}
	return setTexts(&c.Policy.ElicitationClients, "identities", value)
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

// appListSetter returns a setter for names, ids and patterns of apps, separated by commas in the
// environment.
func appListSetter(of func(*Policy) *[]string) func(*Config, string, any) error {
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
		if slices.Contains(names, aai.BuiltinApp) {
			return errors.New("the gateway itself cannot be listed")
		}
		if bad, found := policy.FirstInvalidPattern(names); found {
			return fmt.Errorf("%q is no pattern", aai.CleanLabel(bad, 60))
		}
		*of(&c.Policy) = names
		return nil
	}
}
