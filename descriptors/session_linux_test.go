package descriptors_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/platform/linux/private"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// patience is the limit for waiting for an effect, or for a program's answer. It passes only if
// something is wrong.
const patience = 2 * time.Minute

// session is a desktop session for the real programs, with its own home folder, screen and buses.
// It inherits nothing from the test's environment, and it ends, with all its processes, with the
// test.
type session struct {
	testing.TB
	desk        *private.Session
	home, run   string
	bus, system *testkit.Bus
}

// newSession begins a session with env added to the environment of its processes.
func newSession(t testing.TB, env ...string) *session {
	t.Helper()
	needPrograms(t)
	desk, err := private.New("aai-")
	assert.NilError(t, err)
	t.Cleanup(func() { _ = desk.Remove() })
	s := &session{TB: t, desk: desk, home: desk.Home, run: desk.Runtime}
	t.Cleanup(s.endLeftovers)
	t.Cleanup(s.endPrograms)

	s.system = testkit.StartBus(t)
	desk.Env = append(desk.Env,
		"PATH=/usr/bin:/bin:/usr/sbin:/sbin",
		"DBUS_SYSTEM_BUS_ADDRESS="+s.system.Address,
		"GSETTINGS_BACKEND=memory", // settings without outside changes
		"NO_AT_BRIDGE=1",           // no accessibility: less to start
		"GVFS_DISABLE_FUSE=1",      // nothing mounted in the file system
		"UPOWER_HISTORY_DIR="+filepath.Join(s.home, "upower"))
	desk.Env = append(desk.Env, env...)
	s.prefer()
	assert.NilError(t, desk.StartScreen(t.Context(), private.ScreenConfig{Width: 1280, Height: 800}))
	// The bus has the environment, because its services inherit it.
	s.bus = testkit.StartDesktopBus(t, slices.Clone(desk.Env))
	desk.Env = append(desk.Env, "DBUS_SESSION_BUS_ADDRESS="+s.bus.Address)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("what the bus and the programs it started have printed:\n%s", s.bus.Log())
		}
	})
	return s
}

// The bus's folder of services.
const services = "/usr/share/dbus-1/services/"

// preferred lists installed services with names that others have too.
func preferred() []string {
	return []string{"org.knopwob.dunst.service", "org.xfce.Thunar.FileManager1.service"}
}

// prefer selects the user's programs among the installed ones, so that others have no effect: the
// opener of texts, and the owners of bus names.
func (s *session) prefer() {
	s.Helper()
	s.write(".config/mimeapps.list", "[Default Applications]\ntext/plain=org.xfce.mousepad.desktop\n")
	for _, name := range preferred() {
		service, err := os.ReadFile(services + name)
		assert.NilError(s, err)
		s.write(filepath.Join(".local/share/dbus-1/services", name), string(service))
	}
}

// endPrograms ends the programs of the test.
func (s *session) endPrograms() {
	for _, p := range s.desk.Programs() {
		if s.Failed() {
			s.Logf("%s has printed:\n%s", p.Name, p.Output())
		}
	}
	assert.Check(s, s.desk.End())
}

// getenv looks up a variable of the session.
func (s *session) getenv(name string) string { return s.desk.Getenv(name) }

// command returns a program of the session, not started yet. Debian has them in /usr/bin.
func (s *session) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	if !filepath.IsAbs(name) {
		name = filepath.Join("/usr/bin", name)
	}
	c := exec.CommandContext(ctx, name, s.expanded(args)...)
	c.Env, c.Dir = s.desk.Env, s.home
	return c
}

// start starts a program that ends with the test, or earlier: then the channel is closed.
func (s *session) start(name string, args ...string) (ended <-chan struct{}) {
	s.Helper()
	p, err := s.desk.Start(private.Command{Name: name, Args: s.expanded(args), Graceful: true})
	assert.NilError(s, err)
	return p.Done()
}

// output runs a program to its end and returns its standard output and, if it failed, its standard
// error too.
func (s *session) output(name string, args ...string) string {
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	var complaints bytes.Buffer
	c := s.command(ctx, name, args...)
	c.Stderr, c.WaitDelay = &complaints, time.Second
	out, err := c.Output()
	if err != nil {
		out = append(out, complaints.Bytes()...)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// eventually waits until check succeeds. Its error names the missing part.
func (s *session) eventually(check func() error) {
	s.Helper()
	deadline := time.Now().Add(patience)
	err := check()
	for err != nil && time.Now().Before(deadline) {
		time.Sleep(20 * time.Millisecond)
		err = check()
	}
	assert.NilError(s, err, "after %s still: %v", patience, err)
}

// expand replaces $HOME and $RUN with the session's folders.
func (s *session) expand(text string) string {
	return strings.NewReplacer("$HOME", s.home, "$RUN", s.run).Replace(text)
}

func (s *session) expanded(texts []string) []string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = s.expand(text)
	}
	return all
}

