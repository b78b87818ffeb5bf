package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
)

// TestTitlesNameTheThing checks that a page about one thing names it, in its heading and its title, in
// both languages, and that a foreign name is text in both places.
func TestTitlesNameTheThing(t *testing.T) {
	letters := mail(tool("send", kinds, nil))
	letters.Name = "Letters"
	w := newWorld(t, letters)
	w.makeCall(t, "c1", "", claude(), aai.BuiltinApp, "guide", map[string]any{"app": "aai"})
	w.makeCall(t, "c2", "", claude(), "org.example.Nowhere", "evil<b>", nil)
	w.enter(t)
	for _, c := range []struct{ path, thing, en, zh string }{
		{"/app?app=org.test.Mail", "Letters", "App", "应用"},
		{"/tool?app=org.test.Mail&tool=send", "send", "Tool", "工具"},
		{"/settings/logLevel", "logLevel", "Setting", "设置"},
		{"/history/c1", "guide · aai", "Call", "调用"},
		{"/history/c2", `evil&lt;b&gt; · org.example.Nowhere`, "Call", "调用"},
	} {
		for lang, kind := range map[string]string{"en": c.en, "zh": c.zh} {
			expectPage(t, w.in(t, lang, c.path), "<title>"+c.thing+" · "+kind+" · AAI Gateway</title>",
				`<h1><span class="kind">`+kind+`</span> <bdi class="theirs">`+c.thing+"</bdi></h1>")
		}
	}
	expectPage(t, w.get(t, "/history"), "<title>History · AAI Gateway</title>", "<h1>History</h1>")
}

// in loads a page in a language.
func (v *visitor) in(t *testing.T, lang, path string) answer {
	t.Helper()
	r := v.request(t, http.MethodGet, path, nil)
	r.Header.Set("Accept-Language", lang)
	return v.do(t, r)
}

// TestSingularTexts checks that the page uses the singular for one thing, and that English has a
// singular text for every count.
func TestSingularTexts(t *testing.T) {
	w := newWorld(t, mail(tool("send", kinds, nil)))
	w.makeCall(t, "c1", "", claude(), "org.example.Nowhere", "x", nil)
	w.enter(t)
	expectPage(t, w.in(t, "en", "/history/charts?app=org.example.Nowhere"), "1 call, of which 1 failed.")
	expectPage(t, w.in(t, "zh", "/history/charts?app=org.example.Nowhere"), "1 次调用")
	expectPage(t, w.in(t, "en", "/apps?q=org.test.Mail"), "1 app fits.", "1 tool ·")
	expectPage(t, w.in(t, "zh", "/apps?q=org.test.Mail"), "1 个")
	expectPage(t, w.in(t, "en", "/apps"), "1 app.")
	expectPage(t, w.in(t, "en", "/apps?q=nosuch"), "0 apps fit.")
	files, err := filepath.Glob("words/*.en.json")
	assert.NilError(t, err, files)
	assert.Assert(t, len(files) != 0, files)
	counts := regexp.MustCompile(`^%d ([a-z]+s\b|more [a-z]|of %d [a-z])|[^.%] %d [a-z]+s\b`)
	for _, file := range files {
		b, err := os.ReadFile(file)
		assert.NilError(t, err)
		texts := make(map[string]string)
		assert.NilError(t, json.Unmarshal(b, &texts))
		for key, text := range texts {
			if strings.HasSuffix(key, ".one") || !counts.MatchString(text) || strings.Contains(text, "%d ms") {
				continue
			}
			one := texts[key+".one"]
			assert.Check(t, one != "", "%s: %s: %q has no text for one", file, key, text)
			assert.Check(t, !strings.Contains(fmt.Sprintf(one, 1), "1 of 1 are"), "%s: %s: %q has no text for one", file, key, text)
		}
	}
}
