package private

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// startSway starts a headless Sway without XWayland.
func (i *Isolated) startSway(ctx context.Context, s *Session) error {
	if os.Geteuid() == 0 {
		return errors.New("sway does not run as root; an X server does (--screen x11)")
	}
	config := s.Path("sway")
	text := fmt.Sprintf("output HEADLESS-1 resolution %dx%d position 0 0\nxwayland disable\n", i.Options.Width, i.Options.Height)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return err
	}
	sway, err := s.Start(Command{Name: "sway", Args: []string{"-c", config}, Graceful: true,
		Env: []string{"WLR_BACKENDS=headless", "WLR_LIBINPUT_NO_DEVICES=1", "WLR_RENDERER=pixman"}})
	if err != nil {
		return err
	}
	err = sway.Await(ctx, "sway has its sockets", func() bool {
		display, _ := filepath.Glob(filepath.Join(s.Runtime, "wayland-*[0-9]")) // the pattern is valid
		if len(display) == 1 {
			s.Display = filepath.Base(display[0])
		}
		return len(display) == 1 && swaySocket(s.Runtime) != ""
	})
	if err != nil {
		return err
	}
	s.Env = append(s.Env, "SWAYSOCK="+swaySocket(s.Runtime), "WAYLAND_DISPLAY="+s.Display,
		"XDG_SESSION_TYPE=wayland", "GDK_BACKEND=wayland", "QT_QPA_PLATFORM=wayland", "XDG_CURRENT_DESKTOP=sway")
	return os.WriteFile(s.Path(displayFile), []byte(s.Display), 0o600)
}

// swaySocket returns the socket by which Sway is controlled, or "".
func swaySocket(runtime string) string {
	if all, _ := filepath.Glob(filepath.Join(runtime, "sway-ipc.*")); len(all) == 1 { // the pattern is valid
		return all[0]
	}
	return ""
}
