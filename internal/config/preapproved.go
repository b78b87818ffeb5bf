package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/policy"
)

// setPreapproved reads the calls allowed without a question. An entry needs all of caller, app,
// tools and expiry.
func setPreapproved(c *Config, _ string, value any) error {
	entries, ok := value.([]any)
	if !ok {
		return errors.New(`expected a list of {"app", "tools", "caller", "expires"}`)
	}
	var grants []policy.Grant
	for i, entry := range entries {
		more, err := parsePreapproval(entry)
		if err != nil {
			return fmt.Errorf("[%d]%w", i, err)
		}
		grants = append(grants, more...)
	}
	c.Preapproved, c.preapprovedJSON = grants, value
	return nil
}

// parsePreapproval reads one entry of the list. Its error begins with the place.
func parsePreapproval(entry any) ([]policy.Grant, error) {
	const expected = `expected all of "app", "tools", "caller" and "expires"`
	fields, ok := entry.(map[string]any)
	if !ok {
		return nil, fmt.Errorf(": %s", expected)
	}
	identity, said := fields["identity"].(string)
	if _, given := fields["identity"]; given && (!said || identity == "") {
		return nil,
			errors.New(`.identity: expected who the caller is for certain, such as "/usr/bin/node /opt/agent/cli.js" or "http:work"`)
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains([]string{"app", "tools", "caller", "identity", "expires"}, name) {
			return nil, fmt.Errorf(": there is no field %q; %s", aai.CleanLabel(name, 60), expected)
		}
	}
	for _, name := range []string{"app", "tools", "caller", "expires"} {
		if _, given := fields[name]; !given {
			return nil, fmt.Errorf(": %s", expected)
		}
	}
	app, _ := fields["app"].(string)
	if app == "" || app == policy.Wildcard {
		return nil, errors.New(".app: expected the id of an app")
	}
	caller, _ := fields["caller"].(string)
	if caller == "" {
		return nil, errors.New(`.caller: expected a caller such as "mcp:claude-ai", or "*" for anyone`)
	}
	expires, _ := fields["expires"].(string)
	until, err := time.Parse(time.RFC3339, expires)
	if err != nil {
		return nil, errors.New(`.expires: expected a time such as "2027-01-31T12:00:00Z"`)
	}
	tools, _ := fields["tools"].([]any)
	if len(tools) == 0 {
		return nil, errors.New(`.tools: expected a list of names of tools, or ["*"] for every tool`)
	}
	grants := make([]policy.Grant, len(tools))
	for i, tool := range tools {
		name, _ := tool.(string)
		if name == "" {
			return nil, fmt.Errorf(`.tools[%d]: expected the name of a tool, or "*" for every tool`, i)
		}
		grants[i] = policy.Grant{Caller: caller, Identity: identity, App: app, Tool: name, Decision: policy.Allow,
			ExpiresAt: until}
	}
	return grants, nil
}
