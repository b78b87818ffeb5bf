package private

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// patience is the limit for expected events. It expires only on a fault: on a busy
// computer many operations take far longer than usual.
const patience = 2 * time.Minute

// A Session is a private desktop. It is for one goroutine at a time, except Getenv.
type Session struct {
	Folder  string   // contains all files
	Home    string   // an empty home folder
	Runtime string   // XDG_RUNTIME_DIR
	Display string   // such as ":1"; "" before StartScreen
	Env     []string // the environment of its programs: "NAME=value"
	// NoOverlay is the reason for which the views of an isolated session are copies; nil: they are none.
	NoOverlay error

	started []*Program
	enter   []string  // begins the commands of programs, see Enter
	views   io.Closer // ends the process that holds the views; nil: there is none
}

// New creates the folders of a session; prefix begins the folder's name. Only the user can
// access them. The environment contains only their places; the caller adds other
// variables, such as PATH.
func New(prefix string) (*Session, error) {
	// Socket paths must be short, so the folder is in /tmp whatever TMPDIR says.
	return newBelow("/tmp", prefix)
}

// newBelow is New in another folder.
func newBelow(parent, prefix string) (*Session, error) {
	folder, err := os.MkdirTemp(parent, prefix)
	if err != nil {
		return nil, err
	}
	s := sessionIn(folder)
	for _, dir := range []string{s.Home, s.Runtime, s.Path("tmp"), s.Path("log"), s.Path("screen")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, errors.Join(err, s.Remove())
		}
	}
	// A Chromium that finds a portal lets it show the file dialogs.
	if err := s.denyServices("org.freedesktop.portal.Desktop"); err != nil {
		return nil, errors.Join(err, s.Remove())
	}
	return s, nil
}

// sessionIn returns the session in a folder, which may not exist yet.
func sessionIn(folder string) *Session {
	s := &Session{Folder: folder, Home: filepath.Join(folder, "home"), Runtime: filepath.Join(folder, "run")}
	s.Env = []string{"LANG=C.UTF-8", "HOME=" + s.Home, "TMPDIR=" + s.Path("tmp"), runtimeVariable + s.Runtime}
	return s
}

// runtimeVariable begins the variable by which a session's programs are known.
const runtimeVariable = "XDG_RUNTIME_DIR="

// denyServices keeps the session's bus from starting services. Of two services with the same name
// the bus uses the one in the runtime folder.
func (s *Session) denyServices(names ...string) error {
	folder := filepath.Join(s.Runtime, "dbus-1", "services")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	for _, name := range names {
		file := filepath.Join(folder, name+".service")
		if err := os.WriteFile(file, []byte("[D-BUS Service]\nName="+name+"\nExec=/bin/false\n"), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// HeadlessEnv returns variables for programs on a screen without a graphics card.
// With them programs show windows of their own, use no portal, and keep no settings.
func HeadlessEnv() []string {
	return []string{
		"XDG_SESSION_TYPE=x11", "GDK_BACKEND=x11", "GTK_USE_PORTAL=0", "GIO_USE_VFS=local", "GSETTINGS_BACKEND=memory",
		// Without these GTK 4 draws so slowly that it never appears on the accessibility bus.
		"GSK_RENDERER=cairo", "LIBGL_ALWAYS_SOFTWARE=1",
	}
}

// Path returns a path in the session's folder.
func (s *Session) Path(names ...string) string {
	return filepath.Join(append([]string{s.Folder}, names...)...)
}

// Getenv looks up a variable of the session. It is safe for concurrent use once Env is
// complete.
func (s *Session) Getenv(name string) string {
	for _, v := range slices.Backward(s.Env) {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

// Programs returns the started programs, the first one first.
func (s *Session) Programs() []*Program { return s.started }

// End ends every program of the session, last started first. Services of a bus end with
// the bus.
func (s *Session) End() error {
	var errs []error
	for _, p := range slices.Backward(s.started) {
		errs = append(errs, p.End())
	}
	if s.views != nil {
		errs = append(errs, s.views.Close())
	}
	return errors.Join(errs...)
}

// Remove removes the session's folder.
func (s *Session) Remove() error { return os.RemoveAll(s.Folder) }
