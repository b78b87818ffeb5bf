package linuxtest

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/godbus/dbus/v5"

	"github.com/gybob/aai-gateway/internal/platform/linux/private"
	"github.com/gybob/aai-gateway/internal/platform/linux/session"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// A Compositor is a Wayland compositor, by the name of its program.
type Compositor string

// The compositors. Debian 12 has Sway 1.7; "make test-wayland" runs all of them in Debian 13.
const (
	Sway       Compositor = "sway"
	Labwc      Compositor = "labwc"
	KWin       Compositor = "kwin_wayland"
	Mutter     Compositor = "mutter"
	GNOMEShell Compositor = "gnome-shell"
)

// CompositorEnv names the compositor that the tests use; otherwise they use Sway.
const CompositorEnv = "AAI_TEST_COMPOSITOR"

// ChosenCompositor returns the compositor that the tests use.
func ChosenCompositor() Compositor {
	if c := os.Getenv(CompositorEnv); c != "" {
		return Compositor(c)
	}
	return Sway
}

// swayUser runs the compositors of wlroots for root, since sway refuses root.
const swayUser = 65534

// wlrootsEnv returns variables with which a compositor of wlroots runs without a monitor, a GPU and devices.
func wlrootsEnv() []string {
	return []string{"WLR_BACKENDS=headless", "WLR_LIBINPUT_NO_DEVICES=1", "WLR_RENDERER=pixman"}
}

// A WaylandSetup changes a session of a compositor. The zero value changes nothing.
type WaylandSetup struct {
	Env     []string       // further variables of the session
	Prepare func(*Session) // is called before the compositor starts
	Args    []string       // further arguments of the compositor
	Sway    string         // further lines of the configuration of Sway
}

// StartWayland starts an accessible session of a compositor without a GPU, XWayland and input devices, with one monitor
// of ScreenWidth by ScreenHeight pixels. Methods that need an X server fail. env are further variables of the session.
func StartWayland(t testing.TB, c Compositor, env ...string) *Session {
	t.Helper()
	return StartWaylandWith(t, c, WaylandSetup{Env: env})
}

// StartWaylandWith is StartWayland with changes.
func StartWaylandWith(t testing.TB, c Compositor, setup WaylandSetup) *Session {
	t.Helper()
	desk, err := private.New("wayland-")
	if err != nil {
		t.Fatal(err)
	}
	s := &Session{Session: desk, compositor: c}
	t.Cleanup(func() { _ = desk.Remove() })
	s.writePrograms(t)
	socket := map[Compositor]string{Sway: "wayland-1", Labwc: "wayland-0", KWin: "wayland-7", Mutter: "wayland-7", GNOMEShell: "wayland-7"}[c]
	if socket == "" {
		t.Fatalf("%s=%s is not a known compositor", CompositorEnv, c)
	}
	s.Env = append(s.Env, s.environment()...)
	s.Env = append(s.Env, setup.Env...)
	s.Env = append(s.Env, session.PrivateMark+"=1", "XDG_SESSION_TYPE=wayland", "GDK_BACKEND=wayland", "QT_QPA_PLATFORM=wayland",
		"QT_LINUX_ACCESSIBILITY_ALWAYS_ON=1", "WAYLAND_DISPLAY="+socket)
	guard := s.guard(t)
	t.Cleanup(func() { s.end(t) })
	s.bus = testkit.StartDesktopBus(t, slices.Clone(s.Env))
	s.Address = s.bus.Address
	if _, err := io.WriteString(guard, filepath.Dir(strings.TrimPrefix(s.Address, "unix:path="))); err != nil {
		t.Fatal(err)
	}
	s.Env = append(s.Env, "DBUS_SESSION_BUS_ADDRESS="+s.Address)
	s.EnableAccessibility(t)
	if setup.Prepare != nil {
		setup.Prepare(s)
	}
	s.RestartCompositor = func(t testing.TB) {
		t.Helper()
		s.compositorApp = s.startCompositor(t, c, socket, setup)
		s.compositorApp.await(t, "the compositor listens", func() bool {
			conn, err := net.Dial("unix", filepath.Join(s.Runtime, socket)) //nolint:noctx // it does not wait
			if err == nil {
				_ = conn.Close()
			}
			return err == nil
		})
		s.awaitCompositor(t, c)
	}
	s.RestartCompositor(t)
	return s
}

