package gui_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit/strange"
)

// TestRealScrollAreas operates controls in a scroll area within the window's own: the tools bring
// them into view.
func TestRealScrollAreas(t *testing.T) {
	for _, toolkit := range []strange.Toolkit{strange.GTK3, strange.GTK4, strange.Qt6} {
		t.Run(string(toolkit), func(t *testing.T) {
			s := newStrangeRun(t, toolkit)
			s.show(scrollAreas(toolkit))
			app := s.app
			for _, step := range []struct{ key, name string }{{"f25", "Inner 25"}, {"f3", "Outer 3"}, {"f29", "Inner 29"}, {"f40", "Page 40"}, {"f0", "Outer 0"}} {
				s.ok("ax_set_value", params{"app": app, "query": step.name, "value": "of " + step.name})
				s.eventually(step.name+" is set", func() bool { return s.state().Values[step.key] == "of "+step.name })
			}
			s.ok("ax_click", params{"app": app, "query": "Row 120"})
			s.eventually("row 120 is chosen", func() bool { return s.state().Values["rows"] == "Row 120" })
			assert.Check(t, s.refused(aai.ElementNotFound, "ax_click", params{"app": app, "query": "Hidden page 41"}).Hint != "", "no hint leads to a field of a closed page")
		})
	}
}

// scrollAreas returns a window with a scroll area below the edge of the window.
func scrollAreas(toolkit strange.Toolkit) *strange.Window {
	outer := &strange.Node{ID: "outer", Kind: strange.Column}
	inner := &strange.Node{ID: "inner", Kind: strange.Column}
	field := func(name string, n int) *strange.Node {
		return &strange.Node{ID: fmt.Sprintf("f%d", n), Kind: strange.Entry, Name: fmt.Sprintf("%s %d", name, n), Labelling: strange.Own, Value: ""}
	}
	for i := range 30 {
		if i < 20 {
			outer.Children = append(outer.Children, field("Outer", i))
		} else {
			inner.Children = append(inner.Children, field("Inner", i))
		}
	}
	rows := &strange.Node{ID: "rows", Kind: strange.List, Name: "Rows", Labelling: strange.Own}
	for i := range 300 {
		rows.Items = append(rows.Items, fmt.Sprintf("Row %d", i))
	}
	book := &strange.Node{ID: "book", Kind: strange.Notebook, Items: []string{"First", "Second"}, Children: []*strange.Node{
		{ID: "page1", Kind: strange.Column, Children: []*strange.Node{field("Page", 40)}},
		{ID: "page2", Kind: strange.Column, Children: []*strange.Node{field("Hidden page", 41)}},
	}}
	outer.Children = append(outer.Children,
		&strange.Node{ID: "scrolled", Kind: strange.Scrolled, Children: []*strange.Node{inner}}, book,
		rows)
	return &strange.Window{Title: "Scroll areas", Toolkit: toolkit, Width: 500, Height: 300, Root: outer}
}

