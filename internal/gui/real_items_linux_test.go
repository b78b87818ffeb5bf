package gui_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// pageOfItems returns the body of a page with random controls in wrappers of their name, and with
// menus and lists, some of which choose the last item under the pointer. Its hidden field "ran"
// holds the name of each handler that ran.
func pageOfItems(r *rand.Rand) (body string, names []string) {
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	name := func() string {
		names = append(names, fmt.Sprintf("%s %c", one("Oslo", "Bergen", "Graz"), 'A'+len(names)))
		return names[len(names)-1]
	}
	for range 5 {
		inner := one(`<button onclick="did('%[1]s')">%[1]s</button>`, `<a href="#here" onclick="did('%[1]s')">%[1]s</a>`,
			`<label><input type="checkbox" onchange="did('%[1]s')"> %[1]s</label>`, `<label style="cursor: pointer">%[1]s <input onfocus="did('%[1]s')"></label>`)
		for range r.IntN(3) {
			inner = strings.ReplaceAll(one(`<div tabindex="0" aria-label="%[1]s" onclick="1">inner</div>`, `<div style="cursor: pointer" onclick="1">inner</div>`,
				`<div aria-label="%[1]s" onclick="1"><template shadowrootmode="open">inner</template></div>`, `<ul><li aria-label="%[1]s" onclick="1">inner</li></ul>`), "inner", inner)
		}
		body += fmt.Sprintf(inner, name())
	}
	for range 3 {
		roles := strings.Fields(one("menu menuitem", "listbox option", "list listitem"))
		body += fmt.Sprintf(`<ul tabindex="0" class="%s" role="%s">`, one("own", "over", "over"), roles[0])
		for range 4 {
			body += fmt.Sprintf(`<li role="%s" tabindex="-1">%s</li>`, roles[1], name())
		}
		body += "</ul>"
	}
	return body + `<p id="told" role="status">none</p><input type="hidden" id="ran"><input type="hidden" id="turn" value="0"><script>
		function did(name) { ran.value += name + ";"; told.textContent = "after " + turn.value }
		setInterval(() => turn.value++, 20)
		for (const list of document.querySelectorAll("ul[class]")) {
			let over
			list.onmouseover = e => over = e.target.closest("li") ?? over
			list.onclick = e => did((list.className == "over" && over || e.target.closest("li")).textContent)
		}</script>`, names
}

// itemPages returns the number of pages for TestRealItems: 1, or AAI_ITEM_PAGES.
func itemPages() int { n, _ := strconv.Atoi(os.Getenv("AAI_ITEM_PAGES")); return max(n, 1) }

// TestRealItems: a click on a name runs only the handler of that name, at any pointer position, and
// an effect is reported only if a handler ran.
func TestRealItems(t *testing.T) {
	t.Parallel()
	for seed := range itemPages() {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(seed), 1))
			body, names := pageOfItems(r)
			f := newRealWorld(t).webForm(body)
			ran, claimed := 0, 0
			for range 8 {
				name, was := names[r.IntN(len(names))], f.holds("ran")
				if r.IntN(2) == 0 {
					f.ok("ax_click", params{"app": f.app, "query": names[r.IntN(len(names))], "click_type": "hover"})
				}
				a, err := f.do(f.Context(), "ax_click", f.on(name))
				for range 2 { // the first may have been sent before the click
					turn := f.holds("turn")
					f.eventually("the page says what ran", func() bool { return f.holds("turn") != turn })
				}
				now := strings.TrimPrefix(f.holds("ran"), was)
				assert.Check(t, now == name+";" || now == "", "%s: %q ran of\n%s", name, now, body)
				if err == nil && at(asJSON(t, a.Data), "verified") == true {
					if claimed++; now == "" {
						t.Errorf("%s: nothing ran of\n%s\nand the reply is %s", name, body, a.Text)
					}
				}
				ran += min(len(now), 1)
			}
			t.Logf("8 clicks: a handler ran at %d, an effect was claimed of %d", ran, claimed)
		})
	}
}

