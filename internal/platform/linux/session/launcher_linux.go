package session

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// LauncherConfig configures a Launcher.
type LauncherConfig struct {
	Getenv  func(string) string
	Environ func() []string // the environment for programs, called at each start
	Enter   []string        // begins the command of every program, and runs the rest of it in the same process
	// DataDirs are the folders of the XDG Base Directory Specification that hold
	// applications/*.desktop, the most important first.
	DataDirs []string
	// Libraries are the folders of toolkit libraries, as patterns of filepath.Match: see
	// [Libraries].
	Libraries []string
}

// Libraries returns Linux's library folders, as patterns for LauncherConfig.Libraries.
func Libraries() []string { return []string{"/usr/lib/*", "/usr/lib64", "/usr/lib"} }

// A Launcher finds and starts programs. It is safe for concurrent use.
type Launcher struct{ cfg LauncherConfig }

// NewLauncher returns a Launcher. It does no I/O.
func NewLauncher(cfg LauncherConfig) *Launcher { return &Launcher{cfg} }

// Start implements desktop.Programs. The program outlives the gateway.
func (l *Launcher) Start(ctx context.Context, p desktop.Program, args []string) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	args = p.Command(args)[1:]
	if needsSwitches(p.Path) {
		args = append(accessibilitySwitches(), args...)
	}
	// Not the call's context: the program keeps running.
	words := append(append(slices.Clone(l.cfg.Enter), p.Path), args...)
	cmd := exec.CommandContext(context.WithoutCancel(ctx), words[0], words[1:]...)
	cmd.Env = append(l.cfg.Environ(), accessibilityEnv()...)
	cmd.Env = append(cmd.Env, l.gtk2(cmd.Env)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		e := aai.Errorf(aai.AutomationFailed, "%s could not be started: %w", aai.CleanLabel(p.Path, 200), err)
		e.Delivery = aai.NotDelivered
		return 0, e
	}
	go func() { _ = cmd.Wait() }() // the exit status does not matter
	return cmd.Process.Pid, nil
}

// accessibilityEnv returns the variables that make toolkits show their trees from the start.
func accessibilityEnv() []string {
	return []string{"QT_LINUX_ACCESSIBILITY_ALWAYS_ON=1", "QT_ACCESSIBILITY=1", "ACCESSIBILITY_ENABLED=1",
		"GNOME_ACCESSIBILITY=1"}
}

// gtk2 returns the variable that makes GTK 2 load its accessibility modules, after the
// modules in environ. If they are installed, Debian sets it for the whole session; other
// programs ignore it.
func (l *Launcher) gtk2(environ []string) []string {
	const variable = "GTK_MODULES="
	var loaded []string
	for _, v := range environ {
		if value, is := strings.CutPrefix(v, variable); is {
			loaded = strings.FieldsFunc(value, func(r rune) bool { return r == ':' })
		}
	}
	for _, module := range []string{"gail", "atk-bridge"} {
		if !slices.Contains(loaded, module) && l.installed("gtk-2.0/modules/lib"+module+".so") {
			loaded = append(loaded, module)
		}
	}
	if len(loaded) == 0 {
		return nil
	}
	return []string{variable + strings.Join(loaded, ":")}
}

// installed reports whether one of the library folders has the file.
func (l *Launcher) installed(file string) bool {
	return slices.ContainsFunc(l.cfg.Libraries, func(dir string) bool {
		found, err := filepath.Glob(filepath.Join(dir, file))
		return err == nil && len(found) > 0
	})
}

// KeepOpen keeps a connection open until its other end closes it, even after this process
// has ended, or until release is called. It uses a duplicate of the file.
func (*Launcher) KeepOpen(connection *os.File) (release func(), err error) {
	c := exec.CommandContext(context.Background(), "/bin/cat") // reads until the other end closes it
	c.Stdin, c.Env, c.Dir = connection, []string{}, "/"
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := c.Start(); err != nil {
		return nil, err
	}
	go func() { _ = c.Wait() }()
	return func() { _ = c.Process.Kill() }, nil
}

// accessibilitySwitches returns the switches that make Chromium-based programs show the trees
// of their pages and stay active while covered.
func accessibilitySwitches() []string {
	return []string{
		"--force-renderer-accessibility", desktop.ChromiumNoBackgroundingFlag,
		"--disable-features=CalculateNativeWinOcclusion",
	}
}

