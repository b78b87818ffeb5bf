package gui_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"
)

// A page that draws a game in a canvas, at the resolution of the screen. It reports each click on a drawn button by a
// request for the button's name.
const gamePage = `<!DOCTYPE html><html lang=en><title>Game</title><body style="margin:0;background:#222"><canvas id=c style="width:500px;height:300px"></canvas><script>
const scale = devicePixelRatio, g = c.getContext("2d"), buttons = {Start: [40, 60, "#1a73e8"], Pause: [260, 60, "#d93025"], Leave: [40, 180, "#188038"]};
c.width = 500 * scale; c.height = 300 * scale; g.scale(scale, scale); g.font = "18px sans-serif";
for (const [name, [x, y, color]] of Object.entries(buttons)) { g.fillStyle = color; g.fillRect(x, y, 180, 60); g.fillStyle = "#fff"; g.fillText(name, x + 60, y + 36) }
c.onclick = e => { for (const [name, [x, y]] of Object.entries(buttons)) if (e.offsetX >= x && e.offsetX < x + 180 && e.offsetY >= y && e.offsetY < y + 60) fetch("/clicked/" + name) };
</script>`

// TestRealGameAtScales: a word that a canvas draws is found and clicked at several scales of the screen, by the page's own
// count.
func TestRealGameAtScales(t *testing.T) {
	t.Parallel()
	for _, scale := range []string{"1", "1.5", "2"} {
		t.Run(scale, func(t *testing.T) {
			t.Parallel()
			w := newRealWorld(t)
			var paused, others atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/":
					_, _ = rw.Write([]byte(gamePage))
				case "/clicked/Pause":
					paused.Add(1)
				case "/clicked/Start", "/clicked/Leave":
					others.Add(1)
				}
			}))
			t.Cleanup(server.Close)
			host := server.Listener.Addr().String()
			app := w.process(w.browse(host, "--force-device-scale-factor="+scale, "--app=http://"+host))
			var ref any
			w.eventually("the word is found", func() bool {
				result, err := w.do(t.Context(), "ax_find_visual", params{"app": app, "description": "Pause"})
				if err != nil {
					return false
				}
				found := asJSON(t, result.Data)
				ref = at(found, "element_ref")
				return at(found, "found") == true
			})
			w.ok("ax_click", params{"app": app, "query": ref, "mode": "focus"})
			w.eventually("the page counts the click", func() bool { return paused.Load()+others.Load() > 0 })
			assert.Check(t, paused.Load() == 1, "the button was clicked %d times", paused.Load())
			assert.Check(t, others.Load() == 0, "other buttons were clicked %d times", others.Load())
		})
	}
}
