package gui_test

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
)

// unseenPage has boxes that are hidden in several ways, with labels, and fields with words beside them.
const unseenPage = `<style>.clear input { position: absolute; opacity: 0; pointer-events: none } .clip { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
	.zero input { position: absolute; width: 0; height: 0; opacity: 0 } .away { position: absolute; left: -9999px } .above { display: flex; flex-direction: column; align-items: flex-start }
	i { display: inline-block; width: 20px; height: 12px; border: 1px solid } :checked + i { background: green }</style>
<p><label class="clear"><input type="checkbox" id="clear"><i></i> Clear</label> <label><input class="clip" type="checkbox" role="switch" id="clipped"><i></i> Clipped</label>
<label class="zero"><input type="checkbox" id="zero"><i></i> Zero</label> <label><input class="away" type="checkbox" id="away"><i></i> Away</label></p>
<p><input class="clip" type="checkbox" id="beside"><label for="beside">Beside</label> <label><input class="clip" type="radio" name="r" id="radio"><i></i> Radio</label></p>
<p><input class="clip" type="checkbox" id="alone" aria-label="Alone"></p>
<p><span>Harbour</span> <input id="harbour"></p><div>Plain words <input id="plain"></div><div class="above"><span>Overhead</span><input id="overhead"></div>
<div>First <input id="first"> Second <input id="second"></div><div><input id="after"> Afterwards</div>
<table><tr><td>Celled<td><input type="number" id="celled"></table><fieldset><legend>Caption</legend><input id="captioned"></fieldset>
<fieldset><legend>Title</legend><div class="above"><span>Window</span><input id="window"></div></fieldset>`

// TestRealUnseenBoxes: boxes that show only by their labels are ticked by name, and fields are filled
// by the words beside them. The title of a group is no field's label.
func TestRealUnseenBoxes(t *testing.T) {
	t.Parallel()
	for browser, open := range map[string]func(*realWorld) *webForm{
		"chromium": func(w *realWorld) *webForm { return w.webForm(unseenPage) },
		"firefox":  func(w *realWorld) *webForm { return w.firefoxForm(unseenPage, "button Ready") },
	} {
		t.Run(browser, func(t *testing.T) {
			t.Parallel()
			f := open(newRealWorld(t))
			for id, name := range map[string]string{"clear": "Clear", "clipped": "Clipped", "zero": "Zero", "away": "Away", "beside": "Beside", "radio": "Radio"} {
				f.done("ax_click", f.on(name))
				f.comes(id, "true")
			}
			f.done("ax_set_value", f.set("Clipped", "false"))
			f.comes("clipped", "false")
			for id, name := range map[string]string{"harbour": "Harbour", "plain": "Plain words", "overhead": "Overhead", "first": "First", "second": "Second", "window": "Window"} {
				f.done("ax_set_value", f.set(name, "in "+id))
				f.comes(id, "in "+id)
			}
			f.done("ax_set_value", f.set("Celled", "7"))
			f.comes("celled", "7")
			for _, name := range []string{"Caption", "Title", "Afterwards"} {
				_, err := f.do(f.Context(), "ax_set_value", f.set(name, "no"))
				assert.Assert(t, err != nil, "%s was taken for a field's label: %v", name, err)
				assert.Equal(t, err.Delivery, aai.NotDelivered, "%s %v", name, err)
			}
			for _, id := range []string{"after", "captioned", "alone"} {
				got := f.holds(id)
				assert.Check(t, got == "" || got == "false", "%s holds %q", id, got)
			}
		})
	}
}
