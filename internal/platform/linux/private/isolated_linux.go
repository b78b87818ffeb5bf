package private

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// An Isolated is a session that several processes know by its folder. The process that creates
// it also finishes it; another process starts its programs. A lock tells a running session from
// one of killed processes.
type Isolated struct {
	Folder  string
	Options Options

	lock   *os.File
	report string // of Finish
}

// Options are the choices for an isolated session. They are stored in its folder.
type Options struct {
	Wayland       bool   // the screen is that of a headless Sway; false: of an X server
	Width, Height int    // of the screen, in pixels
	Views         []View // folders of the person in the session's home
	Keep          string // the folder for changed files of the views; "" drops them
	Label         string // its command or agent, for the person
}

// Names in the folder of an isolated session.
const (
	lockFile    = "lock"
	optionsFile = "options.json"
)

// A Requirement is a program that an isolated session needs, and its Debian package.
type Requirement struct{ Program, Package string }

// MissingRequirements returns the programs that an isolated session with the options needs and the
// PATH has not.
func MissingRequirements(o Options) []Requirement {
	all := []Requirement{{"dbus-daemon", "dbus-daemon"}, {"Xvfb", "xvfb"}, {"openbox", "openbox"}}
	if o.Wayland {
		all = append(all[:1], Requirement{"sway", "sway"})
	}
	return slices.DeleteFunc(all, func(r Requirement) bool {
		_, err := exec.LookPath(r.Program)
		return err == nil
	})
}

// NewIsolated creates the folder of an isolated session and locks it. It first removes the
// sessions of killed processes.
func NewIsolated(o Options) (*Isolated, error) {
	parent, err := sessionsFolder()
	if err != nil {
		return nil, err
	}
	removeAbandoned(parent)
	s, err := newBelow(parent, "")
	if err != nil {
		return nil, err
	}
	i := &Isolated{Folder: s.Folder, Options: o}
	if err := i.create(); err != nil {
		return nil, errors.Join(err, s.Remove())
	}
	return i, nil
}

// create writes the options and the lock file, which appears only when it is locked.
func (i *Isolated) create() error {
	text, err := json.Marshal(i.Options)
	if err != nil {
		return err
	}
	if err := os.WriteFile(i.path(optionsFile), text, 0o600); err != nil {
		return err
	}
	unlocked := i.path(lockFile + ".new")
	if i.lock, err = os.OpenFile(unlocked, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600); err != nil {
		return err
	}
	if err := syscall.Flock(int(i.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return err
	}
	return os.Rename(unlocked, i.path(lockFile))
}

// sessionsFolder creates the folder of this account's isolated sessions, and returns it. No other
// account can write there: it could put a folder of its own in the place of an ended session.
func sessionsFolder() (string, error) {
	folder := "/tmp/aai-sessions-" + strconv.Itoa(os.Geteuid())
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return folder, checkOwn(folder)
}

// checkOwn returns an error unless the path is a folder to which only this account has access.
func checkOwn(folder string) error {
	info, err := os.Lstat(folder)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || int(owner.Uid) != os.Geteuid() || info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s is no folder of this account alone; it must be removed", folder)
	}
	return nil
}

// OpenIsolated returns the isolated session in a folder that another process has created.
func OpenIsolated(folder string) (*Isolated, error) {
	parent, err := sessionsFolder()
	if err == nil && filepath.Dir(folder) != parent {
		err = fmt.Errorf("%s is no folder of an isolated session of this account", folder)
	}
	if err == nil {
		err = checkOwn(folder)
	}
	if err != nil {
		return nil, err
	}
	i := &Isolated{Folder: folder}
	text, err := atomicfile.Read(i.path(optionsFile), atomicfile.ReadLimits{Size: 1 << 20})
	if err != nil {
		return nil, err
	}
	return i, json.Unmarshal(text, &i.Options)
}

func (i *Isolated) path(name string) string { return filepath.Join(i.Folder, name) }

// LockFile returns the open lock file. The session counts as running while a process has it.
func (i *Isolated) LockFile() *os.File { return i.lock }

// Start starts the screen, the buses and the window manager. The programs of the session inherit
// environ without the variables of another desktop. holdViews is the command of this program that
// runs [HoldViews]. On an error the caller must still call End.
func (i *Isolated) Start(ctx context.Context, environ, holdViews []string) (*Session, error) {
	s := sessionIn(i.Folder)
	s.Env = slices.Concat([]string{"LANG=C.UTF-8"}, inheritable(environ), s.Env[1:], HeadlessEnv())
	if err := i.showViews(ctx, s, holdViews); err != nil {
		return s, err
	}
	// Chromium loads no page while a new keyring waits for a passphrase.
	if err := s.denyServices("org.freedesktop.secrets", "org.kde.kwalletd5", "org.kde.kwalletd6"); err != nil {
		return s, err
	}
	start := i.startX
	if i.Options.Wayland {
		start = i.startSway
	}
	if err := start(ctx, s); err != nil {
		return s, fmt.Errorf("the screen did not start: %w", err)
	}
	if err := s.StartBus(ctx); err != nil {
		return s, fmt.Errorf("the bus did not start: %w", err)
	}
	if err := s.enableAccessibility(ctx); err != nil {
		return s, fmt.Errorf("accessibility did not start; is at-spi2-core installed? %w", err)
	}
	return s, nil
}

