package mcp

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// A uriTemplate is a URI with variables (RFC 6570): {name} matches one part of a path, and
// {+name} matches anything. A template without variables matches itself.
type uriTemplate struct {
	names []string
	match *regexp.Regexp
}

func parseTemplate(template string) (uriTemplate, error) {
	var t uriTemplate
	pattern := "^"
	for rest := template; rest != ""; {
		literal, after, found := strings.Cut(rest, "{")
		pattern += regexp.QuoteMeta(literal)
		if !found {
			break
		}
		name, after, closed := strings.Cut(after, "}")
		value := `([\pL\pN._~%-]+)`
		if reserved, ok := strings.CutPrefix(name, "+"); ok {
			name, value = reserved, `(.+)`
		}
		if !closed || name == "" || slices.Contains(t.names, name) || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_") != "" {
			return t, fmt.Errorf("the template %q has a variable that is not {name} or {+name}", template)
		}
		t.names, pattern, rest = append(t.names, name), pattern+value, after
	}
	var err error
	t.match, err = regexp.Compile(pattern + "$")
	return t, err
}

// values returns the values of the variables in uri, if it matches.
func (t uriTemplate) values(uri string) (map[string]string, bool) {
	found := t.match.FindStringSubmatch(uri)
	if found == nil {
		return nil, false
	}
	values := make(map[string]string, len(t.names))
	for i, name := range t.names {
		value, err := url.PathUnescape(found[i+1])
		if err != nil {
			return nil, false
		}
		values[name] = value
	}
	return values, true
}
