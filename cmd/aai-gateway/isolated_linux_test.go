package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// isolatedWorld is a home of a person who starts isolated sessions.
type isolatedWorld struct{ home }

func newIsolatedWorld(t *testing.T) isolatedWorld {
	t.Helper()
	w := isolatedWorld{selfProgram(t).home(t, nil)}
	w.env = append(w.env, "XDG_DATA_DIRS=/usr/local/share:/usr/share") // of the accessibility bus's settings
	return w
}

// outputFile is the file with the output of a program. Unlike a pipe it ends no later than the program.
type outputFile string

func (o outputFile) String() string {
	text, _ := os.ReadFile(string(o))
	return string(text)
}

// begin starts a command line of the program in a process group of its own, and returns it with its messages.
func (w isolatedWorld) begin(t *testing.T, args ...string) (*exec.Cmd, outputFile) {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "output"))
	assert.NilError(t, err)
	defer file.Close() //nolint:errcheck // the program has its own
	cmd := exec.Command(string(w.binary), args...)
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = w.env, file, file, &syscall.SysProcAttr{Setpgid: true}
	assert.NilError(t, cmd.Start())
	return cmd, outputFile(file.Name())
}

// sessionMark is what the session's own processes have in their environment.
func sessionMark(folder string) string { return "XDG_RUNTIME_DIR=" + folder + "/run" }

// processesWith returns the processes whose environment or command line has the text.
func processesWith(text string) (found map[int]string) {
	found = map[int]string{}
	folders, _ := filepath.Glob("/proc/[0-9]*")
	for _, folder := range folders {
		environ, _ := os.ReadFile(folder + "/environ")
		line, _ := os.ReadFile(folder + "/cmdline")
		pid, _ := strconv.Atoi(filepath.Base(folder))
		if strings.Contains(string(environ)+string(line), text) && pid != os.Getpid() {
			found[pid] = strings.ReplaceAll(string(line), "\x00", " ")
		}
	}
	return found
}

// sessionProcess returns the running process of the session whose command line has the text.
func sessionProcess(t *testing.T, folder, text string) int {
	t.Helper()
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		for pid, line := range processesWith(folder) {
			if strings.Contains(line, text) {
				return pid
			}
		}
	}
	t.Fatalf("the session in %s has no process %q: %v", folder, text, processesWith(folder))
	return 0
}

// nothingLeft waits until no process, folder, display and mount of a session is left, and returns how long that took.
func nothingLeft(t *testing.T, folder, display string) time.Duration {
	t.Helper()
	left := func() (all []string) {
		for pid, line := range processesWith(folder) {
			all = append(all, fmt.Sprint(pid, " ", line))
		}
		if _, err := os.Lstat(folder); !errors.Is(err, fs.ErrNotExist) {
			all = append(all, folder)
		}
		conn, err := net.Dial("unix", "/tmp/.X11-unix/X"+strings.TrimPrefix(display, ":"))
		if err == nil {
			_ = conn.Close() // of another session that has taken the display by now
		} else if !errors.Is(err, fs.ErrNotExist) {
			all = append(all, "display "+display)
		}
		mounts, _ := os.ReadFile("/proc/self/mounts")
		if strings.Contains(string(mounts), folder) {
			all = append(all, "a mount")
		}
		return all
	}
	begun := time.Now()
	for len(left()) > 0 {
		assert.Assert(t, time.Since(begun) < 30*time.Second, "left: %q", left())
		time.Sleep(5 * time.Millisecond)
	}
	return time.Since(begun)
}

// processState returns the state of a process, as proc(5) has it; "" if it is gone.
func processState(pid int) string {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, after, _ := strings.Cut(string(stat), ") ")
	state, _, _ := strings.Cut(after, " ")
	return state
}

// awaitSession waits until a file has "display folder" of a session, which its command writes, and returns both.
func awaitSession(t *testing.T, cmd *exec.Cmd, file string, out outputFile) (display, folder string) {
	t.Helper()
	for begun := time.Now(); time.Since(begun) < patience && processState(cmd.Process.Pid) != "Z"; time.Sleep(5 * time.Millisecond) {
		text, _ := os.ReadFile(file)
		if display, home, ok := strings.Cut(strings.TrimSuffix(string(text), "\n"), " "); ok && strings.HasSuffix(string(text), "\n") {
			return display, strings.TrimSuffix(home, "/home")
		}
	}
	t.Fatalf("the session's command has not started: %s", out)
	return "", ""
}

