package session

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// newTestLauncher creates folders with a program that records its arguments and environment.
func newTestLauncher(t *testing.T) (*Launcher, string) {
	t.Helper()
	dir := t.TempDir()
	for _, sub := range []string{"bin", "data/applications", "system/applications"} {
		assert.NilError(t, os.MkdirAll(filepath.Join(dir, sub), 0o700))
	}
	// Tests wait for the file that is written last, so that no write comes later.
	script := "#!/bin/sh\nsleep 5 &\necho $! > " + dir + "/child.part\nmv " + dir + "/child.part " + dir + "/child\n" +
		"(printf '%s\\n' \"$@\"; env) > " + dir + "/out.part\nmv " + dir + "/out.part " + dir + "/out\nwait\n"
	writeFile(t, filepath.Join(dir, "bin/editor"), script, 0o700)
	writeFile(t, filepath.Join(dir, "bin/chromium"), script, 0o700)
	writeFile(t, filepath.Join(dir, "data/applications/org.example.Editor.desktop"),
		"[Desktop Entry]\nType=Application\nName=Text Editor\nExec=editor --new \"a b\" %U\n\n[Desktop Action x]\nExec=other\n", 0o600)
	writeFile(t, filepath.Join(dir, "system/applications/org.example.Editor.desktop"),
		"[Desktop Entry]\nType=Application\nName=Text Editor\nExec=wrong\n", 0o600)
	writeFile(t, filepath.Join(dir, "system/applications/shell.desktop"),
		"[Desktop Entry]\nType=Application\nName=Shell\nExec=editor\nTerminal=true\n", 0o600)
	writeFile(t, filepath.Join(dir, "system/applications/gone.desktop"),
		"[Desktop Entry]\nType=Application\nName=Gone\nExec=/nowhere/gone\n", 0o600)
	writeFile(t, filepath.Join(dir, "system/applications/hidden.desktop"),
		"[Desktop Entry]\nType=Application\nName=Hidden\nExec=editor\nHidden=true\n", 0o600)
	getenv := func(name string) string {
		return map[string]string{"PATH": "relative:" + filepath.Join(dir, "bin")}[name]
	}
	return NewLauncher(LauncherConfig{
		Getenv: getenv, Environ: func() []string { return []string{"PATH=/usr/bin:/bin", "MARK=1"} },
		DataDirs: []string{filepath.Join(dir, "data"), filepath.Join(dir, "system")}, Libraries: []string{filepath.Join(dir, "lib/*")},
	}), dir
}

func writeFile(t *testing.T, file, text string, mode os.FileMode) {
	t.Helper()
	assert.NilError(t, os.WriteFile(file, []byte(text), mode))
}

// awaitFile reads a file that a program is about to write.
func awaitFile(t *testing.T, file string) string {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if text, err := os.ReadFile(file); err == nil {
			return string(text)
		}
	}
	t.Fatalf("%s was not written", file)
	return ""
}

func startProgram(t *testing.T, l *Launcher, name string, args ...string) int {
	t.Helper()
	program, err := l.Find(name)
	assert.NilError(t, err)
	pid, err := l.Start(t.Context(), program, args)
	assert.NilError(t, err)
	t.Cleanup(func() {
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill()
		}
	})
	return pid
}

func TestStart(t *testing.T) {
	for _, name := range []string{"org.example.Editor", "org.example.Editor.desktop", "text editor", "ORG.example.editor"} {
		t.Run(name, func(t *testing.T) {
			l, dir := newTestLauncher(t)
			startProgram(t, l, name, "file; rm -rf $HOME")
			out := awaitFile(t, filepath.Join(dir, "out"))
			want := "--new\na b\nfile; rm -rf $HOME\n"
			assert.Check(t, strings.HasPrefix(out, want), "it was started with %q, want %q", out, want)
			for _, variable := range []string{"QT_LINUX_ACCESSIBILITY_ALWAYS_ON=1", "MARK=1"} {
				assert.Check(t, is.Contains(strings.Split(out, "\n"), variable), "%s is not in its environment", variable)
			}
		})
	}
}

