package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// secretID is the id of the stored variables for an app's servers.
func secretID(app string) string { return "mcp-env/" + app }

// baseEnv lists the variables that every server gets: those that programs need to find their
// files. None of them holds a secret.
func baseEnv() []string {
	return []string{
		"HOME", "LOGNAME", "USER", "PATH", "SHELL", "TERM", "LANG", "LC_ALL", "TZ", "TMPDIR", "TEMP", "TMP",
		"XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_DIRS", "DISPLAY",
		"WAYLAND_DISPLAY", "XAUTHORITY",
		"APPDATA", "LOCALAPPDATA", "HOMEDRIVE", "HOMEPATH", "PATHEXT", "PROCESSOR_ARCHITECTURE", "PROGRAMFILES",
		"SYSTEMDRIVE", "SYSTEMROOT", "USERNAME", "USERPROFILE",
	}
}

// command returns the command that starts the server, with its variables. It adds their values to secrets.
func (s *server) command(ctx context.Context, secrets *sanitize.SecretSet) (*exec.Cmd, *aai.Error) {
	r, app := s.recipe.MCP, s.recipe.App
	values, err := s.variables(ctx, secrets)
	if err != nil {
		return nil, err
	}
	getenv := s.driver.config.Getenv
	var environ []string
	for _, name := range baseEnv() {
		if value := getenv(name); value != "" && !slices.Contains(r.Env, name) {
			environ = append(environ, name+"="+value)
		}
	}
	for _, name := range r.Env {
		environ = append(environ, name+"="+values[name])
	}
	args := make([]string, len(r.Args))
	for i, arg := range r.Args {
		args[i] = resolvePlaceholders(arg, values)
	}
	program, cause := lookPath(r.Command, getenv("PATH"))
	if cause != nil {
		return nil,
			undeliveredError(aai.AppNotRunning, "The person can install it, or correct the descriptor.",
				"the MCP server of %s cannot be started: there is no program %q", app, aai.CleanLabel(r.Command, 200))
	}
	return &exec.Cmd{Path: program, Args: append([]string{r.Command}, args...), Env: environ,
		Dir: cmp.Or(r.Dir, s.driver.config.Home)}, nil
}

// variables returns the values of the variables that the recipe names, stored ones or those of this
// process. It adds them to secrets.
func (s *server) variables(ctx context.Context, secrets *sanitize.SecretSet) (map[string]string, *aai.Error) {
	stored, err := s.values(ctx)
	if err != nil {
		return nil, err
	}
	values, app := make(map[string]string, len(s.recipe.MCP.Env)), s.recipe.App
	for _, name := range s.recipe.MCP.Env {
		value, kept := stored[name]
		if !kept {
			value = s.driver.config.Getenv(name)
		}
		if value == "" {
			return nil, undeliveredError(aai.AuthRequired, "The person can set it: aai-gateway mcp env "+app+" "+name+".",
				"the MCP server of %s needs a value for %s, and none is set", app, name)
		}
		values[name] = value
		secrets.Add(value)
	}
	return values, nil
}

// values returns the stored variables of the app.
func (s *server) values(ctx context.Context) (map[string]string, *aai.Error) {
	if s.driver.config.Secrets == nil || len(s.recipe.MCP.Env) == 0 {
		return nil, nil
	}
	b, err := s.driver.config.Secrets.Get(ctx, secretID(s.recipe.App))
	if err != nil && s.hasAllVariables() {
		return nil, nil // the environment has all of them
	}
	if err != nil && !os.IsNotExist(err) {
		e := *aai.AsError(err)
		e.Delivery = aai.NotDelivered
		return nil, &e
	}
	values := make(map[string]string)
	if len(b) > 0 && json.Unmarshal(b, &values) != nil {
		return nil,
			undeliveredError(aai.AutomationFailed, "The person can set them again: aai-gateway mcp env "+s.recipe.App+".",
				"the stored values for the MCP server of %s cannot be read", s.recipe.App)
	}
	return values, nil
}

// hasAllVariables reports whether the environment of this process has all variables that the server needs.
func (s *server) hasAllVariables() bool {
	return !slices.ContainsFunc(s.recipe.MCP.Env, func(name string) bool { return s.driver.config.Getenv(name) == "" })
}

// resolvePlaceholders replaces each "${NAME}" with its value.
func resolvePlaceholders(arg string, values map[string]string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(arg, "${")
		name, tail, closed := strings.Cut(after, "}")
		if !found || !closed {
			b.WriteString(arg)
			return b.String()
		}
		b.WriteString(before + values[name])
		arg = tail
	}
}

// lookPath finds a program in the absolute folders of a PATH.
func lookPath(name, path string) (string, error) {
	if strings.ContainsAny(name, `/\`) {
		return exec.LookPath(name)
	}
	for _, folder := range strings.Split(path, string(os.PathListSeparator)) {
		if folder == "" || !filepath.IsAbs(folder) {
			continue
		}
		if found, err := exec.LookPath(folder + string(os.PathSeparator) + name); err == nil {
			return found, nil
		}
	}
	return "", exec.ErrNotFound
}
