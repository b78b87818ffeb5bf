package gui_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/undo"
)

// refusingGTK and refusingQt are windows with fields that truncate, reject or change a text, and
// log their values in a file.
const (
	refusingGTK = `
import gi, json, os, sys
gi.require_version("Gtk", sys.argv[1])
from gi.repository import Gtk
old = sys.argv[1] == "3.0"
box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
held = {}
def tell(*_):
    with open(sys.argv[2] + ".new", "w") as f: json.dump({name: read() for name, read in held.items()}, f)
    os.rename(sys.argv[2] + ".new", sys.argv[2])
def add(w, name, read, signal):
    w.get_accessible().set_name(name) if old else w.update_property([Gtk.AccessibleProperty.LABEL], [name])
    held[name] = read
    w.connect(signal, tell)
    box.add(w) if old else box.append(w)
def entry(name, text, **more):
    e = Gtk.Entry(text=text, **more)
    add(e, name, e.get_text, "changed")
    return e if old else e.get_delegate()
def digits(e, text, *_):
    if not text.isdigit(): e.stop_emission_by_name("insert-text")
def shows(e, change):
    if change(e.get_text()) != e.get_text(): e.set_text(change(e.get_text()))
def grouped(text):
    d = "".join(c for c in text if c.isdigit())[:6]
    return d[:3] + "-" + d[3:] if len(d) > 3 else d
entry("Code", "abc", max_length=5)
entry("Digits", "42").connect("insert-text", digits)
entry("Upper", "AB").connect("changed", shows, str.upper)
entry("Group", "12").connect("changed", shows, grouped)
spin = Gtk.SpinButton(adjustment=Gtk.Adjustment(value=5, lower=0, upper=0x7fffffff, step_increment=1))
add(spin, "Count", lambda: "%.10g" % spin.get_value(), "value-changed")
def show(app=None):
    window = Gtk.Window(title="Refusing") if old else Gtk.ApplicationWindow(application=app, title="Refusing")
    window.add(box) if old else window.set_child(box)
    window.show_all() if old else window.present()
    tell()
if old:
    show()
    Gtk.main()
else:
    app = Gtk.Application()
    app.connect("activate", show)
    app.run()
`
	refusingQt = `
import json, os, sys
from PyQt6.QtWidgets import *
from PyQt6.QtGui import QIntValidator
app = QApplication([])
window = QWidget()
window.setWindowTitle("Refusing")
box = QVBoxLayout(window)
held = {}
def tell(*_):
    with open(sys.argv[2] + ".new", "w") as f: json.dump({name: read() for name, read in held.items()}, f)
    os.rename(sys.argv[2] + ".new", sys.argv[2])
def entry(name, text, **more):
    e = QLineEdit(text, accessibleName=name, **more)
    held[name] = e.text
    e.textChanged.connect(tell)
    box.addWidget(e)
    return e
entry("Code", "abc", maxLength=5)
digits = entry("Digits", "42")
digits.setValidator(QIntValidator(0, 99999))
upper = entry("Upper", "AB")
upper.textChanged.connect(lambda text: upper.setText(text.upper()))
entry("Group", "12", inputMask="999-999")
spin = QSpinBox(maximum=0x7fffffff, value=5, accessibleName="Count")
held["Count"] = spin.text
spin.valueChanged.connect(tell)
box.addWidget(spin)
window.show()
tell()
app.exec()
`
	refusingPage = `<p><label>Code <input id="Code" maxlength="5" value="abc"></label>
		<label>Digits <input id="Digits" value="42" oninput="if (/[^0-9]/.test(this.value)) this.value = ''"></label>
		<label>Upper <input id="Upper" value="AB" oninput="this.value = this.value.toUpperCase()"></label>
		<label>Group <input id="Group" value="12" oninput="const d = this.value.replace(/[^0-9]/g, '').slice(0, 6); this.value = d.length > 3 ? d.slice(0, 3) + '-' + d.slice(3) : d"></label>
		<label>Count <input id="Count" type="number" min="0" value="5"></label>`
)

// refusedTexts returns the texts for the fields, most of which they reject, truncate or change.
func refusedTexts() map[string][]string {
	return map[string][]string{
		"Code": {"hello world", "1234567", "ääääää", "x"}, "Digits": {"abc", "12a", "é", "hello world", "7"}, "Upper": {"abc", "Ab1", "é"},
		"Group": {"abc", "12345678", "12a", "123456"}, "Count": {"12.5", "0.25", "abc", "-3", "1234567"},
	}
}

