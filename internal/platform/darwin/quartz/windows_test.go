//go:build axdouble

package quartz_test

import (
	"image/color"
	"os"
	"testing"

	"github.com/ebitengine/purego"
	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/darwin/native"
	"github.com/gybob/aai-gateway/internal/platform/darwin/quartz"
)

// open returns the screen of the double. The test fails if the code used an object wrongly or kept one.
func open(t *testing.T) *quartz.Display {
	t.Helper()
	api, err := native.Open()
	assert.NilError(t, err)
	handle, err := purego.Dlopen(os.Getenv(native.DoubleEnv), purego.RTLD_NOW)
	assert.NilError(t, err)
	var failure func() string
	var live func() int
	purego.RegisterLibFunc(&failure, handle, "double_failure")
	purego.RegisterLibFunc(&live, handle, "double_live")
	d := quartz.New(api)
	_, err = d.Windows(t.Context()) // this and the next call make the strings of the code
	assert.NilError(t, err)
	assert.ErrorContains(t, d.Manage(t.Context(), 80, desktop.Raise), "AUTOMATION_NOT_SUPPORTED")
	before := live()
	t.Cleanup(func() {
		assert.Equal(t, failure(), "")
		assert.Equal(t, live(), before)
	})
	return d
}

func TestWindows(t *testing.T) {
	d := open(t)
	windows, err := d.Windows(t.Context())
	assert.NilError(t, err)
	assert.DeepEqual(t, windows, []desktop.WindowInfo{
		{ID: 71, PID: 4711, Title: "Double fixture", Class: "Fixture", Frame: desktop.Rect{X: 100, Y: 100, W: 700, H: 600}, Active: true},
		{ID: 80, PID: 4712, Class: "Strange", Frame: desktop.Rect{X: 900, Y: 300, W: 400, H: 300}},
	})
	at, err := d.WindowAt(t.Context(), desktop.Point{X: 1000, Y: 400})
	assert.NilError(t, err)
	assert.Equal(t, at.ID, desktop.WindowID(80))
	_, err = d.WindowAt(t.Context(), desktop.Point{X: 1, Y: 800})
	assert.ErrorContains(t, err, "ELEMENT_NOT_FOUND")
	assert.ErrorContains(t, d.Manage(t.Context(), 999, desktop.Raise), "STALE_REF")
}

func TestPictures(t *testing.T) {
	d := open(t)
	monitors, err := d.Monitors(t.Context())
	assert.NilError(t, err)
	assert.DeepEqual(t, monitors, []desktop.Monitor{{Name: "display 1", Frame: desktop.Rect{W: 1440, H: 900}, Primary: true, Scale: 2}})
	picture, err := d.Capture(t.Context(), desktop.Rect{X: 3, Y: 5, W: 40, H: 30})
	assert.NilError(t, err)
	assert.Equal(t, picture.Bounds().Dx(), 40)
	assert.Equal(t, picture.RGBAAt(10, 20), color.RGBA{R: 13, G: 25, B: 9, A: 255})
	picture, err = d.CaptureWindow(t.Context(), 71)
	assert.NilError(t, err)
	assert.Equal(t, picture.Bounds().Dy(), 600)
	_, err = d.CaptureWindow(t.Context(), 1<<40)
	assert.ErrorContains(t, err, "STALE_REF")
	layers, err := d.Layers(t.Context())
	assert.NilError(t, err)
	assert.Equal(t, len(layers), 3)
	assert.Check(t, layers[2].Unmanaged, "the menu bar is above all windows")
}
