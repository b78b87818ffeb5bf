package gui_test

import (
	"strings"
	"testing"
)

// TestRealServersAnswer: a page change some time after a click, while the page sleeps, belongs to
// that click, and not to the next one without effect. The one after that is verified.
func TestRealServersAnswer(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f := w.webForm(`<p id="state">idle</p><p id="count">none</p><button onclick="setTimeout(() => state.textContent += '.', after)">Ask</button>
		<button>Dead</button> <button onclick="count.textContent += ' more'">Work</button><button onclick="after += 150">Slower</button><script>let after = 550</script>`)
	for range 3 {
		ask := f.ok("ax_click", f.on("button Ask"))
		dead := f.ok("ax_click", f.on("button Dead"))
		if at(dead.data, "verified") != false || at(ask.data, "verified") != true && !strings.Contains(dead.Text, `Since then (Clicked button "Ask"`) {
			t.Errorf("asked: %s\nthe dead button: %s", ask.Text, dead.Text)
		}
		f.says(f.done("ax_click", f.on("button Work")).Text, `more"`)
		f.ok("ax_click", f.on("button Slower"))
	}
}
