package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"aai/internal/policy"
)

// securityConfig is how much callers may do at all. Its names in the file are
// those of the older configuration.
type securityConfig struct {
	Mode    policy.Mode
	Confirm bool // have a person confirm clicks whose captions say that they destroy
	Allowed []string
	Denied  []string
	Words   []string // such captions, besides the known ones
}

func defaultSecurity() securityConfig {
	return securityConfig{Mode: policy.Normal, Confirm: true, Allowed: []string{}, Denied: []string{}, Words: []string{}}
}

// words are the words that captions are searched for.
func (s securityConfig) words() []string {
	if !s.Confirm {
		return nil
	}
	return slices.Concat(policy.DestructiveWords(), s.Words)
}

// modePath is where the mode is kept that a person set at the terminal.
func (c *config) modePath() string { return filepath.Join(c.platform.data, "mode.json") }

// securitySettings is the part of the table that is about security.
func securitySettings() []setting {
	return []setting{
		{"server.security_mode", []string{"AAI_SECURITY_MODE", "AXTERMINATOR_SECURITY_MODE"}, func(c *config) any { return c.Security.Mode }, setMode},
		{"server.confirm_destructive", []string{"AAI_CONFIRM_DESTRUCTIVE", "AXTERMINATOR_CONFIRM_DESTRUCTIVE"}, func(c *config) any { return c.Security.Confirm },
			boolean(func(c *config, b bool) { c.Security.Confirm = b })},
		{"security.allowed_apps", []string{"AAI_ALLOWED_APPS", "AXTERMINATOR_ALLOWED_APPS"}, func(c *config) any { return c.Security.Allowed },
			texts(func(c *config, list []string) { c.Security.Allowed = list })},
		{"security.denied_apps", []string{"AAI_DENIED_APPS", "AXTERMINATOR_DENIED_APPS"}, func(c *config) any { return c.Security.Denied },
			texts(func(c *config, list []string) { c.Security.Denied = list })},
		{"security.destructive_words", nil, func(c *config) any { return c.Security.Words },
			texts(func(c *config, list []string) { c.Security.Words = list })},
	}
}

func setMode(c *config, _ string, value any) error {
	s, _ := value.(string)
	if !slices.Contains(policy.ModeNames(), s) {
		return fmt.Errorf("expected one of %q", policy.ModeNames())
	}
	c.Security.Mode = policy.Mode(s)
	return nil
}

// texts reads a list of texts, or, from the environment, one with commas between.
func texts(put func(*config, []string)) func(*config, string, any) error {
	return func(c *config, _ string, value any) error {
		list := []string{}
		switch v := value.(type) {
		case string:
			for item := range strings.SplitSeq(v, ",") {
				if item = strings.TrimSpace(item); item != "" {
					list = append(list, item)
				}
			}
		case []any:
			for i, item := range v {
				s, ok := item.(string)
				if !ok || strings.TrimSpace(s) == "" {
					return fmt.Errorf("[%d]: expected a text", i)
				}
				list = append(list, s)
			}
		default:
			return errors.New("expected a list of texts")
		}
		if _, err := policy.NewAppLists(list, nil); err != nil {
			return err
		}
		put(c, list)
		return nil
	}
}
