package dialog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// bigToolkitStart is the time until a program of a big toolkit shows its window.
const bigToolkitStart = 300 * time.Millisecond

// listMaxBytes is the limit for text above the buttons, in bytes.
const listMaxBytes = 4000

// presenters returns the installed programs, the most trusted first: pinentry only asks;
// the others are tools for scripts. kdialog is last, since its text is in its arguments. It
// returns none without a screen.
func presenters(getenv func(string) string) []presenter {
	if getenv("DISPLAY") == "" && getenv("WAYLAND_DISPLAY") == "" {
		return nil
	}
	env := func() []string { return environment(getenv) }
	var found []presenter
	for _, way := range []struct {
		program string
		make    func(program string, env func() []string) presenter
	}{
		{"pinentry-qt", pinentry}, {"pinentry-qt5", pinentry}, {"pinentry-gtk-2", pinentry}, {"pinentry-gtk", pinentry},
		{"pinentry", pinentry}, {"zenity", zenity}, {"pinentry-gnome3", pinentryGNOME}, {"kdialog", kdialog},
	} {
		path := lookUp(way.program)
		if real, err := filepath.EvalSymlinks(path); way.program == "pinentry" && err == nil &&
			strings.HasPrefix(filepath.Base(real), "pinentry-") {
			path = "" // it has its own row, or writes to terminals
		}
		if path != "" {
			found = append(found, way.make(path, env))
		}
	}
	return found
}

// screen returns the name of the screen with the window: of two, the program chooses the
// one it supports.
func screen(getenv func(string) string) string {
	names := []string{getenv("DISPLAY"), getenv("WAYLAND_DISPLAY")}
	return strings.Join(slices.DeleteFunc(names, func(name string) bool { return name == "" }), " or ")
}

// lookUp finds a program in the system's folders. It ignores the PATH, which is under control of the
// process that started the gateway, so that no program can replace the dialog.
func lookUp(program string) string {
	for _, dir := range []string{"/usr/bin", "/usr/local/bin", "/bin", "/run/current-system/sw/bin",
		"/run/current-system/profile/bin"} {
		file := filepath.Join(dir, program)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file
		}
	}
	return ""
}