// startCompositor starts the compositor.
func (s *Session) startCompositor(t testing.TB, c Compositor, socket string, setup WaylandSetup) *App {
	t.Helper()
	size := fmt.Sprintf("%dx%d", ScreenWidth, ScreenHeight)
	switch c {
	case KWin:
		return s.Launch(t, string(c), append([]string{"--virtual", "--no-lockscreen", "--socket", socket,
			"--width", fmt.Sprint(ScreenWidth), "--height", fmt.Sprint(ScreenHeight)}, setup.Args...)...)
	case Mutter, GNOMEShell:
		// The system bus of a computer without logind.
		system := testkit.StartBus(t)
		args := []string{"--headless", "--wayland", "--no-x11", "--virtual-monitor", size, "--wayland-display", socket}
		args = append(args, setup.Args...)
		return s.LaunchEnv(t, []string{"DBUS_SYSTEM_BUS_ADDRESS=" + system.Address}, string(c), args...)
	}
	config := s.Path("config")
	text := "output HEADLESS-1 resolution " + size + " position 0 0\nxwayland disable\n" + setup.Sway
	args := []string{"-c", config}
	if c == Labwc {
		text = "<labwc_config/>\n"
		args = []string{"-C", s.Path("labwc")}
		config = s.Path("labwc", "rc.xml")
	}
	if err := os.MkdirAll(filepath.Dir(config), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil { //nolint:gosec // another user reads it
		t.Fatal(err)
	}
	if os.Getuid() != 0 {
		return s.LaunchEnv(t, wlrootsEnv(), string(c), args...)
	}
	for _, folder := range []string{s.Folder, s.Home, s.Runtime} {
		if err := os.Chown(folder, swayUser, swayUser); err != nil {
			t.Fatal(err)
		}
	}
	user := fmt.Sprint(swayUser)
	return s.LaunchEnv(t, wlrootsEnv(), "setpriv", append([]string{"--reuid", user, "--regid", user, "--clear-groups", string(c)}, args...)...)
}

// awaitCompositor waits until the compositor's services are there.
func (s *Session) awaitCompositor(t testing.TB, c Compositor) {
	t.Helper()
	name := map[Compositor]string{KWin: "org.kde.KWin", Mutter: "org.gnome.Mutter.RemoteDesktop", GNOMEShell: "org.gnome.Shell.Screenshot"}[c]
	switch {
	case name != "":
		s.awaitName(t, name)
	case c == Sway:
		s.compositorApp.await(t, "sway has its IPC", func() bool {
			sockets, _ := filepath.Glob(filepath.Join(s.Runtime, "sway-ipc.*"))
			if len(sockets) == 0 {
				return false
			}
			s.Env = append(s.Env, "SWAYSOCK="+sockets[0])
			return true
		})
	}
	if c == GNOMEShell { // it starts in its overview, which covers the windows
		conn := s.connect(t)
		defer func() { _ = conn.Close() }()
		shell := conn.Object("org.gnome.Shell", "/org/gnome/Shell")
		eventually(t, "the overview is closed", func() bool {
			_ = shell.SetProperty("org.gnome.Shell.OverviewActive", dbus.MakeVariant(false))
			open, err := shell.GetProperty("org.gnome.Shell.OverviewActive")
			return err == nil && open.Value() == false
		})
	}
}

// awaitName waits until a name of the session bus has an owner.
func (s *Session) awaitName(t testing.TB, name string) {
	t.Helper()
	conn := s.connect(t)
	defer func() { _ = conn.Close() }()
	s.compositorApp.await(t, name+" is on the bus", func() bool {
		var owned bool
		err := conn.BusObject().Call("org.freedesktop.DBus.NameHasOwner", 0, name).Store(&owned)
		return err == nil && owned
	})
}

// Compositor returns the compositor's program, for a test that ends or stops it.
func (s *Session) Compositor() *App { return s.compositorApp }
