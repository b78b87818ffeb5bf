package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// bareLogin is a user's desktop, and a client that passes no information about it to the program.
// Both are in a mount namespace with its own /run: it has the runtime folder with the bus, and no
// system bus. The user manager, which cannot run here, is a double with the same data.
type bareLogin struct {
	home
	t       *testing.T
	desktop *linuxtest.Session
	app     *testkit.BusService
	form    *linuxtest.Fixture
	folder  string // of the login
}

func (b programPath) bareLogin(t *testing.T) *bareLogin {
	t.Helper()
	l := &bareLogin{t: t, desktop: linuxtest.StartUnmarked(t), home: b.home(t, nil), folder: t.TempDir()}
	l.allow(t, "org.example.App echo", "desktop/gtk3", "desktop")
	bus := l.desktop.Bus()
	assert.NilError(t, os.Link(strings.TrimPrefix(bus.Address, "unix:path="), filepath.Join(l.folder, "bus")))
	assert.NilError(t, os.Chmod(l.folder, 0o700))
	l.app = testkit.ServeOnBus(t, bus, exampleApp)
	conn := bus.Connect(t)
	manager := userManager{"DISPLAY=" + l.desktop.Display, "XAUTHORITY=" + l.desktop.Getenv("XAUTHORITY"), "LANG=C.UTF-8"}
	assert.NilError(t, conn.Export(manager, "/org/freedesktop/systemd1", "org.freedesktop.DBus.Properties"))
	_, err := conn.RequestName("org.freedesktop.systemd1", 0)
	assert.NilError(t, err)
	l.desktop.EnableAccessibility(t)
	l.form = l.desktop.Fixture(t, linuxtest.GTK3)
	return l
}

// userManager is a double of systemd's user manager: its environment.
type userManager []string

// Get is a method of D-Bus.
func (m userManager) Get(string, string) (dbus.Variant, *dbus.Error) {
	return dbus.MakeVariant([]string(m)), nil
}

// front returns the command that creates the namespace, in front of another command.
func (l *bareLogin) front() []string {
	const inside = `set -e
mount -t tmpfs none /run
mkdir -p -m 0755 /run/user
mkdir -m 0700 "/run/user/$2"
mount --bind "$1" "/run/user/$2"
shift 2
exec "$@"`
	flags := []string{"unshare", "--mount"}
	if os.Geteuid() != 0 {
		flags = append(flags, "--map-current-user", "--keep-caps")
	}
	return append(flags, "sh", "-c", inside, "sh", l.folder, strconv.Itoa(os.Getuid()))
}

// env returns the only variables that clients of the TypeScript SDK pass on.
func (l *bareLogin) env() []string {
	return []string{"HOME=" + l.home.folder, "LOGNAME=somebody", "PATH=" + os.Getenv("PATH"), "SHELL=/bin/sh", "TERM=dumb", "USER=somebody"}
}

// bareCall runs a tool of an app through a client, to its end.
type bareCall func(app, tool string, args map[string]any) toolResult

// mcpBareClients: the Inspector and both TypeScript SDKs pass on nothing of the session. The
// program still calls an app on its bus, asks the user in a window, and reads and operates another
// window.
func mcpBareClients(t *testing.T, b programPath) {
	l := b.bareLogin(t)
	t.Run("check", l.checks)
	t.Run("inspector", func(t *testing.T) { l.drives(t, l.inspector(t)) })
	for _, c := range []sdkClient{{sdk: "v1"}, {sdk: "v2", mode: "legacy"}, {sdk: "v2", mode: "auto"}} {
		t.Run("SDK "+c.sdk+" "+c.mode, func(t *testing.T) {
			p := newPuppetIn(t, l.front(), l.env(), c.sdk, map[string]any{"mode": c.mode, "command": string(l.binary)})
			p.receive()
			l.drives(t, func(app, tool string, args map[string]any) (r toolResult) {
				p.do(&r, "callTool", map[string]any{"name": "aai_exec", "arguments": map[string]any{"app": app, "tool": tool, "args": args}})
				return r
			})
		})
	}
}

// inspector returns a client that starts the program for each call.
func (l *bareLogin) inspector(t *testing.T) bareCall {
	node, modules := nodeIn(t, "inspector", "scripts/need-inspector")
	return func(app, tool string, args map[string]any) (r toolResult) {
		text, err := json.Marshal(args)
		assert.NilError(t, err)
		command := append(l.front(), node, filepath.Join(modules, ".bin", "mcp-inspector"), "--cli", string(l.binary),
			"--format", "json", "-q", "--protocol-era", "legacy", "--method", "tools/call", "--tool-name", "aai_exec",
			"--tool-arg", "app="+app, "--tool-arg", "tool="+tool, "--tool-arg", "args="+string(text))
		cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
		var out, log bytes.Buffer
		cmd.Env, cmd.Stdout, cmd.Stderr = l.env(), &out, &log
		failed := cmd.Run()
		var answer struct{ Result toolResult }
		if err := json.Unmarshal(out.Bytes(), &answer); err != nil {
			t.Fatalf("%s: %v: %s%s", tool, failed, out.String(), log.String())
		}
		return answer.Result
	}
}