// shows waits until a program's output matches the pattern.
func (s *session) shows(pattern, name string, args ...string) {
	s.Helper()
	s.eventually(func() error {
		return match(pattern, s.output(name, args...), strings.Join(append([]string{name}, args...), " "))
	})
}

// match compares a text with a pattern in which "." is any character.
func match(pattern, seen, where string) error {
	if !regexp.MustCompile("(?s)" + pattern).MatchString(seen) {
		return fmt.Errorf("%s shows %q; expected a match of %q", where, seen, pattern)
	}
	return nil
}

// windows waits until the titles of the visible windows of a class, one per line, match the
// pattern.
func (s *session) windows(pattern, class string) {
	s.Helper()
	s.eventually(func() error {
		var titles []string
		for id := range strings.FieldsSeq(s.output("xdotool", "search", "--onlyvisible", "--class", class)) {
			titles = append(titles, s.output("xdotool", "getwindowname", id))
		}
		return match(pattern, strings.Join(titles, "\n"), "the screen, of "+class+",")
	})
}

// property waits until a property, read with gdbus, has the value in the text form of GVariant.
// The bus is "--session" or "--system".
func (s *session) property(value, bus, service, object, iface, name string) {
	s.Helper()
	s.shows("^"+regexp.QuoteMeta("(<"+value+">,)")+"$", "gdbus", "call", bus, "--dest", service, "--object-path", object,
		"--method", "org.freedesktop.DBus.Properties.Get", iface, name)
}

// onBus waits until the name has an owner.
func (s *session) onBus(bus, name string) {
	s.Helper()
	s.shows("true", "gdbus", "call", bus, "--dest", "org.freedesktop.DBus", "--object-path", "/org/freedesktop/DBus",
		"--method", "org.freedesktop.DBus.NameHasOwner", name)
}

// write writes a file in the home folder, and creates its folders.
func (s *session) write(name, content string) {
	s.Helper()
	full := filepath.Join(s.home, name)
	assert.NilError(s, os.MkdirAll(filepath.Dir(full), 0o700))
	assert.NilError(s, os.WriteFile(full, []byte(content), 0o600))
}

// file waits until a file in the home folder has the content.
func (s *session) file(name, content string) {
	s.Helper()
	s.eventually(func() error {
		text, err := os.ReadFile(filepath.Join(s.home, name))
		if err == nil && string(text) != content {
			err = fmt.Errorf("%s holds %q; expected %q", name, text, content)
		}
		return err
	})
}

// noFile waits until there is no such file in the home folder.
func (s *session) noFile(name string) {
	s.Helper()
	s.eventually(func() error {
		_, err := os.Lstat(filepath.Join(s.home, name))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return fmt.Errorf("%s is there (%w)", name, err)
	})
}

// processes returns the processes of the session, all started by this test.
func (s *session) processes() []*os.Process {
	folders, err := filepath.Glob("/proc/[0-9]*")
	assert.NilError(s, err)
	var found []*os.Process
	for _, folder := range folders {
		pid, err := strconv.Atoi(filepath.Base(folder))
		assert.NilError(s, err)
		// The handle comes before the check, so that the id cannot belong to another process in
		// between.
		if p, err := os.FindProcess(pid); err == nil && s.isOurs(pid) {
			found = append(found, p)
		}
	}
	return found
}

// isOurs reports whether a process has the runtime folder of the session.
func (s *session) isOurs(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && strings.Contains("\x00"+string(text), "\x00XDG_RUNTIME_DIR="+s.run+"\x00")
}

// endLeftovers ends processes that the bus started and that did not end with the bus and the
// screen, and waits for their end.
func (s *session) endLeftovers() {
	var left []*os.Process
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if left = s.processes(); len(left) == 0 {
			return
		}
		for _, p := range left {
			_ = p.Kill()
		}
	}
	s.Errorf("%d processes of the session cannot be ended, such as %d", len(left), left[0].Pid)
}
