package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/html"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// placeholder matches a placeholder of a sentence, in the doctor's source and in the table.
var placeholder = regexp.MustCompile(`%[a-z]|\{\d\}`)

// TestDoctorTextsAreTranslated checks that the sentences of the doctor and of integrations are in the
// table of every other language, with the same placeholders, and that the table has no unused ones.
func TestDoctorTextsAreTranslated(t *testing.T) {
	b, err := os.ReadFile("words/findings.zh.json")
	assert.NilError(t, err)
	var table map[string]string
	assert.NilError(t, json.Unmarshal(b, &table))
	places := func(text string) []string { return slices.Sorted(slices.Values(placeholder.FindAllString(text, -1))) }
	for english, other := range table {
		assert.Check(t, slices.Equal(places(english), places(other)) || strings.HasPrefix(english, "1 "), "%q and %q have not the same places", english, other)
	}
	said, ofWays := doctorTexts(t), integrationTexts(t)
	assert.Assert(t, len(said) >= 100, "only %d and %d sentences were found in the source", len(said), len(ofWays))
	assert.Assert(t, len(ofWays) >= 30, "only %d and %d sentences were found in the source", len(said), len(ofWays))
	maps.Copy(said, ofWays)
	unsaid := make(map[string]bool)
	for english := range table {
		unsaid[english] = true
	}
	for text, at := range said {
		parts := placeholder.Split(text, -1)
		known := false
		for english := range table {
			if slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(english, part) }) {
				continue
			}
			known = true
			delete(unsaid, english)
		}
		assert.Check(t, known, "%s: nobody knows in Chinese: %q", at, text)
	}
	if len(unsaid) > 0 {
		t.Errorf("nobody says %q", slices.Sorted(maps.Keys(unsaid)))
	}
}

// doctorTexts returns the literal texts of findings in the doctor's source, with their positions.
func doctorTexts(t *testing.T) textPositions {
	t.Helper()
	said := make(textPositions)
	walkSource(t, "../../doctor/*.go", said.look)
	return said
}

// integrationTexts returns the texts of several words in the source of integrations, except for log
// messages and internal ones.
func integrationTexts(t *testing.T) textPositions {
	t.Helper()
	said := make(textPositions)
	collect := func(n ast.Node, set *token.FileSet) {
		literal, is := n.(*ast.BasicLit)
		if !is || literal.Kind != token.STRING {
			return
		}
		text, err := strconv.Unquote(literal.Value)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) >= 10 && strings.Contains(text, " ") && text != "it refused" {
			said[text] = set.Position(n.Pos()).String()
		}
	}
	for _, file := range []string{"busowner", "busscan", "comclasses", "entries", "integrationkinds", "mcpservers", "scanner", "sourcechanges", "systembus", "tray"} {
		walkSource(t, "../../catalog/discovery/"+file+".go", collect)
	}
	return said
}

// walkSource visits all nodes of the source in files that are no tests.
func walkSource(t *testing.T, pattern string, look func(ast.Node, *token.FileSet)) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	assert.NilError(t, err)
	set := token.NewFileSet()
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(set, file, nil, 0)
		assert.NilError(t, err)
		ast.Inspect(parsed, func(n ast.Node) bool { look(n, set); return true })
	}
}

// textPositions maps texts to their positions.
type textPositions map[string]string

// look collects the texts of findings from a node.
func (s textPositions) look(n ast.Node, set *token.FileSet) {
	switch of := n.(type) {
	case *ast.CallExpr:
		if generic, is := of.Fun.(*ast.IndexExpr); is && nameOf(generic.X) == "ask" {
			s.take(of.Args[len(of.Args)-1], set)
		}
		for name, most := range map[string]int{"setOK": 1, "setSkipped": 1, "setCallError": 1, "setNote": 2, "setBroken": 2, "wrongClock": 2, "wrongFile": 2, "setRecordError": 2} {
			if calledName(of, name) {
				for _, argument := range of.Args[:min(most, len(of.Args))] {
					s.take(argument, set)
				}
			}
		}
	case *ast.AssignStmt:
		for i, to := range of.Lhs {
			if i < len(of.Rhs) && slices.Contains([]string{"Did", "Advice", "Saw", "saw", "advice", "whom", "Details", "lines"}, nameOf(to)) {
				s.take(of.Rhs[i], set)
			}
		}
	case *ast.ValueSpec:
		if slices.Contains([]string{"look", "needsClock"}, of.Names[0].Name) && len(of.Values) == 1 {
			s.take(of.Values[0], set)
		}
	case *ast.KeyValueExpr:
		if slices.Contains([]string{"Saw", "Advice"}, nameOf(of.Key)) {
			s.take(of.Value, set)
		}
	case *ast.CompositeLit: // a check
		file := set.Position(of.Pos()).Filename
		if len(of.Elts) == 4 && (nameOf(of.Type) == "examination" || of.Type == nil && (strings.Contains(file, "desktop_linux") || strings.Contains(file, "gatewaycheck"))) {
			s.take(of.Elts[1], set)
			s.take(of.Elts[2], set)
		}
	}
}

// take collects the literal texts of an expression that are no paths and no commands.
func (s textPositions) take(e ast.Expr, set *token.FileSet) {
	ast.Inspect(e, func(n ast.Node) bool {
		if of, is := n.(*ast.CallExpr); is && !calledName(of, "Sprintf", "counted", "append", "TrimPrefix") {
			return false
		}
		literal, is := n.(*ast.BasicLit)
		if !is || literal.Kind != token.STRING {
			return true
		}
		if text, err := strconv.Unquote(literal.Value); err == nil && strings.ContainsFunc(placeholder.ReplaceAllString(text, ""), unicode.IsLetter) {
			s[text] = set.Position(literal.Pos()).String()
		}
		return true
	})
}