// TestSessionRunsACommand checks that a command sees its own screen, buses and home, that its exit code is passed on, and
// that nothing is left.
func TestSessionRunsACommand(t *testing.T) {
	w := newIsolatedWorld(t)
	cmd, out := w.begin(t, "session", "run", "--size", "900x700", "--", "sh", "-c",
		`echo "at $DISPLAY $HOME."; xdpyinfo | grep -c "900x700 pixels"; dbus-send --session --print-reply --dest=org.a11y.Bus /org/a11y/bus org.freedesktop.DBus.Properties.Get string:org.a11y.Status string:IsEnabled | grep -c "boolean true"; (sleep 600 &); exit 3`)
	err := cmd.Wait()
	assert.Check(t, is.Equal(cmd.ProcessState.ExitCode(), 3), "%v %s", err, out)
	at := regexp.MustCompile(`at (:\d+) (/tmp/aai-sessions-\d+/\d+)/home\.\n1\n1\n`).FindStringSubmatch(out.String())
	assert.Assert(t, at != nil, out)
	assert.Check(t, is.Contains(out.String(), "isolated session on display "+at[1]))
	nothingLeft(t, at[2], at[1])
}

// TestInterruptIsForTheCommand checks that ^C at a terminal is left to the command, also a second one.
func TestInterruptIsForTheCommand(t *testing.T) {
	w, file := newIsolatedWorld(t), filepath.Join(t.TempDir(), "at")
	cmd, out := w.begin(t, "session", "run", "--", "sh", "-c", `trap "echo got; n=x\$n" INT; echo "$DISPLAY $HOME" > "$0"; while [ "$n" != xx ]; do sleep 0.1; done; exit 5`, file)
	display, folder := awaitSession(t, cmd, file, out)
	for n := range 2 {
		assert.NilError(t, syscall.Kill(-cmd.Process.Pid, syscall.SIGINT))
		for strings.Count(out.String(), "got") <= n && processState(cmd.Process.Pid) != "Z" {
			time.Sleep(5 * time.Millisecond)
		}
	}
	assert.Check(t, cmd.Wait() != nil)
	assert.Check(t, is.Equal(cmd.ProcessState.ExitCode(), 5), out)
	nothingLeft(t, folder, display)
}

// TestSessionEndsWithEachOfItsProcesses kills one process of a session at a time; nothing is left of it.
func TestSessionEndsWithEachOfItsProcesses(t *testing.T) {
	w := newIsolatedWorld(t)
	for name, victim := range map[string]func(t *testing.T, cmd *exec.Cmd, folder string) int{
		"the program":       func(_ *testing.T, cmd *exec.Cmd, _ string) int { return cmd.Process.Pid },
		"its process group": func(_ *testing.T, cmd *exec.Cmd, _ string) int { return -cmd.Process.Pid },
		"the supervisor": func(t *testing.T, _ *exec.Cmd, folder string) int {
			t.Helper()
			return sessionProcess(t, folder, sessionGuardArgument)
		},
		"the program in the session": func(t *testing.T, _ *exec.Cmd, folder string) int {
			t.Helper()
			return sessionProcess(t, folder, "aai-gateway "+inSessionArgument)
		},
		"the X server": func(t *testing.T, _ *exec.Cmd, folder string) int {
			t.Helper()
			return sessionProcess(t, folder, "Xvfb")
		},
		"the bus": func(t *testing.T, _ *exec.Cmd, folder string) int {
			t.Helper()
			return sessionProcess(t, folder, "dbus-daemon --session --nofork")
		},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "at")
			cmd, out := w.begin(t, "session", "run", "--", "sh", "-c", `sleep 600 & setsid sleep 600 & echo "$DISPLAY $HOME" > "$0"; wait`, file)
			display, folder := awaitSession(t, cmd, file, out)
			assert.NilError(t, syscall.Kill(victim(t, cmd, folder), syscall.SIGKILL))
			err := cmd.Wait()
			assert.Check(t, err != nil, out)
			t.Logf("gone %s after the end of the program", nothingLeft(t, folder, display))
		})
	}
}

