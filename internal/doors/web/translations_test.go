package web_test

import (
	"context"
	"encoding/json"
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

	"gotest.tools/v3/assert"

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
	for _, file := range []string{"busowner", "busscan", "entries", "integrationkinds", "mcpservers", "scanner", "sourcechanges", "systembus", "tray"} {
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
		if len(of.Elts) == 3 && (nameOf(of.Type) == "examination" || of.Type == nil && (strings.Contains(file, "desktop_linux") || strings.Contains(file, "gatewaycheck"))) {
			s.take(of.Elts[1], set)
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
