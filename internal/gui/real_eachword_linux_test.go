package gui_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"golang.org/x/net/websocket"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// drawnPage is a random page. Each of its words occurs once, and may be the beginning or end of
// others.
type drawnPage struct {
	*rand.Rand
	words int
}

// text returns at most that many words, some of them in inline elements.
func (d *drawnPage) text(most int) string {
	var b strings.Builder
	for range 1 + d.IntN(most) {
		d.words++
		word := strings.Map(func(digit rune) rune { return rune("abcdfghjkl"[digit-'0']) }, strconv.Itoa(d.words))
		if d.IntN(4) == 0 {
			tag := []string{"em", "strong", "code", "mark", "del", "ins", "time", "b", "span", "a", `a href="#"`, "sub"}[d.IntN(12)]
			word = fmt.Sprintf("<%s%s>%s</%s>", tag, d.listener(), word, strings.Fields(tag)[0])
		}
		b.WriteString(word + []string{" ", "\n", ", "}[d.IntN(3)])
	}
	return b.String()
}

// listener returns a click handler attribute for a quarter of the elements.
func (d *drawnPage) listener() string {
	return []string{"", "", "", " data-click"}[d.IntN(4)]
}

// part returns an element with its descendants.
func (d *drawnPage) part(depth int) string {
	most := []int{3, 6, 12, 70}[d.IntN(4)]
	in := func(tag string, body string) string {
		return "<" + tag + d.listener() + ">" + body + "</" + strings.Fields(tag)[0] + ">"
	}
	switch kind := d.IntN(10); {
	case kind < 4 && depth > 0:
		return in([]string{"div", "section", "article", "main", `div role="group"`, "blockquote"}[d.IntN(6)], d.parts(depth-1))
	case kind == 4 && depth > 0:
		return in("ul", in("li", d.parts(depth-1))+in("li", d.text(most))+in("li", d.text(3)+" "+in("button", d.text(2))))
	case kind == 5:
		return "<table>" + in("tr", in("th", d.text(3))+in("th", d.text(2))) + in("tr", in("td", d.text(most))+in("td", d.text(2)+" "+in("button", d.text(1)))) + "</table>"
	case kind == 6:
		return in([]string{"h1", "h2", "h3"}[d.IntN(3)], d.text(4))
	case kind == 7:
		return " " + in("button", d.text(most)) + " "
	case kind == 8:
		return in("div", d.text(most))
	}
	return in("p", d.text(most))
}

func (d *drawnPage) parts(depth int) string {
	var b strings.Builder
	for range 1 + d.IntN(4) {
		b.WriteString(d.part(depth))
	}
	return b.String()
}

// drawnScript shows the server's current page, and reports its readable text.
const drawnScript = `<!DOCTYPE html><html lang="en"><title>Drawn</title><body><div id="root"></div><script>
let last = "", click = () => {};
setInterval(async () => {
	const page = await (await fetch("/drawn")).text();
	if (page === last) return;
	last = page;
	root.innerHTML = page;
	for (const e of [document.body, root]) e.removeEventListener("click", click);
	for (const e of document.querySelectorAll("[data-click]")) e.addEventListener("click", click);
	if (page.includes("<!-- on body -->")) document.body.addEventListener("click", click);
	if (page.includes("<!-- on root -->")) root.addEventListener("click", click);
	document.title = page.match(/<!-- (Drawn \d+) -->/)[1];
	await fetch("/read", {method: "POST", body: JSON.stringify({title: document.title, text: document.body.innerText,
		texts: [...document.querySelectorAll("p, h1, h2, h3, th, td")].map(e => e.innerText)})});
}, 50);
</script>`

// readPage is a page's own report of its readable text.
type readPage struct {
	Title, Text string
	Texts       []string // of its paragraphs, headings and cells
}

var (
	wordForm = regexp.MustCompile(`[a-z]+`)
	cutForm  = regexp.MustCompile(`…" \[(e\d+)\]|\[(e\d+)\] "[^"]*…"`)
)

