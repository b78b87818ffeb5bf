package ax_test

import (
	"bytes"
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
	"time"

	"aai"
	"aai/internal/undo"
)

// refusingGTK and refusingQt are windows with fields that cut, refuse or change a text, and say
// in a file what each holds.
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
def shows(change):
    def changed(e):
        if change(e.get_text()) != e.get_text(): e.set_text(change(e.get_text()))
    return changed
def grouped(text):
    d = "".join(c for c in text if c.isdigit())[:6]
    return d[:3] + "-" + d[3:] if len(d) > 3 else d
entry("Code", "abc", max_length=5)
entry("Digits", "42").connect("insert-text", digits)
entry("Upper", "AB").connect("changed", shows(str.upper))
entry("Group", "12").connect("changed", shows(grouped))
spin = Gtk.SpinButton(adjustment=Gtk.Adjustment(value=5, lower=0, upper=0x7fffffff, step_increment=1))
add(spin, "Count", spin.get_value_as_int, "value-changed")
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
held["Count"] = spin.value
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

// refusedRounds is how many acts are tried on all windows: as many as AAI_REFUSED says, or few.
func refusedRounds(t *testing.T) int {
	n, err := strconv.Atoi(cmp.Or(os.Getenv("AAI_REFUSED"), "20"))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestRealRefused acts on fields that cut, refuse or change what they are given, and undoes each
// act. The window is the witness: an act that failed left what stood there or says otherwise, one
// that ended well did what it was asked for, and what undo calls undone is as it was before.
func TestRealRefused(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	log := undo.NewLog(undo.Config{})
	var programs []refusing
	for name, args := range map[string][]string{"GTK 3": {refusingGTK, "3.0"}, "GTK 4": {refusingGTK, "4.0"}, "Qt 6": {refusingQt, "6"}} {
		file := filepath.Join(w.Home, strings.ReplaceAll(name, " ", "")+".json")
		app := w.python(filepath.Base(file)+".py", args[0], "textbox Code", args[1], file)
		programs = append(programs, refusing{w, name, app, func() (all map[string]any) {
			raw, err := os.ReadFile(file)
			d := json.NewDecoder(bytes.NewReader(raw))
			d.UseNumber()
			if err = cmp.Or(err, d.Decode(&all)); err != nil {
				t.Fatal(err)
			}
			return all
		}})
	}
	page := w.webForm(refusingPage)
	programs = append(programs, refusing{w, "Chromium", page.app, func() map[string]any {
		all := map[string]any{}
		for _, name := range []string{"Code", "Digits", "Upper", "Group", "Count"} {
			all[name] = page.holds(name)
		}
		return all
	}})
	slices.SortFunc(programs, func(a, b refusing) int { return strings.Compare(a.name, b.name) })
	w.gateway.Deeds = log
	random := rand.New(rand.NewPCG(39, uint64(os.Getpid())))
	counts := map[string]int{}
	for n := range refusedRounds(t) {
		programs[n%len(programs)].round(random, log, counts)
	}
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%s: %d", what, counts[what])
	}
}

// A refusing is a program with such fields.
type refusing struct {
	*realWorld
	name, app string
	state     func() map[string]any
}

// round makes a random act and undoes it.
func (r refusing) round(random *rand.Rand, log *undo.Log, counts map[string]int) {
	r.Helper()
	texts := map[string][]string{
		"Code": {"hello world", "1234567", "ääääää", "x"}, "Digits": {"abc", "12a", "é", "hello world", "7"}, "Upper": {"abc", "Ab1", "é"},
		"Group": {"abc", "12345678", "12a", "123456"}, "Count": {"12.5", "0.25", "abc", "-3", "1234567"},
	}
	field := slices.Sorted(maps.Keys(texts))[random.IntN(len(texts))]
	text := texts[field][random.IntN(len(texts[field]))]
	query := "textbox " + field
	if field == "Count" {
		query = "spinbutton Count"
	}
	tool, p := "ax_set_value", params{"app": r.app, "query": query, "value": text}
	switch kind := random.IntN(4); {
	case kind == 0:
		tool, p = "ax_fill", params{"app": r.app, "fields": fields(query, text)}
	case kind < 3 && field != "Count":
		tool, p = "ax_type", params{"app": r.app, "query": query, "text": text, "clear_first": kind == 1}
	}
	what := fmt.Sprintf("%s: %s %q into %s", r.name, tool, text, field)
	before := r.state()
	result, failure := r.do(r.Context(), tool, p)
	is := func(state map[string]any) func() bool {
		return func() bool { return reflect.DeepEqual(r.state(), state) }
	}
	switch {
	case failure == nil:
		counts[r.name+", done"]++
		r.comes(fmt.Sprintf("%s: %q, and it held %v", what, result.Text, before), func() bool { return r.took(field, text, before) })
	case failure.Delivery == aai.NotDelivered || strings.Contains(failure.Message, "it holds again what it held") || strings.Contains(failure.Message, "it holds what it held"):
		counts[r.name+", failed, as it was"]++
		r.comes(fmt.Sprintf("%s: %q, and it held %v", what, failure.Message, before), is(before))
	default:
		counts[r.name+", failed, the difference named"]++
		if !strings.Contains(failure.Message, "hold") {
			r.Errorf("%s: %q names no difference of %v and %v", what, failure.Message, r.state(), before)
		}
	}
	taken, _, err := log.Back(r.Context(), r.gateway.Do, r.caller, 1, func(*undo.Act) bool { return true })
	if err != nil {
		r.Fatal(err)
	}
	for _, one := range taken {
		counts[r.name+", then "+string(one.Outcome.Status)]++
		if one.Outcome.Done() {
			r.comes(fmt.Sprintf("%s: %q, and it held %v", what, one.Outcome.Says, before), is(before))
		} else if !is(before)() && !strings.Contains(one.Outcome.Says, "hold") && !strings.Contains(one.Outcome.Says, "otherwise") {
			r.Errorf("%s: %s %q names no difference of %v and %v", what, one.Outcome.Status, one.Outcome.Says, r.state(), before)
		}
	}
}

// comes waits until ready says so, and goes on where that does not come.
func (r refusing) comes(what string, ready func() bool) {
	r.Helper()
	for end := time.Now().Add(realPatience); !ready(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			r.Errorf("%s; it holds %v", what, r.state())
			return
		}
	}
}

// took reports whether the field holds the letters and digits that it was given, and no others
// than it held, and all others hold what they held.
func (r refusing) took(field, text string, before map[string]any) bool {
	now := r.state()
	signs := regexp.MustCompile(`[^\p{L}\p{N}]+`)
	plain := func(value any) string {
		return strings.ToLower(signs.ReplaceAllString(fmt.Sprint(value), ""))
	}
	held, was, given := plain(now[field]), plain(before[field]), plain(text)
	if field == "Count" {
		return fmt.Sprint(now[field]) == text
	}
	if field == "Digits" && strings.Trim(held, "0123456789") != "" {
		return false // no keyboard could enter it
	}
	for name, value := range before {
		if name != field && !reflect.DeepEqual(now[name], value) {
			return false
		}
	}
	return held == given || len(held) == len(was)+len(given) && strings.Contains(held, given)
}