// needsSwitches reports whether the program shows no tree without accessibilitySwitches: it is a build of Chromium or
// Electron. Its files decide, because a program has no profile before it runs.
func needsSwitches(path string) bool {
	base := filepath.Base(path)
	if slices.Contains([]string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "brave-browser",
		"microsoft-edge", "vivaldi"}, base) {
		return true
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	_, err := os.Stat(filepath.Join(filepath.Dir(path), "chrome_100_percent.pak"))
	return err == nil
}

// Find implements desktop.Programs.
func (l *Launcher) Find(name string) (desktop.Program, error) {
	if filepath.IsAbs(name) {
		if !isExecutable(name) {
			return desktop.Program{}, aai.Errorf(aai.AppNotFound, "%s is no program", aai.CleanLabel(name, 200))
		}
		return l.program(filepath.Base(name), []string{name}, fieldCode{}), nil
	}
	if name == "" || strings.ContainsAny(name, "/\x00") {
		return desktop.Program{},
			aai.Errorf(aai.InvalidParams, "expected a program's name, a desktop entry or an absolute path, got %q",
				aai.CleanLabel(name, 100))
	}
	entries := l.entries()
	id := strings.TrimSuffix(name, ".desktop")
	for _, same := range []func(desktopEntry) bool{
		func(e desktopEntry) bool { return e.id == id },
		func(e desktopEntry) bool { return strings.EqualFold(e.id, id) || strings.EqualFold(e.name, name) },
	} {
		for _, e := range entries {
			if same(e) {
				return l.fromEntry(e)
			}
		}
	}
	if path := l.onPath(name); path != "" {
		return l.program(name, []string{path}, fieldCode{}), nil
	}
	names := make([]string, 0, 2*len(entries))
	for _, e := range entries {
		names = append(names, e.id, e.name)
	}
	slices.Sort(names)
	err := aai.Errorf(aai.AppNotFound, "no program %q is installed", aai.CleanLabel(name, 100))
	err.Candidates = aai.Nearest(name, slices.Compact(names), 3)
	return desktop.Program{}, err
}

// EntryCommand returns the command of the desktop entry with exactly this ID, in a
// terminal if the entry needs one. It returns "" without such an entry or program.
func (l *Launcher) EntryCommand(id string) string {
	p, err := l.fromID(id)
	if err != nil {
		return ""
	}
	return desktop.CommandLine(p.Command(nil))
}

// StartEntry starts the desktop entry with exactly this ID and returns its PID, if its
// command is still the result of [Launcher.EntryCommand]. It fails with APP_NOT_FOUND
// without such an entry or program, with AUTOMATION_NOT_SUPPORTED without a terminal to
// run it in, and with APP_NOT_RUNNING if the command has changed.
func (l *Launcher) StartEntry(ctx context.Context, id, command string) (pid int, err error) {
	p, err := l.fromID(id)
	if err != nil {
		return 0, err
	}
	if desktop.CommandLine(p.Command(nil)) != command {
		e := aai.Errorf(aai.AppNotRunning, "the desktop entry %q starts another command than when the app was read",
			aai.CleanLabel(id, 100))
		e.Delivery, e.Hint = aai.NotDelivered, "Restart the gateway: then the person is asked about the new command."
		return 0, e
	}
	return l.Start(ctx, p, nil)
}

// fromID returns the program of the desktop entry with exactly this ID. The first of
// DataDirs that has one counts.
func (l *Launcher) fromID(id string) (desktop.Program, error) {
	var found desktopEntry
	for _, dir := range l.cfg.DataDirs {
		file := filepath.Join(dir, "applications", id+".desktop")
		if _, err := os.Lstat(file); err != nil || id == "" || filepath.Base(id) != id {
			continue
		}
		found, _ = readDesktopEntry(file, id)
		break
	}
	if found.exec == "" {
		return desktop.Program{}, aai.Errorf(aai.AppNotFound, "there is no desktop entry %q", aai.CleanLabel(id, 100))
	}
	wantsTerminal := found.terminal
	found.terminal = false
	p, err := l.fromEntry(found)
	if err != nil || !wantsTerminal {
		return p, err
	}
	return l.inTerminal(p)
}

