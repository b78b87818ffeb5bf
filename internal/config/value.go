package config

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
)

// maxSeconds bounds every configurable duration: an hour.
const maxSeconds = 3600

// expandHome returns the path with "~" replaced by the home folder.
func expandHome(home, path string) string {
	if path == "~" || strings.HasPrefix(path, "~/") || strings.HasPrefix(path, "~"+string(filepath.Separator)) {
		return filepath.Join(home, path[1:])
	}
	return path
}

// absolutePath returns the cleaned absolute path; "~" is the home folder.
func absolutePath(home, path string) (string, error) {
	path = expandHome(home, path)
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("expected an absolute path or one that begins with ~/, got %q", path)
	}
	return filepath.Clean(path), nil
}

// parseNumber reads a number or its text form.
func parseNumber(value any) (float64, bool) {
	if s, isText := value.(string); isText {
		n, err := strconv.ParseFloat(s, 64)
		return n, err == nil
	}
	n, ok := value.(float64)
	return n, ok
}

// parseInteger reads an integer from least to most, or its digits as text.
func parseInteger(value any, least, most int) (int, bool) {
	if s, isText := value.(string); isText {
		n, err := strconv.Atoi(s)
		return n, err == nil && least <= n && n <= most
	}
	n, ok := value.(float64)
	return int(n), ok && n == math.Trunc(n) && float64(least) <= n && n <= float64(most)
}

// A settingValue is the kind of a setting's value, and its member of a Config.
type settingValue struct {
	kind    string
	choices []string // of KindEnum
	get     func(*Config) any
	// set takes a value from JSON or a string from the environment.
	set func(c *Config, home string, value any) error
}

// valueOf returns a settingValue with the member at of, which parse reads.
func valueOf[T any](kind string, of func(*Config) *T, parse func(value any) (T, error)) settingValue {
	return settingValue{kind: kind, get: func(c *Config) any { return *of(c) },
		set: func(c *Config, _ string, value any) error {
			parsed, err := parse(value)
			if err == nil {
				*of(c) = parsed
			}
			return err
		}}
}

// pathAt is an absolute path; "~" is the home folder.
func pathAt(of func(*Config) *string) settingValue {
	v := valueOf[string](KindPath, of, nil)
	v.set = func(c *Config, home string, value any) error {
		s, ok := value.(string)
		if !ok || s == "" {
			return errors.New("expected a path")
		}
		path, err := absolutePath(home, s)
		if err == nil {
			*of(c) = path
		}
		return err
	}
	return v
}

// boolAt is a boolean or its text form.
func boolAt(of func(*Config) *bool) settingValue {
	return valueOf(KindBool, of, func(value any) (bool, error) {
		b, ok := value.(bool)
		if s, isText := value.(string); isText {
			parsed, err := strconv.ParseBool(s)
			b, ok = parsed, err == nil
		}
		if !ok {
			return false, errors.New("expected true or false")
		}
		return b, nil
	})
}

// choiceAt is one of the choices.
func choiceAt(of func(*Config) *string, choices ...string) settingValue {
	v := valueOf(KindEnum, of, func(value any) (string, error) {
		s, _ := value.(string)
		if !slices.Contains(choices, s) {
			return "", errors.New("expected " + oneOf(choices))
		}
		return s, nil
	})
	v.choices = choices
	return v
}

// oneOf lists choices for an error.
func oneOf(choices []string) string {
	const maxQuoted = 4
	last := len(choices) - 1
	if len(choices) > maxQuoted {
		return "one of " + strings.Join(choices, ", ")
	}
	return `"` + strings.Join(choices[:last], `", "`) + `" or "` + choices[last] + `"`
}

// secondsAt is a number of seconds from least to most. With never, 0 is allowed too.
func secondsAt(least, most float64, never bool, of func(*Config) *time.Duration) settingValue {
	expected := fmt.Errorf("expected a number of seconds from %g to %g", least, most)
	if never {
		expected = fmt.Errorf("expected 0 for never, or a number of seconds from %g to %g", least, most)
	}
	v := valueOf(KindNumber, of, func(value any) (time.Duration, error) {
		n, ok := parseNumber(value)
		if !ok || !(least <= n && n <= most) && !(never && n == 0) {
			return 0, expected
		}
		return time.Duration(n * float64(time.Second)), nil
	})
	v.get = func(c *Config) any { return of(c).Seconds() }
	return v
}

// integerAt is an integer from least to most. what names it in the error.
func integerAt(what string, least, most int, of func(*Config) *int) settingValue {
	return valueOf(KindInteger, of, func(value any) (int, error) {
		n, ok := parseInteger(value, least, most)
		if !ok {
			return 0, fmt.Errorf("expected %s from %d to %d", what, least, most)
		}
		return n, nil
	})
}

// portAt is a port to listen on. 0 is any free port.
func portAt(of func(*Config) *int) settingValue {
	return valueOf(KindInteger, of, func(value any) (int, error) {
		n, ok := parseInteger(value, 0, 65535)
		if !ok {
			return 0, errors.New("expected a port from 1 to 65535, or 0 for any that is free")
		}
		return n, nil
	})
}

// wordAt is a text without spaces. what names it in the error.
func wordAt(what string, of func(*Config) *string) settingValue {
	return valueOf(KindText, of, func(value any) (string, error) {
		if !isWord(value) {
			return "", fmt.Errorf("expected %s", what)
		}
		return value.(string), nil //nolint:forcetypeassert // a word is a string
	})
}

// isWord reports whether a value is a text without spaces.
func isWord(value any) bool {
	s, ok := value.(string)
	return ok && s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f })
}

// wordsAt is a list of texts without spaces. what names them in the error.
func wordsAt(what string, of func(*Config) *[]string) settingValue {
	return valueOf(KindList, of, func(value any) ([]string, error) { return parseWords(what, value) })
}

func parseWords(what string, value any) ([]string, error) {
	return parseItems(what, value, func(item any) (string, error) {
		if !isWord(item) {
			return "", errors.New("expected a text without spaces")
		}
		return item.(string), nil //nolint:forcetypeassert // a word is a string
	})
}

// textsAt is a list of texts, which may contain spaces. what names them in the error.
func textsAt(what string, of func(*Config) *[]string) settingValue {
	return valueOf(KindList, of, func(value any) ([]string, error) { return parseTexts(what, value) })
}

func parseTexts(what string, value any) ([]string, error) {
	return parseItems(what, value, func(item any) (string, error) {
		s, ok := item.(string)
		if s = strings.TrimSpace(s); !ok || s == "" || aai.CleanLabel(s, len(s)+3) != s {
			return "", errors.New("expected a text")
		}
		return s, nil
	})
}

// parseItems reads a list. what names the items in the error.
func parseItems(what string, value any, parse func(item any) (string, error)) ([]string, error) {
	items, ok := value.([]any)
	if !ok {
		return nil, fmt.Errorf("expected a list of %s", what)
	}
	list := make([]string, len(items))
	for i, item := range items {
		var err error
		if list[i], err = parse(item); err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
	}
	return list, nil
}

// urlAt is an absolute http or https URL.
func urlAt(of func(*Config) *string) settingValue {
	return valueOf(KindText, of, func(value any) (string, error) {
		s, _ := value.(string)
		u, err := url.Parse(s)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.Fragment != "" || u.User != nil {
			return "", errors.New("expected an address such as https://auth.example.com")
		}
		return s, nil
	})
}

// isTrueVariable reports whether the value of a variable is a true boolean.
func isTrueVariable(value string) bool {
	b, err := strconv.ParseBool(value)
	return err == nil && b
}
