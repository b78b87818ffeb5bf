package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/platform/linux/private"
	"github.com/gybob/aai-gateway/internal/platform/linux/session"
	"github.com/gybob/aai-gateway/internal/testkit"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// onScreen returns the gateway of a program with a user at the session, with the configuration.
func onScreen(t *testing.T, s *linuxtest.Session, config string) *components {
	t.Helper()
	home := t.TempDir()
	getenv := func(name string) string {
		if name == "XDG_DATA_HOME" {
			return filepath.Join(home, "data")
		}
		return s.Getenv(name)
	}
	built := inProcess{home: home, config: writeFile(t, t.TempDir(), "config.json", config), getenv: getenv, host: testHost(getenv)}.build(t)
	built.gateway.Dialog = built.dialog
	built.allowTime(t)
	return built
}

// allowTime makes the tools for windows wait longer: slow is not failed.
func (p *components) allowTime(t *testing.T) {
	t.Helper()
	app, err := p.gateway.Catalog.Find(t.Context(), aai.DesktopApp)
	assert.NilError(t, err)
	for _, tool := range app.Tools {
		tool.Limits.Timeout += patienceOnScreen
	}
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
	g := onScreen(t, s, allowing("desktop/pinentry-qt", "desktop/zenity", "desktop"))
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

// TestTheClipboardStays: an agent's clipboard content survives the end of its gateway.
func TestTheClipboardStays(t *testing.T) {
	s := linuxtest.StartAccessible(t)
	t.Run("gateway", func(t *testing.T) {
		g := onScreen(t, s, allowing("desktop"))
		err := g.windowTool(t.Context(), "ax_clipboard", map[string]any{"action": "write", "text": "kept"})
		assert.Assert(t, err == nil, err)
	})
	p, err := s.Start(private.Command{Name: "xclip", Args: []string{"-selection", "clipboard", "-out"}})
	assert.NilError(t, err)
	<-p.Done()
	got := p.Output()
	assert.Check(t, is.Equal(got, "kept"), "on the clipboard is %q", got)
}

// TestTheClipboardKnowsNoSecrets: the clipboard server, which outlives its gateway, inherits
// neither the environment nor open files.
func TestTheClipboardKnowsNoSecrets(t *testing.T) {
	t.Setenv("AAI_HTTP_TOKEN", "hidden-token")
	t.Setenv("OPENAI_API_KEY", "hidden-key")
	file, err := os.Create(filepath.Join(t.TempDir(), "strangers"))
	assert.NilError(t, err)
	defer func() { _ = file.Close() }()
	left, err := unix.Dup(int(file.Fd())) // child processes inherit this one
	assert.NilError(t, err)
	defer func() { _ = unix.Close(left) }()
	s := linuxtest.StartAccessible(t)
	g := onScreen(t, s, allowing("desktop"))
	if err := g.windowTool(t.Context(), "ax_clipboard", map[string]any{"action": "write", "text": "kept"}); err != nil {
		t.Fatal(err)
	}
	keepers := 0
	for _, process := range testkit.ProcessesWithEnv(t, "DISPLAY="+s.Getenv("DISPLAY")+"\x00") {
		line, _ := os.ReadFile(filepath.Join(process, "cmdline"))
		environ, err := os.ReadFile(filepath.Join(process, "environ"))
		if err != nil || !strings.HasSuffix(string(line), "\x00"+clipboardArgument+"\x00") {
			continue
		}
		keepers++
		for v := range strings.SplitSeq(strings.TrimSuffix(string(environ), "\x00"), "\x00") {
			name, _, _ := strings.Cut(v, "=")
			assert.Check(t, is.Contains([]string{"DISPLAY", "XAUTHORITY", "HOME", "PATH", "XDG_RUNTIME_DIR", "AAI_PRIVATE_SESSION"}, name))
		}
		open, err := filepath.Glob(filepath.Join(process, "fd", "*"))
		assert.NilError(t, err, "%q", open)
		assert.Assert(t, len(open) != 0, "%q", open)
		for _, fd := range open {
			what, _ := os.Readlink(fd)
			assert.Check(t, what != file.Name(), "it has %s open", what)
		}
	}
	assert.Check(t, is.Equal(keepers, 1), "%d processes keep the clip", keepers)
}

// TestProgramsGetNoSecrets: programs inherit the environment without the gateway's secrets.
func TestProgramsGetNoSecrets(t *testing.T) {
	kept := []string{"PATH=/bin", "AAI_PRIVATE_SESSION=1", "OPENAI_API_KEY=theirs", "LANG=C"}
	given := append([]string{"AAI_HTTP_TOKEN=x", "AXTERMINATOR_HTTP_TOKEN=x", "AAI_OPENAI_KEY=x", "AXTERMINATOR_API_KEY_FILE=x", "AAI_CLIENT_SECRET=x", "AAI_PASSPHRASE_FILE=x"}, kept...)
	got := withoutSecrets(given)
	assert.Check(t, slices.Equal(got, kept), "%q", got)
}

// TestTypingWaitsForAnothersQuestion: an admitted call, through the whole path, waits for a
// question of another gateway of the user, and continues afterwards. Its program does not count as
// hanging.
func TestTypingWaitsForAnothersQuestion(t *testing.T) {
	s := linuxtest.StartAccessible(t)
	config := allowing("desktop/mousepad")
	types, asks := onScreen(t, s, config), onScreen(t, s, config)
	s.Launch(t, "mousepad", "--disable-server")
	awaitTitle(t, s, "Mousepad")
	err := types.windowTool(t.Context(), "ax_find", map[string]any{"app": "mousepad", "query": "role:textbox"})
	assert.Assert(t, err == nil, err)
	typed := make(chan *aai.Error, 1)
	go func() {
		typed <- types.windowTool(t.Context(), "ax_type", map[string]any{
			"app": "mousepad", "query": "role:textbox", "mode": "focus", "text": strings.Repeat("\t\t ", 4_000),
		})
	}()
	awaitTitle(t, s, "*") // the text has changed
	ctx, cancel := context.WithCancel(t.Context())
	asked := make(chan error, 1)
	var answer aai.Answer
	go func() {
		var err error
		answer, err = asks.dialog.Ask(ctx, aai.Question{
			ID: "q", Title: "Allow it?", Channels: []aai.Channel{aai.DesktopDialog},
			Choices: []aai.Choice{{ID: "deny", Label: "Deny"}, {ID: "once", Label: "Allow once"}},
		})
		asked <- err
	}()
	awaitTitle(t, s, "AAI Gateway")
	select {
	case err := <-typed:
		t.Fatalf("it did not wait for the answer: %v", err)
	case err := <-asked:
		t.Fatalf("%+v, %v, and nobody was there", answer, err)
	case <-time.After(3 * time.Second):
	}
	cancel()
	assert.Check(t, (<-asked) != nil, "%+v, and nobody was there", answer)
	// Another test checks the window's final content.
	err = <-typed
	assert.Check(t, err == nil || err.Code != aai.RateLimited && err.Code != aai.Timeout, "it did not go on: %v", err)
	err = types.windowTool(t.Context(), "ax_get_tree", map[string]any{"app": "mousepad"})
	assert.Check(t, err == nil, "the program counts as one that hangs: %v", err)
}

// awaitTitle waits until the focused window has the text in its title.
func awaitTitle(t *testing.T, s *linuxtest.Session, part string) {
	t.Helper()
	for until := time.Now().Add(patienceOnScreen); !strings.Contains(s.ActiveWindow(t), part); time.Sleep(5 * time.Millisecond) {
		assert.Assert(t, !time.Now().After(until), "no window %q has come up", part)
	}
}

// TestAScriptOperatesAWindow: one call of an agent fills in a real form, reads it and presses its
// button; the program itself confirms it.
func TestAScriptOperatesAWindow(t *testing.T) {
	s := linuxtest.StartAccessible(t)
	g := onScreen(t, s, allowing("desktop/zenity", "desktop"))
	form := s.Launch(t, "zenity", "--entry", "--title", "Name", "--text", "Your name")
	awaitWindow(t, s, "Name")
	result, err := g.gateway.Do(t.Context(), &aai.Call{
		Caller: aai.Caller{Door: aai.DoorMCP, Name: "agent", Session: "s"}, App: aai.DesktopApp, Tool: "ax_run_script",
		Args: map[string]any{"args": map[string]any{"app": strconv.Itoa(form.PID)}, "script": `
			const app = args.app, field = find(app, "role:textbox").element_ref;
			call("ax_set_value", {app, query: field, value: "ann"});
			const said = call("ax_get_value", {app, query: field}).value;
			try { call("ax_click", {app, query: "No such button"}) } catch (e) { log(e.code) }
			call("desktop", "ax_click", {app, query: "OK"});
			said`},
	})
	if err != nil {
		t.Fatalf("%v: %v", err, aai.AsError(err).Hint)
	}
	b, _ := json.Marshal(result.Data)
	assert.Check(t, is.Equal(string(b), `{"result":"ann","calls":5,"log":"ELEMENT_NOT_FOUND"}`), "the script answers %s", b)
	<-form.Done()
	said := strings.TrimSpace(form.Output())
	assert.Check(t, is.Equal(said, "ann"), "the program was told %q", said)
}

// TestStopKeyEndsTyping: the person's stop key ends a call that types, and the next call is refused.
func TestStopKeyEndsTyping(t *testing.T) {
	s := linuxtest.StartAccessible(t)
	g := onScreen(t, s, allowing("desktop/mousepad"))
	s.Launch(t, "mousepad", "--disable-server")
	awaitTitle(t, s, "Mousepad")
	if err := g.windowTool(t.Context(), "ax_find", map[string]any{"app": "mousepad", "query": "role:textbox"}); err != nil {
		t.Fatal(err)
	}
	typed := make(chan *aai.Error, 1)
	go func() {
		typed <- g.windowTool(t.Context(), "ax_type", map[string]any{
			"app": "mousepad", "query": "role:textbox", "mode": "focus", "text": strings.Repeat("\t\t ", 20_000),
		})
	}()
	awaitTitle(t, s, "*") // the text has changed
	press := exec.CommandContext(t.Context(), "xdotool", "key", "super+Escape")
	press.Env = []string{"DISPLAY=" + s.Getenv("DISPLAY"), "XAUTHORITY=" + s.Getenv("XAUTHORITY")}
	if out, err := press.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	err := <-typed
	assert.Assert(t, err != nil, "the typing ended with %v", err)
	assert.Equal(t, err.Code, aai.PermissionDenied, err)
	assert.Assert(t, is.Contains(err.Message, "stopped everything"), err)
	err = g.windowTool(t.Context(), "ax_find", map[string]any{"app": "mousepad", "query": "role:textbox"})
	assert.Assert(t, err != nil, "the next call: %v", err)
	assert.Equal(t, err.Code, aai.PermissionDenied, err)
}