// TestRealItemCovered: if the pointer cannot reach an item of a page, an effect that may be another
// item's is not verified, and the reply names another chosen item.
func TestRealItemCovered(t *testing.T) {
	f := pageOf(t, `<ul role="menu" id="menu"><li role="menuitem">Peter</li><li role="menuitem">Lynett</li><li role="menuitem">Zoe</li></ul>
		<p id="told">none</p><input id="who" aria-label="Person"><script>
		let over
		menu.onmouseover = e => over = e.target
		menu.onclick = e => { told.textContent = "chosen"; if (e.target.textContent != "Peter") who.value = over.textContent }</script>`)
	f.ok("ax_click", params{"app": f.app, "query": "Zoe", "click_type": "hover"})
	f.Launch(t, "xterm", "-geometry", "400x200+0+0", "-e", "sleep", "infinity")
	f.eventually("the page is covered", func() bool {
		return strings.Contains(f.ok("ax_list_windows", params{"app": f.app}).Text, "100% covered")
	})
	a := f.ok("ax_click", f.on("menuitem Peter"))
	f.says(a.Warning, "no effect of it was seen")
	assert.Check(t, is.Equal(at(a.data, "verified"), false), "an effect that may be another's is claimed")
	e := f.refused(aai.AutomationFailed, "ax_click", f.on("menuitem Lynett"))
	f.says(e.Message, `"Zoe" was chosen`)
}

// TestRealItemsGTK3: a row does not count as clicked if another one is selected instead, and a
// button in a row with its name is pressed.
func TestRealItemsGTK3(t *testing.T) {
	w := parallelWorld(t)
	app := w.python("items.py", "button Lynett")
	w.says(w.done("ax_click", params{"app": app, "query": "Lynett"}).Text, "pressed")
	w.says(w.refused(aai.AutomationFailed, "ax_click", params{"app": app, "query": "Peter"}).Message, `"Zoe" was chosen`)
}

// TestRealHeardClicks: buttons with a state are clicked, not only set, since programs of Qt act on the click alone.
func TestRealHeardClicks(t *testing.T) {
	w := parallelWorld(t)
	file := filepath.Join(w.Home, "heard")
	app := w.python("heardclicks.py", "checkbox Signal", file)
	p := w.somebody()
	var want []string
	heard := func(line string) {
		t.Helper()
		want = append(want, line)
		w.eventually("the program acts: "+line, func() bool {
			b, err := os.ReadFile(file)
			return err == nil && slices.Equal(strings.Split(strings.TrimSpace(string(b)), "\n"), want)
		})
	}
	for tool, p := range map[string]params{"ax_click": {}, "ax_set_value": {"value": "true"}} {
		p["app"], p["query"] = app, "Compact"
		e := w.refused(aai.AutomationNotSupported, tool, p)
		w.says(e.Message, "without a click")
		w.says(e.Hint, `mode "focus"`)
	}
	for _, name := range []string{"Signal", "Bold", "Far"} {
		w.done("ax_click", params{"app": app, "query": name})
		heard(name + " True")
		w.done("ax_set_value", params{"app": app, "query": name, "value": "false"})
		heard(name + " False")
	}
	w.done("ax_set_value", params{"app": app, "query": "Night", "value": "true"})
	heard("Night True")
	p.undisturbed(t)
	w.done("ax_click", params{"app": app, "query": "Compact", "mode": "focus"})
	heard("Compact True")
}

// TestRealMovesAfterScroll clicks a button by the person's pointer in a page that removes content while it is
// scrolled, so that another button comes to the place of the first one.
func TestRealMovesAfterScroll(t *testing.T) {
	w := newRealWorld(t)
	for _, delay := range []time.Duration{time.Millisecond, 40 * time.Millisecond, 150 * time.Millisecond} {
		app := w.page(fmt.Sprintf(`<title>News %[1]d</title><div id=list style="height:120px;overflow:auto">
			<div style="height:300px">Top</div><div id=news style="height:24px"></div>
			<button style="display:block;height:24px;margin:0" onclick="out.textContent='kept %[1]d'">Keep</button>
			<button style="display:block;height:24px;margin:0" onclick="out.textContent='cleared %[1]d'">Clear</button>
			<div style="height:100px"></div></div><p id=out>nothing</p>
			<script>list.onscroll = () => setTimeout(() => news.remove(), %[1]d)</script>`, delay.Milliseconds()), "Keep")
		w.ok("ax_click", params{"app": app, "query": "button Keep", "mode": "focus"})
		w.ok("ax_wait", params{"app": app, "query": fmt.Sprintf("kept %d", delay.Milliseconds())})
	}
}