// startX starts an X server with a window manager.
func (i *Isolated) startX(ctx context.Context, s *Session) error {
	if err := s.StartScreen(ctx, ScreenConfig{Width: i.Options.Width, Height: i.Options.Height, Locked: true, FileBacked: true}); err != nil {
		return err
	}
	config := s.Path("openbox.xml")
	if err := os.WriteFile(config, []byte(plainOpenbox), 0o600); err != nil {
		return err
	}
	return s.StartWindowManager(ctx, config)
}

// plainOpenbox is a configuration of openbox with one desktop and no keys, so that every key
// reaches the programs.
const plainOpenbox = `<?xml version="1.0" encoding="UTF-8"?>
<openbox_config xmlns="http://openbox.org/3.4/rc">
  <theme><name>Clearlooks</name></theme>
  <desktops><number>1</number><popupTime>0</popupTime></desktops>
</openbox_config>
`

// inheritable returns the variables that do not belong to a desktop or a home.
func inheritable(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		switch name {
		case "HOME", "TMPDIR", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "AT_SPI_BUS_ADDRESS", "SESSION_MANAGER", "DESKTOP_SESSION", "SWAYSOCK", "WAYLAND_SOCKET",
			"I3SOCK", "HYPRLAND_INSTANCE_SIGNATURE", "ICEAUTHORITY", "WINDOWID", "PULSE_SERVER", "SSH_AUTH_SOCK", "SSH_AGENT_PID", "SSH_ASKPASS", "GPG_AGENT_INFO":
			return true
		}
		return strings.HasPrefix(name, "DBUS_") || strings.HasPrefix(name, "GNOME_KEYRING_") || strings.HasPrefix(name, "XDG_") && !strings.HasSuffix(name, "_DIRS")
	})
}

// AwaitLoss waits until a program of the session has ended, and returns why, or until ctx ends.
func (s *Session) AwaitLoss(ctx context.Context) error {
	lost := make(chan error, len(s.started))
	for _, p := range s.started {
		go func() {
			select {
			case <-p.done:
				lost <- p.endError()
			case <-ctx.Done():
			}
		}()
	}
	select {
	case err := <-lost:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Report returns the report of [Isolated.Finish] about changed files; "" if there are none.
func (i *Isolated) Report() string { return i.report }

// Finish ends every process of the session, keeps changed files and removes the others. If a file
// could not be kept, it removes nothing. Only the creator calls it, or, when that was killed, its
// supervisor or the next session.
func (i *Isolated) Finish() error {
	if _, err := os.Lstat(i.Folder); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for until := time.Now().Add(finishTimeout); killMarked(runtimeVariable+filepath.Join(i.Folder, "run")) && time.Now().Before(until); {
		time.Sleep(2 * time.Millisecond)
	}
	i.removeDisplay()
	i.makeAccessible()
	if err := i.saveChanges(); err != nil {
		return err
	}
	err := os.RemoveAll(i.Folder)
	for late := time.Now().Add(finishTimeout); err != nil && time.Now().Before(late); err = os.RemoveAll(i.Folder) {
		time.Sleep(20 * time.Millisecond) // a process that is being killed has written a file
	}
	return err
}

// makeAccessible makes folders and files accessible that programs have closed, even to their owner.
func (i *Isolated) makeAccessible() {
	_ = filepath.WalkDir(i.Folder, func(path string, d fs.DirEntry, _ error) error {
		if d == nil || !d.IsDir() && !d.Type().IsRegular() {
			return nil
		}
		if info, err := d.Info(); err == nil && info.Mode().Perm()&0o700 < 0o600 {
			_ = os.Chmod(path, 0o700) //nolint:gosec // a file of the owner alone
		}
		return nil
	})
}

// finishTimeout is the time limit for processes to end after SIGKILL.
const finishTimeout = 5 * time.Second

// killMarked kills the processes that were started with the variable, and reports whether there
// were any.
func killMarked(variable string) bool {
	some := false
	files, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is valid
	for _, file := range files {
		environ, err := os.ReadFile(file) // fails for other users' processes
		if err != nil || !slices.Contains(strings.Split(string(environ), "\x00"), variable) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err == nil && pid != os.Getpid() {
			some = syscall.Kill(pid, syscall.SIGKILL) == nil || some
		}
	}
	return some
}

// removeDisplay removes the socket of the session's X server, if the server was killed and no
// other one has taken its place. A server that chooses its display has no lock file.
func (i *Isolated) removeDisplay() {
	display := i.Display()
	if display == "" {
		return // there was no screen
	}
	socket := filepath.Join("/tmp/.X11-unix", "X"+filepath.Base(strings.TrimPrefix(display, ":")))
	conn, err := net.Dial("unix", socket) //nolint:noctx // it is there or not
	if err == nil {
		_ = conn.Close()
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		_ = os.Remove(socket)
	}
}

// removeAbandoned removes the isolated sessions of this account with a lock that no process has.
func removeAbandoned(parent string) {
	folders, _ := filepath.Glob(parent + "/*") // the pattern is valid
	for _, folder := range folders {
		i, err := OpenIsolated(folder)
		if err != nil {
			continue
		}
		lock, err := os.OpenFile(i.path(lockFile), os.O_RDWR, 0)
		if errors.Is(err, fs.ErrNotExist) && isOld(folder) {
			_ = i.Finish()
		}
		if err != nil {
			continue
		}
		if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			_ = i.Finish() // the next session tries it again
		}
		_ = lock.Close()
	}
}

// isOld reports whether a folder without a lock is no longer being created.
func isOld(folder string) bool {
	info, err := os.Lstat(folder)
	return err == nil && time.Since(info.ModTime()) > time.Minute
}
