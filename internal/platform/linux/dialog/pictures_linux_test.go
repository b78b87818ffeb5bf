package dialog

import (
	"context"
	"fmt"
	"image"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// nearly is the permitted difference in size of a question's windows, in pixels: half a button.
const nearly = 60

// TestPagePictures shows every page of every kind of question, in both languages, in each of
// the programs, and stores screenshots in AAI_PICTURES for people to check. Without it
// only hostile questions are shown. None shows an injected colour, each fits on a small
// screen, and those of one question are about equally large.
func TestPagePictures(t *testing.T) {
	shown := []string{"hostile"}
	if os.Getenv("AAI_PICTURES") != "" {
		shown = slices.Sorted(maps.Keys(kinds()))
	}
	for program := range programs() {
		for _, language := range []string{"en", "zh"} {
			t.Run(program+"/"+language, func(t *testing.T) {
				s := linuxtest.Start(t)
				d := realDialog(t, s, program)
				d.messages = func() messages { return messagesIn(language) }
				for _, name := range shown {
					pages, err := d.layOut(ofKind(t, kinds()[name], language), d.findPresenters()[0])
					assert.NilError(t, err)
					seen := map[string]bool{}
					var first image.Point
					for i, p := range pages {
						if !seen[p.text] { // the same text may come with other answers
							size := photograph(t, s, d.findPresenters()[0], p, fmt.Sprintf("%s-%s-%s-%d", program, language, name, i+1))
							if first == (image.Point{}) {
								first = size
							}
							d := size.Sub(first)
							assert.Check(t, max(d.X, -d.X) <= nearly, "%s: page %d is %v, and page 1 %v", name, i+1, size, first)
							assert.Check(t, max(d.Y, -d.Y) <= nearly, "%s: page %d is %v, and page 1 %v", name, i+1, size, first)
						}
						seen[p.text] = true
					}
				}
			})
		}
	}
}

// photograph shows one page and takes a screenshot of its window.
func photograph(t *testing.T, s *linuxtest.Session, way presenter, p page, name string) image.Point {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	var shown atomic.Int64
	go func() {
		defer close(ended)
		_, _ = way.show(ctx, p, func(pid int) { shown.Store(int64(pid)) })
	}()
	a := openDialog{t: t, session: s, open: func() int { return int(shown.Load()) }}
	a.seen()
	time.Sleep(readable + bigToolkitStart) // it is drawn
	file := a.keep(name)
	n := magenta(t, file)
	assert.Check(t, n <= 0, "%s: %d points have a stranger's colour", name, n)
	cmd := exec.CommandContext(t.Context(), "xdotool", "getactivewindow", "getwindowgeometry", "--shell")
	cmd.Env = s.Env
	out, err := cmd.Output()
	var window, x, y, width, height int
	if err == nil {
		_, err = fmt.Sscanf(string(out), "WINDOW=%d\nX=%d\nY=%d\nWIDTH=%d\nHEIGHT=%d", &window, &x, &y, &width, &height)
	}
	assert.NilError(t, err, "%s %d %d", name, width, height)
	assert.Assert(t, width <= 1000, "%s: %d×%d, %v", name, width, height, err)
	assert.Assert(t, height <= 700, "%s: %d×%d, %v", name, width, height, err)
	assert.Assert(t, width >= 100, "%s: %d×%d, %v", name, width, height, err)
	crop(t, file, fmt.Sprintf("%dx%d+%d+%d", width+12, height+44, max(0, x-6), max(0, y-38)))
	cancel()
	<-ended
	return image.Pt(width, height)
}

// crop keeps a part of a screenshot.
func crop(t *testing.T, file, area string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "convert", file, "-crop", area, "+repage", filepath.Clean(file)).CombinedOutput()
	assert.Check(t, err, out)
}
