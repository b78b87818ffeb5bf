package gui_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gui/risk"
)

// TestRealLockIsAGuard: an unknown screen lock is recognized by a window over the whole screen,
// past the window manager. The same program with another window is no lock.
func TestRealLockIsAGuard(t *testing.T) {
	w := newRealWorld(t)
	w.gateway.Gates = []aai.Gate{risk.ProtectedWindows{}}
	popup := func(width, height string) string {
		return strconv.Itoa(w.script("popup.py", "0", "0", width, height).PID)
	}
	for pid, want := range map[string]aai.Code{popup("1600", "1000"): aai.PermissionDenied, popup("300", "200"): ""} {
		for until := time.Now().Add(realPatience); ; time.Sleep(50 * time.Millisecond) {
			_, err := w.do(t.Context(), "ax_get_tree", params{"app": pid})
			var got aai.Code
			if err != nil {
				got = err.Code
			}
			if got == want {
				break
			}
			if time.Now().After(until) {
				t.Errorf("it ends with %q, want %q: %v", got, want, err)
				break
			}
		}
	}
}
