package gui_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/risk"
	"github.com/gybob/aai-gateway/internal/policy"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// guarded puts the real gates before the desktop: the caller may see the whole screen, and the
// given programs.
func (w *realWorld) guarded(programs ...string) {
	grants := []policy.Grant{{Caller: policy.Wildcard, App: aai.DesktopApp, Tool: aai.PermissionSee, Decision: policy.Allow}}
	for _, id := range programs {
		grants = append(grants, policy.Grant{Caller: policy.Wildcard, App: id, Tool: aai.PermissionSee, Decision: policy.Allow})
	}
	consent := policy.NewConsent(policy.ConsentConfig{Store: policy.NewFileStore(filepath.Join(w.TempDir(), "consent.json")), Preapproved: grants})
	w.gateway.Gates = []aai.Gate{policy.NewLimits(policy.DefaultLimits()), risk.ProtectedWindows{}, consent}
}

// windowCalled waits for a window with the title.
func (w *realWorld) windowCalled(title string) desktop.WindowInfo {
	w.Helper()
	for until := time.Now().Add(realPatience); ; time.Sleep(20 * time.Millisecond) {
		windows, err := w.backend.Windows.Windows(w.Context())
		if i := slices.IndexFunc(windows, func(i desktop.WindowInfo) bool { return strings.Contains(i.Title, title) }); i >= 0 {
			return windows[i]
		}
		assert.Assert(w, !time.Now().After(until), "there is no window %q: %+v, %v", title, windows, err)
	}
}

// black returns the black share of the area in the screenshot, from 0 to 1.
func black(picture image.Image, area desktop.Rect) float64 {
	dark := 0
	for y := area.Y; y < area.Y+area.H; y++ {
		for x := area.X; x < area.X+area.W; x++ {
			if r, g, b, _ := picture.At(x, y).RGBA(); r|g|b == 0 {
				dark++
			}
		}
	}
	return float64(dark) / float64(area.W*area.H)
}

// wholeScreen captures the screen through the gateway, unscaled.
func (w *realWorld) wholeScreen() (image.Image, answer) {
	w.Helper()
	a := w.ok("ax_screenshot", params{"max_side": 16384})
	picture, err := png.Decode(bytes.NewReader(a.Images[0].Data))
	assert.NilError(w, err)
	if folder := os.Getenv("AAI_TEST_PICTURES"); folder != "" {
		assert.NilError(w, os.WriteFile(filepath.Join(folder, w.Name()+".png"), a.Images[0].Data, 0o600))
	}
	return picture, a
}

// A screenshot of the whole screen shows the programs that the caller may see. It hides password
// prompts and other programs, including windows without a window manager.
func TestWholeScreenHidesWhatMayNotBeSeen(t *testing.T) {
	w := newRealWorld(t)
	f := w.Fixture(t, linuxtest.GTK3)
	var id string
	apps, _ := at(w.ok("ax_list_apps", params{}).data, "apps").([]any)
	for _, a := range apps {
		if at(a, "pid") == float64(f.PID) {
			id, _ = at(a, "bundle_id").(string)
		}
	}
	w.guarded("desktop/" + id)
	w.Launch(t, "sh", "-c", `(printf 'OPTION no-grab\nSETTITLE Unlock the key\nSETDESC The key of Alice\nSETPROMPT PIN\nGETPIN\n'; sleep 600) | pinentry-gtk-2`)
	w.Launch(t, "zenity", "--password", "--title", "Password wanted")
	w.script("popup.py", "1200", "700", "300", "200")
	popup := desktop.Rect{X: 1200, Y: 700, W: 300, H: 200}
	var picture image.Image
	var a answer
	areas := map[string]desktop.Rect{"an unmanaged window": popup}
	for still := false; !still; { // a window manager may move a window after it appears
		areas["pinentry"], areas["zenity"] = w.windowCalled("Unlock the key").Frame, w.windowCalled("Password wanted").Frame
		for _, area := range areas {
			w.comesUp(area)
		}
		picture, a = w.wholeScreen()
		still = areas["pinentry"] == w.windowCalled("Unlock the key").Frame && areas["zenity"] == w.windowCalled("Password wanted").Frame
	}
	for name, area := range areas {
		got := black(picture, area)
		assert.Check(t, got == 1, "%s at %v is seen: only %.3f of it is black", name, area, got)
	}
	hidden := fmt.Sprint(at(a.data, "hidden"))
	assert.Assert(t, is.Contains(hidden, "pinentry"))
	assert.Assert(t, is.Contains(hidden, "zenity"))
	assert.Assert(t, is.Contains(a.Text, blackWords))
	// The visible program is shown: in front, where no window covers it.
	assert.NilError(t, w.backend.Windows.Activate(t.Context(), w.windowCalled(f.Title).ID))
	r := f.WindowRect(t)
	own := desktop.Rect{X: r.X, Y: r.Y, W: r.Width, H: r.Height}
	for until := time.Now().Add(realPatience); ; {
		picture, _ = w.wholeScreen()
		if black(picture, own) < 0.2 {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("the fixture is black for %.3f", black(picture, own))
		}
	}
	for name, app := range map[string]string{"pinentry": "pinentry-gtk-2", "zenity": "zenity"} {
		_, err := w.do(t.Context(), "ax_screenshot", params{"app": app})
		assert.Check(t, err != nil, "%s is seen by itself", name)
	}
}

// blackWords begin the list of blackened programs in a reply.
const blackWords = "blacked out"

// comesUp waits until the area shows more than the background.
func (w *realWorld) comesUp(area desktop.Rect) {
	w.Helper()
	for until := time.Now().Add(realPatience); ; time.Sleep(20 * time.Millisecond) {
		picture, err := w.backend.Screen.Capture(w.Context(), area)
		if err == nil && black(picture, desktop.Rect{W: area.W, H: area.H}) < 0.5 {
			return
		}
		assert.Assert(w, !time.Now().After(until), "nothing is to be seen at %v: %v", area, err)
	}
}
