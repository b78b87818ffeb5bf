package bench

import (
	"image"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/platform/linux/x11"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// screenshots measures pictures of the whole screen and of a covered window: from the X server,
// before encoding, and as whole calls of ax_screenshot. The comparison is ImageMagick's import, a
// process for each picture.
func (w *desktopBench) screenshots(b *testing.B) {
	rounds := roundLimit(b, 20)
	s := w.newScene(b, "gtk3")
	f := s.Fixture(b, linuxtest.GTK3)
	s.await(b, f.PID, "button Press")
	s.Cover(b, f)
	screen := x11.New(x11.Config{Getenv: s.Getenv, InputLock: inputlock.New(inputlock.Config{Folder: inputlock.Folder, Getenv: s.Getenv})})
	b.Cleanup(func() { _ = screen.Close() })
	window := windowOf(b, screen, f)
	all := desktop.Rect{W: linuxtest.ScreenWidth, H: linuxtest.ScreenHeight}
	wholeCall := toolCall(b, "ax_screenshot", map[string]any{})
	windowCall := toolCall(b, "ax_screenshot", map[string]any{"app": strconv.Itoa(f.PID)})

	var raw, covered, rawPeer, coveredPeer, wholeTool, windowTool samples
	for range rounds {
		for range 5 {
			raw.add(took(b, func() (*image.RGBA, error) { return screen.Capture(b.Context(), all) }))
			covered.add(took(b, func() (*image.RGBA, error) { return screen.CaptureWindow(b.Context(), window) }))
		}
		wholeTool.add(s.gateway.timed(b, wholeCall))
		windowTool.add(s.gateway.timed(b, windowCall))
		rawPeer.add(imported(b, s.Session, "root", "rgb:/dev/null"))
		coveredPeer.add(imported(b, s.Session, "root", "png:/dev/null"))
	}
	const aimWhole, aimCovered = 10 * time.Millisecond, 20 * time.Millisecond
	w.table.judge("picture of the screen, 1600 × 1000, not encoded", medianAndP95(raw), "import, not encoded "+medianAndP95(rawPeer),
		times(ratio(raw.median(), rawPeer.median())), "≤ 10 ms", raw.median() <= aimWhole)
	w.table.judge("picture of a covered window, 700 × 600, not encoded", medianAndP95(covered), "", "", "≤ 20 ms", covered.median() <= aimCovered)
	w.table.add("ax_screenshot over stdio, the screen as PNG", medianAndP95(wholeTool), "import, as PNG "+medianAndP95(coveredPeer),
		times(ratio(wholeTool.median(), coveredPeer.median())))
	w.table.add("ax_screenshot over stdio, a covered window as PNG", medianAndP95(windowTool), "", "")
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(raw.median())/1e6, "ms/screen")
	b.ReportMetric(float64(covered.median())/1e6, "ms/covered")
}

// took returns the time of a picture, which must not be blank.
func took(b *testing.B, take func() (*image.RGBA, error)) time.Duration {
	b.Helper()
	begun := time.Now()
	picture, err := take()
	took := time.Since(begun)
	assert.NilError(b, err)
	centre := picture.RGBAAt(picture.Rect.Dx()/4, picture.Rect.Dy()/4)
	assert.Assert(b, centre.A != 0, "the picture is empty")
	return took
}

// windowOf returns the fixture's window.
func windowOf(b *testing.B, screen desktop.Windows, f *linuxtest.Fixture) desktop.WindowID {
	b.Helper()
	windows, err := screen.Windows(b.Context())
	assert.NilError(b, err)
	for _, w := range windows {
		if w.Title == f.Title {
			return w.ID
		}
	}
	b.Fatalf("there is no window %q", f.Title)
	return 0
}

// imported returns ImageMagick's time.
func imported(b *testing.B, s *linuxtest.Session, window, into string) time.Duration {
	b.Helper()
	command := exec.CommandContext(b.Context(), "import", "-window", window, into)
	command.Env = s.Env
	begun := time.Now()
	out, err := command.CombinedOutput()
	assert.NilError(b, err, out)
	return time.Since(begun)
}

// listening measures a gateway that has read an app and waits.
func (w *desktopBench) listening(b *testing.B) {
	s := w.newScene(b, "gtk3")
	f := s.Fixture(b, linuxtest.GTK3)
	s.await(b, f.PID, "button Press")
	s.gateway.ask(b, "tools/call", toolCall(b, "ax_get_tree", map[string]any{"app": strconv.Itoa(f.PID)}))
	time.Sleep(time.Second)
	w.idle(b, s, "an app", watchDuration(20*time.Second, time.Second), f.App)
	b.ReportMetric(0, "ns/op")
}
