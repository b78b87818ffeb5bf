package gui_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// TestRealFarCells: cells of a sheet are found by name, filled and read in the background, also
// beyond the first hundred, which alone are read, and out of view. The same holds for several
// blocks.
func TestRealFarCells(t *testing.T) {
	w := parallelWorld(t)
	app := w.process(w.Calc(t))
	w.awaitElement(app, "Bold")
	p := w.somebody()
	holds := func(cell, want string) {
		t.Helper()
		a := w.ok("ax_get_value", params{"app": app, "query": "cell " + cell})
		if w.says(a.Text, `cell "`+cell+`"`); a.data["value"] != want {
			t.Errorf("%s holds %q; want %q", cell, a.data["value"], want)
		}
	}
	for _, cell := range []string{"A1", "A8", "A20", "A500", "AB200000"} {
		w.done("ax_set_value", params{"app": app, "query": "cell " + cell, "value": "x" + cell})
		holds(cell, "x"+cell)
	}
	for _, c := range []struct{ query, value string }{{"cell A2", "a\tb\n1\t2"}, {"cell A40", "c\t=40+1\n3\t4\n5\t6\n7\t8\n9\t=40+2"}} {
		w.done("ax_set_value", params{"app": app, "query": c.query, "value": c.value})
	}
	a := w.ok("ax_fill", params{"app": app, "fields": []any{map[string]any{"query": "cell A4", "value": "e\tf\ng\th"}, map[string]any{"query": "cell C40", "value": "z"}}})
	w.says(a.Text, "Filled 2 of 2")
	a = w.ok("ax_fill", params{"app": app, "fields": fields("A600", "m", "cell C41", "n", "cell AC601", "o", "D42", "p")})
	w.says(a.Text, "Filled 4 of 4")
	for cell, want := range map[string]string{"A1": "xA1", "B3": "2", "A5": "g", "B5": "h", "A8": "xA8", "B40": "41", "B44": "42", "C40": "z", "A500": "xA500", "A600": "m", "C41": "n", "AC601": "o", "D42": "p"} {
		holds(cell, want)
	}
	w.done("ax_set_value", params{"app": app, "query": "cell E46", "value": "p\t\tq\n\t\tr\ts"}) // in the columns that it names, after any other input
	w.done("ax_set_value", params{"app": app, "query": "cell A8", "value": ""})
	for cell, want := range map[string]string{"E46": "p", "G46": "q", "E47": "", "G47": "r", "H47": "s", "A8": ""} {
		holds(cell, want)
	}
	w.done("ax_set_value", params{"app": app, "query": "cell A46", "value": "42"})
	for cell, formula := range map[string]string{"A46": "=40+2", "A47": "=1/0"} { // the result is the same, or an error
		_, err := w.do(w.Context(), "ax_set_value", params{"app": app, "query": "cell " + cell, "value": formula})
		assert.Check(t, err == nil, "%s is not set to %s: %v", cell, formula, err)
	}
	holds("A47", "=1/0") // LibreOffice does not report the text of this error
	w.says(w.ok("ax_get_tree", params{"app": app, "root": w.ref(app, "cell A47"), "budget_tokens": 2000}).Text, "=1/0")
	w.done("ax_scroll", params{"app": app, "query": "cell A1000", "to_view": true})
	w.says(w.ok("ax_find", params{"app": app, "query": "cell A1000"}).Text, `cell "A1000"`)
	w.says(w.refused("ELEMENT_NOT_FOUND", "ax_find", params{"app": app, "query": "cell XFE1"}).Message, "nothing in")
	w.ok("ax_key_press", params{"app": app, "query": "cell AD700", "key": "Down", "modifiers": []any{"ctrl"}})
	w.awaitElement(app, "AD1048570") // an index there exceeds its type
	w.ok("ax_key_press", params{"app": app, "query": "cell A49", "key": "7"})
	a = w.ok("ax_get_value", params{"app": app, "query": "group \"Cell A49\""})
	assert.Check(t, is.Equal(a.data["value"], "7"), "while it is written in A49 holds %v; want 7", a.data["value"])
	holds("A5", "g")
	w.says(w.ok("ax_type", params{"app": app, "query": "cell A50", "text": "8"}).Text, "The cell is being edited: return ends that.")
	p.undisturbed(t)
}

// letter is a text of one word that LibreOffice opens.
const letter = `<?xml version="1.0" encoding="UTF-8"?><office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.text"><office:body><office:text><text:p>Hello</text:p></office:text></office:body></office:document>`

// writer opens the file in LibreOffice, with a separate profile.
func (w *realWorld) writer(file string) (app string) {
	w.Helper()
	app = w.process(w.LaunchEnv(w.T, []string{"SAL_USE_VCLPLUGIN=gtk3"}, "soffice", "--norestore", "--nologo", "--nofirststartwizard",
		"-env:UserInstallation=file://"+w.Path("tmp", "libreoffice"), file))
	w.eventually("the text is there", func() bool {
		shown := w.shown(app)
		return strings.Contains(shown, `"Hello"`) && strings.Contains(shown, "Font Size")
	})
	return app
}

