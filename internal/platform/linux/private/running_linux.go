package private

import (
	"errors"
	"fmt"
	"image"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// takenFile exists in the folder of an isolated session while the person works in it. Its time is that
// of the last sign of the person.
const takenFile = "taken"

// takenTime is how long a session stays taken without a sign of the person: the page may be closed.
const takenTime = 2 * time.Minute

// RunningSessions returns the isolated sessions of this account that run and have a screen, the
// oldest first.
func RunningSessions() []*Isolated {
	parent, _ := sessionsFolder()
	folders, _ := filepath.Glob(parent + "/*") // the pattern is valid
	var running []*Isolated
	for _, folder := range folders {
		if i, err := RunningSession(filepath.Base(folder)); err == nil {
			running = append(running, i)
		}
	}
	return running
}

// RunningSession returns the running isolated session with the ID.
func RunningSession(id string) (*Isolated, error) {
	parent, err := sessionsFolder()
	if err != nil {
		return nil, err
	}
	i, err := OpenIsolated(filepath.Join(parent, filepath.Base(id)))
	if err == nil && !i.IsRunning() {
		err = fs.ErrNotExist
	}
	return i, err
}

// ID identifies the session among those of this computer.
func (i *Isolated) ID() string { return filepath.Base(i.Folder) }

// Display returns the display of the session's screen, such as ":1" or "wayland-1".
func (i *Isolated) Display() string {
	text, _ := atomicfile.Read(i.path(displayFile), atomicfile.ReadLimits{Size: 100})
	return string(text)
}

// Since returns the time of the session's start.
func (i *Isolated) Since() time.Time {
	if info, err := os.Stat(i.path(optionsFile)); err == nil {
		return info.ModTime()
	}
	return time.Time{}
}

// IsRunning reports whether a process holds the session's lock, and its screen has started.
func (i *Isolated) IsRunning() bool {
	lock, err := os.Open(i.path(lockFile))
	if err != nil {
		return false
	}
	defer lock.Close() //nolint:errcheck // it was only read
	return errors.Is(syscall.Flock(int(lock.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK) && i.Display() != ""
}

// SetTaken sets whether the person works in the session.
func (i *Isolated) SetTaken(taken bool) error {
	if taken {
		file, err := os.OpenFile(i.path(takenFile), os.O_CREATE|os.O_WRONLY|syscall.O_NOFOLLOW, 0o600)
		if err != nil {
			return err
		}
		now := time.Now()
		return errors.Join(file.Close(), os.Chtimes(i.path(takenFile), now, now))
	}
	if err := os.Remove(i.path(takenFile)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// KeepTaken keeps the session taken, if it is: the person looks at it.
func (i *Isolated) KeepTaken() {
	if info, err := os.Lstat(i.path(takenFile)); err == nil && IsTaken(i.Folder) && time.Since(info.ModTime()) > takenTime/8 {
		_ = i.SetTaken(true)
	}
}

// IsTaken reports whether the person works in the isolated session of the folder.
func IsTaken(folder string) bool {
	info, err := os.Lstat(filepath.Join(folder, takenFile))
	return filepath.IsAbs(folder) && err == nil && time.Since(info.ModTime()) < takenTime
}

// Getenv returns the variables by which clients reach the session's screen.
func (i *Isolated) Getenv(name string) string {
	if i.Options.Wayland {
		switch name {
		case "WAYLAND_DISPLAY":
			return i.Display()
		case "XDG_RUNTIME_DIR":
			return i.path("run")
		case "SWAYSOCK":
			return swaySocket(i.path("run"))
		}
		return ""
	}
	switch name {
	case "DISPLAY":
		return i.Display()
	case "XAUTHORITY":
		return i.path(cookieFile)
	}
	return ""
}

// Mark returns the variable that the environments of all programs of the session have.
func (i *Isolated) Mark() string { return runtimeVariable + i.path("run") }

// Screen returns the picture on the screen of a session with an X server.
func (i *Isolated) Screen() (*image.RGBA, error) {
	// Programs of the session can write the file.
	text, err := atomicfile.Read(sessionIn(i.Folder).FramebufferFile(), atomicfile.ReadLimits{Size: 1<<16 + 4*i.Options.Width*i.Options.Height})
	if err != nil {
		return nil, fmt.Errorf("the screen cannot be read: %w", err)
	}
	return DecodeXWD(text)
}
