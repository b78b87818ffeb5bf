package config

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"path/filepath"
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

// pathSetter returns a setter for a path.
func pathSetter(put func(*Config, string)) func(*Config, string, any) error {
	return func(c *Config, home string, value any) error {
		s, ok := value.(string)
		if !ok || s == "" {
			return errors.New("expected a path")
		}
		path, err := absolutePath(home, s)
		if err != nil {
			return err
		}
		put(c, path)
		return nil
	}
}

// boolSetter returns a setter for a boolean or its text form.
func boolSetter(put func(*Config, bool)) func(*Config, string, any) error {
	return func(c *Config, _ string, value any) error {
		b, ok := value.(bool)
		if s, isText := value.(string); isText {
			parsed, err := strconv.ParseBool(s)
			b, ok = parsed, err == nil
		}
		if !ok {
			return errors.New("expected true or false")
		}
		put(c, b)
		return nil
	}
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

// durationSetter returns a setter for 1 to maxSeconds seconds. With never, 0 is allowed too.
func durationSetter(never bool, put func(*Config, time.Duration)) func(*Config, string, any) error {
	expected := fmt.Errorf("expected a number of seconds from 1 to %d", maxSeconds)
	if never {
		expected = fmt.Errorf("expected 0 for never, or a number of seconds from 1 to %d", maxSeconds)
	}
	return func(c *Config, _ string, value any) error {
		n, ok := parseNumber(value)
		if !ok || !(1 <= n && n <= maxSeconds) && !(never && n == 0) {
			return expected
		}
		put(c, time.Duration(n*float64(time.Second)))
		return nil
	}
}

// integerSetter returns a setter for an integer from 1 to most.
func integerSetter(unit string, most int, put func(*Config, int)) func(*Config, string, any) error {
	return func(c *Config, _ string, value any) error {
		n, ok := parseInteger(value, 1, most)
		if !ok {
			return fmt.Errorf("expected a number of %s from 1 to %d", unit, most)
		}
		put(c, n)
		return nil
	}
}

// wordSetter returns a setter for a text without spaces.
func wordSetter(what string, put func(*Config, string)) func(*Config, string, any) error {
	return func(c *Config, _ string, value any) error {
		s, ok := value.(string)
		if !ok || s == "" || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
			return fmt.Errorf("expected %s", what)
		}
		put(c, s)
		return nil
	}
}

// setWords reads a list of texts without spaces.
func setWords(list *[]string, what string, value any) error {
	items, ok := value.([]any)
	if !ok {
		return fmt.Errorf("expected a list of %s", what)
	}
	words := make([]string, len(items))
	for i, item := range items {
		s, ok := item.(string)
		if !ok || s == "" || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
			return fmt.Errorf("[%d]: expected a text without spaces", i)
		}
		words[i] = s
	}
	*list = words
	return nil
}

// urlSetter returns a setter for an absolute http or https URL.
func urlSetter(put func(*Config, string)) func(*Config, string, any) error {
	return func(c *Config, _ string, value any) error {
		s, _ := value.(string)
		u, err := url.Parse(s)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.Fragment != "" || u.User != nil {
			return errors.New("expected an address such as https://auth.example.com")
		}
		put(c, s)
		return nil
	}
}

// setTexts reads a list of texts, which may contain spaces.
func setTexts(list *[]string, what string, value any) error {
	items, ok := value.([]any)
	if !ok {
		return fmt.Errorf("expected a list of %s", what)
	}
	texts := make([]string, len(items))
	for i, item := range items {
		s, ok := item.(string)
		if s = strings.TrimSpace(s); !ok || s == "" || aai.CleanLabel(s, len(s)+3) != s {
			return fmt.Errorf("[%d]: expected a text", i)
		}
		texts[i] = s
	}
	*list = texts
	return nil
}

// isTrueVariable reports whether the value of a variable is a true boolean.
func isTrueVariable(value string) bool {
	b, err := strconv.ParseBool(value)
	return err == nil && b
}
