//go:build linux

package atspi_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/linux/atspi"

	"github.com/google/go-cmp/cmp"
)

// untoldPage is a page that runs received scripts, and confirms them.
const untoldPage = `<!doctype html><html lang=en><title>Untold</title><body>
<button id=b>Press</button> <label for=i>Field</label> <input id=i value=v> <p id=p>Paragraph <a id=a href=x>link</a> after</p>
<div id=d>Some text</div> <input type=range id=r min=0 max=10 value=5 aria-label=range> <progress id=pr max=10 value=3></progress>
<div id=ce contenteditable>edit me</div>
<div id=sc style="height:60px;overflow:auto"><button>upper</button><div style="height:90px"></div><button>lower</button></div>
<ul id=ul><li>one<li id=li>two</ul> <select id=sel><option>first<option>second</select> <div style="height:2000px"></div><button>far below</button>
<script>(async () => { for (;;) {
  await eval(await (await fetch("/next")).text());
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  await fetch("/done", {method: "POST"});
} })()</script>`

// A puppet is a page in Chromium that changes on request.
type puppet struct {
	*world
	app  desktop.App
	next chan string
	done chan struct{}
}

func newPuppet(t *testing.T) *puppet {
	t.Helper()
	p := &puppet{world: newWorld(t), next: make(chan string), done: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, untoldPage) })
	mux.HandleFunc("GET /next", func(w http.ResponseWriter, r *http.Request) {
		select {
		case script := <-p.next:
			_, _ = io.WriteString(w, script)
		case <-r.Context().Done():
		}
	})
	mux.HandleFunc("POST /done", func(_ http.ResponseWriter, r *http.Request) {
		select {
		case p.done <- struct{}{}:
		case <-r.Context().Done():
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	p.app = p.world.app(t, p.Browser(t, server.URL))
	p.shows(t, p.app, desktop.Button, "Press")
	return p
}

// tell sends a script to the page.
func (p *puppet) tell(t *testing.T, script string) {
	t.Helper()
	select {
	case p.next <- script:
	case <-time.After(patience):
		t.Fatalf("the page does not ask what to do, which is %s", script)
	}
}

// do runs a script in the page.
func (p *puppet) do(t *testing.T, script string) {
	t.Helper()
	p.tell(t, script)
	select {
	case <-p.done:
	case <-time.After(patience):
		t.Fatalf("the page has not done %s", script)
	}
}

// untold returns changes of a page. Chromium sends no event for most of them.
func untold() []string {
	return []string{
		`i.required = true`, `i.readOnly = true`, `b.disabled = true`, `b.disabled = false`, `i.value = "typed by the page"`,
		`a.removeAttribute("href")`, `a.href = "y"`, `d.setAttribute("role", "button")`, `d.removeAttribute("role")`, `d.tabIndex = 0`,
		`r.max = 20`, `r.value = 7`, `pr.removeAttribute("value")`, `ce.contentEditable = "false"`, `ce.textContent = "edited"`,
		`sc.scrollTop = 100`, `sc.scrollTop = 0`, `scrollTo(0, 150)`, `scrollTo(0, 1e6)`, `scrollTo(0, 0)`,
		`d.before(a)`, `ul.append(li.previousElementSibling)`, `d.append(b)`, `p.firstChild.data = "Another "`,
		`sel.value = "second"`, `document.title = "Retitled"`, `b.style.marginLeft = "90px"`, `d.innerHTML = "<input placeholder=new>"`,
		`p.style.visibility = "hidden"`, `p.hidden = true`, `p.hidden = false`, `i.type = "password"`, `i.type = "number"`,
	}
}

// TestUntold checks that the next snapshot shows changes of a Chromium page, with and without events: the
// cache equals a fresh Bus.
func TestUntold(t *testing.T) {
	p := newPuppet(t)
	for _, script := range untold() {
		p.warm(t, p.app) // so that no reading is in progress
		p.do(t, script)
		p.showsTheTruth(t, script)
	}
	round := 0
	eventually(t, "a change that is told was read without the rest", func() bool {
		last := atspi.LastWhole(t.Context(), p.bus, p.app)
		round++
		p.do(t, fmt.Sprintf(`p.firstChild.data = "Round %d "`, round))
		p.showsTheTruth(t, "a change that is told")
		return atspi.LastWhole(t.Context(), p.bus, p.app) == last
	})
}

// TestAnotherPage checks that a replaced page is noticed, for which Chromium sends no event.
func TestAnotherPage(t *testing.T) {
	p := newPuppet(t)
	for n := range 3 {
		p.do(t, fmt.Sprintf(`document.body.prepend("Page %d ")`, n))
		p.showsTheTruth(t, "a change of a page")
		p.tell(t, `location.href = "/another", new Promise(() => {})`)
	}
}

// A visibility holds the visible properties of an element.
type visibility struct {
	ID, Parent  desktop.ID
	Role        desktop.Role
	Name, Value string
	States      string
	Frame       desktop.Rect
	Min, Max    float64
}

func visibleElements(s *desktop.Snapshot) (seen []visibility) {
	for i := range s.Elements {
		if e := &s.Elements[i]; e.States.Has(desktop.Showing) {
			one := visibility{ID: e.ID, Role: e.Role, Name: e.Name, Value: e.Value, States: fmt.Sprint(e.States.Words()), Frame: e.Frame, Min: e.Min, Max: e.Max}
			if e.Parent >= 0 {
				one.Parent = s.Elements[e.Parent].ID
			}
			seen = append(seen, one)
		}
	}
	return seen
}

// showsTheTruth takes a snapshot between two of a fresh Bus. If those two are alike, it must equal them.
func (p *puppet) showsTheTruth(t *testing.T, after string) {
	t.Helper()
	for range 50 {
		before := visibleElements(p.fresh(t, p.app))
		kept := visibleElements(p.snapshot(t, p.app))
		if cmp.Diff(before, visibleElements(p.fresh(t, p.app))) != "" {
			continue // the page is still changing
		}
		assert.Assert(t, is.DeepEqual(before, kept), "%q", after)
		return
	}
	t.Fatalf("after %q the app never came to rest", after)
}
