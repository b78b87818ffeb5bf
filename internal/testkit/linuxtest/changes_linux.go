package linuxtest

import (
	"fmt"
	"os"
	"syscall"
	"testing"
)

// A Changer is a window of GTK 3 with a check box "Change" that reports changes as a test requests.
type Changer struct {
	*App
	pipe *os.File
}

// Changer opens the window "Changes".
func (s *Session) Changer(t testing.TB) *Changer {
	t.Helper()
	path := s.Path("tmp", s.nextTitle("changes"))
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	c := &Changer{App: s.Launch(t, "python3", s.Path("programs", "changes.py"), path)}
	c.await(t, "its window is up", func() bool { return s.ActiveWindow(t) == "Changes" })
	pipe, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pipe.Close() })
	c.pipe = pipe
	return c
}

// Change lets the check box report changes, rate a second or, for 0, as many as the program can. It does not wait.
func (c *Changer) Change(t testing.TB, count, rate int) {
	t.Helper()
	if _, err := fmt.Fprintf(c.pipe, "%d %d\n", count, rate); err != nil {
		t.Fatal(err)
	}
}