// TestRealWithoutActions operates controls for which Qt 6 or GTK 4 report no action, or one that only sets the focus.
func TestRealWithoutActions(t *testing.T) {
	for _, toolkit := range []strange.Toolkit{strange.GTK4, strange.Qt6} {
		t.Run(string(toolkit), func(t *testing.T) {
			s := newStrangeRun(t, toolkit)
			table := &strange.Node{ID: "table", Kind: strange.Table, Name: "Rows", Labelling: strange.Own, Columns: []string{"Item", "Other"}}
			for i := range 40 {
				table.Items = append(table.Items, fmt.Sprintf("Row %d", i))
			}
			s.show(&strange.Window{Title: "Without actions", Toolkit: toolkit, Width: 500, Height: 500, Root: &strange.Node{ID: "root", Kind: strange.Column, Children: []*strange.Node{
				{ID: "check", Kind: strange.Check, Name: "Early", Value: false}, table,
				{ID: "combo", Kind: strange.Combo, Name: "Fruit", Labelling: strange.Relation, Items: []string{"Apple", "Banana", "Cherry", "Date"}, Value: "Apple"},
				{ID: "link", Kind: strange.Link, Name: "Terms"},
			}}})
			app := s.app
			becomes := func(key string, want any) {
				t.Helper()
				s.eventually(fmt.Sprintf("%s is %v", key, want), func() bool { return s.state().Values[key] == want })
			}
			s.ok("ax_click", params{"app": app, "query": "Early"})
			becomes("check", true)
			s.ok("ax_set_value", params{"app": app, "query": "Early", "value": "false"})
			becomes("check", false)
			s.ok("ax_click", params{"app": app, "query": "Terms"})
			s.eventually("the link is opened once", func() bool { return len(s.state().Events) == 1 })
			if toolkit == strange.GTK4 { // its list opens only with the person's keyboard
				s.ok("ax_click", params{"app": app, "query": "combobox Fruit", "mode": "focus"})
				s.ok("ax_click", params{"app": app, "query": "option Cherry", "mode": "focus"})
				becomes("combo", "Cherry")
				return
			}
			s.ok("ax_click", params{"app": app, "query": "Row 30"})
			becomes("table", "Row 30")
			s.ok("ax_set_value", params{"app": app, "query": "Fruit", "value": "Cherry"})
			becomes("combo", "Cherry")
			becomes("table", "Row 30")
			s.ok("ax_click", params{"app": app, "query": "Terms"})
			s.eventually("the link is opened again", func() bool { return len(s.state().Events) == 2 })
		})
	}
}

// axePages are pages after the failures that W3C's techniques describe, and good ones.
func axePages() map[string]string {
	const image = `src="data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7" width=40 height=40`
	good := func(body string) string { return `<title>Shop</title><main><h1>Shop</h1>` + body + `</main>` }
	return map[string]string{
		"F65 pictures":        good(`<img ` + image + `><img alt="A box" ` + image + `><img alt="" ` + image + `><img ` + image + `><a href=x><img ` + image + `></a>`),
		"F68 controls":        good(`<button style="width:60px;height:30px"></button><button aria-label=Add>+</button><button><svg width=20 height=20></svg></button><a href=y style="display:block;height:20px"></a>`),
		"F68 fields":          good(`<input><label>Name <input></label><input aria-label=Town><input title=Street><input placeholder=Search><textarea></textarea><select><option>One</select><label>Size <select><option>One</select></label>`),
		"F83 contrast":        good(`<p style="color:#999">Pale words on white paper</p><p style="color:#767676">Just dark enough for all</p><p style="color:#fff;background:#f57c00">White words on orange</p><p style="color:#fff;background:#1a4fd8">White words on blue</p><p style="color:#a00;background:#000">Red words on black</p>`),
		"contrast of buttons": good(`<button style="color:#fff;background:#8ab4f8;border:0;padding:12px">Send the form</button><button style="color:#fff;background:#1a4fd8;border:0;padding:12px">Send it again</button><button disabled>Not available</button>`),
		"large text":          good(`<p style="color:#888;font-size:32px">Large and gray words</p><p style="color:#bbb;font-size:32px">Large and pale words</p>`),
		"F25 title":           `<main><h1>Shop</h1><p>Some words</p></main>`,
		"no main part":        `<title>Shop</title><h1>Shop</h1><p>Some words</p>`,
		"F91 tables":          good(`<table border=1><tr><td>1<td>2<tr><td>3<td>4</table><table border=1><tr><th>A<th>B<tr><td>3<td>4</table>`),
		"target size":         good(`<style>.t{width:14px;height:14px;padding:0;border:0;background:#ddd;color:#000;font-size:9px}</style><button class=t>a</button><button class=t>b</button><div style="padding:40px"><button class=t>c</button></div><p>Words with a <a href=z>link in the text</a> of it.</p>`),
		"good form":           good(`<form><p><label>Name <input autocomplete=name></label></p><p><label><input type=checkbox> I agree</label></p><fieldset><legend>Size</legend><label><input type=radio name=s> Small</label><label><input type=radio name=s> Large</label></fieldset><button style="padding:12px">Order now</button></form>`),
		"good article":        good(`<p>The first paragraph has <a href=x>a link to the terms</a> in it.</p><h2>More</h2><ul><li>One<li>Two</ul><img alt="A box" ` + image + `><table border=1><caption>Prices</caption><tr><th>Name<th>Price<tr><td>Box<td>3</table>`),
	}
}