// inTerminal returns the program in a window of the person's terminal: by
// xdg-terminal-exec, or by Debian's alternatives.
func (l *Launcher) inTerminal(p desktop.Program) (desktop.Program, error) {
	words := append([]string{p.Path}, p.Args...)
	if path := l.onPath("xdg-terminal-exec"); path != "" {
		return desktop.Program{Name: p.Name, Path: path, Args: words}, nil
	}
	if path := l.onPath("x-terminal-emulator"); path != "" {
		return desktop.Program{Name: p.Name, Path: path, Args: append([]string{"-e"}, words...)}, nil
	}
	err := aai.Errorf(aai.AutomationNotSupported,
		"%s runs in a terminal, and none was found (xdg-terminal-exec, x-terminal-emulator)", aai.CleanLabel(p.Name, 100))
	err.Delivery = aai.NotDelivered
	return desktop.Program{}, err
}

func (l *Launcher) fromEntry(e desktopEntry) (desktop.Program, error) {
	words, code := e.command()
	if e.terminal || len(words) == 0 {
		err := aai.Errorf(aai.AutomationNotSupported, "%s has no window of its own", aai.CleanLabel(e.id, 100))
		err.Delivery = aai.NotDelivered
		return desktop.Program{}, err
	}
	path := words[0]
	if !filepath.IsAbs(path) {
		path = l.onPath(path)
	}
	if path == "" || !isExecutable(path) {
		return desktop.Program{},
			aai.Errorf(aai.AppNotFound, "%s begins with %q, which is no program here", aai.CleanLabel(e.file, 200),
				aai.CleanLabel(words[0], 100))
	}
	words[0] = path
	p := l.program(e.name, words, code)
	p.Entry, p.Exec = e.id, e.exec
	return p, nil
}

// onPath finds a program on the PATH, as a shell does. It skips relative elements of the
// PATH.
func (l *Launcher) onPath(name string) string {
	for _, dir := range filepath.SplitList(l.cfg.Getenv("PATH")) {
		if path := filepath.Join(dir, name); filepath.IsAbs(dir) && isExecutable(path) {
			return path
		}
	}
	return ""
}

func isExecutable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// IsRunning implements desktop.Programs. A process that has ended and that its parent has not read yet does not run.
func (*Launcher) IsRunning(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, after, found := strings.Cut(string(stat[bytes.LastIndexByte(stat, ')')+1:]), " ")
	return err == nil && found && !strings.HasPrefix(after, "Z") && !strings.HasPrefix(after, "X")
}

// IsDescendant implements desktop.Programs. Start makes each program a session leader, and
// its descendants stay in that session even when intermediate processes end. For programs
// that others started, it follows the parents.
func (*Launcher) IsDescendant(pid, ancestor int) bool {
	for range maxGenerations {
		parent, session := parentAndSession(pid)
		if parent <= 1 && session <= 1 {
			return false
		}
		if session == ancestor || parent == ancestor {
			return true
		}
		pid = parent
	}
	return false
}

// maxGenerations is the maximum number of parents to follow.
const maxGenerations = 50

// parentAndSession returns the process's parent and session, or 0 for one that has ended.
func parentAndSession(pid int) (parent, session int) {
	text, err := fs.ReadFile(os.DirFS("/proc"), strconv.Itoa(pid)+"/stat")
	if err != nil {
		return 0, 0
	}
	// The name, in parentheses, may contain any character; see proc(5).
	_, rest, _ := strings.Cut(string(text[strings.LastIndexByte(string(text), ')')+1:]), " ")
	fields := strings.Fields(rest) // state ppid pgrp session
	if len(fields) < 4 {
		return 0, 0
	}
	parent, _ = strconv.Atoi(fields[1])
	session, _ = strconv.Atoi(fields[3])
	return parent, session
}

// LacksAccessibility implements desktop.Programs: it reports whether the program draws with X itself and
// has loaded no library with accessibility trees. Browsers load their toolkit's.
func (*Launcher) LacksAccessibility(pid int) bool {
	text, err := fs.ReadFile(os.DirFS("/proc"), strconv.Itoa(pid)+"/maps")
	if err != nil {
		return false
	}
	loads := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return strings.Contains(string(text), "/"+name) })
	}
	return loads("libX11.so", "libxcb.so") && !loads("libatk", "libatspi", "libgtk-", "libQt", "libjvm", "libwx")
}
