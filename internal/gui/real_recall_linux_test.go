package gui_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
	"github.com/gybob/aai-gateway/internal/testkit/tokencount"
)

// The requirements for a tree of a window: with at most smallWindow actionable elements, all of
// them on the first page, within firstPage tokens. For a larger window: largeRecall of them, over
// all pages.
const (
	smallWindow = 60
	firstPage   = 1500
	largeRecall = 0.99
)

// recalled is the comparison of a window's tree with a witness.
type recalled struct {
	window       string
	facts        int // number of facts of the witness
	tokens       int // of the first page, by the real vocabulary
	pages        int
	first, whole float64 // the share of the facts that the first page and all pages address
}

// addressed is an element that a page addresses.
type addressed struct {
	role, name string
	frame      desktop.Rect
	page       int
	taken      bool
}

// TestRealRecall: the tree contains the elements of a window that people could act on.
func TestRealRecall(t *testing.T) {
	w := parallelWorld(t)
	var table []recalled
	check := func(name string, open func(w *realWorld) (app string, witness func() []fact)) {
		t.Run(name, func(t *testing.T) {
			part := w.on(t)
			app, witness := open(part)
			r := part.recall(name, app, witness)
			table = append(table, r)
			switch {
			case r.facts == 0:
				t.Error("the witness saw nothing")
			case r.facts <= smallWindow && (r.first < 1 || r.tokens > firstPage):
				t.Errorf("%d things to act on: %.1f%% of them in the %d tokens of the first page, want all in %d", r.facts, 100*r.first, r.tokens, firstPage)
			case r.whole < largeRecall:
				t.Errorf("%d things to act on: %.1f%% of them in %d pages, want %.0f%%", r.facts, 100*r.whole, r.pages, 100*largeRecall)
			case r.tokens > firstPage:
				t.Errorf("the first page has %d tokens, want at most %d", r.tokens, firstPage)
			}
		})
	}
	for _, kind := range linuxtest.Kinds() {
		check(string(kind), func(w *realWorld) (string, func() []fact) {
			f := w.Fixture(w.T, kind)
			app := w.process(f.App)
			w.awaitElement(app, "button Press")
			return app, func() []fact { return w.onBus(app) }
		})
	}
	check("chromium by its page", func(w *realWorld) (string, func() []fact) {
		f := w.Fixture(w.T, linuxtest.Chromium)
		app := w.process(f.App)
		w.awaitElement(app, "button Press")
		return app, func() []fact { return inPage(w.T, f) }
	})
	for _, kind := range []linuxtest.Kind{linuxtest.GTK3, linuxtest.GTK4, linuxtest.Qt6} {
		check(string(kind)+" of 10,000 rows", func(w *realWorld) (string, func() []fact) {
			app := w.process(w.Rows(w.T, kind, 10_000).App)
			return app, func() []fact { return w.onBus(app) }
		})
	}
	check("a long table", func(w *realWorld) (string, func() []fact) { return w.webPage(longTable()) })
	check("a crowded page", func(w *realWorld) (string, func() []fact) { return w.webPage(crowd()) })
	for _, real := range realPrograms() {
		check(real.name, func(w *realWorld) (string, func() []fact) {
			app := real.launch(w)
			w.awaitElement(app, real.ready)
			return app, func() []fact { return w.onBus(app) }
		})
	}
	var rows strings.Builder
	for _, r := range table {
		fmt.Fprintf(&rows, "| %s | %d | %d | %d | %.1f %% | %.1f %% |\n", r.window, r.facts, r.tokens, r.pages, 100*r.first, 100*r.whole)
	}
	t.Logf("| window | to act on | tokens of page 1 | pages | recall of page 1 | of all |\n|---|---|---|---|---|---|\n%s", rows.String())
}

// realProgram is a program that was not written for these tests.
type realProgram struct {
	name, ready string // ready is an element that shows after the start
	launch      func(w *realWorld) (app string)
}

func realPrograms() []realProgram {
	plain := func(name string, args ...string) func(w *realWorld) string {
		return func(w *realWorld) string { return w.process(w.Launch(w.T, name, args...)) }
	}
	return []realProgram{
		{"mousepad", "menuitem File", plain("mousepad", "--disable-server")},
		{"gnome-calculator", "button 7", plain("gnome-calculator")},
		{"designer", "menuitem File", plain("/usr/lib/qt6/bin/designer")},
		{"calc", "button Bold", func(w *realWorld) string {
			_, pid := w.spreadsheet()
			return strconv.Itoa(pid)
		}},
	}
}

// recall reads all pages of an idle window and compares them with the witness.
func (w *realWorld) recall(name, app string, witness func() []fact) recalled {
	w.Helper()
	w.ok("ax_wait_idle", params{"app": app, "poll_ms": 250, "timeout_ms": 20000})
	pages := w.pages(app)
	facts := witness()
	told := w.resolve(app, pages)
	r := recalled{window: name, facts: len(facts), tokens: tokencount.Count(w, pages[0]), pages: len(pages)}
	first, whole := 0, 0
	for _, f := range facts {
		switch page := find(told, f); {
		case page < 0:
			w.Logf("nobody is told of %v", f)
		case page == 0:
			first, whole = first+1, whole+1
		default:
			whole++
		}
	}
	r.first, r.whole = float64(first)/float64(len(facts)), float64(whole)/float64(len(facts))
	if w.Failed() || r.whole < 1 || testing.Verbose() {
		w.Logf("%s:\n%s", name, strings.Join(pages, "\n"))
	}
	return r
}

