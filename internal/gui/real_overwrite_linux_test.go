package gui_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestRealOverwriteFails: a failed overwrite leaves the field unchanged, and later text is added to
// it.
func TestRealOverwriteFails(t *testing.T) {
	t.Parallel()
	const was = "keep this"
	w := newRealWorld(t)
	f := w.webForm(`<input type="hidden" id="inputs" value="0"><p oninput="inputs.value++"><label>Plain <input id="plain" value="` + was + `"></label> <label>Area <textarea id="area">` + was + `</textarea></label>`)
	typed := func(query, text string) params {
		return params{"app": f.app, "query": query, "text": text, "clear_first": true}
	}
	const plain, area = "textbox Plain", "textbox Area"
	for _, c := range []struct {
		tool, id, query string
		args            params
		says            string
	}{
		{"ax_type", "plain", plain, typed(plain, "a\u0000b"), "text: expected no control characters but line breaks and tabs, got U+0000 as character 2"},
		{"ax_set_value", "area", area, f.set(area, "\u0000"), "value: expected no control characters but line breaks and tabs, got U+0000 as character 1"},
		{"ax_fill", "plain", plain, params{"app": f.app, "fields": fields(area, "new", plain, "né\u0001")}, "fields[1].value: expected no control characters but line breaks and tabs, got U+0001 as character 3"},
		{"ax_set_value", "area", area, f.set(area, strings.Repeat("six ch", 1000)), "value: expected at most 5000 characters"},
		{"ax_type", "area", area, typed(area, strings.Repeat("six ch", 1000)), "text: expected at most 5000 characters"},
		{"ax_type", "plain", plain, typed(plain, "a\u0085"), "has its former value: the text has the character U+0085"},
		{"ax_set_value", "area", area, f.set(area, "\ufffe"), "has its former value: the text has the character U+FFFE"},
	} {
		held, other, inputs := f.holds(c.id), f.holds(map[string]string{"plain": "area", "area": "plain"}[c.id]), f.holds("inputs")
		e := f.refused(aai.InvalidParams, c.tool, c.args)
		f.says(e.Message, c.says)
		assert.Check(t, is.Equal(e.Delivery, aai.NotDelivered), c.says)
		assert.Check(t, is.Equal(f.holds("inputs"), inputs), c.says)
		f.ok("ax_type", params{"app": f.app, "query": c.query, "text": "!"})
		f.eventually("the page holds what was typed", func() bool { return strings.Contains(f.holds(c.id), "!") && f.holds(c.id) != held })
		now := f.holds(c.id)
		assert.Check(t, is.Equal(strings.ReplaceAll(now, "!", ""), was), "%s %s %q %q", c.says, c.id, now, held)
		assert.Check(t, is.Equal(f.holds(map[string]string{"plain": "area", "area": "plain"}[c.id]), other), "%s %s %q %q", c.says, c.id, now, held)
	}
}
