package gui_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// auditedWindow is a window with faults, and its clean twin.
type auditedWindow struct {
	faulty, clean string   // the pages, or the argument of the program
	want          []string // rule and element of each fault
}

// twins returns programs and pages with planted faults.
func twins() map[string]auditedWindow {
	names := []string{"control-name button", "field-label textbox", "contrast The price includes", "keyboard-focus Reload"}
	return map[string]auditedWindow{
		"gtk3": {"faulty", "clean", append([]string{"technical-name btn_42", "label-relation Street", "value-as-name Small", "value-as-name Bern", "link-purpose Click here"}, names...)},
		"gtk4": {"faulty", "clean", append([]string{"technical-name btn_42", "target-size Less", "target-size More"}, names...)},
		"qt6":  {"faulty", "clean", append([]string{"technical-name pushButton_3"}, names...)},
		"page by DevTools": {
			`<title>Audited</title><main><h4>Prices</h4><h2>&nbsp;<img src="data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7" alt="" width=40 height=20></h2>
				<canvas width=100 height=50></canvas><div role=slider tabindex=0 aria-label=Volume aria-valuemin=0 aria-valuemax=10 style="width:100px;height:30px;background:#ddd"></div>
				<div id=buy style="width:200px;height:40px">Buy it now</div><iframe srcdoc="<p>Words of it</p>" width=200 height=60></iframe><p><button>Ready</button></p>
				<script>document.getElementById("buy").addEventListener("click", () => 1)</script></main>`,
			`<title>Audited</title><main><h1>Prices</h1><h2>More</h2>
				<canvas width=100 height=50 aria-label="Prices of a year"></canvas><canvas width=100 height=50>Prices of a month</canvas>
				<div role=slider tabindex=0 aria-label=Volume aria-valuenow=5 aria-valuemin=0 aria-valuemax=10 style="width:100px;height:30px;background:#ddd"></div>
				<div id=buy role=button tabindex=0 style="width:200px;height:40px">Buy it now</div><div id=all style="padding:9px"><p>The list has <a href=x>all prices</a>, which we mend.</p></div>
				<label id=agree><input type=checkbox> I agree</label><iframe title=Map srcdoc="<p>Words of it</p>" width=200 height=60></iframe><p><button>Ready</button></p>
				<script>for (const id of ["buy", "all", "agree"]) document.getElementById(id).addEventListener("click", () => 1); addEventListener("click", () => 1); document.body.addEventListener("click", () => 1)</script></main>`,
			[]string{"first-heading Prices", "empty-heading heading", "canvas-alternative canvas", "slider-value Volume", "clickable-role Buy it now", "frame-title document"},
		},
		"page of kinds": {
			`<title>Audited</title><main><h3>Prices</h3><div onclick="x()" style="width:200px;height:40px">Buy it now</div><p><a href=x style="display:block;padding:9px">Mehr erfahren</a></p>
				<input value="John"><input aria-label="Bern" value="Bern"><button style="padding:9px" aria-label="submit_btn_01">Send</button><iframe srcdoc="<p>Words of it</p>" width=200 height=60></iframe><p><button>Ready</button></p></main>`,
			`<title>Audited</title><main><h1>Prices</h1><button onclick="x()" style="width:200px;height:40px">Buy it now</button><p><a href=x style="display:block;padding:9px">Mehr über Preise</a></p>
				<div onclick="x()" style="padding:9px"><h2>Card</h2><a href=x style="display:block;padding:9px">All prices</a></div><label onclick="x()"><input type=checkbox> I agree</label>
				<label>Name <input value="John"></label><p><label>Town <input value="Bern"></label></p><button style="padding:9px" aria-label="Send it">Send</button><iframe title=Map srcdoc="<p>Words of it</p>" width=200 height=60></iframe><p><button>Ready</button></p></main>`,
			[]string{"first-heading Prices", "clickable-role Buy it now", "link-purpose Mehr erfahren", "field-label textbox", "value-as-name Bern", "technical-name submit_btn_01", "frame-title document"},
		},
		"page": {
			`<p style="color:#b0b0b0">The price includes shipping</p><img src="data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7" width=40 height=40>
				<a href=x style="display:block">Click here</a><input><button style="width:50px;height:30px"></button>
				<table><caption>Prices</caption><tr><td>1<td>2<tr><td>3<td>4</table><button style="width:14px;height:14px;padding:0">a</button><button style="width:14px;height:14px;padding:0">b</button><button>Ready</button>`,
			`<title>Audited</title><main><h1>Prices</h1><p style="color:#222">The price includes shipping</p><img alt="A box" src="data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7" width=40 height=40>
				<a href=x style="display:block">All prices</a><label>Country <input></label><button aria-label="Add a row" style="width:50px;height:30px"></button>
				<table><caption>Prices</caption><tr><th>A<th>B<tr><td>3<td>4</table><button style="width:34px;height:34px;padding:0">a</button><button>Ready</button></main>`,
			[]string{"contrast The price includes", "image-alternative image", "link-purpose Click here", "field-label textbox", "control-name button", "table-headers table", "target-size \"a\"", "target-size \"b\"", "page-heading document", "page-main document", "window-title document"},
		},
	}
}