// TestStartLoadsTheTreesOfGTK2 checks that installed modules are added after those that
// are already set, without duplicates.
func TestStartLoadsTheTreesOfGTK2(t *testing.T) {
	for _, c := range []struct {
		environ, want string
		modules       []string
	}{
		{"MARK=1", "GTK_MODULES=gail:atk-bridge", []string{"gail", "atk-bridge"}},
		{"GTK_MODULES=canberra:gail", "GTK_MODULES=canberra:gail:atk-bridge", []string{"gail", "atk-bridge"}},
		{"MARK=1", "GTK_MODULES=gail", []string{"gail"}},
		{"MARK=1", "", nil},
		{"GTK_MODULES=canberra", "GTK_MODULES=canberra", nil},
	} {
		l, dir := newTestLauncher(t)
		l.cfg.Environ = func() []string { return []string{"PATH=/usr/bin:/bin", c.environ} }
		modules := filepath.Join(dir, "lib/x86_64-linux-gnu/gtk-2.0/modules")
		assert.NilError(t, os.MkdirAll(modules, 0o700))
		for _, module := range c.modules {
			writeFile(t, filepath.Join(modules, "lib"+module+".so"), "", 0o600)
		}
		startProgram(t, l, "editor")
		got := ""
		for line := range strings.Lines(awaitFile(t, filepath.Join(dir, "out"))) {
			if strings.HasPrefix(line, "GTK_MODULES=") {
				got += strings.TrimSpace(line)
			}
		}
		assert.Check(t, is.Equal(got, c.want), "with %q and %q it was started with %q, want %q", c.environ, c.modules, got, c.want)
	}
}

// TestStartEntry checks that an entry is started by its ID only, in a terminal if it needs one.
func TestStartEntry(t *testing.T) {
	l, dir := newTestLauncher(t)
	started := func(id string) (pid int) {
		t.Helper()
		pid, err := l.StartEntry(t.Context(), id, l.EntryCommand(id))
		assert.NilError(t, err)
		t.Cleanup(func() {
			if p, err := os.FindProcess(pid); err == nil {
				_ = p.Kill()
			}
		})
		return pid
	}
	pid := started("org.example.Editor")
	out := awaitFile(t, filepath.Join(dir, "out"))
	assert.Assert(t, strings.HasPrefix(out, "--new\na b\n"), "it was started with %q", out)
	assert.Assert(t, l.IsRunning(pid), "it was started with %q", out)
	for id, code := range map[string]aai.Code{
		"Text Editor": aai.AppNotFound, "editor": aai.AppNotFound, "hidden": aai.AppNotFound, "gone": aai.AppNotFound, "shell": aai.AutomationNotSupported,
	} {
		_, err := l.StartEntry(t.Context(), id, l.EntryCommand(id))
		assert.Equal(t, l.EntryCommand(id), "", "%q %v", id, err)
		assert.Assert(t, aai.AsError(err) != nil, "%q %v", id, err)
		assert.Equal(t, aai.AsError(err).Code, code, "%q %v", id, err)
	}
	for name, before := range map[string]string{"x-terminal-emulator": "-e\n", "xdg-terminal-exec": ""} { // the latter wins
		assert.NilError(t, os.Remove(filepath.Join(dir, "out")))
		script, err := os.ReadFile(filepath.Join(dir, "bin/editor"))
		assert.NilError(t, err)
		writeFile(t, filepath.Join(dir, "bin", name), string(script), 0o700)
		started("shell")
		out := awaitFile(t, filepath.Join(dir, "out"))
		assert.Check(t, strings.HasPrefix(out, before+filepath.Join(dir, "bin/editor")+"\n"), "%s was started with %q", name, out)
		assert.NilError(t, os.Remove(filepath.Join(dir, "bin", name)))
	}
}

// TestAnotherEntryIsNotStarted checks that permission covers the command, not the name: a
// replaced or new entry is not started.
func TestAnotherEntryIsNotStarted(t *testing.T) {
	l, dir := newTestLauncher(t)
	mine, system := filepath.Join(dir, "data/applications/late.desktop"), filepath.Join(dir, "system/applications/late.desktop")
	entry := func(command string) string {
		return "[Desktop Entry]\nType=Application\nName=Late\nExec=" + command + "\n"
	}
	none := l.EntryCommand("late")
	writeFile(t, system, entry("editor theirs"), 0o600)
	allowed := l.EntryCommand("late")
	want := filepath.Join(dir, "bin/editor") + " theirs"
	assert.Equal(t, none, "")
	assert.Equal(t, allowed, want)
	writeFile(t, mine, entry("editor planted"), 0o600)
	for _, command := range []string{none, allowed} {
		_, err := l.StartEntry(t.Context(), "late", command)
		e := aai.AsError(err)
		assert.Assert(t, e != nil, "%q %v", command, err)
		assert.Equal(t, e.Code, aai.AppNotRunning, "%q %v", command, err)
		assert.Equal(t, e.Delivery, aai.NotDelivered, "%q %v", command, err)
		assert.Assert(t, e.Hint != "", "%q %v", command, err)
	}
	_, err := os.Stat(filepath.Join(dir, "out"))
	assert.Check(t, err != nil, "it was started")
}

