package gui_test

import (
	"fmt"
	"testing"
	"time"
)

// TestRealMovesAfterScroll clicks a button by the person's pointer in a page that removes content while it is
// scrolled, so that another button comes to the place of the first one.
func TestRealMovesAfterScroll(t *testing.T) {
	w := newRealWorld(t)
	for _, delay := range []time.Duration{time.Millisecond, 40 * time.Millisecond, 150 * time.Millisecond} {
		app := w.page(fmt.Sprintf(`<title>News %[1]d</title><div id=list style="height:120px;overflow:auto">
			<div style="height:300px">Top</div><div id=news style="height:24px"></div>
			<button style="display:block;height:24px;margin:0" onclick="out.textContent='kept %[1]d'">Keep</button>
			<button style="display:block;height:24px;margin:0" onclick="out.textContent='cleared %[1]d'">Clear</button>
			<div style="height:100px"></div></div><p id=out>nothing</p>
			<script>list.onscroll = () => setTimeout(() => news.remove(), %[1]d)</script>`, delay.Milliseconds()), "Keep")
		w.ok("ax_click", params{"app": app, "query": "button Keep", "mode": "focus"})
		w.ok("ax_wait", params{"app": app, "query": fmt.Sprintf("kept %d", delay.Milliseconds())})
	}
}