// TestKilledSessionIsRemovedAtTheNextStart kills the program and the supervisor of a session at once.
func TestKilledSessionIsRemovedAtTheNextStart(t *testing.T) {
	w, file := newIsolatedWorld(t), filepath.Join(t.TempDir(), "at")
	cmd, out := w.begin(t, "session", "run", "--", "sh", "-c", `setsid sleep 600 & echo "$DISPLAY $HOME" > "$0"; wait`, file)
	display, folder := awaitSession(t, cmd, file, out)
	supervisor := sessionProcess(t, folder, sessionGuardArgument)
	assert.NilError(t, syscall.Kill(supervisor, syscall.SIGSTOP)) // so that neither notices the other's end
	assert.NilError(t, cmd.Process.Kill())
	assert.NilError(t, syscall.Kill(supervisor, syscall.SIGKILL))
	assert.Check(t, cmd.Wait() != nil)
	_, err := os.Stat(folder)
	assert.NilError(t, err)
	next, out := w.begin(t, "session", "run", "--", "true")
	assert.NilError(t, next.Wait(), out)
	nothingLeft(t, folder, display)
}

// TestServeInAnIsolatedSession operates a window of an app that the gateway starts in its session, on each server.
func TestServeInAnIsolatedSession(t *testing.T) {
	for _, screen := range []string{"x11", "sway"} {
		t.Run(screen, func(t *testing.T) {
			w := newIsolatedWorld(t)
			w.allow(t, "desktop", "desktop/gnome-calculator")
			w.write(t, "work/a", "shown")
			args := []string{"mcp", "serve", "--profile", "desktop", "--session", "isolated", "--screen", screen, "--folder", filepath.Join(w.folder, "work")}
			cmd, said := exec.Command(string(w.binary), args...), new(bytes.Buffer)
			cmd.Env, cmd.Stderr = w.env, said
			if screen == "sway" {
				cmd.SysProcAttr = linuxtest.AsNobody(t, filepath.Dir(string(w.binary)), w.folder)
			}
			w.calculate(t, cmd, said)
		})
	}
}