// TestRealRefused acts on fields that truncate, reject or change their text, and undoes each act.
// The window reports the values. A failed act leaves the old value or reports otherwise, a
// successful one has the requested effect, and a complete undo restores the old value. AAI_REFUSED
// sets the number of acts in all windows together.
func TestRealRefused(t *testing.T) {
	t.Parallel()
	all, err := strconv.Atoi(cmp.Or(os.Getenv("AAI_REFUSED"), "20"))
	assert.NilError(t, err)
	for name, open := range map[string]func(*realWorld) refusing{
		"gtk3": refusingProgram(refusingGTK, "3.0"), "gtk4": refusingProgram(refusingGTK, "4.0"), "qt6": refusingProgram(refusingQt, "6"), "chromium": refusingForm,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := open(newRealWorld(t))
			r.counts, r.log = map[string]int{}, undo.NewLog(undo.Config{})
			r.gateway.MutationObserver = r.log
			random := rand.New(rand.NewPCG(uint64(len(name)), uint64(all)))
			for range all / 4 {
				field := slices.Sorted(maps.Keys(refusedTexts()))[random.IntN(5)]
				texts := refusedTexts()[field]
				r.round(field, texts[random.IntN(len(texts))], random.IntN(4))
			}
			t.Log(r.counts)
		})
	}
}

// refusing is a program with such fields.
type refusing struct {
	*realWorld
	app    string
	state  func() map[string]any // the value of each field
	log    *undo.Log
	counts map[string]int
}

func refusingProgram(program, version string) func(*realWorld) refusing {
	return func(w *realWorld) refusing {
		file := filepath.Join(w.Home, "held.json")
		return refusing{realWorld: w, app: w.python("refusing.py", program, "textbox Code", version, file), state: func() (all map[string]any) {
			raw, err := os.ReadFile(file)
			err = cmp.Or(err, json.Unmarshal(raw, &all))
			assert.NilError(w, err)
			return all
		}}
	}
}

func refusingForm(w *realWorld) refusing {
	f := w.webForm(refusingPage)
	return refusing{realWorld: w, app: f.app, state: func() map[string]any {
		all := map[string]any{}
		for name := range refusedTexts() {
			all[name] = f.holds(name)
		}
		return all
	}}
}

// round makes an act in one of four modes and undoes it.
func (r refusing) round(field, text string, way int) {
	r.Helper()
	query := "textbox " + field
	if field == "Count" {
		query = "spinbutton Count"
	}
	tool, p := "ax_set_value", params{"app": r.app, "query": query, "value": text}
	switch {
	case way == 0:
		tool, p = "ax_fill", params{"app": r.app, "fields": fields(query, text)}
	case way < 3 && field != "Count":
		tool, p = "ax_type", params{"app": r.app, "query": query, "text": text, "clear_first": way == 1}
	}
	before := r.state()
	result, failure := r.do(r.Context(), tool, p)
	what := fmt.Sprintf("%s %q into %s of %v", tool, text, field, before)
	asBefore := func() bool { return reflect.DeepEqual(r.state(), before) }
	switch {
	case failure == nil:
		r.counts["done"]++
		r.eventually(fmt.Sprintf("%s: %s; it holds %v", what, result.Text, r.state()), func() bool { return r.took(field, text, before) })
	case failure.Delivery == aai.NotDelivered || failure.Code == aai.InvalidParams:
		r.counts["refused"]++
		r.eventually(fmt.Sprintf("%s: %s; it holds %v", what, failure.Message, r.state()), asBefore)
		return
	case strings.Contains(failure.Message, "has its former value again"), strings.Contains(failure.Message, "has its former value"):
		r.counts["failed, as before"]++
		r.eventually(fmt.Sprintf("%s: %s; it holds %v", what, failure.Message, r.state()), asBefore)
	default:
		r.counts["failed, otherwise"]++
		r.says(failure.Message, "hold")
	}
	taken, _, err := r.log.Revert(r.Context(), r.gateway.Do, r.caller, 1, func(*undo.Act) bool { return true })
	assert.NilError(r, err)
	for _, one := range taken {
		r.counts["then "+string(one.Outcome.Status)]++
		if one.Outcome.IsUndone() {
			r.eventually(fmt.Sprintf("%s: %s; it holds %v", what, one.Outcome.Message, r.state()), asBefore)
		} else if !asBefore() {
			r.Errorf("%s: %s, %s; it holds %v", what, one.Outcome.Status, one.Outcome.Message, r.state())
		}
	}
}

// took reports whether the field holds the letters and digits of the text, and no others except old
// ones, and all other fields are unchanged.
func (r refusing) took(field, text string, before map[string]any) bool {
	now, signs := r.state(), regexp.MustCompile(`[^\p{L}\p{N}]+`)
	for name, value := range before {
		if name != field && !reflect.DeepEqual(now[name], value) {
			return false
		}
	}
	if field == "Count" {
		return now[field] == text
	}
	plain := func(value any) string { return strings.ToLower(signs.ReplaceAllString(fmt.Sprint(value), "")) }
	held, was, given := plain(now[field]), plain(before[field]), plain(text)
	if field == "Digits" && strings.Trim(held, "0123456789") != "" {
		return false // no keyboard could enter it
	}
	return held == given || len(held) == len(was)+len(given) && strings.Contains(held, given)
}
