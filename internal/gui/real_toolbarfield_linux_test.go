package gui_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

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
	t.Parallel()
	w := newRealWorld(t)
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