// axeRules maps rules of axe-core to ours. Others of axe's need the source of a page, or judge what we do not.
func axeRules() map[string]string {
	return map[string]string{
		"image-alt": "image-alternative", "button-name": "control-name", "link-name": "control-name", "label": "field-label", "select-name": "field-label",
		"color-contrast": "contrast", "document-title": "window-title", "landmark-one-main": "page-main", "target-size": "target-size", "heading-order": "heading-level",
	}
}

// TestAuditBesideAxe: of the rules that axe-core has too, an audit finds the same faults in twelve pages. It runs where
// AAI_AXE names axe.min.js.
func TestAuditBesideAxe(t *testing.T) {
	library := os.Getenv("AAI_AXE")
	if library == "" {
		t.Skip("AAI_AXE names no axe.min.js")
	}
	script, err := os.ReadFile(filepath.Clean(library))
	assert.NilError(t, err)
	w := newRealWorld(t)
	theirs, both, ours, contradicted := 0, 0, 0, 0
	for name, page := range axePages() {
		if only := os.Getenv("AAI_AXE_PAGE"); only != "" && only != name {
			continue
		}
		results := make(chan map[string]int, 1)
		server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/axe.js":
				_, _ = rw.Write(script)
			case "/axe":
				var found struct {
					Violations []struct {
						ID    string
						Nodes []json.RawMessage
					}
				}
				b, _ := io.ReadAll(r.Body)
				_ = json.Unmarshal(b, &found)
				counts := map[string]int{}
				for _, v := range found.Violations {
					counts[axeRules()[v.ID]] += len(v.Nodes)
				}
				results <- counts
			default:
				_, _ = rw.Write([]byte(`<!DOCTYPE html><html lang=en><meta charset=utf-8><script src=/axe.js></script>` + page + `<script>addEventListener("load", async () => {
					const r = await axe.run(document, {rules: {"target-size": {enabled: true}}});
					await fetch("/axe", {method: "POST", body: JSON.stringify({violations: r.violations.map(v => ({id: v.id, nodes: v.nodes.map(n => n.html)}))})}); })</script>`))
			}
		}))
		app := w.process(w.Browser(t, server.URL))
		var axe map[string]int
		select {
		case axe = <-results:
		case <-time.After(time.Minute):
			t.Fatal("axe-core reports nothing")
		}
		w.awaitElement(app, "heading Shop")
		a := w.ok("ax_a11y_audit", params{"app": app})
		found := map[string]int{}
		var all []string                                 // a label that is only beside its field is no label for axe-core
		for _, i := range at(a.data, "issues").([]any) { //nolint:forcetypeassert // the schema says so
			issue, _ := i.(map[string]any)
			found[strings.Replace(fmt.Sprint(issue["rule"]), "label-relation", "field-label", 1)]++
			all = append(all, fmt.Sprint(issue["rule"], " ", issue["element"], ": ", issue["description"]))
		}
		seen := map[string]bool{}
		for _, rule := range axeRules() {
			if seen[rule] {
				continue
			}
			seen[rule] = true
			theirs, ours, both = theirs+axe[rule], ours+found[rule], both+min(axe[rule], found[rule])
			contradicted += max(0, found[rule]-axe[rule])
			if axe[rule] != found[rule] {
				t.Logf("%s, %s: axe-core %d, we %d: %q", name, rule, axe[rule], found[rule], all)
			}
		}
		server.Close()
	}
	t.Logf("axe-core finds %d, of which we find %d; of our %d it contradicts %d", theirs, both, ours, contradicted)
	assert.Check(t, !(float64(both) < 0.95*float64(theirs)), "we find %d of %d", both, theirs)
	assert.Check(t, !(float64(contradicted) > 0.05*float64(ours)), "axe-core contradicts %d of %d", contradicted, ours)
}