// find removes and returns the match of the witness's fact: a fact that occurs twice must be in the
// tree twice. It returns the page, or -1.
func find(told []*addressed, f fact) int {
	for _, loose := range []bool{false, true} {
		for _, a := range told {
			if !a.taken && same(a, f, loose) {
				a.taken = true
				return a.page
			}
		}
	}
	return -1
}

// same reports whether the fact matches the element: by position and name, as far as the witness
// knows them. With loose, a name that is not the element's own may come from its content or
// neighbors.
func same(a *addressed, f fact, loose bool) bool {
	if !f.frame.Empty() {
		near := func(a, b int) bool { return max(a-b, b-a) <= 1 }
		if !near(a.frame.X, f.frame.X) || !near(a.frame.Y, f.frame.Y) || !near(a.frame.W, f.frame.W) || !near(a.frame.H, f.frame.H) {
			return false
		}
		if loose {
			return f.name == "" || strings.Contains(f.name, a.name) || strings.Contains(a.name, f.name)
		}
	}
	return a.name == f.name
}

// pages returns the texts of all pages of a program's tree, as an agent gets them.
func (w *realWorld) pages(app string) []string {
	w.Helper()
	var pages []string
	more := ""
	for range 200 {
		p := params{"app": app}
		if more != "" {
			p["more"] = more
		}
		a := w.ok("ax_get_tree", p)
		pages = append(pages, a.Text)
		if more, _ = a.data["more"].(string); more == "" {
			return pages
		}
	}
	w.Fatalf("%s has more than %d pages", app, len(pages))
	return nil
}

// resolve looks up the elements of all refs in the pages.
func (w *realWorld) resolve(app string, pages []string) []*addressed {
	w.Helper()
	var told []*addressed
	known := make(map[int]bool)
	for number, text := range pages {
		for _, ref := range refsIn(text) {
			if known[ref] {
				continue
			}
			known[ref] = true
			a := w.ok("ax_find", params{"app": app, "query": fmt.Sprintf("e%d", ref)})
			e := &addressed{page: number}
			e.role, _ = a.data["role"].(string)
			e.name, _ = a.data["title"].(string)
			for i, part := range []*int{&e.frame.X, &e.frame.Y} {
				*part = whole(at(a.data, "position", i))
			}
			for i, part := range []*int{&e.frame.W, &e.frame.H} {
				*part = whole(at(a.data, "size", i))
			}
			told = append(told, e)
		}
	}
	return told
}

func whole(v any) int {
	f, _ := v.(float64)
	return int(f)
}

// The notations for refs in a page, as documented: [e3]; [e19]–[e54]; and for similar rows k=0–89,
// [e58+2k].
var (
	refSpan  = regexp.MustCompile(`\[e(\d+)\]–\[e(\d+)\]`)
	refAlone = regexp.MustCompile(`\[e(\d+)\]`)
	refEach  = regexp.MustCompile(`\[e(\d+)\+(\d+)k\]`)
	refRows  = regexp.MustCompile(`, k=0–(\d+): (?:(\d+) refs each)?`)
)

// refsIn returns the numbers of the refs that a reader of the page can use.
func refsIn(page string) []int {
	var refs []int
	number := func(s string) int {
		n, _ := strconv.Atoi(s)
		return n
	}
	for line := range strings.Lines(page) {
		for _, m := range refSpan.FindAllStringSubmatch(line, -1) {
			for n := number(m[1]); n <= number(m[2]); n++ {
				refs = append(refs, n)
			}
		}
		for _, m := range refAlone.FindAllStringSubmatch(line, -1) {
			refs = append(refs, number(m[1]))
		}
		rows := refRows.FindStringSubmatch(line)
		if rows == nil {
			continue
		}
		for _, m := range refEach.FindAllStringSubmatch(line, -1) {
			for k := range number(rows[1]) + 1 {
				for i := range max(1, number(rows[2])) {
					refs = append(refs, number(m[1])+number(m[2])*k+i)
				}
			}
		}
	}
	return refs
}

// TestRefsIn: the reader of trees works correctly.
func TestRefsIn(t *testing.T) {
	page := "window \"a\" [e1]\n  button: [e2] Open, [e3] \"Save all\"\n" +
		"  … 3 more option: [e4]–[e6] \"Fig\" … \"Kiwi\"\n" +
		"  … 2 more row, k=0–1: button \"Edit\" [e10+2k], button \"Delete\" [e11+2k]; \"Bo\" … \"Zoe\"\n" +
		"  … 2 more row, k=0–1: 4 refs each from [e20+4k] in the order above; \"Bo\" … \"Zoe\"\n"
	got, want := fmt.Sprint(refsIn(page)), "[1 2 3 4 5 6 4 6 10 12 11 13 20 21 22 23 24 25 26 27]"
	assert.Check(t, is.Equal(got, want))
}