// TestRealEachWord: for random pages, each readable word is in the tree, or in an element with a
// truncated text; and the value of a text is its readable text. AAI_ROUNDS and AAI_SEED set the
// number of pages and the first one.
func TestRealEachWord(t *testing.T) {
	t.Parallel()
	rounds, _ := strconv.Atoi(cmp.Or(os.Getenv("AAI_ROUNDS"), "12"))
	seed, _ := strconv.ParseUint(os.Getenv("AAI_SEED"), 10, 64)
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	w := newRealWorld(t)
	var page atomic.Pointer[string]
	var read atomic.Pointer[readPage]
	page.Store(new(string))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /drawn", func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write([]byte(*page.Load())) })
	mux.HandleFunc("POST /read", func(_ http.ResponseWriter, r *http.Request) {
		var now readPage
		if json.NewDecoder(r.Body).Decode(&now) == nil {
			read.Store(&now)
		}
	})
	mux.HandleFunc("GET /", func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write([]byte(drawnScript)) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	draw := func(seed uint64) string {
		d := &drawnPage{Rand: rand.New(rand.NewPCG(seed, 0))}
		title := fmt.Sprintf("Drawn %d", seed)
		html := fmt.Sprintf("<!-- %s -->", title) + []string{"", "<!-- on body -->", "<!-- on root -->"}[d.IntN(3)] + d.parts(3)
		page.Store(&html)
		return title
	}
	title := draw(seed)
	app := w.process(w.browse(server.Listener.Addr().String(), "--app="+server.URL, "--disable-backgrounding-occluded-windows"))
	for round := range rounds {
		if round > 0 {
			seed++
			title = draw(seed)
		}
		w.eventually("the page is read", func() bool { return read.Load() != nil && read.Load().Title == title })
		w.awaitElement(app, fmt.Sprintf("role:document and name:%q", title))
		var wrong []string
		for end := time.Now().Add(completePatience); ; time.Sleep(lookAgain) { // it may still be drawing
			if wrong = w.eachWord(app, read.Load()); len(wrong) == 0 || time.Now().After(end) {
				break
			}
		}
		if len(wrong) > 0 {
			t.Fatalf("AAI_SEED=%d:\n%s\n%s", seed, strings.Join(wrong, "\n"), *page.Load())
		}
	}
}

// eachWord returns the differences between the tree and the page's own report.
func (w *realWorld) eachWord(app string, page *readPage) (wrong []string) {
	w.Helper()
	told := w.allOf(app)
	words := wordForm.FindAllString(told, -1)
	missing := slices.DeleteFunc(wordForm.FindAllString(page.Text, -1), func(word string) bool { return slices.Contains(words, word) })
	if len(missing) > 0 {
		wrong = append(wrong, fmt.Sprintf("not told: %q in\n%s", missing, told))
	}
	shot, err := w.backend.Tree.Snapshot(w.Context(), w.appOf(app))
	assert.NilError(w, err)
	unspaced := func(text string) string { return strings.Join(strings.Fields(text), "") }
	var readable []string
	for _, text := range page.Texts {
		readable = append(readable, unspaced(text))
	}
	for i := range shot.Elements {
		e := &shot.Elements[i]
		if e.Role != desktop.Paragraph && e.Role != desktop.Heading && e.Role != desktop.Cell && e.Role != desktop.ColumnHeader {
			continue
		}
		now, err := w.backend.Tree.Read(w.Context(), shot.App, e.ID)
		if holds := fieldtext.FullText(&now); err != nil || !slices.Contains(readable, unspaced(holds)) {
			wrong = append(wrong, fmt.Sprintf("%s holds %q, which is read nowhere: %v", e.Role, holds, err))
		}
	}
	return wrong
}

// allOf returns all pages of the program's tree, with the full text of truncated elements, or those
// before the tree changed too much for the next page.
func (w *realWorld) allOf(app string) (told string) {
	w.Helper()
	p := params{"app": app, "budget_tokens": 50000}
	for {
		a, err := w.do(w.Context(), "ax_get_tree", p)
		switch {
		case err != nil && p["more"] != nil:
			return told
		case err != nil:
			w.Fatal(err)
		}
		told += a.Text
		for _, cut := range cutForm.FindAllStringSubmatch(a.Text, -1) {
			if a, err := w.do(w.Context(), "ax_get_value", params{"app": app, "query": cut[1] + cut[2]}); err == nil { // otherwise it is gone
				told += a.Text + "\n"
			}
		}
		if p["more"], _ = at(asJSON(w.T, a.Data), "more").(string); p["more"] == "" {
			return told
		}
	}
}

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
		w := parallelWorld(t)
		f := w.formIn(wordsPage, "button Ready", func(address, host string) *linuxtest.App {
			return w.browse(host, "--app="+address, "--disable-backgrounding-occluded-windows", "--remote-debugging-port=0", "--remote-allow-origins=*")
		})
		f.tellsWords(f.chromiumWords())
	})
	t.Run("firefox", func(t *testing.T) {
		w := parallelWorld(t)
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
