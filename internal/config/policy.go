package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/lexicon"
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
		ConfirmDestructive: true, DestructiveWords: lexicon.DestructiveWords(), Limits: policy.DefaultLimits(),
	}
}

// policySettings returns the settings about trust. The names under security and rate_limits are
// those of axterminator's configuration.
func policySettings() []settingSpec {
	return []settingSpec{
		{"consent.dialog", "whether questions are put in windows where there is a screen", widensUnlessDefault, []string{"AAI_CONSENT_DIALOG"},
			choiceAt(func(c *Config) *string { return &c.Policy.Dialog }, DialogAuto, DialogOff)},
		{"consent.elicitation", "identities whose client may ask in its own form; true: all, false: none", widensUnlessDefault, nil,
			valueOf(KindMixed, func(c *Config) *[]string { return &c.Policy.ElicitationClients }, parseElicitation)},
		{"server.security_mode", "how much callers may do at all; the stricter of this and of aai-gateway mode holds", widensIfRelaxed,
			bothSpellings("SECURITY_MODE"), settingValue{
				KindEnum, []string{"normal", "safe", "sandboxed"}, func(c *Config) any { return c.Policy.Mode.String() }, setMode,
			}},
		{"security.allowed_apps", "names, ids and patterns of the only apps that may be used; empty: all", widensIfRelaxed,
			bothSpellings("ALLOWED_APPS"), valueOf(KindList, func(c *Config) *[]string { return &c.Policy.AllowedApps }, parseAppList)},
		{"security.denied_apps", "names, ids and patterns of apps that may not be used, whatever else is said", widensIfRelaxed,
			bothSpellings("DENIED_APPS"), valueOf(KindList, func(c *Config) *[]string { return &c.Policy.DeniedApps }, parseAppList)},
		{"server.confirm_destructive", "whether acts that may not be undone are asked about apart", widensUnlessDefault,
			bothSpellings("CONFIRM_DESTRUCTIVE"), boolAt(func(c *Config) *bool { return &c.Policy.ConfirmDestructive })},
		{"security.destructive_words", "words by which an act counts as one that may not be undone, in any language", widensUnlessDefault, nil,
			textsAt("words", func(c *Config) *[]string { return &c.Policy.DestructiveWords })},
		limitSpec("rps", "calls of tools for windows in a second, of each caller", "RATE_LIMIT_RPS", policy.KindDesktop, perSecond),
		limitSpec("rpm", "calls of tools for windows in a minute, of each caller", "RATE_LIMIT_RPM", policy.KindDesktop, perMinute),
		limitSpec("concurrency", "calls of tools for windows at the same time, of each caller", "CONCURRENCY", policy.KindDesktop, concurrent),
		limitSpec("vlm_rpm", "questions to a model in a minute, of each caller", "VLM_RATE_LIMIT", policy.KindVision, perMinute),
		limitSpec("script_rpm", "AppleScripts of apps in a minute, of each caller", "SCRIPT_RATE_LIMIT", policy.KindScript, perMinute),
		limitSpec("declared_rps", "calls of apps' tools in a second, of each caller", "", policy.KindDeclared, perSecond),
		limitSpec("declared_rpm", "calls of apps' tools in a minute, of each caller", "", policy.KindDeclared, perMinute),
		limitSpec("declared_concurrency", "calls of apps' tools at the same time, of each caller", "", policy.KindDeclared, concurrent),
	}
}

// maxLimit bounds every rate limit: more is no limit.
const maxLimit = 10_000_000

func perSecond(l *policy.Limit) *int  { return &l.PerSecond }
func perMinute(l *policy.Limit) *int  { return &l.PerMinute }
func concurrent(l *policy.Limit) *int { return &l.Concurrent }

// limitSpec returns the setting of one limit.
func limitSpec(name, summary, env string, kind policy.Kind, of func(*policy.Limit) *int) settingSpec {
	get := func(c *Config) any {
		l := c.Policy.Limits[kind]
		return *of(&l)
	}
	set := func(c *Config, _ string, value any) error {
		n, ok := parseInteger(value, 1, maxLimit)
		if !ok {
			return fmt.Errorf("expected a whole number from 1 to %d", maxLimit)
		}
		l := c.Policy.Limits[kind]
		*of(&l) = n
		c.Policy.Limits[kind] = l
		return nil
	}
	return settingSpec{"rate_limits." + name, summary, widensIfMore, bothSpellings(env), settingValue{KindInteger, nil, get, set}}
}

// parseElicitation reads the clients that may ask: true means all clients.
func parseElicitation(value any) ([]string, error) {
	switch all, ok := value.(bool); {
	case ok && all:
		return []string{policy.Wildcard}, nil
	case ok:
		return []string{}, nil
	}
	if _, ok := value.([]any); !ok {
		return nil, errors.New(`expected true, false or a list of identities such as "/usr/bin/claude"`)
	}
	return parseTexts("identities", value)
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

// parseAppList reads names, ids and patterns of apps, separated by commas in the environment.
func parseAppList(value any) ([]string, error) {
	if text, ok := value.(string); ok {
		var list []any
		for _, name := range strings.Split(text, ",") {
			if name = strings.TrimSpace(name); name != "" {
				list = append(list, name)
			}
		}
		value = list
	}
	names, err := parseTexts("apps", value)
	if err != nil {
		return nil, err
	}
	if slices.Contains(names, aai.BuiltinApp) {
		return nil, errors.New("the gateway itself cannot be listed")
	}
	if bad, found := policy.FirstInvalidPattern(names); found {
		return nil, fmt.Errorf("%q is no pattern", aai.CleanLabel(bad, 60))
	}
	return names, nil
}
