package screen

import (
	"os"
	"testing"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/desktoptest"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/platform/windows/hwnd"
	"github.com/gybob/aai-gateway/internal/platform/windows/programs"
	"github.com/gybob/aai-gateway/internal/platform/windows/wintree"
	"github.com/gybob/aai-gateway/internal/testkit/windowstest"
)

// TestSuite runs the suite of backends on real controls, with windows, pictures, the clipboard, programs and both seats.
func TestSuite(t *testing.T) {
	f := windowstest.Start(t)
	folder := t.TempDir()
	display := New(Config{InputLock: inputlock.New(inputlock.Config{Folder: func() (string, error) { return folder, nil }, Getenv: os.Getenv})})
	desktoptest.Run(t, desktoptest.Subject{
		Backend: desktop.Backend{
			Tree: wintree.New(wintree.Config{Sources: []wintree.Source{hwnd.New(nil)}}), Windows: display, Input: display, Screen: display, Clipboard: display,
			Programs: programs.New(programs.Config{Getenv: os.Getenv, Environ: os.Environ}),
		},
		PID: f.PID, Title: f.Title, State: f.State, Lacks: f.Lacks,
		Person: func(testing.TB) any { return windowstest.Foreground() },
	})
}
