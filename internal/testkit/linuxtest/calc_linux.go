package linuxtest

import (
	"fmt"
	"strings"
	"testing"
)

// Calc opens a new spreadsheet in LibreOffice, with a separate profile, and waits until its window is
// drawn. The window fills the screen; its process is a child of the App's.
func (s *Session) Calc(t testing.TB) *App {
	t.Helper()
	app := s.LaunchEnv(t, []string{"SAL_USE_VCLPLUGIN=gtk3"}, "soffice", "--calc", "--norestore", "--nologo", "--nofirststartwizard",
		"-env:UserInstallation=file://"+s.Path("tmp", "libreoffice"))
	app.await(t, "its window is up", func() bool {
		return strings.Contains(s.ActiveWindow(t), "LibreOffice Calc")
	})
	app.await(t, "its sheet is drawn", func() bool { return s.pixel(t, ScreenWidth/2, ScreenHeight/2) != black })
	return app
}

// black is the colour of an undrawn window.
const black = "\x00\x00\x00"

// pixel returns the colour of a point of the screen: red, green and blue, a byte each.
func (s *Session) pixel(t testing.TB, x, y int) string {
	t.Helper()
	return s.output(t, "import", "-window", "root", "-crop", fmt.Sprintf("1x1+%d+%d", x, y), "-depth", "8", "rgb:-")
}