func TestStartByNameAndPath(t *testing.T) {
	l, dir := newTestLauncher(t)
	startProgram(t, l, "editor", "x")
	out := awaitFile(t, filepath.Join(dir, "out"))
	assert.Check(t, strings.HasPrefix(out, "x\n"), "it was started with %q", out)
	l, dir = newTestLauncher(t)
	startProgram(t, l, filepath.Join(dir, "bin", "editor"))
	awaitFile(t, filepath.Join(dir, "out"))
}

func TestChromiumShowsItsPages(t *testing.T) {
	l, dir := newTestLauncher(t)
	startProgram(t, l, "chromium", "about:blank")
	out := awaitFile(t, filepath.Join(dir, "out"))
	assert.Assert(t, strings.HasPrefix(out, "--force-renderer-accessibility\n"), "it was started with %q", out)
	assert.Assert(t, is.Contains(out, "\nabout:blank\n"))
	// By its files, whatever its name.
	writeFile(t, filepath.Join(dir, "bin", "chrome_100_percent.pak"), "", 0o600)
	assert.Check(t, needsSwitches(filepath.Join(dir, "bin", "editor")), "a program beside Chromium's resources was not taken for one")
}

func TestIsDescendant(t *testing.T) {
	l, dir := newTestLauncher(t)
	pid := startProgram(t, l, "editor")
	awaitFile(t, filepath.Join(dir, "out")) // no write comes later
	child := 0
	for _, digit := range strings.TrimSpace(awaitFile(t, filepath.Join(dir, "child"))) {
		child = 10*child + int(digit-'0')
	}
	assert.Assert(t, l.IsDescendant(child, pid), "process %d, started by %d, is not known as such", child, pid)
	assert.Assert(t, l.IsDescendant(pid, pid), "process %d, started by %d, is not known as such", child, pid)
	assert.Assert(t, !l.IsDescendant(os.Getpid(), pid), "a stranger was taken for a descendant")
	assert.Assert(t, !l.IsDescendant(1<<30, pid), "a stranger was taken for a descendant")
	assert.Assert(t, l.IsDescendant(pid, os.Getpid()), "what was started in a session of its own is not known by its parents")
	assert.Assert(t, l.IsDescendant(child, os.Getpid()), "what was started in a session of its own is not known by its parents")
}

func TestStartErrors(t *testing.T) {
	l, dir := newTestLauncher(t)
	for name, code := range map[string]aai.Code{
		"nothing-like-it":              aai.AppNotFound,
		"../bin/editor":                aai.InvalidParams,
		"":                             aai.InvalidParams,
		"/etc/passwd":                  aai.AppNotFound,
		"shell":                        aai.AutomationNotSupported,
		"gone":                         aai.AppNotFound,
		"hidden":                       aai.AppNotFound,
		filepath.Join(dir, "bin/none"): aai.AppNotFound,
	} {
		p, err := l.Find(name)
		assert.Equal(t, p.Path, "", "%q %v %v", name, p, err)
		assert.Assert(t, aai.AsError(err) != nil, "%q %v %v", name, p, err)
		assert.Equal(t, aai.AsError(err).Code, code, "%q %v %v", name, p, err)
	}
	_, err := l.Find("org.example.Edit")
	e := aai.AsError(err)
	assert.Assert(t, len(e.Candidates) != 0, "candidates %q", e.Candidates)
	assert.Equal(t, e.Candidates[0], "org.example.Editor", "%q", e.Candidates)
}

func TestCommand(t *testing.T) {
	for text, want := range map[string][]string{
		`editor %f`:                   {"editor"},
		`editor --name=%c "%%u" %i`:   {"editor", "--name=%c", "%u"},
		`"/opt/my app/run" "a \"b\""`: {"/opt/my app/run", `a "b"`},
		`editor ""`:                   {"editor", ""},
		``:                            nil,
		`  a	b `:                      {"a", "b"},
	} {
		got, _ := desktopEntry{exec: text}.command()
		assert.Check(t, is.DeepEqual(want, got), "%s", text)
	}
}

// TestLacksAccessibility checks that only programs that draw with X alone are reported.
func TestLacksAccessibility(t *testing.T) {
	assert.Assert(t, !(&Launcher{}).LacksAccessibility(os.Getpid()), "a process that shows no windows is mute")
	assert.Assert(t, !(&Launcher{}).LacksAccessibility(1<<30), "a process that shows no windows is mute")
}

// TestAPipeIsNoEntry checks that a pipe among the entries does not block.
func TestAPipeIsNoEntry(t *testing.T) {
	l, dir := newTestLauncher(t)
	assert.NilError(t, syscall.Mkfifo(filepath.Join(dir, "data/applications/aaa.desktop"), 0o600))
	program, err := l.Find("Text Editor")
	assert.Check(t, err, "%+v", program)
	program, err = l.Find("aaa")
	assert.Check(t, aai.AsError(err) != nil, "the pipe is %+v", program)
}
