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
	if _, err := exec.LookPath("gnome-keyring-daemon"); err != nil {
		t.Fatal("install gnome-keyring and libsecret-tools (make test does)")
	}
	s.daemon = exec.Command("gnome-keyring-daemon", append([]string{"--foreground", "--components=secrets"}, flags...)...)
	s.daemon.Env, s.daemon.Stdin = s.env(), strings.NewReader("password")
	if err := s.daemon.Start(); err != nil {
		t.Fatal(err)
	}
	conn := s.bus.Connect(t)
	for range 1000 {
		var owned bool
		if err := conn.BusObject().Call("org.freedesktop.DBus.NameHasOwner", 0, "org.freedesktop.secrets").Store(&owned); err != nil {
			t.Fatal(err)
		}
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
	if err != nil {
		t.Errorf("%q: %v\n%s", args, err, out)
	}
	return string(out)
}

// fails runs a command that must fail, and returns its output.
func (s *session) fails(t *testing.T, folder string, args ...string) string {
	t.Helper()
	out, err := child(t, folder, s.env(), args...).CombinedOutput()
	if err == nil {
		t.Errorf("%q: %s; expected it to fail", args, out)
	}
	return string(out)
}

func (s *session) status(t *testing.T, folder string) answer.Keychain {
	t.Helper()
	var status answer.Keychain
	if err := json.Unmarshal([]byte(s.run(t, folder, "status")), &status); err != nil {
		t.Fatal(err)
	}
	return status
}

// secretTool runs libsecret's program for keyrings.
func (s *session) secretTool(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "secret-tool", args...)
	cmd.Env, cmd.Stdin = s.env(), strings.NewReader(stdin)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("secret-tool %q: %v", args, err)
	}
	return string(out)
}

// TestRealKeyring checks that the key is created once, in the real keyring, and used by
// other processes and later sessions; without it nothing opens and nothing is lost.
func TestRealKeyring(t *testing.T) {
	s, folder := newSession(t), filepath.Join(t.TempDir(), "secrets")
	s.start(t, "--unlock")
	if got := s.status(t, folder); got.Place != placeSystem || got.Exists || got.Problem != "" {
		t.Errorf("before: %+v", got)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { s.run(t, folder, "count", "n", "5") })
	}
	wg.Wait()
	if got := s.run(t, folder, "get", "n"); got != "20" {
		t.Errorf("%q of 20", got)
	}
	item := s.secretTool(t, "", "lookup", "service", service, "username", account)
	if key, err := base64.StdEncoding.DecodeString(item); err != nil || len(key) != keySize {
		t.Errorf("secret-tool shows %d characters, %v", len(item), err)
	}
	if got := s.status(t, folder); got.Place != placeSystem || !got.Exists || got.Records != 1 || got.Problem != "" {
		t.Errorf("after: %+v", got)
	}
	if _, err := os.Stat(filepath.Join(folder, insecureFile)); err == nil {
		t.Error("there is an unprotected key beside it")
	}

	// Another session with the same password.
	s.stop()
	s.start(t, "--unlock")
	if got := s.run(t, folder, "get", "n"); got != "20" {
		t.Errorf("%q in a second session", got)
	}

	// Another key in its place, and the right one again.
	other := base64.StdEncoding.EncodeToString(newKey())
	s.secretTool(t, other, "store", "--label", "x", "service", service, "username", account)
	if said := s.fails(t, folder, "get", "n"); !strings.Contains(said, "it has another key") {
		t.Error(said)
	}
	s.secretTool(t, item, "store", "--label", "x", "service", service, "username", account)
	if got := s.run(t, folder, "get", "n"); got != "20" {
		t.Errorf("%q with the right key again", got)
	}
	s.secretTool(t, "", "clear", "service", service, "username", account)
	if said := s.fails(t, folder, "put", "n", "1"); !strings.Contains(said, errNoKey.Error()) {
		t.Error(said)
	}
	if again := s.status(t, folder); again.Problem == "" || again.Place != placeSystem {
		t.Errorf("without the key: %+v", again)
	}
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
	if !strings.Contains(said, "the keychain of the operating system, which cannot be had") {
		t.Error(said)
	}
	if got := s.status(t, folder); got.Problem == "" || stateOf(got, placeSystem) != answer.StateUnavailable {
		t.Errorf("%+v", got)
	}
	// A first key is not created elsewhere unless a person allows it.
	fresh := filepath.Join(t.TempDir(), "secrets")
	if said := s.fails(t, fresh, "put", "a", "secret"); !strings.Contains(said, "no place here can keep the key") {
		t.Error(said)
	}
	if _, err := os.Stat(fresh); err == nil {
		t.Error("a vault was made")
	}
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
	if err := os.Chmod(trap, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, env := range map[string][]string{
		"nothing":    {"XDG_RUNTIME_DIR=" + bin},
		"autolaunch": {"XDG_RUNTIME_DIR=" + bin, "DBUS_SESSION_BUS_ADDRESS=autolaunch:"},
		"scoped":     {"XDG_RUNTIME_DIR=" + bin, "DBUS_SESSION_BUS_ADDRESS=autolaunch:scope=*user"},
		"gone":       {"XDG_RUNTIME_DIR=" + bin, "DBUS_SESSION_BUS_ADDRESS=unix:path=" + bin + "/absent"},
	} {
		cmd := child(t, folder, append(env, "PATH="+bin+":"+os.Getenv("PATH")), "put", "a", "secret")
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "no place here can keep the key") {
			t.Errorf("%s: %v, %s", name, err, out)
		}
	}
	if _, err := os.Stat(filepath.Join(bin, "launched")); err == nil {
		t.Error("a bus was started")
	}
	if _, err := os.Stat(folder); err == nil {
		t.Error("a vault was made")
	}
}

// TestServiceThatNeverAnswers checks that a request to a silent service fails by the
// deadline, and that other places are used.
func TestServiceThatNeverAnswers(t *testing.T) {
	bus, folder := testkit.StartBus(t), filepath.Join(t.TempDir(), "secrets")
	conn := bus.Connect(t)
	if reply, err := conn.RequestName("org.freedesktop.secrets", dbus.NameFlagDoNotQueue); err != nil || reply != dbus.RequestNameReplyPrimaryOwner {
		t.Fatal(reply, err)
	}
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
		if out, err := allowed.CombinedOutput(); err != nil {
			t.Errorf("%v, %s", err, out)
		}
	})
	wg.Wait()
	if len(asked) == 0 {
		t.Error("the service was not asked")
	}
}
