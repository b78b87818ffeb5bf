// Package risk holds the gates that judge calls on windows: protected windows, terminals, and actions
// that cannot be undone. They mark a request; the gates of package policy decide on the marks.
package risk

import (
	"context"
	"path"
	"path/filepath"
	"strings"

	"github.com/gybob/aai-gateway"
)

// ShellMarker is the gate that marks calls that may run a command. These are the start of a
// terminal or an interpreter; typing and other irreversible acts in a window of a terminal
// or of a command launcher, since a click can paste text; and typing into a terminal element
// of another program; and scripts in a language of the system. ShellMarker admits everything; for a marked call the consent gate asks
// for aai.PermissionRun instead of aai.PermissionAct.
type ShellMarker struct{}

// Check implements aai.Gate.
func (ShellMarker) Check(ctx context.Context, r *aai.Request) ([]aai.Question, error) {
	if r.StartsProgram() {
		r.RunsCommand = r.Call.Target.Process.Launch == nil || r.Call.Target.Process.Launch.RunsCommands || isShell(r.Call.Target)
		return nil, nil
	}
	if a := r.Assessment(); r.App.OperatesOthers() && a.RunsScript && !a.OnlyMakesCalls {
		r.RunsCommand = true
		return nil, nil
	}
	if !r.App.OperatesOthers() || r.IsWholeScreen() || r.Call.Target.PID == 0 || r.Tool.Effect == aai.Reads {
		return nil, nil
	}
	switch {
	case isShell(r.Call.Target), r.Call.Target.Process.RunsCommands != nil && r.Call.Target.Process.RunsCommands():
		r.RunsCommand = r.Assessment().SendsKeys || r.Tool.Effect == aai.Destroys
	case r.Assessment().SendsKeys && !r.TargetResolved:
		r.RunsCommand = r.App.Operator.RunsCommand(ctx, r.Call)
	}
	return nil, nil
}

// shells returns patterns of executables, in the form of protectedPrograms.
func shells() []string {
	return []string{
		// Terminals.
		"*terminal*", "*xterm*", "*rxvt*", "kgx", "ptyxis*", "konsole", "yakuake", "alacritty", "kitty", "foot", "footclient", "foot-server", "wezterm*", "tilix*", "terminator*",
		"terminology", "guake*", "tilda", "sakura", "termite", "termit", "st", "st-*", "stterm", "eterm", "aterm", "kterm", "mlterm*", "qterm",
		"gnome-console", "cool-retro-term", "ghostty*", "com.mitchellh.ghostty", "contour", "rio", "warp", "tabby", "hyper", "wave", "waveterm", "zutty", "black-box", "blackbox",
		"com.raggesilver.blackbox", "cosmic-term", "ddterm", "com.github.amezin.ddterm", "zellij", "iterm*", "putty", "securecrt",
		"cmd", "powershell*", "pwsh", "wt", "conhost", "openconsole", "mintty", "conemu*", "bash", "wsl",
		// Command launchers.
		"krunner", "xfce4-appfinder", "xfrun4", "lxqt-runner", "gmrun", "grun", "rofi", "wofi", "fuzzel", "tofi", "dmenu*", "bemenu*", "ulauncher*", "albert", "synapse", "kupfer*", "gnome-do",
		"mate-panel", "lxpanel", "anyrun", "walker", "onagre", "pop-launcher*",
	}
}

// isShell reports whether the program runs text that is typed into its windows.
func isShell(app *aai.App) bool {
	for _, name := range []string{filepath.Base(app.Source), strings.TrimPrefix(app.ID, aai.DesktopApp+"/"), app.Name} {
		name = strings.TrimSuffix(strings.ToLower(strings.TrimSpace(name)), ".exe")
		for _, shell := range shells() {
			if matches, err := path.Match(shell, name); err == nil && matches {
				return true
			}
		}
	}
	return false
}
