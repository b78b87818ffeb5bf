package gui_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// farPage returns a page of many paragraphs with actionable elements at its end.
func farPage() string {
	var b strings.Builder
	for i := range 200 {
		fmt.Fprintf(&b, "<p>Paragraph number %d of many.</p>\n", i)
	}
	b.WriteString(`<button id="last">Last of all</button> <img class="far-trash" id="bin" src="/bin.png" width="20" height="20"> <input id="far" aria-label="Far away" value="afar">
<input id="clicked" aria-label="Clicked"><script>
for (const id of ["last", "bin"]) document.getElementById(id).addEventListener("click", () => { document.getElementById("clicked").value = id; });
</script>`)
	return b.String()
}

// TestRealOutOfView: a tree reports how many elements of which kind are out of view, and continues
// with them. They can be found and acted on, which scrolls them into view.
func TestRealOutOfView(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f := w.webForm(farPage())
	first := f.ok("ax_get_tree", params{"app": f.app})
	assert.Check(t, regexp.MustCompile(`1 of 1 thing to act on; out of view: 2 textbox, 1 button, 1[0-9]{2} paragraph, 1 image; more: "q`).MatchString(first.Text), "it says %s", first.Text)
	text := f.shown(f.app)
	for i := range 200 {
		n := strings.Count(text, fmt.Sprintf(`number %d of`, i))
		assert.Check(t, is.Equal(n, 1), "paragraph %d is told %d times", i, n)
	}
	last := regexp.MustCompile(`button "Last of all" \[(e\d+)\]`).FindStringSubmatch(text)
	assert.Assert(t, last != nil, "what is at the end is not there:\n%s", text)
	assert.Assert(t, is.Contains(text, "image bin.png .far-trash ["))
	f.says(f.ok("ax_find", f.on("Last of all")).Text, last[1], "out of view")
	const brought = "was scrolled into it first"
	f.says(f.ok("ax_click", f.on("Last of all")).Text, brought)
	f.comes("clicked", "last")
	a := f.ok("ax_click", f.on(last[1]))
	assert.Check(t, !strings.Contains(a.Text, brought), "what is in view is brought there: %s", a.Text)
	f.says(f.ok("ax_find", f.on("Paragraph number 3 of many.")).Text, "out of view")
	f.says(f.refused("ELEMENT_NOT_FOUND", "ax_find", f.on("Nowhere at all")).Message, "nothing in")
}

// TestRealOutOfViewUnread: elements out of view that are only read on request are found too, and
// typed into.
func TestRealOutOfViewUnread(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f := w.webForm(farPage())
	f.says(f.ok("ax_find", f.on("bin.png .far-trash")).Text, "out of view")
	got := f.ok("ax_get_value", f.on("textbox Far away")).data["value"]
	assert.Check(t, is.Equal(got, "afar"), "a field out of view holds %q", got)
	f.says(f.ok("ax_click", f.on("bin.png .far-trash")).Text, "was scrolled into it first")
	f.comes("clicked", "bin")
	f.done("ax_set_value", f.set("textbox Far away", "here"))
	f.comes("far", "here")
}
