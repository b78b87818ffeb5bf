package private

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A ScreenConfig configures the screen that StartScreen starts.
type ScreenConfig struct {
	Width, Height int  // in pixels, 24 bits deep
	Locked        bool // the server requires the cookie in XAUTHORITY, as a person's screen does
	// FileBacked makes the server keep its framebuffer in a file, see [Session.FramebufferFile].
	FileBacked bool
}

// StartScreen starts the session's screen, on a free display that the server chooses. The
// server removes its lock and its socket on SIGTERM.
func (s *Session) StartScreen(ctx context.Context, screen ScreenConfig) error {
	// GLX alone would take two thirds of the server's start; programs draw without it, or by EGL.
	args := []string{"-screen", "0", fmt.Sprintf("%dx%dx24", screen.Width, screen.Height), "-extension", "GLX"}
	if screen.Locked {
		cookie := s.Path(cookieFile)
		if err := WriteCookie(cookie); err != nil {
			return err
		}
		s.Env = append(s.Env, "XAUTHORITY="+cookie)
		args = append(args, "-auth", cookie)
	}
	if screen.FileBacked {
		args = append(args, "-fbdir", s.Path("screen"))
	}
	var server *Program
	display, err := StartXServer(ctx, func(end *os.File, options ...string) (err error) {
		server, err = s.Start(Command{Name: "Xvfb", Args: append(options, args...), Files: []*os.File{end}, Graceful: true})
		return err
	})
	if err != nil {
		if server != nil {
			err = fmt.Errorf("%w\n%s", err, server.Output())
		}
		return err
	}
	s.Display = display
	s.Env = append(s.Env, "DISPLAY="+display)
	return os.WriteFile(s.Path(displayFile), []byte(display), 0o600)
}

// displayFile is the file with the display of the session's screen, and cookieFile that with its cookie.
const (
	displayFile = "display"
	cookieFile  = "cookie"
)

// FramebufferFile returns the file with the framebuffer of a FileBacked screen, as an X
// window dump.
func (s *Session) FramebufferFile() string { return s.Path("screen", "Xvfb_screen0") }

// StartXServer starts an X server with start, which must pass it the file as descriptor 3
// and the options. It returns the display that the server has chosen.
func StartXServer(ctx context.Context, start func(end *os.File, options ...string) error) (display string, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer r.Close() //nolint:errcheck // it was only read
	err = start(w, "-displayfd", "3", "-nolisten", "tcp", "-noreset")
	_ = w.Close() // the server has its own descriptor
	if err != nil {
		return "", err
	}
	if err := r.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return "", err
	}
	defer context.AfterFunc(ctx, func() { _ = r.SetReadDeadline(time.Now()) })()
	number, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("the X server did not say on which display it is: %w", err)
	}
	return ":" + strings.TrimSpace(number), nil
}

// WriteCookie writes a file with a new random cookie, for a screen and all its clients.
// The format is that of libXau, AuWrite.c: a family, here the one for any address, and
// four strings, each after its length, all numbers of 16 bits, big-endian.
func WriteCookie(file string) error {
	const familyWild = 0xffff
	cookie := make([]byte, 16)
	_, _ = rand.Read(cookie) // it never fails
	entry := binary.BigEndian.AppendUint16(nil, familyWild)
	for _, field := range []string{"", "", "MIT-MAGIC-COOKIE-1", string(cookie)} {
		entry = binary.BigEndian.AppendUint16(entry, uint16(len(field)))
		entry = append(entry, field...)
	}
	return os.WriteFile(file, entry, 0o600)
}

// StartWindowManager starts openbox with the configuration, and waits until it manages the
// screen.
func (s *Session) StartWindowManager(ctx context.Context, config string) error {
	ready := s.Path("window-manager-is-ready")
	manager, err := s.Start(Command{Name: "openbox", Env: []string{"XDG_CACHE_HOME=" + s.Path("tmp")}, // not in the home
		Args: []string{"--sm-disable", "--config-file", config, "--startup", "touch " + ready}})
	if err != nil {
		return err
	}
	return manager.Await(ctx, "openbox manages the screen", func() bool {
		_, err := os.Stat(ready)
		return err == nil
	})
}

// StartBus starts the session's bus (dbus-daemon) in the runtime folder, and waits until
// it listens. Services that it starts have the session's environment as it is now.
func (s *Session) StartBus(ctx context.Context) error {
	socket := filepath.Join(s.Runtime, "bus")
	s.Env = append(s.Env, "DBUS_SESSION_BUS_ADDRESS=unix:path="+socket)
	bus, err := s.Start(Command{Name: "dbus-daemon",
		Args: []string{"--session", "--nofork", "--nopidfile", "--address=unix:path=" + socket}})
	if err != nil {
		return err
	}
	return bus.Await(ctx, "the session bus listens", func() bool {
		conn, err := net.Dial("unix", socket) //nolint:noctx // it is there or not
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
}
