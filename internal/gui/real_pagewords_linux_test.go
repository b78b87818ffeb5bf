package gui_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"golang.org/x/net/websocket"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// wordsPage has words in containers of all kinds, some of them with a name of their own. Each word
// of at least five letters occurs once.
const wordsPage = `<style>.q::before { content: "prefixed " }</style>
<p class="q">middlemost</p><table><caption>captioned</caption><tr><th>headone<th>headtwo<tr><td>plaincell <small>smallcell</small><td><p>paracell</p>loosecell</table>
<dl><dt>termword<dd>meaning <span>innermost</span></dl><details><summary>closedone</summary><p>unseenword</p></details><details open><summary>opened</summary>looseopen<p>paraopen</p></details>
<fieldset><legend>legendary</legend>loosefield</fieldset><section aria-label="sectioned">sectionloose <p>sectionpara</p> sectionlast</section><nav aria-label="navigated">navloose <a href="#">navlink</a></nav>
<div title="tooltipped">insidetip</div><div aria-label="labelled">insidelabel <b>boldlabel</b></div><ul aria-label="listname">looselist<li>itemword</ul><h2 aria-label="headname">headtext</h2>
<article aria-label="articled">articletext</article><figure aria-label="figured">figuretext</figure><div role="toolbar" aria-label="toolname">tooltext</div><div role="status" aria-label="statused">statustext</div>
<label>Interrupted <input id="interrupted"></label><dialog id="ask" aria-label="Asked"><button onclick="ask.close(); count.value = 'answered'">Understood</button></dialog>
<div data-click>clickable <button>pressable</button> afterwards</div>
<div style="height: 900px"></div><div role="menu" aria-label="menuname"><div role="menuitem" tabindex="0" onclick="count.value = 'menu'">menuchoice</div></div><footer aria-label="footname">foottext</footer>
<input type="hidden" id="count">
<script>document.querySelector("[data-click]").onclick = () => {}
interrupted.oninput = () => { if (interrupted.value.length === 4) ask.showModal(); };</script>`

// TestRealPageWords: each word of a browser's own accessibility tree is in the outline, and values of
// containers have their words. Items of a menu out of view can be clicked. A dialog that opens while
// a text is typed gets none of its spaces.
func TestRealPageWords(t *testing.T) {
	t.Parallel()
	t.Run("chromium", func(t *testing.T) {
		t.Parallel()
		w := newRealWorld(t)
		f := w.formIn(wordsPage, "button Ready", func(address, host string) *linuxtest.App {
			return w.browse(host, "--app="+address, "--disable-backgrounding-occluded-windows", "--remote-debugging-port=0", "--remote-allow-origins=*")
		})
		f.tellsWords(f.chromiumWords())
	})
	t.Run("firefox", func(t *testing.T) {
		t.Parallel()
		w := newRealWorld(t)
		f := w.firefoxForm(wordsPage, "button Ready")
		f.tellsWords(f.atspiWords())
	})
}

// tellsWords checks that the outline has the words, clicks the menu's item, and types.
func (f *webForm) tellsWords(text string) {
	f.Helper()
	own := wordForm.FindAllString(wordsPage, -1) // of the page, not of the browser
	words := slices.DeleteFunc(wordForm.FindAllString(text, -1), func(word string) bool { return len(word) < 5 || !slices.Contains(own, word) })
	assert.Assert(f, len(words) >= 45, "only %d words in the browser's tree: %s", len(words), text)
	var missing []string
	told := ""
	for end := time.Now().Add(completePatience); ; time.Sleep(lookAgain) {
		told = f.allOf(f.app)
		missing = slices.DeleteFunc(slices.Clone(words), func(word string) bool { return strings.Contains(told, word) })
		if len(missing) == 0 || time.Now().After(end) {
			break
		}
	}
	assert.Check(f, is.Len(missing, 0), told)
	for query, words := range map[string][]string{"list listname": {"looselist", "itemword"}, "region sectioned": {"sectionloose", "sectionpara", "sectionlast"}, "link navlink": {"navlink"}} {
		value, _ := f.ok("ax_get_value", f.on(query)).data["value"].(string)
		f.says(value, words...)
	}
	f.ok("ax_click", f.on("menuitem menuchoice"))
	f.comes("count", "menu")
	e := f.refused(aai.AutomationFailed, "ax_type", params{"app": f.app, "query": "textbox Interrupted", "text": "vendor with some words"})
	if f.says(e.Message, `dialog "Asked"`); e.Delivery == aai.NotDelivered {
		f.Errorf("some of it was typed: %v", e)
	}
	f.ok("ax_find", f.on("button Understood"))
	f.comes("interrupted", "vend")
	assert.Check(f, is.Equal(f.holds("count"), "menu"), "a space pressed the dialog's button")
}

// atspiWords returns the names and texts of the program's visible elements in pages, as another
// D-Bus client reads them.
func (f *webForm) atspiWords() string {
	f.Helper()
	conn, err := dbus.Connect(f.A11yAddress(f.T))
	assert.NilError(f, err)
	defer func() { _ = conn.Close() }()
	sender, path, _ := strings.Cut(f.appOf(f.app).Key, "/")
	o := &eyes{t: f.T, conn: conn, sender: sender, veil: rawShowing}
	o.look(dbus.ObjectPath("/"+path), nil)
	var b strings.Builder
	for _, e := range o.things {
		if e.inPage() {
			text := ""
			o.ask(e.path, "Text.GetText", &text, int32(0), int32(-1))
			fmt.Fprintln(&b, e.name, text)
		}
	}
	return b.String()
}

// chromiumWords returns the names and values of the page's accessibility tree, as DevTools shows it.
func (f *webForm) chromiumWords() string {
	f.Helper()
	folders, err := filepath.Glob(filepath.Join(f.Home, "browser*", "DevToolsActivePort"))
	assert.NilError(f, err)
	assert.Assert(f, is.Len(folders, 1))
	port, err := os.ReadFile(folders[0])
	assert.NilError(f, err)
	host, _, _ := strings.Cut(string(port), "\n")
	reply, err := http.Get("http://127.0.0.1:" + host + "/json/list")
	assert.NilError(f, err)
	defer func() { _ = reply.Body.Close() }()
	var pages []struct {
		Type      string
		WebSocket string `json:"webSocketDebuggerUrl"`
	}
	assert.NilError(f, json.NewDecoder(reply.Body).Decode(&pages))
	pages = slices.DeleteFunc(pages, func(p struct {
		Type      string
		WebSocket string `json:"webSocketDebuggerUrl"`
	}) bool {
		return p.Type != "page"
	})
	assert.Assert(f, is.Len(pages, 1))
	conn, err := websocket.Dial(pages[0].WebSocket, "", "http://127.0.0.1")
	assert.NilError(f, err)
	defer func() { _ = conn.Close() }()
	assert.NilError(f, websocket.Message.Send(conn, `{"id": 1, "method": "Accessibility.getFullAXTree"}`))
	var tree struct {
		Result struct {
			Nodes []struct {
				Ignored     bool
				Name, Value struct{ Value any }
			}
		}
	}
	assert.NilError(f, websocket.JSON.Receive(conn, &tree))
	var b strings.Builder
	for _, node := range tree.Result.Nodes {
		if !node.Ignored {
			fmt.Fprintln(&b, node.Name.Value, node.Value.Value)
		}
	}
	return b.String()
}