// TestRealA11yAudit: an audit finds each planted fault, and nothing in the clean twin.
func TestRealA11yAudit(t *testing.T) {
	t.Parallel()
	for name, c := range twins() {
		t.Run(name, func(t *testing.T) {
			w := parallelWorld(t)
			audit := func(program string) (issues []string, passed any) {
				var app string
				w := w
				switch name {
				case "page by DevTools":
					w = newRealWorld(t)
					w.useDevTools()
					server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
						_, _ = rw.Write([]byte(`<!DOCTYPE html><html lang="en">` + program))
					}))
					w.Cleanup(server.Close)
					host := server.Listener.Addr().String()
					app = w.process(w.browse(host, "--app=http://"+host))
					w.connect()
					w.awaitElement(app, "button Ready")
				case "page", "page of kinds":
					app = w.page(program, "Ready")
				default:
					app = w.python("audited_"+name+".py", "Reload", program)
				}
				a := w.ok("ax_a11y_audit", params{"app": app, "cutouts": true})
				if issues, _ := at(a.data, "issues").([]any); len(issues) > 0 && len(a.Images) < 2 {
					t.Errorf("%d pictures for %d issues", len(a.Images), len(issues))
				}
				for _, i := range at(a.data, "issues").([]any) { //nolint:forcetypeassert // the schema says so
					issue, _ := i.(map[string]any)
					issues = append(issues, fmt.Sprint(issue["rule"], " ", issue["element"], ": ", issue["description"]))
				}
				if folder := os.Getenv("AAI_KEEP_PICTURES"); folder != "" && len(a.Images) > 0 {
					_ = os.WriteFile(filepath.Join(folder, "audit "+name+".png"), a.Images[0].Data, 0o600)
				}
				return issues, at(a.data, "passed")
			}
			found, passed := audit(c.faulty)
			for _, want := range c.want {
				rule, element, _ := strings.Cut(want, " ")
				n := slices.IndexFunc(found, func(i string) bool { return strings.HasPrefix(i, rule+" ") && strings.Contains(i, element) })
				if n < 0 {
					t.Errorf("%s is not found in\n%s", want, strings.Join(found, "\n"))
					continue
				}
				found = slices.Delete(found, n, n+1)
			}
			assert.Check(t, is.Equal(passed, false))
			assert.Check(t, is.Len(found, 0), "besides the planted faults:\n%s", strings.Join(found, "\n"))
			found, _ = audit(c.clean)
			assert.Check(t, is.Len(found, 0), "the clean twin has\n%s", strings.Join(found, "\n"))
		})
	}
}

// TestRealPageLanguage: an audit finds a page without a language and a skipped level of headings, in Chromium by DevTools
// and in Firefox, and nothing in the same page with both.
func TestRealPageLanguage(t *testing.T) {
	t.Parallel()
	page := func(language, heading string) string {
		return fmt.Sprintf(`<!DOCTYPE html><html %s><title>Prices</title><main><h1>Prices</h1><%s>Large</%[2]s><p>Words</p><button style="padding:12px">Ready</button></main>`, language, heading)
	}
	fault := map[string]string{"Chromium": "data-no", "Firefox": "lang=e"}
	problem := map[string]string{"Chromium": "it declares no language", "Firefox": `"e" is no language`}
	for browser, open := range map[string]func(w *realWorld, host string) *linuxtest.App{
		"Chromium": func(w *realWorld, host string) *linuxtest.App {
			w.useDevTools()
			return w.browse(host, "--app=http://"+host)
		},
		"Firefox": func(w *realWorld, host string) *linuxtest.App {
			return w.firefox(filepath.Join(w.Home, "firefox"), "http://"+host)
		},
	} {
		for _, c := range []struct{ language, heading, want string }{
			{fault[browser], "h3", "page-language: " + problem[browser] + "; heading-level: it has the level 3 after one of the level 1"},
			{"lang=en", "h2", ""},
		} {
			t.Run(browser+" "+c.language, func(t *testing.T) {
				w := parallelWorld(t)
				server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write([]byte(page(c.language, c.heading))) }))
				w.Cleanup(server.Close)
				app := w.process(open(w, server.Listener.Addr().String()))
				w.connect()
				w.awaitElement(app, "button Ready")
				a := w.ok("ax_a11y_audit", params{"app": app})
				var found []string
				for _, i := range at(a.data, "issues").([]any) { //nolint:forcetypeassert // the schema says so
					issue, _ := i.(map[string]any)
					found = append(found, fmt.Sprint(issue["rule"], ": ", issue["description"]))
				}
				if got := strings.Join(found, "; "); got != c.want {
					t.Errorf("found %q, want %q\n%s", got, c.want, a.Text)
				}
			})
		}
	}
}

