package gui_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// auditedWindow is a window with faults, and its clean twin.
type auditedWindow struct {
	faulty, clean string
	want          []string // rule and element of each fault
}

// twins returns programs and pages with planted faults.
func twins() map[string]auditedWindow {
	gtk3 := func(faulty bool) string {
		return fmt.Sprintf(`
import gi
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk, Gdk
faulty = %s
css = Gtk.CssProvider(); css.load_from_data(b"#pale { color: #b0b0b0; background: #ffffff; } #dark { color: #222222; background: #ffffff; }")
Gtk.StyleContext.add_provider_for_screen(Gdk.Screen.get_default(), css, 900)
grid = Gtk.Grid(row_spacing=30, column_spacing=30, margin=20)
icon = Gtk.Button(); icon.add(Gtk.Image.new_from_icon_name("list-add", Gtk.IconSize.BUTTON)); grid.attach(icon, 0, 0, 1, 1)
lone = Gtk.Entry(); grid.attach(lone, 1, 9, 1, 1)
label = Gtk.Label(label="Street"); street = Gtk.Entry(); grid.attach(label, 0, 2, 1, 1); grid.attach(street, 1, 2, 1, 1)
named = Gtk.Button(label="btn_42" if faulty else "Send"); grid.attach(named, 0, 3, 1, 1)
text = Gtk.Label(label="The price includes shipping"); text.set_name("pale" if faulty else "dark"); grid.attach(text, 0, 4, 2, 1)
deaf = Gtk.Button(label="Reload"); deaf.set_can_focus(not faulty); grid.attach(deaf, 0, 5, 1, 1)
if not faulty:
    icon.get_accessible().set_name("Add a row"); lone.get_accessible().set_name("Country")
    label.set_mnemonic_widget(street)
window = Gtk.Window(title="Audited"); window.add(grid); window.show_all()
Gtk.main()
`, map[bool]string{true: "True", false: "False"}[faulty])
	}
	qt := func(faulty bool) string {
		return fmt.Sprintf(`
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import *
faulty = %s
app = QApplication([]); window = QWidget(); window.setWindowTitle("Audited"); box = QVBoxLayout(window); box.setSpacing(30)
icon = QPushButton(); icon.setFixedSize(60, 40); box.addWidget(icon)
lone = QLineEdit(); box.addWidget(lone)
named = QPushButton("pushButton_3" if faulty else "Send"); box.addWidget(named)
text = QLabel("The price includes shipping"); text.setStyleSheet("color: %%s; background: #ffffff" %% ("#b0b0b0" if faulty else "#222222")); box.addWidget(text)
deaf = QPushButton("Reload"); deaf.setFocusPolicy(Qt.FocusPolicy.NoFocus if faulty else Qt.FocusPolicy.StrongFocus); box.addWidget(deaf)
if not faulty:
    icon.setAccessibleName("Add a row"); lone.setAccessibleName("Country")
window.show(); app.exec()
`, map[bool]string{true: "True", false: "False"}[faulty])
	}
	gtk4 := func(faulty bool) string {
		return fmt.Sprintf(`
import gi
gi.require_version("Gtk", "4.0")
from gi.repository import Gtk, Gdk, GLib
faulty = %s
def named(widget, name): widget.update_property([Gtk.AccessibleProperty.LABEL], [name])
def activate(app):
    css = Gtk.CssProvider(); css.load_from_data(b"#pale { color: #b0b0b0; background: #ffffff; } #dark { color: #222222; background: #ffffff; } .tiny { min-width: 8px; min-height: 8px; padding: 0px; }")
    Gtk.StyleContext.add_provider_for_display(Gdk.Display.get_default(), css, 900)
    grid = Gtk.Grid(row_spacing=30, column_spacing=30, margin_start=20, margin_end=20, margin_top=20, margin_bottom=20)
    icon = Gtk.Button(icon_name="list-add"); grid.attach(icon, 0, 0, 1, 1)
    lone = Gtk.Entry(); grid.attach(lone, 1, 9, 1, 1)
    send = Gtk.Button(label="btn_42" if faulty else "Send"); grid.attach(send, 0, 3, 1, 1)
    text = Gtk.Label(label="The price includes shipping"); text.set_name("pale" if faulty else "dark"); grid.attach(text, 0, 4, 2, 1)
    deaf = Gtk.Button(label="Reload"); deaf.set_focusable(not faulty); grid.attach(deaf, 0, 5, 1, 1)
    pair = Gtk.Box(spacing=0 if faulty else 40); grid.attach(pair, 0, 6, 1, 1)
    for name in ["Less", "More"]:
        small = Gtk.Button(); small.add_css_class("tiny"); named(small, name); small.set_halign(Gtk.Align.START); pair.append(small)
    if not faulty: named(icon, "Add a row"); named(lone, "Country")
    window = Gtk.ApplicationWindow(application=app, title="Audited"); window.set_child(grid); window.present()
app = Gtk.Application(); app.connect("activate", activate); app.run([])
`, map[bool]string{true: "True", false: "False"}[faulty])
	}
	names := []string{"control-name button", "field-label textbox", "contrast The price includes", "keyboard-focus Reload"}
	return map[string]auditedWindow{
		"GTK 3": {gtk3(true), gtk3(false), append([]string{"technical-name btn_42", "label-relation Street"}, names...)},
		"GTK 4": {gtk4(true), gtk4(false), append([]string{"technical-name btn_42", "target-size Less", "target-size More"}, names...)},
		"Qt 6":  {qt(true), qt(false), append([]string{"technical-name pushButton_3"}, names...)},
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
			t.Parallel()
			w := newRealWorld(t)
			audit := func(program string) (issues []string, passed any) {
				var app string
				if name == "page" {
					app = w.page(program, "Ready")
				} else {
					app = w.python("audited.py", program, "Reload")
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
			if passed != false {
				t.Errorf("passed is %v", passed)
			}
			if len(found) > 0 {
				t.Errorf("besides the planted faults:\n%s", strings.Join(found, "\n"))
			}
			if found, _ := audit(c.clean); len(found) > 0 {
				t.Errorf("the clean twin has\n%s", strings.Join(found, "\n"))
			}
		})
	}
}
