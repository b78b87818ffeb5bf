package aai_test

import (
	"slices"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
)

func TestNearest(t *testing.T) {
	tools := []string{"send_email", "list_emails", "search", "delete_email", "Évènement"}
	for _, c := range []struct {
		name string
		n    int
		want []string
	}{
		{"send_emial", 1, []string{"send_email"}},
		{"SEND_EMAIL", 1, []string{"send_email"}},
		{"send\x1b_email", 1, []string{"send_email"}},
		{"email", 5, []string{"send_email", "list_emails", "delete_email"}},
		{"search_everything", 1, []string{"search"}},
		{"évènement", 1, []string{"Évènement"}},
		{"zzzzzzzz", 5, nil},
		{"", 5, nil},
		{"search", 0, nil},
	} {
		got := aai.Nearest(c.name, tools, c.n)
		assert.Check(t, slices.Equal(got, c.want), "Nearest(%q, %d) = %q, want %q", c.name, c.n, got, c.want)
	}
	for name, want := range map[string]int{"nope": 0, "mdoe": 1, "mope": 1, "node": 1} {
		got := aai.Nearest(name, []string{"mode"}, 1)
		assert.Check(t, is.Len(got, want), "Nearest(%q) of mode: %q", name, got)
	}
	got := aai.Nearest("a", nil, 3)
	assert.Check(t, got == nil, "among none: %q", got)
}

// TestNearestFindsOneSlip: for a name with one wrong letter, the right name is first.
func TestNearestFindsOneSlip(t *testing.T) {
	names := []string{"org.gnome.Calculator", "org.xfce.mousepad", "io.mpv.Mpv", "org.gtk.vfs.Daemon", "org.xfce.Thunar"}
	rapid.Check(t, func(t *rapid.T) {
		right := rapid.SampledFrom(names).Draw(t, "name")
		at := rapid.IntRange(0, len(right)-1).Draw(t, "at")
		slip := right[:at] + rapid.SampledFrom([]string{"", "x", right[at:at+1] + "q"}).Draw(t, "slip") + right[at+1:]
		got := aai.Nearest(slip, names, 3)
		assert.Assert(t, len(got) != 0, "Nearest(%q) = %q, want %q first", slip, got, right)
		assert.Equal(t, got[0], right, "%q %q", slip, got)
	})
}