// TestRealAuditOfLoadingPage: while a page loads, an audit says so and judges neither it nor the browser's own controls;
// afterwards it finds the page's fault.
func TestRealAuditOfLoadingPage(t *testing.T) {
	w := parallelWorld(t)
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow.js" {
			select {
			case <-release:
			case <-r.Context().Done():
			}
			return
		}
		_, _ = rw.Write([]byte(`<!DOCTYPE html><html lang=en><title>Slow</title><main><h1>Slow</h1><script src=/slow.js></script><button style="padding:12px">Ready</button><input></main></html>`))
	}))
	w.Cleanup(server.Close)
	app := w.process(w.Browser(t, server.URL))
	_, err := w.do(w.Context(), "ax_a11y_audit", params{"app": app})
	assert.Assert(t, err != nil, "while it loads: %v", err)
	assert.Assert(t, is.Contains(err.Error(), "no page that has loaded"), err)
	close(release)
	w.awaitElement(app, "button Ready")
	a := w.ok("ax_a11y_audit", params{"app": app})
	assert.Assert(t, is.Contains(a.Text, "1 issues"))
	assert.Assert(t, is.Contains(a.Text, "field-label"))
}

// walkedPage returns a page with four fields and a button, like the programs walked_*.py. The fault trap keeps the focus in
// the second field; order exchanges the third and the second, and leaves the fourth out.
func walkedPage(fault string) string {
	order, more := [5]string{}, ""
	switch fault {
	case "trap":
		more = `<script>document.querySelectorAll("input")[1].onkeydown = e => { if (e.key == "Tab") e.preventDefault() }</script>`
	case "order":
		order = [5]string{"tabindex=1", "tabindex=3", "tabindex=2", "tabindex=-1", "tabindex=4"}
	}
	return fmt.Sprintf(`<html lang=en><title>Walked</title><main><h1>Walked</h1><style>p{margin:30px}</style>
		<p><label>First <input %s></label><p><label>Second <input %s></label><p><label>Third <input %s></label><p><label>Fourth <input %s></label><p><button %s style="padding:8px">Ready</button></main>%s`, order[0], order[1], order[2], order[3], order[4], more)
}

// TestRealKeyboardWalk: a walk by tab finds a trap, a wrong order and an element without way to it, and nothing in the
// window without faults; then the element with the focus has it again.
func TestRealKeyboardWalk(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"gtk3", "qt6", "page"} {
		for _, c := range []struct{ fault, want string }{
			{"", ""}, {"trap", "keyboard-trap Second"}, {"order", "keyboard-reach Fourth; focus-order Second"},
		} {
			t.Run(name+" "+c.fault, func(t *testing.T) {
				w := parallelWorld(t)
				var app string
				if name == "page" {
					app = w.page(walkedPage(c.fault), "Ready")
				} else {
					app = w.python("walked_"+name+".py", "Ready", c.fault)
				}
				before := focusedNow(w, app)
				a := w.ok("ax_a11y_keyboard", params{"app": app})
				var found []string
				for _, i := range at(a.data, "issues").([]any) { //nolint:forcetypeassert // the schema says so
					issue, _ := i.(map[string]any)
					_, element, _ := strings.Cut(fmt.Sprint(issue["element"]), `"`)
					found = append(found, fmt.Sprint(issue["rule"], " ", strings.TrimSuffix(element, `"`)))
				}
				if got := strings.Join(found, "; "); got != c.want {
					t.Errorf("found %q, want %q\n%s\n%s", got, c.want, a.Text, a.Warning)
				}
				if c.fault == "trap" {
					return // nothing but a click leaves it
				}
				now := focusedNow(w, app)
				assert.Check(t, is.Equal(now, before), "the focus is at %s, and was at %s", now, before)
			})
		}
	}
}

// focusedNow returns the element with the focus of the program's window, as ax_get_state describes it.
func focusedNow(w *realWorld, app string) string {
	w.Helper()
	return fmt.Sprint(at(w.ok("ax_get_state", params{"app": app}).data, "focused_element"))
}
