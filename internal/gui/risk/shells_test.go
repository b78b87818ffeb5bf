package risk

import (
	"context"
	"path"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit/fakeoperator"
)

// shelled returns the request after the gate.
func shelled(t *testing.T, r *aai.Request) *aai.Request {
	t.Helper()
	assert.Check(t, is.Equal(check(ShellMarker{}, r), "admits"))
	return r
}

func TestTypingIntoATerminalIsToRun(t *testing.T) {
	for name := range strings.FieldsSeq(`xterm uxterm lxterm koi8rxterm gnome-terminal-server gnome-terminal kgx ptyxis konsole yakuake xfce4-terminal mate-terminal lxterminal
		qterminal deepin-terminal io.elementary.terminal alacritty kitty foot footclient wezterm wezterm-gui tilix terminator urxvt urxvtd rxvt-unicode st ghostty
		guake tilda sakura roxterm cool-retro-term black-box cosmic-term Terminal iTerm2 cmd.exe powershell.exe pwsh.exe WindowsTerminal.exe conhost.exe
		krunner xfce4-appfinder rofi dmenu ulauncher`) {
		for _, app := range []*aai.App{
			{ID: "desktop/x", PID: 7, Source: "/usr/libexec/" + name}, {ID: "desktop/" + name, PID: 7, Source: "/usr/bin/python3"},
		} {
			for tool, want := range map[string]string{"type": aai.PermissionRun, "click": aai.PermissionRun, "scroll": aai.PermissionAct, "look": aai.PermissionSee} {
				assert.Check(t, is.Equal(shelled(t, operating(app, tool)).Permission(), want), "%s %s", tool, name)
			}
		}
	}
	for name := range strings.FieldsSeq(`mousepad code emacs firefox sterm-notes footnote kittens startup determine hyperion walkers`) {
		for _, tool := range []string{"type", "click"} {
			assert.Check(t, is.Equal(shelled(t, operating(program(name, "d"), tool)).Permission(), aai.PermissionAct), "%s %s", tool, name)
		}
	}
	for i, shell := range shells() {
		for j, other := range shells() {
			matches, err := path.Match(other, strings.ReplaceAll(shell, "*", "0"))
			assert.NilError(t, err, "%q", other)
			assert.Assert(t, !matches || i == j, "%q is meant by %q, or wrong", shell, other)
			assert.Equal(t, shell, strings.ToLower(shell), "%q", other)
		}
	}
}

// TestATerminalWithinAProgram checks typing into an editor's terminal.
func TestATerminalWithinAProgram(t *testing.T) {
	for tool, want := range map[string]string{"type": aai.PermissionRun, "click": aai.PermissionAct, "look": aai.PermissionSee} {
		r := operating(program("code", "d"), tool)
		r.App.Operator = fakeoperator.Operator{Runs: func(context.Context, *aai.Call) bool { return true }}
		assert.Check(t, is.Equal(shelled(t, r).Permission(), want), tool)
		r = operating(program("code", "d"), tool)
		r.App.Operator = fakeoperator.Operator{Runs: func(context.Context, *aai.Call) bool { return false }}
		if shelled(t, r); r.RunsCommand {
			t.Errorf("to %s elsewhere is to run", tool)
		}
	}
	whole := operating(nil, "click")
	assert.Check(t, is.Equal(shelled(t, whole).Permission(), aai.PermissionAct), "the whole screen is no terminal")
	for _, starts := range []*aai.App{{ID: "desktop/xterm", Process: aai.Process{Launch: &aai.Launch{}}}, {ID: "desktop/env", Process: aai.Process{Launch: &aai.Launch{RunsCommands: true}}}} {
		assert.Check(t, is.Equal(shelled(t, operating(starts, "look")).Permission(), aai.PermissionRun), starts.ID)
	}
}
