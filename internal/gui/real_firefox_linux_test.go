package gui_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// firefoxForm is webForm in Firefox.
func (w *realWorld) firefoxForm(body, ready string) *webForm {
	w.Helper()
	return w.formIn(body, ready, func(address, _ string) *linuxtest.App {
		return w.firefox(filepath.Join(w.Home, "firefox"), address)
	})
}

// firefox opens the address in a Firefox with the profile, which it makes if necessary.
func (w *realWorld) firefox(profile, address string) *linuxtest.App {
	w.Helper()
	assert.NilError(w, os.MkdirAll(profile, 0o700))
	prefs := `user_pref("browser.aboutwelcome.enabled", false);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("toolkit.telemetry.reportingpolicy.firstRun", false);
user_pref("app.normandy.enabled", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("termsofuse.bypassNotification", true);
user_pref("signon.rememberSignons", false);
`
	assert.NilError(w, os.WriteFile(filepath.Join(profile, "user.js"), []byte(prefs), 0o600))
	return w.Launch(w.T, "firefox-esr", "--no-remote", "--new-instance", "--profile", profile, address)
}

// TestRealFirefoxFields fills and presses all elements of a page in Firefox, in the background. The
// page reports its values and events.
func TestRealFirefoxFields(t *testing.T) {
	w := parallelWorld(t)
	f := w.firefoxForm(`<p><label>Alpha <input id="alpha" size="60"></label> <label>Beta <textarea id="beta"></textarea></label>
		<label>City <input id="city" value="Old Town"></label>
		<label>Multi <select multiple id="multi"><option>Ham<option>Corn</select></label> <label>Secret <input type="password" id="secret"></label> <label>Number <input type="number" id="number"></label>
		<label>Day <input type="date" id="day"></label> <label>Time <input type="time" id="time"></label>
		<label>When <input type="datetime-local" id="when"></label>
		<label>Colour <select id="colour"><option>Red<option selected>Green<option>Blue<option>White</select></label>
		<label>Volume <input type="range" id="volume" value="30"></label> <label><input type="checkbox" id="check"> Check</label>
		<label><input type="radio" name="r" id="one"> One</label> <label><input type="radio" name="r" id="two"> Two</label>
		<label>Count <input id="count" value="0" readonly></label> <input type="hidden" id="rich">
		<button onclick="count.value++">Press</button> <a href="#here" onclick="count.value = 'linked'">Link</a>
		<div contenteditable id="editor" role="textbox" aria-label="Editor" oninput="rich.value = this.innerText">text</div>`, "button Ready")
	p := w.somebody()
	for _, c := range []struct {
		tool      string
		p         params
		id, holds string
	}{
		{"ax_type", params{"query": "textbox Alpha", "text": "first"}, "alpha", "first"},
		{"ax_type", params{"query": "textbox Alpha", "text": " more"}, "alpha", "first more"},
		{"ax_type", params{"query": "textbox Alpha", "text": "Grüße, 你好", "clear_first": true}, "alpha", "Grüße, 你好"},
		{"ax_type", params{"query": "textbox Beta", "text": "one\ntwo"}, "beta", "one\ntwo"},
		{"ax_set_value", params{"query": "textbox Alpha", "value": "third"}, "alpha", "third"},
		{"ax_type", params{"query": "Secret", "text": "hidden"}, "secret", "hidden"},
		{"ax_type", params{"query": "textbox City", "text": " add"}, "city", "Old Town add"},
		{"ax_set_value", params{"query": "spinbutton Number", "value": "-5"}, "number", "-5"},
		{"ax_set_value", params{"query": "spinbutton Number", "value": "4"}, "number", "4"},
		{"ax_set_value", params{"query": "listbox Multi", "value": "Ham"}, "multi", "Ham"},
		{"ax_set_value", params{"query": "textbox Day", "value": "2026-03-04"}, "day", "2026-03-04"},
		{"ax_set_value", params{"query": "textbox Time", "value": "13:45"}, "time", "13:45"},
		{"ax_set_value", params{"query": "textbox Time", "value": "00:05"}, "time", "00:05"},
		{"ax_set_value", params{"query": "textbox When", "value": "2026-12-24T18:30"}, "when", "2026-12-24T18:30"},
		{"ax_set_value", params{"query": "combobox Colour", "value": "Blue"}, "colour", "Blue"},
		{"ax_set_value", params{"query": "combobox Colour", "value": "Red"}, "colour", "Red"},
		{"ax_set_value", params{"query": "slider Volume", "value": "70"}, "volume", "70"},
		{"ax_click", params{"query": "checkbox Check"}, "check", "true"},
		{"ax_click", params{"query": "radio One"}, "one", "true"},
		{"ax_set_value", params{"query": "radio Two", "value": "true"}, "two", "true"},
		{"ax_click", params{"query": "button Press"}, "count", "1"},
		{"ax_key_press", params{"query": "button Press", "key": "space"}, "count", "2"},
		{"ax_click", params{"query": "link Link"}, "count", "linked"},
		{"ax_type", params{"query": "textbox Editor", "text": "new text", "clear_first": true}, "rich", "new text"},
		{"ax_set_value", params{"query": "textbox Editor", "value": "all new\nsecond"}, "rich", "all new\nsecond"},
		{"ax_fill", params{"fields": []any{map[string]any{"query": "textbox Alpha", "value": "filled"}, map[string]any{"query": "combobox Colour", "value": "White"}}}, "colour", "White"},
	} {
		heard := f.holds("heard")
		c.p["app"] = f.app
		f.ok(c.tool, c.p)
		f.comes(c.id, c.holds)
		if c.id != "count" { // the page sets it itself
			f.eventually("the page hears of "+c.id, func() bool { return f.holds("heard") != heard })
		}
	}
	_ = f.refused(aai.ElementNotFound, "ax_type", params{"app": f.app, "text": "to whom it may concern"})
	p.undisturbed(t)
}

