package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/doors/cli"
	"github.com/gybob/aai-gateway/internal/platform/linux/session"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// onScreen returns the gateway of a program with a user at the session, with the configuration.
func onScreen(t *testing.T, s *linuxtest.Session, config string) *components {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.json")
	assert.NilError(t, os.WriteFile(path, []byte(config), 0o600))
	home := t.TempDir()
	getenv := func(name string) string {
		if name == "XDG_DATA_HOME" {
			return filepath.Join(home, "data")
		}
		return s.Getenv(name)
	}
	p := &program{getenv: getenv, in: strings.NewReader(""), out: t.Output(), err: t.Output()}
	cfg, err := setUp(setupInput{getenv: getenv, home: home, platform: hostPlatform(home, getenv), flags: cli.Flags{Config: path}, hostAccess: testHost(getenv)})
	assert.NilError(t, err)
	cfg.LogLevel = slog.LevelError
	built, err := p.build(cfg)
	assert.NilError(t, err)
	t.Cleanup(func() {
		assert.Check(t, built.close())
	})
	built.gateway.Dialog = built.dialog
	app, err := built.gateway.Catalog.Find(t.Context(), aai.DesktopApp)
	assert.NilError(t, err)
	for _, tool := range app.Tools { // slow is not failed
		tool.Limits.Timeout += patienceOnScreen
	}
	return built
}

func (p *components) windowTool(ctx context.Context, tool string, args map[string]any) *aai.Error {
	_, err := p.gateway.Do(ctx, &aai.Call{
		Caller: aai.Caller{Door: aai.DoorMCP, Name: "agent", Session: "s"}, App: aai.DesktopApp, Tool: tool, Args: args,
	})
	return aai.AsError(err)
}

// The tools neither see nor operate a window that asks the user for a password or for consent,
// whatever was allowed.
func TestPromptsAreUntouchable(t *testing.T) {
	s := linuxtest.StartAccessible(t)
	g := onScreen(t, s, `{"consent": {"preapproved": [
		{"app": "desktop/pinentry-qt", "tools": ["*"], "caller": "*", "expires": "2999-01-01T00:00:00Z"},
		{"app": "desktop/zenity", "tools": ["*"], "caller": "*", "expires": "2999-01-01T00:00:00Z"},
		{"app": "desktop", "tools": ["*"], "caller": "*", "expires": "2999-01-01T00:00:00Z"}]}}`)
	dialog := s.Launch(t, "zenity", "--question", "--title", "Somebody else's", "--text", "Is this a dialog of the gateway?")
	awaitWindow(t, s, "Somebody else's")
	err := g.windowTool(t.Context(), "ax_get_tree", map[string]any{"app": strconv.Itoa(dialog.PID)})
	assert.Assert(t, err == nil, "a dialog that is nobody's guard: %v", err)
	dialog.Kill(t)

	ctx, cancel := context.WithCancel(t.Context())
	asked := make(chan error, 1)
	go func() {
		_, err := g.dialog.Ask(ctx, aai.Question{
			ID: "q", Title: "Allow it?", Channels: []aai.Channel{aai.DesktopDialog},
			Choices: []aai.Choice{{ID: "deny", Label: "Deny"}, {ID: "once", Label: "Allow once"}},
		})
		asked <- err
	}()
	awaitWindow(t, s, "AAI Gateway")
	for tool, args := range map[string]map[string]any{
		"ax_get_tree":     {},
		"ax_screenshot":   {},
		"ax_click":        {"query": "Allow once"},
		"ax_key_press":    {"key": "Return"},
		"ax_list_windows": {},
	} {
		args["app"] = "pinentry-qt"
		err := g.windowTool(t.Context(), tool, args)
		assert.Assert(t, err != nil, "%s of the gateway's dialog: %v", tool, err)
		assert.Equal(t, err.Code, aai.PermissionDenied, "%s %v", tool, err)
	}
	err = g.windowTool(t.Context(), "ax_screenshot", nil)
	assert.Assert(t, err != nil, "a picture of the whole screen: %v", err)
	assert.Equal(t, err.Code, aai.RateLimited, err)
	cancel()
	if err := <-asked; !errors.Is(err, context.Canceled) {
		t.Errorf("the dialog was answered: %v", err)
	}
	err = g.windowTool(t.Context(), "ax_screenshot", nil)
	assert.Check(t, err == nil, "a picture when the dialog is gone: %v", err)
}

func awaitWindow(t *testing.T, s *linuxtest.Session, title string) {
	t.Helper()
	for until := time.Now().Add(patienceOnScreen); s.ActiveWindow(t) != title; time.Sleep(20 * time.Millisecond) {
		assert.Assert(t, !time.Now().After(until), "no window %q has come up", title)
	}
}

// patienceOnScreen is the limit for waiting for a window.
const patienceOnScreen = 2 * time.Minute

func TestLanguageOf(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want string
	}{
		{nil, ""},
		{map[string]string{"LANG": "zh_CN.UTF-8"}, "zh"},
		{map[string]string{"LANG": "zh_CN.UTF-8", "LC_MESSAGES": "de_DE"}, ""},
		{map[string]string{"LANG": "de_DE", "LC_MESSAGES": "de_DE", "LC_ALL": "zh_TW"}, "zh"},
		{map[string]string{"LANG": "C"}, ""},
	} {
		assert.Check(t, is.Equal(languageOf(func(name string) string { return c.env[name] }), c.want), c.env)
	}
}

// TestAskedInThePersonsLanguage: the language of the user's login takes precedence over the
// starting program's.
func TestAskedInThePersonsLanguage(t *testing.T) {
	room := func(env map[string]string) *session.Detector {
		env[session.PrivateMark] = "1" // it reads nothing else
		return session.New(session.Config{Getenv: func(name string) string { return env[name] }})
	}
	for _, c := range []struct {
		login, started map[string]string
		want           string
	}{
		{map[string]string{"LANG": "de_DE.UTF-8"}, map[string]string{"LANG": "zh_CN.UTF-8", "LC_ALL": "zh_CN.UTF-8"}, ""},
		{map[string]string{"LANG": "zh_CN.UTF-8"}, map[string]string{"LC_ALL": "C"}, "zh"},
		{map[string]string{}, map[string]string{"LANG": "zh_CN.UTF-8"}, "zh"},
		{map[string]string{}, map[string]string{}, ""},
	} {
		asks := promptScreen{accountSession: room(c.login), environmentSession: room(c.started)}
		got := asks.language()
		assert.Check(t, is.Equal(got, c.want), "a login of %v, started with %v: %q", c.login, c.started, got)
		lang := asks.Getenv("LANG")
		assert.Check(t, c.login["LANG"] == "" || lang == c.login["LANG"], "a window is in %q", lang)
	}
}
