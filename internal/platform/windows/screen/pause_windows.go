package screen

import (
	"context"

	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
)

// PauseReason implements desktop.Backend's: it returns why the person cannot see the windows.
func (*Display) PauseReason(context.Context) string {
	if locked, known := win32.IsSessionLocked(); known && locked {
		return "the screen is locked"
	}
	switch win32.DesktopOfInput() {
	case "Default":
		return ""
	case "": // this process may not see it, which holds for the lock screen and for questions of UAC
		return "the screen is locked, or Windows asks for administrator rights"
	}
	return "Windows shows another desktop, such as the screen saver"
}