// environment returns the environment for a dialog's program: the variables for the screen
// and the locale, and none that load code into it.
func environment(getenv func(string) string) []string {
	env := []string{"PATH=/usr/local/bin:/usr/bin:/bin"}
	for _, name := range []string{
		"DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS",
		"XDG_SESSION_TYPE", "XDG_CURRENT_DESKTOP", "XDG_DATA_DIRS", "HOME",
	} {
		if value := getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	for _, name := range []string{"GDK_SCALE", "GDK_DPI_SCALE", "QT_SCALE_FACTOR", "QT_AUTO_SCREEN_SCALE_FACTOR"} {
		if value := getenv(name); legible(value) {
			env = append(env, name+"="+value)
		}
	}
	return append(env, localeVariables(getenv)...)
}

// legible reports whether text is readable at that scale. The process that started the
// gateway may have set the scale to make a question unreadable.
func legible(scale string) bool {
	n, err := strconv.ParseFloat(scale, 64)
	return err == nil && 0.5 <= n && n <= 4
}

// command returns a command that ends with the context and with this process. It has no
// terminal.
func command(ctx context.Context, env []string, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env, cmd.Dir = env, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	return cmd
}

// run runs a program and returns its output and its exit code.
func run(ctx context.Context, cmd *exec.Cmd, process func(int)) (string, int, error) {
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Start(); err != nil {
		return "", 0, err
	}
	process(cmd.Process.Pid)
	err := cmd.Wait()
	if ctx.Err() != nil {
		return "", 0, ctx.Err()
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Exited() && !isNoScreenError(said.String(), cmd.Env) {
		return out.String(), exit.ExitCode(), nil
	}
	if err != nil {
		return "", 0, fmt.Errorf("%w: %.200s", err, said.String())
	}
	return out.String(), 0, nil
}

// isNoScreenError reports whether a GTK program failed to open the screen. Its exit code
// is the same as for a refusal, and on a busy machine it comes as late. The message is in
// the person's language, but ends with the screen.
func isNoScreenError(said string, env []string) bool {
	display := ""
	for _, v := range env {
		if value, ok := strings.CutPrefix(v, "DISPLAY="); ok {
			display = value
		}
	}
	for line := range strings.Lines(said) {
		line = strings.TrimRight(line, "\n")
		if strings.Contains(line, "Gtk-WARNING") && strings.HasSuffix(line, ": "+display) {
			return true
		}
	}
	return false
}

// kdialog shows a list, since its buttons do not permit the refusal as default. Qt detects
// HTML by the first line only, which is the gateway's own. All of it is in the arguments.
func kdialog(program string, env func() []string) presenter {
	return presenter{name: program, maxButtons: 12, isList: true, maxBytes: listMaxBytes, appearTime: bigToolkitStart,
		hasPublicText: true, hasPublicLabels: true, hasPublicHidden: true, hidden: kdialogHidden(program, env), show: func(ctx context.Context, p page, process func(int)) (int, error) {
			// kdialog reads "\n" as a new line.
			args := []string{"--title", p.title, "--default", p.buttons[0], "--menu", strings.ReplaceAll(p.text, `\`, `\\`)}
			for i, label := range p.buttons {
				args = append(args, strconv.Itoa(i), label)
			}
			out, code, err := run(ctx, command(ctx, env(), program, args...), process)
			switch {
			case err != nil:
				return 0, err
			case code != 0:
				return 0, nil
			}
			return strconv.Atoi(strings.TrimSpace(out))
		}}
}

// The size of zenity's window, in pixels of a screen with 96 per inch. The width is twice
// that of the longest line, because zenity wraps lines without a mark.
const (
	zenityWidth = 860
	zenityLine  = 22
	zenityFrame = 100
)

// zenity shows up to four buttons, and one that closes the window. It reads the text from its
// standard input, since all accounts can read the arguments of a program. Return presses OK,
// which is the refusal. Zenity does not tell Cancel from Escape in every version.
func zenity(program string, env func() []string) presenter {
	return presenter{name: program, maxButtons: 4, maxBytes: listMaxBytes, appearTime: bigToolkitStart,
		hasPublicLabels: true, hasPublicHidden: true, hidden: zenityHidden(program, env), show: func(ctx context.Context, p page, process func(int)) (int, error) {
			labels := escapeMnemonics(append([]string{p.closing}, p.buttons...))
			args := []string{"--text-info", "--title", p.title, "--cancel-label", labels[0], "--ok-label", labels[1]}
			args = append(args, "--width", strconv.Itoa(zenityWidth), "--height",
				strconv.Itoa(zenityFrame+zenityLine*(1+strings.Count(p.text, "\n"))))
			labels = labels[1:]
			for _, label := range labels[1:] {
				args = append(args, "--extra-button", label)
			}
			if deadline, ok := ctx.Deadline(); ok {
				args = append(args, "--timeout", strconv.Itoa(int(time.Until(deadline).Seconds())+2))
			}
			cmd := command(ctx, env(), program, args...)
			cmd.Stdin = strings.NewReader(p.text)
			out, code, err := run(ctx, cmd, process)
			switch {
			case err != nil:
				return 0, err
			case code == 5:
				return 0, context.DeadlineExceeded
			case out != "":
				return max(0, slices.Index(labels, strings.TrimSuffix(out, "\n"))), nil
			case code <= 1:
				return 0, nil
			}
			return 0, fmt.Errorf("zenity ended with code %d", code)
		}}
}

// escapeMnemonics doubles the mark that GTK would read as the mark of a mnemonic.
func escapeMnemonics(labels []string) []string {
	const mark = "_"
	plain := slices.Clone(labels)
	for i, label := range plain {
		plain[i] = strings.ReplaceAll(label, mark, mark+mark)
	}
	return plain
}
