package secrets

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// A session is a bus, gnome-keyring and a home folder for a test.
type session struct {
	bus    *testkit.Bus
	home   string
	daemon *exec.Cmd
}

func newSession(t *testing.T) *session {
	t.Helper()
	s := &session{bus: testkit.StartBus(t), home: t.TempDir()}
	t.Cleanup(s.stop)
	return s
}

func (s *session) env() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.home, "XDG_DATA_HOME=" + s.home, "XDG_CACHE_HOME=" + s.home,
		"XDG_RUNTIME_DIR=" + s.home, "DBUS_SESSION_BUS_ADDRESS=" + s.bus.Address,
	}
}

// start starts gnome-keyring: unlocked by a password, or locked.
func (s *session) start(t *testing.T, flags ...string) {
	t.Helper()
	testkit.Need(t, "gnome-keyring-daemon")
	s.daemon = exec.Command("gnome-keyring-daemon", append([]string{"--foreground", "--components=secrets"}, flags...)...)
	s.daemon.Env, s.daemon.Stdin = s.env(), strings.NewReader("password")
	assert.NilError(t, s.daemon.Start())
	conn := s.bus.Connect(t)
	for range 1000 {
		var owned bool
		assert.NilError(t, conn.BusObject().Call("org.freedesktop.DBus.NameHasOwner", 0, "org.freedesktop.secrets").Store(&owned))
		if owned {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("gnome-keyring does not come to the bus")
}

func (s *session) stop() {
	if s.daemon != nil {
		_ = s.daemon.Process.Kill()
		_ = s.daemon.Wait()
		s.daemon = nil
	}
}

// run runs a command of childMain in this session, which must succeed.
func (s *session) run(t *testing.T, folder string, args ...string) string {
	t.Helper()
	out, err := child(t, folder, s.env(), args...).CombinedOutput()
	assert.Check(t, err, "%q %s", args, out)
	return string(out)
}

// fails runs a command that must fail, and returns its output.
func (s *session) fails(t *testing.T, folder string, args ...string) string {
	t.Helper()
	out, err := child(t, folder, s.env(), args...).CombinedOutput()
	assert.Check(t, err != nil, "%q: %s; expected it to fail", args, out)
	return string(out)
}

func (s *session) status(t *testing.T, folder string) answer.Keychain {
	t.Helper()
	var status answer.Keychain
	assert.NilError(t, json.Unmarshal([]byte(s.run(t, folder, "status")), &status))
	return status
}

// secretTool runs libsecret's program for keyrings.
func (s *session) secretTool(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "secret-tool", args...)
	cmd.Env, cmd.Stdin = s.env(), strings.NewReader(stdin)
	out, err := cmd.Output()
	assert.NilError(t, err, "secret-tool %q: %v", args, err)
	return string(out)
}

// TestRealKeyring checks that the key is created once, in the real keyring, and used by
// other processes and later sessions; without it nothing opens and nothing is lost.
func TestRealKeyring(t *testing.T) {
	s, folder := newSession(t), filepath.Join(t.TempDir(), "secrets")
	s.start(t, "--unlock")
	got := s.status(t, folder)
	assert.Equal(t, got.Place, placeSystem, "%+v", got)
	assert.Assert(t, !got.Exists, "before: %+v", got)
	assert.Equal(t, got.Problem, "", "%+v", got)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { s.run(t, folder, "count", "n", "5") })
	}
	wg.Wait()
	assert.Check(t, is.Equal(s.run(t, folder, "get", "n"), "20"))
	item := s.secretTool(t, "", "lookup", "service", service, "username", account)
	key, err := base64.StdEncoding.DecodeString(item)
	assert.NilError(t, err, "%d", len(item))
	assert.Assert(t, is.Len(key, keySize), "%d", len(item))
	got = s.status(t, folder)
	assert.Equal(t, got.Place, placeSystem, "%+v", got)
	assert.Assert(t, got.Exists, "after: %+v", got)
	assert.Equal(t, got.Records, 1, "%+v", got)
	assert.Equal(t, got.Problem, "", "%+v", got)
	_, err = os.Stat(filepath.Join(folder, insecureFile))
	assert.Check(t, err != nil, "there is an unprotected key beside it")

	// Another session with the same password.
	s.stop()
	s.start(t, "--unlock")
	if got := s.run(t, folder, "get", "n"); got != "20" {
		t.Errorf("%q in a second session", got)
	}

	// Another key in its place, and the right one again.
	other := base64.StdEncoding.EncodeToString(newKey())
	s.secretTool(t, other, "store", "--label", "x", "service", service, "username", account)
	assert.Check(t, is.Contains(s.fails(t, folder, "get", "n"), "it has another key"))
	s.secretTool(t, item, "store", "--label", "x", "service", service, "username", account)
	if got := s.run(t, folder, "get", "n"); got != "20" {
		t.Errorf("%q with the right key again", got)
	}
	s.secretTool(t, "", "clear", "service", service, "username", account)
	assert.Check(t, is.Contains(s.fails(t, folder, "put", "n", "1"), errNoKey.Error()))
	again := s.status(t, folder)
	assert.Check(t, again.Problem != "", "without the key: %+v", again)
	assert.Check(t, is.Equal(again.Place, placeSystem), "%+v", again)
	s.secretTool(t, item, "store", "--label", "x", "service", service, "username", account)
	if got := s.run(t, folder, "get", "n"); got != "20" {
		t.Errorf("%q at last", got)
	}
}

