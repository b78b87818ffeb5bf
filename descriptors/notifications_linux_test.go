package descriptors_test

import (
	"fmt"
	"regexp"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func checkNotifications(w *world) {
	n := w.app("org.freedesktop.Notifications")
	server, ok := n.call("server", `{}`).(map[string]any)
	assert.Assert(w, ok, "server: expected dunst in four members, got %v", server)
	assert.Equal(w, server["name"], "dunst")
	assert.Equal(w, server["spec_version"], "1.2")
	assert.Assert(w, is.Len(server, 4))
	w.shows(regexp.QuoteMeta(fmt.Sprint(server["version"])), "dunst", "--version")
	n.has("capabilities", `{}`, "body", "actions")

	id := n.number("notify", `{"summary": "Build done", "body": "All 12 tests passed", "expire_timeout": 0}`)
	w.shows(`^1$`, "dunstctl", "count", "displayed")
	w.windows(`^Dunst$`, "Dunst")
	n.gives("notify", fmt.Sprintf(`{"summary": "Build failed", "replaces_id": %v, "expire_timeout": 0,
		"hints": {"urgency": {"signature": "y", "value": 2}}}`, id), fmt.Sprint(id))
	w.shows(`^1$`, "dunstctl", "count", "displayed")

	n.callsVoid("close", fmt.Sprintf(`{"id": %v}`, id))
	w.shows(`^0$`, "dunstctl", "count", "displayed")
	w.shows(`"summary" : \{\s*"type" : "s",\s*"data" : "Build failed"`, "dunstctl", "history")
	n.callsVoid("close", `{"id": 999}`)
	n.checkUndo("notify", `{"summary": "Too early", "expire_timeout": 0}`, func() { w.shows(`^1$`, "dunstctl", "count", "displayed") })
	w.shows(`^0$`, "dunstctl", "count", "displayed")
}

func checkDunst(w *world) {
	n, d := w.app("org.freedesktop.Notifications"), w.app("org.dunstproject.dunst")
	id := n.number("notify", `{"summary": "Build failed", "expire_timeout": 0}`)
	n.callsVoid("close", fmt.Sprintf(`{"id": %v}`, id))

	w.shows(`^1$`, "dunstctl", "count", "history")
	history, _ := d.call("history", `{}`).([]any)
	assert.Assert(w, is.Len(history, 1), "history: expected one notification, got %v", history)
	past, _ := history[0].(map[string]any)
	assert.Check(w, is.Equal(past["summary"], "Build failed"), past)
	assert.Check(w, is.Equal(past["appname"], "AI agent"), past)
	assert.Check(w, is.Equal(past["id"], id), past)
	d.gives("history_count", `{}`, `1`)
	d.gives("displayed_count", `{}`, `0`)

	d.callsVoid("set_paused", `{"value": true}`)
	w.shows(`^true$`, "dunstctl", "is-paused")
	d.gives("is_paused", `{}`, `true`)
	n.number("notify", `{"summary": "Held back", "expire_timeout": 0}`)
	d.eventuallyGives("waiting_count", `{}`, `1`)
	w.shows(`^1$`, "dunstctl", "count", "waiting")
	d.callsVoid("set_paused", `{"value": false}`)
	w.shows(`^false$`, "dunstctl", "is-paused")
	w.shows(`^1$`, "dunstctl", "count", "displayed")

	d.callsVoid("close_last", `{}`)
	w.shows(`^0$`, "dunstctl", "count", "displayed")
	d.callsVoid("show_last", `{}`)
	w.shows(`^1$`, "dunstctl", "count", "displayed")
	d.callsVoid("show_from_history", fmt.Sprintf(`{"id": %v}`, id))
	w.shows(`^2$`, "dunstctl", "count", "displayed")
	d.gives("displayed_count", `{}`, `2`)
	d.callsVoid("close_all", `{}`)
	w.shows(`^0$`, "dunstctl", "count", "displayed")
	w.shows(`^2$`, "dunstctl", "count", "history")
}
