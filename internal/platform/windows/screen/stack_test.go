package screen

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/desktop"
)

func TestCoveredCountsMonitorsAndSolidWindows(t *testing.T) {
	frame := desktop.Rect{X: 0, Y: 0, W: 100, H: 100}
	left, right := desktop.Rect{X: -200, Y: 0, W: 250, H: 200}, desktop.Rect{X: 50, Y: 0, W: 200, H: 200}
	half := layer{frame: desktop.Rect{X: 0, Y: 0, W: 100, H: 50}, solid: true}
	glass := layer{frame: frame}
	for name, c := range map[string]struct {
		monitors []desktop.Rect
		above    []layer
		want     float64
	}{
		"two monitors":      {[]desktop.Rect{left, right}, nil, 0},
		"one monitor":       {[]desktop.Rect{right}, nil, 0.5},
		"a window above":    {[]desktop.Rect{left, right}, []layer{half}, 0.5},
		"the same twice":    {[]desktop.Rect{left, right}, []layer{half, half}, 0.5},
		"glass":             {[]desktop.Rect{left, right}, []layer{glass}, 0},
		"off every monitor": {nil, nil, 1},
	} {
		assert.Equal(t, covered(frame, c.monitors, c.above), c.want, name)
	}
}

func TestListedAreWindowsThatPeopleName(t *testing.T) {
	frame := desktop.Rect{W: 300, H: 200}
	plain := windowTraits{visible: true, caption: true, frame: frame, class: "Notepad"}
	with := func(change func(*windowTraits)) windowTraits {
		traits := plain
		change(&traits)
		return traits
	}
	for name, c := range map[string]struct {
		traits windowTraits
		want   bool
	}{
		"a window":          {plain, true},
		"minimized":         {with(func(w *windowTraits) { w.minimized, w.frame = true, desktop.Rect{} }), true},
		"no title bar":      {with(func(w *windowTraits) { w.caption = false }), true},
		"a palette":         {with(func(w *windowTraits) { w.tool = true }), true},
		"a tooltip":         {with(func(w *windowTraits) { w.tool, w.caption = true, false }), false},
		"the taskbar wants": {with(func(w *windowTraits) { w.tool, w.caption, w.app = true, false, true }), true},
		"cloaked":           {with(func(w *windowTraits) { w.cloaked = true }), false},
		"hidden":            {with(func(w *windowTraits) { w.visible = false }), false},
		"an overlay":        {with(func(w *windowTraits) { w.transparent = true }), false},
		"a menu":            {with(func(w *windowTraits) { w.class = "#32768" }), false},
		"the desktop":       {with(func(w *windowTraits) { w.class = "Progman" }), false},
		"empty":             {with(func(w *windowTraits) { w.frame = desktop.Rect{} }), false},
	} {
		assert.Equal(t, c.traits.isListed(), c.want, name)
	}
}