// TestLockedKeyring uses a locked keyring, without a prompt for its password.
func TestLockedKeyring(t *testing.T) {
	s, folder := newSession(t), filepath.Join(t.TempDir(), "secrets")
	s.start(t, "--unlock")
	s.run(t, folder, "put", "a", "secret")
	s.stop()
	s.start(t)
	said := s.fails(t, folder, "get", "a")
	assert.Check(t, is.Contains(said, "the keychain of the operating system, which cannot be had"))
	got := s.status(t, folder)
	assert.Check(t, got.Problem != "", "%+v", got)
	assert.Check(t, is.Equal(stateOf(got, placeSystem), answer.StateUnavailable), "%+v", got)
	// A first key is not created elsewhere unless a person allows it.
	fresh := filepath.Join(t.TempDir(), "secrets")
	assert.Check(t, is.Contains(s.fails(t, fresh, "put", "a", "secret"), "no place here can keep the key"))
	_, err := os.Stat(fresh)
	assert.Check(t, err != nil, "a vault was made")
	s.stop()
	s.start(t, "--unlock")
	if got := s.run(t, folder, "get", "a"); got != "secret" {
		t.Errorf("%q after it was unlocked", got)
	}
}

// TestNoBus checks that no bus is started, as the library would do.
func TestNoBus(t *testing.T) {
	bin, folder := t.TempDir(), filepath.Join(t.TempDir(), "secrets")
	trap := filepath.Join(bin, "dbus-launch")
	write(t, trap, []byte("#!/bin/sh\ntouch "+bin+"/launched\n"))
	assert.NilError(t, os.Chmod(trap, 0o700))
	for name, env := range map[string][]string{
		"nothing":    {"XDG_RUNTIME_DIR=" + bin},
		"autolaunch": {"XDG_RUNTIME_DIR=" + bin, "DBUS_SESSION_BUS_ADDRESS=autolaunch:"},
		"scoped":     {"XDG_RUNTIME_DIR=" + bin, "DBUS_SESSION_BUS_ADDRESS=autolaunch:scope=*user"},
		"gone":       {"XDG_RUNTIME_DIR=" + bin, "DBUS_SESSION_BUS_ADDRESS=unix:path=" + bin + "/absent"},
	} {
		cmd := child(t, folder, append(env, "PATH="+bin+":"+os.Getenv("PATH")), "put", "a", "secret")
		out, err := cmd.CombinedOutput()
		assert.Assert(t, err != nil, "%s %v %s", name, err, out)
		assert.Assert(t, is.Contains(string(out), "no place here can keep the key"), "%s %v %s", name, err, out)
	}
	_, err := os.Stat(filepath.Join(bin, "launched"))
	assert.Check(t, err != nil, "a bus was started")
	_, err = os.Stat(folder)
	assert.Check(t, err != nil, "a vault was made")
}

// TestServiceThatNeverAnswers checks that a request to a silent service fails by the
// deadline, and that other places are used.
func TestServiceThatNeverAnswers(t *testing.T) {
	bus, folder := testkit.StartBus(t), filepath.Join(t.TempDir(), "secrets")
	conn := bus.Connect(t)
	reply, err := conn.RequestName("org.freedesktop.secrets", dbus.NameFlagDoNotQueue)
	assert.NilError(t, err)
	assert.Equal(t, reply, dbus.RequestNameReplyPrimaryOwner)
	asked := testkit.MonitorMessages(t, conn, 100)
	env := []string{"DBUS_SESSION_BUS_ADDRESS=" + bus.Address}
	refused := child(t, folder, env, "put", "a", "secret")
	allowed := child(t, folder+".other", append(env, allowInsecureEnv), "put", "a", "secret")
	var wg sync.WaitGroup
	wg.Go(func() {
		if out, err := refused.CombinedOutput(); err == nil || !strings.Contains(string(out), errNoAnswer.Error()) {
			t.Errorf("%v, %s", err, out)
		}
	})
	wg.Go(func() {
		out, err := allowed.CombinedOutput()
		assert.Check(t, err, out)
	})
	wg.Wait()
	assert.Check(t, len(asked) != 0, "the service was not asked")
}