func nameOf(e ast.Expr) string {
	switch of := e.(type) {
	case *ast.Ident:
		return of.Name
	case *ast.SelectorExpr:
		return of.Sel.Name
	}
	return ""
}

func calledName(of *ast.CallExpr, names ...string) bool {
	return slices.Contains(names, nameOf(of.Fun))
}

// TestTheDoctorSpeaksChinese checks that findings are in Chinese for Chinese readers, and that
// untranslated parts are marked as English.
func TestTheDoctorSpeaksChinese(t *testing.T) {
	w := newWorld(t)
	w.enter(t)
	w.post(t, "/doctor/run", w.form(t, "/doctor"))
	got := w.in(t, "zh", "/doctor")
	for got.status == http.StatusOK && !strings.Contains(got.body, "<table") {
		got = w.in(t, "zh", "/doctor")
	}
	expectPage(t, got, ">配置<", ">时钟<", "可能是正确的", "网关无法启动，见“配置”", `<span lang="en"><bdi class="theirs">it is a test</bdi></span>`, "!clock", "!is plausible", "!the gateway does not start",
		`读取了 <bdi class="theirs">~/.aai/config.json</bdi>。`)
	expectPage(t, w.in(t, "en", "/doctor"), "is plausible", ">clock<")
}

// noSites finds no app on the web.
type noSites struct{}

func (noSites) Discover(context.Context, string) (*aai.App, error) {
	return nil, aai.Errorf(aai.AppNotFound, "no site")
}
func (noSites) AddName(string, string) error { return nil }

// integrationsOfComputer returns the integrations of a computer, with the texts of the package that finds them.
func integrationsOfComputer(context.Context) (any, error) {
	way := func(kind, app, state, gains, get string) map[string]any {
		return map[string]any{"id": kind + " " + app, "kind": kind, "app": app, "state": state, "gains": gains, "get": get}
	}
	const never = "None: the gateway never calls it, as it could run programs, read passwords or control the screen."
	return map[string]any{"ways": []any{
		way("mpris", "org.mpris.MediaPlayer2.vlc", "running", "plays, pauses, skips and reports the track",
			"aai-gateway generate org.mpris.MediaPlayer2.vlc makes tools of it, such as for org.mpris.MediaPlayer2.Player.PlayPause at /org/mpris/MediaPlayer2."),
		way("gtk-actions", "org.gnome.TextEditor", "running", "the app's own actions, without its window: 12 actions, such as new-window, <b>, quit", never),
		way("desktop-actions", "editor", "installed", "starts Editor in one of several ways: New Window", never),
		way("source", "com.example.shop", "installed", "the source of com.example.shop: openapi:/home/ann/shop.yaml",
			"Its source has changed: aai-gateway import openapi /home/ann/shop.yaml --id com.example.shop shows its new descriptor."),
		way("mcp-server", "files", "configured", "the tools of an MCP server (stdio) that Claude Desktop starts", "Words that nobody knows."),
	}, "silent": []any{"the desktop entries", "org.example.Silent"}, "notes": []any{"the session bus was not looked at: no such file"}}, nil
}

// TestIntegrationsInChinese checks that integrations are described in Chinese, except for names.
func TestIntegrationsInChinese(t *testing.T) {
	w := newWorld(t)
	w.enter(t)
	expectPage(t, w.in(t, "zh", "/found"), "播放、暂停、切换，并说明正在播放什么", ">正在运行<", ">已安装<",
		`运行 aai-gateway generate <bdi class="theirs">org.mpris.MediaPlayer2.vlc</bdi> 可把它做成工具，例如用于 <bdi class="theirs">/org/mpris/MediaPlayer2</bdi> 的 <bdi class="theirs">org.mpris.MediaPlayer2.Player.PlayPause</bdi>。`,
		`应用自己的操作，不经过窗口：<bdi class="theirs">12</bdi> 个操作，例如 <span lang="en"><bdi class="theirs">new-window, &lt;b&gt;, quit</bdi></span>`,
		`以几种方式之一启动 <bdi class="theirs">Editor</bdi>：<span lang="en"><bdi class="theirs">New Window</bdi></span>`,
		`由 <span lang="en"><bdi class="theirs">Claude Desktop</bdi></span> 启动的 MCP 服务器（<bdi class="theirs">stdio</bdi>）的工具`,
		`<span lang="en"><bdi class="theirs">Words that nobody knows.</bdi></span>`, "没有回答： 桌面项", `没有回答： <bdi class="theirs">org.example.Silent`, "没有查看会话总线：",
		"它的来源现在的内容已经不同：运行", "的来源：", "!the app's own", "!says something else", "!actions, such as", "!running")
	expectPage(t, w.in(t, "zh", "/found?q=操作"), "org.gnome.TextEditor", "!org.mpris")
	expectPage(t, w.in(t, "en", "/found"), "the app&#39;s own actions, without its window: 12 actions, such as new-window, &lt;b&gt;, quit", ">runs<", "Did not answer:")
	expectPage(t, w.in(t, "en", "/found?q=editor"), "org.gnome.TextEditor", "!org.mpris")
}

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
