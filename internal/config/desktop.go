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
		{"desktop.session",
			"whose screen is operated, where it is not the one of the own session: the id of a session, a display such as :0, " +
				"or seat",
			widensUnlessDefault, nil, valueOf(KindText, func(c *Config) *string { return &c.Session }, parseSession)},
		{"desktop.actingSign", "whether a small sign on the screen shows that an agent acts on windows",
			widensUnlessDefault, nil, boolAt(func(c *Config) *bool { return &c.ActingSign })},
		{"desktop.stopKey",
			"the key that stops all agents while one acts on windows, such as super+escape or pause; empty: none. " +
				"Wayland has none: give `aai-gateway stop` a shortcut in the desktop",
			widensUnlessDefault, nil, valueOf(KindText, func(c *Config) *string { return &c.StopKey }, parseStopKey)},
	}
}

// parseStopKey reads the chord that stops all agents; "" for none.
func parseStopKey(value any) (string, error) {
	s, ok := value.(string)
	s = strings.ToLower(s)
	if !ok || s != "" && !stopKeyPattern().MatchString(s) {
		return "",
			fmt.Errorf(`expected a key such as %q: ctrl, shift, alt and super before escape, pause, scroll_lock, print, insert, end or f1 to f24; or "" for none`, defaultStopKey)
	}
	return s, nil
}