// calculate lets an agent of the command calculate in its session.
func (w isolatedWorld) calculate(t *testing.T, cmd *exec.Cmd, said *bytes.Buffer) {
	t.Helper()
	client, err := mcp.NewClient(&mcp.Implementation{Name: "sdk", Version: "0"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	assert.NilError(t, err, said)
	call := func(tool string, args map[string]any) string {
		r, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
		assert.NilError(t, err, said)
		text := ""
		for _, c := range r.Content {
			if c, ok := c.(*mcp.TextContent); ok {
				text += c.Text
			}
		}
		assert.Assert(t, !r.IsError, "%s: %s", tool, text)
		return text
	}
	at := regexp.MustCompile(`display (:\d+|wayland-\d+), home (/tmp/aai-sessions-\d+/\d+)/home`).FindStringSubmatch(said.String())
	assert.Assert(t, at != nil, said)
	call("ax_connect", map[string]any{"app": "gnome-calculator", "launch": true, "alias": "sums"})
	assert.Check(t, len(processesWith(sessionMark(at[2]))) > 0)
	calculator := sessionProcess(t, at[2], "gnome-calculator")
	shown, err := os.ReadFile(fmt.Sprintf("/proc/%d/root%s/home/work/a", calculator, at[2]))
	assert.NilError(t, err)
	assert.Check(t, is.Equal(string(shown), "shown"), "the app does not see the folder")
	dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", calculator))
	assert.NilError(t, err)
	assert.Check(t, is.Equal(dir, at[2]+"/home"), "its file dialogs open elsewhere")
	for _, button := range []string{"7", "×", "6", "="} {
		call("ax_click", map[string]any{"app": "sums", "query": "role:button title:" + button})
	}
	assert.Check(t, is.Contains(call("ax_get_tree", map[string]any{"app": "sums"}), "42"))
	assert.NilError(t, client.Close(), said)
	nothingLeft(t, at[2], at[1])
	assert.Check(t, is.Contains([]string{"", "Z"}, processState(calculator)), "the app outlives its session")
	assert.Check(t, slices.ContainsFunc(w.journal(t), func(c journalCall) bool { return c.tool == "ax_click" && c.result == "ok" }), "%+v", w.journal(t))
}

// TestSessionNamesWhatIsMissing checks the error where no X server is installed.
func TestSessionNamesWhatIsMissing(t *testing.T) {
	w, empty := newIsolatedWorld(t), t.TempDir()
	w.env = append(w.env, "PATH="+empty)
	cmd, out := w.begin(t, "session", "run", "--", "true")
	assert.Check(t, cmd.Wait() != nil)
	assert.Check(t, is.Contains(out.String(), "an isolated session needs dbus-daemon, Xvfb, openbox"))
	assert.Check(t, is.Contains(out.String(), "dbus-daemon xvfb openbox"))
}

// TestSessionShowsFolders checks that changes below a shown folder do not reach it, in an overlay and in a copy, that
// they are reported, and that --keep keeps them.
func TestSessionShowsFolders(t *testing.T) {
	for name, without := range map[string]string{"overlay": "", "copy": "nsenter"} {
		t.Run(name, func(t *testing.T) {
			w, bin := newIsolatedWorld(t), t.TempDir()
			for _, program := range []string{"Xvfb", "openbox", "dbus-daemon", "nsenter", "sh", "cat", "rm", "mkdir", "chmod", "touch"} {
				path, err := exec.LookPath(program)
				assert.NilError(t, err)
				if program != without {
					assert.NilError(t, os.Symlink(path, filepath.Join(bin, program)))
				}
			}
			w.env = append(w.env, "PATH="+bin)
			w.write(t, "work/a", "before")
			w.write(t, "work/sub/b", "kept")
			w.write(t, "other/secret", "not shown")
			kept := filepath.Join(w.folder, "kept")
			cmd, out := w.begin(t, "session", "run", "--folder", filepath.Join(w.folder, "work"), "--keep", kept, "--", "sh", "-c",
				`cd; cat work/sub/b; test ! -e other || exit 9; echo "at $DISPLAY $HOME."; printf after > work/a; rm work/sub/b; mkdir work/ro; printf new > work/ro/c; chmod 0 work/ro`)
			assert.NilError(t, cmd.Wait(), out)
			said := out.String()
			assert.Check(t, is.Contains(said, "kept"))
			assert.Check(t, is.Equal(strings.Contains(said, "its folders are copies"), without != ""), said)
			assert.Check(t, is.Contains(said, "3 files changed in the session:\n"))
			assert.Check(t, is.Contains(said, "~/work/sub/b (removed)\n"))
			assert.Check(t, is.Contains(said, "They are kept in "+kept+".\n"))
			for path, want := range map[string]string{"work/a": "before", "work/sub/b": "kept", "kept/work/a": "after", "kept/work/ro/c": "new"} {
				text, err := os.ReadFile(filepath.Join(w.folder, path))
				assert.NilError(t, err)
				assert.Check(t, is.Equal(string(text), want), path)
			}
			at := regexp.MustCompile(`at (:\d+) (/tmp/aai-sessions-\d+/\d+)/home\.`).FindStringSubmatch(said)
			assert.Assert(t, at != nil, said)
			nothingLeft(t, at[2], at[1])
		})
	}
}

// TestSessionRefusesFolders checks the errors for folders that cannot be shown.
func TestSessionRefusesFolders(t *testing.T) {
	w := newIsolatedWorld(t)
	w.write(t, "work/a", "")
	work := filepath.Join(w.folder, "work")
	for want, args := range map[string][]string{
		"expected an existing folder":               {"--folder", filepath.Join(work, "a")},
		"would be at the same place":                {"--folder", work, "--folder", w.folder},
		"expected no --folder beside it":            {"--home", "--folder", work},
		"expected a folder that does not exist yet": {"--folder", work, "--keep", work},
		"each from 200 to 8192":                     {"--size", "10x10"},
		"session run needs more: 0 of at least 1":   nil,
		"beside --folder or --home":                 {"--keep", filepath.Join(w.folder, "new")},
	} {
		if args != nil {
			args = append(args, "--", "true")
		}
		cmd, out := w.begin(t, append([]string{"session", "run"}, args...)...)
		assert.Check(t, cmd.Wait() != nil)
		assert.Check(t, is.Equal(cmd.ProcessState.ExitCode(), 2), "%q", args)
		assert.Check(t, is.Contains(out.String(), want), "%q", args)
	}
}

// TestSeveralSessionsAtOnce checks that sessions have different displays and none is left.
func TestSeveralSessionsAtOnce(t *testing.T) {
	w, places := newIsolatedWorld(t), map[string]string{}
	var commands []*exec.Cmd
	var files []string
	for range 4 {
		file := filepath.Join(t.TempDir(), "at")
		cmd, _ := w.begin(t, "session", "run", "--", "sh", "-c", `echo "$DISPLAY $HOME" > "$0"; sleep 600`, file)
		commands, files = append(commands, cmd), append(files, file)
	}
	for i, cmd := range commands {
		display, folder := awaitSession(t, cmd, files[i], "")
		places[display] = folder
	}
	assert.Check(t, is.Len(places, len(commands)))
	for _, cmd := range commands {
		assert.Check(t, cmd.Process.Signal(syscall.SIGTERM))
		assert.Check(t, cmd.Wait() != nil)
	}
	for display, folder := range places {
		nothingLeft(t, folder, display)
	}
}