// drives calls an app, answers the question in a window, and reads and operates a window.
func (l *bareLogin) drives(t *testing.T, call bareCall) {
	if r := call(exampleApp, "echo", map[string]any{"v": "hé"}); r.IsError || r.StructuredContent.Result != "hé" {
		t.Errorf("the app on the bus gave %+v", r)
	}
	l.isAsked(t, call)
	form := strconv.Itoa(l.form.PID)
	r := call("desktop", "ax_get_tree", map[string]any{"app": form})
	assert.Assert(t, !r.IsError, "the window is %+v", r)
	assert.Assert(t, len(r.Content) != 0, "the window is %+v", r)
	assert.Assert(t, is.Contains(r.Content[0].Text, `button "Press"`), "%+v", r)
	presses, _ := l.form.State(t)["presses"].(float64)
	r = call("desktop", "ax_click", map[string]any{"app": form, "query": "Press"})
	assert.Check(t, !r.IsError, "the click gave %+v", r)
	l.form.WaitState(t, "presses", presses+1)
	r = call("desktop", "ax_list_windows", map[string]any{"app": form})
	assert.Assert(t, !r.IsError, "the windows are %+v", r)
	assert.Assert(t, is.Contains(fmt.Sprint(r.Content), l.form.Title), "%+v", r)
}

// isAsked checks that a call without consent opens a dialog on the desktop. A busy machine can
// lose a key, which counts as refusal, so it retries.
func (l *bareLogin) isAsked(t *testing.T, call bareCall) {
	before := l.app.Calls("Nothing")
	for range 3 {
		answered := make(chan struct{})
		pressed := make(chan error, 1)
		go func() { pressed <- l.pressAllow(answered) }()
		r := call(exampleApp, "nothing", map[string]any{})
		close(answered)
		assert.NilError(t, <-pressed, "%+v", r)
		switch calls := l.app.Calls("Nothing") - before; {
		case !r.IsError && calls == 1:
			l.forgets(t)
			return
		case calls > 0 || r.StructuredContent.Type != "PERMISSION_DENIED":
			t.Fatalf("what the person allowed gave %+v, and reached the app %d times", r, calls)
		}
	}
	t.Error("nothing that was pressed was an answer")
}

// pressAllow waits for the dialog, and presses its first allowing button until the question is
// answered.
func (l *bareLogin) pressAllow(answered <-chan struct{}) error {
	deadline := time.After(patience)
	for seen := false; ; {
		select {
		case <-answered:
			if !seen {
				return fmt.Errorf("nobody was asked in a window")
			}
			return nil
		case <-deadline:
			return fmt.Errorf("the question is not answered")
		case <-time.After(500 * time.Millisecond): // faster answers are ignored
		}
		title, err := l.xdotool("getactivewindow", "getwindowname")
		if err != nil || !strings.HasPrefix(title, "AAI Gateway") {
			continue
		}
		if !seen {
			seen = true // next time, when it is readable
			time.Sleep(2 * time.Second)
			continue
		}
		if _, err := l.xdotool("key", "--delay", "100", "Tab", "space"); err != nil {
			return err
		}
	}
}

func (l *bareLogin) xdotool(args ...string) (string, error) {
	cmd := exec.CommandContext(l.t.Context(), "xdotool", args...)
	cmd.Env = slices.Clone(l.desktop.Env)
	out, err := cmd.Output()
	return string(out), err
}

// forgets revokes the consent, so that the next client asks too.
func (l *bareLogin) forgets(t *testing.T) {
	command := append(l.front(), string(l.binary), "consent", "revoke", exampleApp, "--yes")
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Env = l.env()
	out, err := cmd.CombinedOutput()
	assert.NilError(t, err, out)
}

// checks: the check command reports the session and its source, and succeeds.
func (l *bareLogin) checks(t *testing.T) {
	command := append(l.front(), string(l.binary), "check")
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Env = l.env()
	out, err := cmd.CombinedOutput()
	assert.NilError(t, err, out)
	for _, want := range []string{
		fmt.Sprintf("bus: unix:path=/run/user/%d/bus, from /run/user/%d\n", os.Getuid(), os.Getuid()),
		"display: " + l.desktop.Display + ", from the user manager\n",
		"cookie: " + l.desktop.Getenv("XAUTHORITY") + ", from the user manager\n",
		"language: C.UTF-8, from the user manager\n",
	} {
		assert.Check(t, is.Contains(string(out), want), "check does not say %q:\n%s", want, out)
	}
}
