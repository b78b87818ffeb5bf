package private

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// patience is how long to wait for what should come. It passes only where something is
// wrong: on a busy computer much takes many times longer than it should.
const patience = 2 * time.Minute

// A Session is a desktop of its own. It is for one goroutine at a time, but for Getenv.
type Session struct {
	Folder  string   // that all is in
	Home    string   // an empty home folder
	Runtime string   // XDG_RUNTIME_DIR
	Display string   // such as ":1"; "" before StartScreen
	Env     []string // all that its programs get: "NAME=value"

	started []*Program
}

// New makes the folders of a session whose folder's name begins so. They are the user's
// alone. The environment says where they are; the rest of it, such as PATH, is for the
// caller to add.
func New(prefix string) (*Session, error) {
	// Sockets have short names, so the folder is in /tmp whatever TMPDIR says.
	folder, err := os.MkdirTemp("/tmp", prefix)
	if err != nil {
		return nil, err
	}
	s := &Session{Folder: folder, Home: filepath.Join(folder, "home"), Runtime: filepath.Join(folder, "run")}
	for _, dir := range []string{s.Home, s.Runtime, s.Path("tmp"), s.Path("log"), s.Path("screen")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, errors.Join(err, s.Remove())
		}
	}
	if err := s.denyPortal(); err != nil {
		return nil, errors.Join(err, s.Remove())
	}
	s.Env = []string{"HOME=" + s.Home, "TMPDIR=" + s.Path("tmp"), "XDG_RUNTIME_DIR=" + s.Runtime, "LANG=C.UTF-8"}
	return s, nil
}

// denyPortal keeps the session's bus from starting a desktop portal: a Chromium that finds one
// has it show the file dialogs. Of two services with one name the bus takes the one in the
// runtime folder.
func (s *Session) denyPortal() error {
	services, name := filepath.Join(s.Runtime, "dbus-1", "services"), "org.freedesktop.portal.Desktop"
	if err := os.MkdirAll(services, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(services, name+".service"), []byte("[D-BUS Service]\nName="+name+"\nExec=/bin/false\n"), 0o600)
}

// SoftwareRenderingEnv are the variables with which programs show windows of their own on a screen
// without a graphics card, ask no portal, and keep no settings.
func SoftwareRenderingEnv() []string {
	return []string{
		"XDG_SESSION_TYPE=x11", "GDK_BACKEND=x11", "GTK_USE_PORTAL=0", "GIO_USE_VFS=local", "GSETTINGS_BACKEND=memory",
		// Without these GTK 4 draws so slowly that it never appears on the accessibility bus.
		"GSK_RENDERER=cairo", "LIBGL_ALWAYS_SOFTWARE=1",
	}
}

// Path is the path of something in the session's folder.
func (s *Session) Path(names ...string) string {
	return filepath.Join(append([]string{s.Folder}, names...)...)
}

// Getenv looks up a variable of the session. It is safe for concurrent use once the
// session has all that it is to have.
func (s *Session) Getenv(name string) string {
	for _, v := range slices.Backward(s.Env) {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

// Programs are those that were started, the first one first.
func (s *Session) Programs() []*Program { return s.started }

// End ends every program of the session, last started first. What a bus has started ends
// with the bus.
func (s *Session) End() error {
	var errs []error
	for _, p := range slices.Backward(s.started) {
		errs = append(errs, p.End())
	}
	return errors.Join(errs...)
}

// Remove removes the session's folder.
func (s *Session) Remove() error { return os.RemoveAll(s.Folder) }
