package config

import (
	"fmt"
	"regexp"
	"strings"
)

// defaultStopKey is the chord that stops all agents. Common desktops do not use it.
const defaultStopKey = "super+escape"

// stopKeyPattern matches chords of a key that no text needs.
func stopKeyPattern() *regexp.Regexp {
	return regexp.MustCompile(`^((ctrl|shift|alt|super)\+)*(escape|pause|scroll_lock|print|insert|end|f([1-9]|1[0-9]|2[0-4]))$`)
}

// desktopSettings returns the settings about windows.
func desktopSettings() []settingSpec {
	return []settingSpec{
		{"desktop.session", widensUnlessDefault, nil, func(c *Config) any { return c.Session }, setSession},
		{"desktop.actingSign", widensUnlessDefault, nil, func(c *Config) any { return c.ActingSign }, boolSetter(func(c *Config, b bool) { c.ActingSign = b })},
		{"desktop.stopKey", widensUnlessDefault, nil, func(c *Config) any { return c.StopKey }, setStopKey},
	}
}

// setStopKey sets the chord that stops all agents; "" for none.
func setStopKey(c *Config, _ string, value any) error {
	s, ok := value.(string)
	s = strings.ToLower(s)
	if !ok || s != "" && !stopKeyPattern().MatchString(s) {
		return fmt.Errorf(`expected a key such as %q: ctrl, shift, alt and super before escape, pause, scroll_lock, print, insert, end or f1 to f24; or "" for none`, defaultStopKey)
	}
	c.StopKey = s
	return nil
}
