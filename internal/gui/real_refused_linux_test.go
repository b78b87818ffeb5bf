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
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// refusingPage has fields that truncate, reject or change a text, like the programs refusing_*.py.
const (
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
		"gtk3": refusingProgram(linuxtest.GTK3), "gtk4": refusingProgram(linuxtest.GTK4), "qt6": refusingProgram(linuxtest.Qt6), "chromium": refusingForm,
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

func refusingProgram(kind linuxtest.Kind) func(*realWorld) refusing {
	return func(w *realWorld) refusing {
		file := filepath.Join(w.Home, "held.json")
		return refusing{realWorld: w, app: w.pythonOf(kind, "refusing", "textbox Code", file), state: func() (all map[string]any) {
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
