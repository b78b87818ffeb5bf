package launcher

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"aai"
)

// Config says where programs are.
type Config struct {
	Getenv  func(string) string
	Environ []string // what programs are started with
	// DataDirs are the folders of the XDG Base Directory Specification that hold
	// applications/*.desktop, the most important first.
	DataDirs []string
}

// A Launcher starts programs. Safe for concurrent use.
type Launcher struct{ cfg Config }

// New returns a Launcher. It does no I/O.
func New(cfg Config) *Launcher { return &Launcher{cfg} }

// A program is what is to be started.
type program struct {
	path string
	args []string
}

// Start implements desktop.Programs. The program outlives the gateway.
func (l *Launcher) Start(ctx context.Context, name string, args []string) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	p, err := l.find(name)
	if err != nil {
		return 0, err
	}
	p.args = append(p.args, args...)
	if isChromium(p.path) {
		p.args = append(chromiumSwitches(), p.args...)
	}
	// Not the call's context: the program is there to stay.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), p.path, p.args...)
	cmd.Env = append(slices.Clone(l.cfg.Environ), toolkitSwitches()...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		e := aai.Errorf(aai.AutomationFailed, "%s could not be started: %w", aai.CleanLabel(p.path, 200), err)
		e.Delivery = aai.NotDelivered
		return 0, e
	}
	go func() { _ = cmd.Wait() }() // how it ends is its own business
	return cmd.Process.Pid, nil
}

// toolkitSwitches are variables by which toolkits show their trees from the start.
func toolkitSwitches() []string {
	return []string{"QT_LINUX_ACCESSIBILITY_ALWAYS_ON=1", "QT_ACCESSIBILITY=1", "ACCESSIBILITY_ENABLED=1", "GNOME_ACCESSIBILITY=1"}
}

// chromiumSwitches make Chromium, and what is built on it, show the trees of its
// pages and act while it is covered.
func chromiumSwitches() []string {
	return []string{
		"--force-renderer-accessibility", "--disable-backgrounding-occluded-windows",
		"--disable-features=CalculateNativeWinOcclusion",
	}
}

// isChromium looks for what every build of Chromium and Electron brings along.
func isChromium(path string) bool {
	base := filepath.Base(path)
	if slices.Contains([]string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "brave-browser", "microsoft-edge", "vivaldi"}, base) {
		return true
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	_, err := os.Stat(filepath.Join(filepath.Dir(path), "chrome_100_percent.pak"))
	return err == nil
}

// find finds a program by its path, its desktop entry or its name.
func (l *Launcher) find(name string) (program, error) {
	if filepath.IsAbs(name) {
		if !executable(name) {
			return program{}, aai.Errorf(aai.AppNotFound, "launch: %s is no program", aai.CleanLabel(name, 200))
		}
		return program{path: name}, nil
	}
	if name == "" || strings.ContainsAny(name, "/\x00") {
		return program{}, aai.Errorf(aai.InvalidParams, "launch: expected a program's name, a desktop entry or an absolute path, got %q", aai.CleanLabel(name, 100))
	}
	entries := l.entries()
	id := strings.TrimSuffix(name, ".desktop")
	for _, same := range []func(entry) bool{
		func(e entry) bool { return e.id == id },
		func(e entry) bool { return strings.EqualFold(e.id, id) || strings.EqualFold(e.name, name) },
	} {
		for _, e := range entries {
			if same(e) {
				return l.fromEntry(e)
			}
		}
	}
	if path := l.onPath(name); path != "" {
		return program{path: path}, nil
	}
	names := make([]string, 0, 2*len(entries))
	for _, e := range entries {
		names = append(names, e.id, e.name)
	}
	slices.Sort(names)
	err := aai.Errorf(aai.AppNotFound, "launch: no program %q is installed", aai.CleanLabel(name, 100))
	err.Candidates = aai.Nearest(name, slices.Compact(names), 3)
	return program{}, err
}

func (l *Launcher) fromEntry(e entry) (program, error) {
	words := e.command()
	if e.terminal || len(words) == 0 {
		err := aai.Errorf(aai.AutomationNotSupported, "launch: %s has no window of its own", aai.CleanLabel(e.id, 100))
		err.Delivery = aai.NotDelivered
		return program{}, err
	}
	path := words[0]
	if !filepath.IsAbs(path) {
		path = l.onPath(path)
	}
	if path == "" || !executable(path) {
		return program{}, aai.Errorf(aai.AppNotFound, "launch: %s begins with %q, which is no program here", aai.CleanLabel(e.file, 200), aai.CleanLabel(words[0], 100))
	}
	return program{path: path, args: words[1:]}, nil
}

// onPath finds a program as a shell does. Relative parts of the PATH are passed
// over.
func (l *Launcher) onPath(name string) string {
	for _, dir := range filepath.SplitList(l.cfg.Getenv("PATH")) {
		if path := filepath.Join(dir, name); filepath.IsAbs(dir) && executable(path) {
			return path
		}
	}
	return ""
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// Descends implements desktop.Programs. Start makes a session of every program,
// which those that it starts stay in even when the ones between have ended.
func (*Launcher) Descends(pid, ancestor int) bool {
	text, err := fs.ReadFile(os.DirFS("/proc"), strconv.Itoa(pid)+"/stat")
	if err != nil {
		return false
	}
	// The name, in parentheses, may hold anything; see proc(5).
	_, rest, _ := strings.Cut(string(text[strings.LastIndexByte(string(text), ')')+1:]), " ")
	fields := strings.Fields(rest)
	const session = 3 // state ppid pgrp session
	if len(fields) <= session {
		return false
	}
	sid, err := strconv.Atoi(fields[session])
	return err == nil && sid == ancestor
}
