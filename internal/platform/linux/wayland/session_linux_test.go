package wayland_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/platform/linux/wayland"
)

// A session is a headless session of sway with one monitor of 1280 by 800 pixels.
type session struct {
	*wayland.Display

	folder string
	env    []string
}

// swayUser runs sway if the tests run as root, since sway refuses root.
const swayUser = 65534

// newSession starts sway, without XWayland and without a GPU.
func newSession(t *testing.T) *session {
	t.Helper()
	folder, err := os.MkdirTemp("/tmp", "sway") // paths of sockets are short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	s := &session{folder: folder, env: []string{
		"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "HOME=" + folder, "XDG_RUNTIME_DIR=" + folder,
		"WLR_BACKENDS=headless", "WLR_LIBINPUT_NO_DEVICES=1", "WLR_RENDERER=pixman",
	}}
	config := "output HEADLESS-1 resolution 1280x800 position 0 0\nxwayland disable\n"
	s.write(t, "config", config)
	if os.Getuid() == 0 {
		if err := os.Chown(folder, swayUser, swayUser); err != nil {
			t.Fatal(err)
		}
	}
	log, err := os.Create(filepath.Join(folder, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	sway := s.command(t, "sway", "-c", filepath.Join(folder, "config"))
	sway.Stdout, sway.Stderr = log, log
	s.start(t, sway)
	until(t, func() bool {
		displays, _ := filepath.Glob(filepath.Join(folder, "wayland-?"))
		sockets, _ := filepath.Glob(filepath.Join(folder, "sway-ipc.*"))
		if len(displays) == 0 || len(sockets) == 0 {
			return false
		}
		s.env = append(s.env, "WAYLAND_DISPLAY="+filepath.Base(displays[0]), "SWAYSOCK="+sockets[0])
		return true
	})
	s.Display = wayland.New(wayland.Config{Getenv: s.getenv, InputLock: inputlock.New(inputlock.Config{Folder: inputlock.Folder, Getenv: s.getenv})})
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func (s *session) write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.folder, name), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// read returns a file of the session's folder; "" while there is none.
func (s *session) read(name string) string {
	content, _ := os.ReadFile(filepath.Join(s.folder, name))
	return string(content)
}

func (s *session) getenv(name string) string {
	for _, v := range s.env {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

// command returns a command of the session's user.
func (s *session) command(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(context.Background(), name, args...)
	cmd.Env, cmd.Dir = s.env, s.folder
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if os.Getuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: swayUser, Gid: swayUser}
	}
	return cmd
}

// start starts a command, and ends it with its children at the end of the test.
func (s *session) start(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
}

// show starts a program and returns its window, once it has the keyboard.
func (s *session) show(t *testing.T, name string, args ...string) (w desktop.WindowInfo) {
	t.Helper()
	cmd := s.command(t, name, args...)
	s.start(t, cmd)
	until(t, func() bool {
		windows, err := s.Windows(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, w = range windows {
			if w.PID == cmd.Process.Pid && w.Active {
				return true
			}
		}
		return false
	})
	return w
}

// output runs a command to its end.
func (s *session) output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := s.command(t, name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", name, err, out)
	}
	return string(out)
}

// until waits for a condition.
func until(t *testing.T, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not come to be")
		}
	}
}
