package web_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestEnglishIsMarked checks that English text of the gateway or an app on a Chinese page is marked as
// English, for screen readers.
func TestEnglishIsMarked(t *testing.T) {
	disguised := mail(tool("warn", `{"type": "object", "properties": {}}`, func(context.Context, *aai.Call) (*aai.Result, error) {
		return &aai.Result{Text: "ok", Warning: "take care"}, nil
	}))
	disguised.Name = "P\u0430ypal" // with a letter of another script
	w := newWorld(t, disguised)
	w.enter(t)
	chinese := w.form(t, "/history")
	chinese.Set("language", "zh")
	w.post(t, "/language", chinese)
	soon := w.form(t, "/settings/defaultTimeout")
	soon.Set("value", "soon")
	refused := w.post(t, "/settings/defaultTimeout/set", soon)
	warned := w.submitTool(t, "/tool?app=org.test.Mail&tool=warn", nil)
	assert.NilError(t, os.MkdirAll(filepath.Join(w.state, ".aai"), 0o700))
	assert.NilError(t, os.WriteFile(filepath.Join(w.state, ".aai", "config.json"), []byte(`{"colour": 1, "logLevel": "loud"}`), 0o600))
	for english, got := range map[string]answer{
		"there is no page":    w.get(t, "/none"),
		"expected a number":   refused,
		"take care":           warned,
		"mixes":               w.get(t, "/app?app=org.test.Mail"),
		"there is no setting": w.get(t, "/settings"),
	} {
		found, unmarked := 0, ""
		root, err := html.Parse(strings.NewReader(got.body))
		assert.NilError(t, err)
		for n := range root.Descendants() {
			if n.Type != html.TextNode || !strings.Contains(n.Data, english) {
				continue
			}
			if found++; languageAt(n) != "en" {
				unmarked = n.Data
			}
		}
		assert.Check(t, found != 0, "%q is there %d times, unmarked as %q:\n%s", english, found, unmarked, got.body)
		assert.Check(t, is.Equal(unmarked, ""), "%q %d %s", english, found, got.body)
	}
}

// languageAt returns the language of a part of a document.
func languageAt(n *html.Node) string {
	for ; n != nil; n = n.Parent {
		for _, a := range n.Attr {
			if a.Key == "lang" {
				return a.Val
			}
		}
	}
	return ""
}
