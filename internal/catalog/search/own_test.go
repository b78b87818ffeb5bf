package search_test

import (
	"slices"
	"testing"
)

// TestAppsBeforeOwnTools checks that a tool of an app stands before the gateway's own tools where both match a request,
// and that requests for the own tools still find them.
func TestAppsBeforeOwnTools(t *testing.T) {
	garden := named("org.example.Garden", "Garden", "", tool("trim", "Trim a small tree"))
	apps := append(plainApps(t), garden)
	s := newSearchWithOwn(t, &apps)
	if got := find(t, s, agent(), "cut back my little tree", ""); got[0] != "org.example.Garden:trim" {
		t.Errorf("%q", got[:min(len(got), 5)])
	}
	for words, want := range map[string]string{
		"click a button in a window":      "desktop:ax_click",
		"take a screenshot of the window": "desktop:ax_screenshot",
		"get the tree of a window":        "desktop:ax_get_tree",
		"list the windows":                "desktop:ax_list_windows",
		"press a key":                     "desktop:ax_key_press",
		"wait until a window is idle":     "desktop:ax_wait_idle",
		"list the apps":                   "aai:apps",
		"undo a call":                     "aai:undo",
	} {
		got := find(t, s, agent(), words, "")
		if !slices.Contains(got[:min(len(got), firstThree)], want) {
			t.Errorf("%s: %q", words, got[:min(len(got), 5)])
		}
	}
}