// TestRealFirefoxFirstLook: Firefox collects the names of its pages on the first request, and
// answers with nothing until it has them.
func TestRealFirefoxFirstLook(t *testing.T) {
	w := parallelWorld(t)
	f := w.firefoxForm(`<p>Words</p><div id="later"></div><button title="about" onclick="later.innerHTML = more.innerHTML">Press</button>
		<template id="more"><label>Alpha <input value="held"></label> <label>Amount <input type="number" value="5"></label>
		<label>Volume <input type="range" value="30"></label> <table><tr><td>Cell</table></template>`, "")
	w.says(w.ok("ax_get_tree", params{"app": f.app}).Text, `button "Ready" [e`, `"Words"`, `button "Press" [e`, `("about")`)
	w.ok("ax_click", f.on("button Press"))
	w.says(w.ok("ax_get_tree", params{"app": f.app}).Text, `textbox "Alpha" [e`, `"held"`, `spinbutton "Amount" [e`, `"5"`, `slider "Volume" [e`, `] 30 (0..100)`, "Cell")
}

// TestRealFirefoxPages: questions, dialogs and links of a page in Firefox.
func TestRealFirefoxPages(t *testing.T) {
	w := parallelWorld(t)
	f := w.firefoxForm(`<p><label>Alpha <input id="alpha"></label>
		<button onclick="alpha.value = 'said ' + prompt('Who?')">Ask</button> <button onclick="dlg.showModal()">Modal</button>
		<dialog id="dlg">Hi <button onclick="dlg.close()">Close it</button></dialog>
		<div>Own words <input></div><form>Words in it <span>Span</span><p>Other</p><b>Bold</b></form>
		<fieldset><legend>Legend</legend>Beside <input></fieldset><div style="width: 60px; height: 40px" onclick="alpha.value = 'tile'" class="trash"></div>
		<iframe srcdoc="<label>Inner <input oninput='parent.alpha.value = this.value'></label>"></iframe>`+
		strings.Repeat("<p>A paragraph of some words.</p>", 200)+`<button onclick="alpha.value = 'bottom'">Bottom</button> <a href="/next">Go next</a>`, "button Ready")
	p := w.somebody()
	w.says(w.ok("ax_get_tree", params{"app": f.app}).Text, `"Words in it Span Bold"`, `"Own words"`, `group "Legend"`, "Beside")
	w.ok("ax_click", f.on("button Ask"))
	w.awaitElement(f.app, "textbox Who?")
	w.says(w.refused(aai.AutomationFailed, "ax_click", f.on("button Modal")).Message, `is behind the modal dialog "The page at http://`+f.host)
	w.says(w.ok("ax_get_tree", params{"app": f.app}).Text, "dialog \"The page at http://"+f.host+" says:\"")
	w.ok("ax_type", params{"app": f.app, "query": "textbox Who?", "text": "me", "submit": true})
	f.comes("alpha", "said me")
	w.ok("ax_click", f.on("button Modal"))
	w.awaitElement(f.app, "button Close it")
	w.ok("ax_click", f.on("button Close it"))
	w.awaitElement(f.app, "button Modal")
	w.ok("ax_click", params{"app": f.app, "query": w.ref(f.app, "trash")})
	f.comes("alpha", "tile")
	w.ok("ax_type", params{"app": f.app, "query": "textbox Inner", "text": "inside"})
	f.comes("alpha", "inside")
	w.says(w.ok("ax_click", f.on("button Bottom")).Text, "was scrolled into it first")
	f.comes("alpha", "bottom")
	w.ok("ax_click", f.on("link Go next"))
	w.awaitElement(f.app, "button Go on")
	w.ok("ax_type", params{"app": f.app, "query": "combobox Search or enter address", "text": "http://" + f.host + "/", "clear_first": true, "submit": true})
	w.awaitElement(f.app, "button Bottom")
	p.undisturbed(t)
}

// TestRealFirefoxWords: no word of a paragraph with elements in its lines is lost, whatever title
// they have.
func TestRealFirefoxWords(t *testing.T) {
	w := parallelWorld(t)
	f := w.firefoxForm(`<p>Abbr: <abbr title="World Wide Web">WWW</abbr>; time <time datetime=2026>today</time>; <q>quoted</q>; <span title="tip">tipword</span>;
		<cite>cited</cite>; <dfn title=def>dfnword</dfn>; <var>x1</var>; <samp>out</samp>; <small>tiny</small>; <u>under</u>; <a href=#y>anchor</a> end.</p>
		<p>Read this: the <em>third</em>, the <strong>fourth</strong>, <code>code5</code>, <kbd>Ctrl+K</kbd>, H<sub>2</sub>O, <mark>marked</mark>.</p>`, "")
	tree := w.ok("ax_get_tree", params{"app": f.app}).Text
	for _, word := range strings.Fields("Abbr WWW today quoted tipword cited dfnword x1 out tiny under anchor end Read third fourth code5 Ctrl+K marked") {
		w.says(tree, word)
	}
}