// TestRealToolbarFields: LibreOffice's tool bar boxes for a font, its size and a style are set by
// name in the background, and the selected text has them. The saved file confirms it.
func TestRealToolbarFields(t *testing.T) {
	w := parallelWorld(t)
	file := filepath.Join(t.TempDir(), "a.fodt")
	assert.NilError(t, os.WriteFile(file, []byte(letter), 0o600))
	app := w.writer(file)
	p := w.somebody()
	w.done("ax_key_press", params{"app": app, "key": "a", "modifiers": []string{"ctrl"}})
	w.done("ax_set_value", params{"app": app, "query": "Paragraph Style", "value": "Heading 1"})
	a := w.ok("ax_fill", params{"app": app, "fields": fields("Font Name", "DejaVu Sans Mono", "Font Size", "31")})
	w.says(a.Text, "Filled 2 of 2")
	assert.Check(t, is.Contains(w.ok("ax_set_value", params{"app": app, "query": "Font Size", "value": "31"}).Text, "has this value already"))
	w.says(w.refused(aai.InvalidParams, "ax_set_value", params{"app": app, "query": "Font Size", "value": "large"}).Message, `got "large"`)
	w.ok("ax_key_press", params{"app": app, "key": "s", "modifiers": []string{"ctrl"}})
	w.eventually("the file has the font, its size and the style", func() bool {
		text, err := os.ReadFile(file)
		saved := string(text)
		return err == nil && strings.Contains(saved, `fo:font-size="31pt"`) && strings.Contains(saved, `"DejaVu Sans Mono"`) && strings.Contains(saved, `Heading_20_1`)
	})
	// It takes the maximum, and still shows the text as set.
	a = w.ok("ax_set_value", params{"app": app, "query": "Font Size", "value": "5000"})
	assert.Check(t, is.Equal(at(a.data, "verified"), false), a.data)
	assert.Check(t, is.Contains(a.Warning, "look at the effect"), a.data)
	p.works(t)
}

// TestRealOffice: LibreOffice's fields have the names of their labels, and its menu bar, which it
// reports twice, appears once.
func TestRealOffice(t *testing.T) {
	w := parallelWorld(t)
	_, pid := w.spreadsheet()
	app := strconv.Itoa(pid)
	w.awaitElement(app, "cell A1")
	p := w.somebody()
	shown := w.shown(app)
	assert.Check(t, is.Equal(strings.Count(shown, "menubar"), 1), shown)
	assert.Check(t, is.Equal(strings.Count(shown, "File"), 1), shown)
	w.ok("ax_click", params{"app": app, "query": `button "Find and Replace"`})
	w.awaitElement(app, "textbox Find:")
	for _, c := range []struct{ query, value string }{{"textbox Find:", "abc"}, {`textbox "Replace:"`, "abcd"}, {"textbox Find", "Grüße"}} {
		w.done("ax_set_value", params{"app": app, "query": c.query, "value": c.value})
		assert.Check(t, is.Equal(w.ok("ax_get_value", params{"app": app, "query": c.query}).data["value"], c.value), c.query)
	}
	shown = w.shown(app)
	assert.Assert(t, !strings.Contains(shown, `label "Find:"`), "the words of a field are told twice, or others not at all:\n%s", shown)
	assert.Assert(t, is.Contains(shown, `label "Direction:"`))
	p.undisturbed(t)
}

// TestRealJava operates a window of Swing. Without the bridge to the accessibility bus the error says which options
// load it, and with them the same program is operated.
func TestRealJava(t *testing.T) {
	w := parallelWorld(t)
	source, file := programFile(t, "Order.java"), filepath.Join(w.Home, "saved")
	bare := w.Launch(t, "java", source, file)
	_ = w.windowCalled("Order")
	e := w.refused(aai.AutomationNotSupported, "ax_get_tree", params{"app": "Order"})
	w.says(e.Hint, "program of Java", `JAVA_TOOL_OPTIONS="`+desktop.JavaBridgeOptions+`"`, "ax_screenshot")
	bare.Kill(t)

	app := w.process(w.LaunchEnv(t, []string{"JAVA_TOOL_OPTIONS=" + desktop.JavaBridgeOptions}, "java", source, file))
	w.awaitElement(app, "button Save")
	w.done("ax_set_value", params{"app": app, "query": "textbox Name", "value": "Ann"})
	w.says(w.done("ax_click", params{"app": app, "query": "Save"}).Text, `label "ready" → "saved Ann"`)
	text, err := os.ReadFile(file)
	assert.NilError(t, err, "%q", text)
	assert.Equal(t, strings.TrimSpace(string(text)), "Ann", "%q", text)
}

// TestRealSaveDialogQt: the reply says that a selected file keeps its claim when another name is typed.
func TestRealSaveDialogQt(t *testing.T) {
	w := parallelWorld(t)
	folder := filepath.Join(w.Home, "pictures")
	assert.NilError(t, os.Mkdir(folder, 0o700))
	assert.NilError(t, os.WriteFile(filepath.Join(folder, "p.png"), []byte("x"), 0o600))
	app := w.python("savedialog.py", `"p.png"`, folder)
	a := w.ok("ax_type", params{"app": app, "query": "File name:", "text": "q.png", "clear_first": true})
	w.says(a.Warning, `"p.png"`, "still selected")
}
