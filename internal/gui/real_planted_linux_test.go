package gui_test

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
)

const (
	plantedShows = time.Minute            // limit for a state that a person's keys cause
	plantedComes = 3 * time.Second        // limit for the text to reach the field after the reply
	plantedRest  = 250 * time.Millisecond // time for late keys to arrive elsewhere
)

// TestRealPlanted plants the person's keyboard in another element or window, then calls a tool
// that puts a random text into a named field. The programs report where the characters landed.
//
// AAI_APPS=all runs 600 rounds, AAI_PLANTED=chromium:17 only round 17 of Chromium.
func TestRealPlanted(t *testing.T) {
	var mu sync.Mutex
	tallies := map[string]map[string]int{"in all": {}}
	only, number, one := strings.Cut(os.Getenv("AAI_PLANTED"), ":")
	t.Cleanup(func() { reportPlanted(t, tallies, !one) })
	for _, program := range plantedPrograms() {
		first, rounds := 0, program.few
		if os.Getenv("AAI_APPS") == "all" {
			rounds = program.all
		}
		if one {
			first, _ = strconv.Atoi(number)
			rounds = first + 1
		}
		if one && only != program.name || rounds == 0 {
			continue
		}
		tallies[program.name] = map[string]int{}
		t.Run(program.name, func(t *testing.T) {
			t.Parallel()
			p := &planting{realWorld: newRealWorld(t), plantedProgram: program}
			p.start(p)
			p.person = p.somebody()
			for n := first; n < rounds; n++ {
				counts := p.round(n)
				mu.Lock()
				for count, is := range counts {
					if is {
						tallies[program.name][count]++
						tallies["in all"][count]++
					}
				}
				mu.Unlock()
			}
		})
	}
}

// reportPlanted prints the tallies and requires that eight of ten texts were typed. Where
// Chromium's find bar has the keyboard the page is not in its tree, and nothing can be typed.
func reportPlanted(t *testing.T, tallies map[string]map[string]int, whole bool) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(tallies)) {
		fmt.Println("planted", name, tallies[name])
	}
	all := tallies["in all"]
	assert.Check(t, !whole || all["typed"]*10 >= all["rounds"]*8, "the text came to its field in %d of %d rounds, want eight of ten", all["typed"], all["rounds"])
}

// plantedCall is a call that puts a text into a field.
type plantedCall struct {
	tool, text   string
	args         params
	submit, adds bool // adds to the text that the field holds
}

// done reports whether the text is in the field.
func (c plantedCall) done(was, is string) bool {
	return is == c.text || c.adds && (is == was+c.text || is == c.text+was)
}

// drawCall returns a random call for the field.
func drawCall(r *rand.Rand, f plantedField) plantedCall {
	letters := []rune("abcdefghijkmnoprstuvwxyABCDEFGHKLMNPRSTUVWXY23456789-_.é")
	text := make([]rune, 6+r.IntN(10))
	for i := range text {
		text[i] = letters[r.IntN(len(letters))]
	}
	c := plantedCall{text: string(text), args: params{"query": f.query}}
	switch r.IntN(5) {
	case 0:
		c.tool, c.args["value"] = "ax_set_value", c.text
	case 1:
		c.tool, c.args["text"], c.adds = "ax_type", c.text, r.IntN(2) == 0
		c.args["clear_first"] = !c.adds
	case 2:
		c.tool, c.args["text"], c.submit, c.adds = "ax_type", c.text, !f.lines, true
		c.args["submit"] = c.submit
	case 3:
		c.tool, c.args = "ax_fill", params{"fields": fields(f.query, c.text)}
	case 4:
		c.tool, c.text = "ax_key_press", string(text[:1])
		c.args["key"], c.adds = c.text, true
	}
	if c.tool != "ax_set_value" && r.IntN(3) == 0 {
		c.args["mode"] = "focus"
	}
	return c
}

// round runs the round of the number, which is its seed. If the reply advises the mode "focus",
// the round is run again in that mode.
func (p *planting) round(n int) map[string]bool {
	p.Helper()
	seed := fnv.New64()
	_, _ = seed.Write([]byte(p.name))
	r := rand.New(rand.NewPCG(seed.Sum64(), uint64(n)))
	f, where, window := p.fields[r.IntN(len(p.fields))], p.plants[r.IntN(len(p.plants))], []string{"active", "covered", "inactive"}[r.IntN(3)]
	if r.IntN(20) == 0 {
		where = p.modal[r.IntN(len(p.modal))]
	}
	if where.grabs {
		window = "active"
	}
	c := drawCall(r, f)
	title := fmt.Sprintf("AAI_PLANTED=%s:%d: keyboard in %s, window %s", p.name, n, where.name, window)
	counts := p.attempt(title, f, c, where, window)
	if counts["advised"] && !counts["elsewhere"] && !counts["untrue"] && !counts["in clear"] {
		c.args["mode"] = "focus"
		counts = p.attempt(title, f, c, where, window)
		counts["advised"] = true
	}
	return counts
}

// attempt plants the keyboard, makes the call and returns the verdict of [planting.judge].
func (p *planting) attempt(title string, f plantedField, c plantedCall, where plant, window string) map[string]bool {
	p.Helper()
	p.plant(where)
	p.place(window)
	delete(c.args, "app")
	title += fmt.Sprintf(", %s %s", c.tool, jsonText(p.T, c.args))
	before, frame := p.read(p), p.frame()
	delete(before, "the page") // a dialog may keep it from answering
	c.args["app"] = p.app
	result, err := p.do(p.Context(), c.tool, c.args)
	if err == nil {
		for end := time.Now().Add(plantedComes); !c.done(before[f.key], p.read(p)[f.key]) && time.Now().Before(end); {
			time.Sleep(plantedRest)
		}
	}
	time.Sleep(plantedRest)
	strays := strayFrames(frame, p.frame(), c.text)
	if len(where.leave) > 0 {
		p.activate()
		p.press(where.leave...)
	}
	after := p.read(p)
	return p.judge(title, f, c, append(strays, strayValues(before, after, f, c)...), before[f.key], after[f.key], result, err)
}

// judge compares the reply with the programs' reports.
func (p *planting) judge(title string, f plantedField, c plantedCall, strays []string, was, is string, result *aai.Result, err *aai.Error) map[string]bool {
	p.Helper()
	said, success := "", false
	if err == nil {
		said = result.Text + result.Warning + jsonText(p.T, result.Data)
		data := asJSON(p.T, result.Data)
		success = at(data, "verified") == true || at(data, "fields", 0, "done") == true
	} else {
		said = fmt.Sprint(err.Code, " ", err.Message, " ", err.Delivery, " ", err.Hint, err.Candidates)
	}
	if typed, err := os.ReadFile(p.person.file); err != nil || string(typed) != p.person.typed {
		strays, p.person.typed = append(strays, fmt.Sprintf("another window: %q", typed)), string(typed)
	}
	refused := err != nil && err.Delivery == aai.NotDelivered
	done := c.done(was, is)
	counts := map[string]bool{
		"rounds": true, "typed": done && len(strays) == 0, "refused": refused, "elsewhere": len(strays) > 0,
		"untrue": success && !done || refused && is != was, "advised": err != nil && c.args["mode"] == nil && c.tool != "ax_set_value" && strings.Contains(err.Hint, `mode "focus"`),
	}
	if counts["elsewhere"] {
		p.Errorf("%s\n  characters came elsewhere: %q\n  reply: %s", title, strays, said)
	} else {
		p.Logf("%s\n  typed: %v, reply: %.300s", title, counts["typed"], said)
	}
	if counts["untrue"] {
		p.Errorf("%s\n  the field held %q and holds %q, success claimed: %v, reply: %s", title, was, is, success, said)
	}
	if f.secret && len(c.text) > 1 {
		tree, _ := p.do(p.Context(), "ax_get_tree", params{"app": p.app})
		for name, text := range map[string]string{"the reply": said, "the next tree": fmt.Sprint(tree), "the record": p.record.text()} {
			if strings.Contains(text, c.text) {
				counts["in clear"] = true
				p.Errorf("%s\n  %s shows the password: %.1000s", title, name, text)
			}
		}
	}
	if counts["elsewhere"] || counts["untrue"] {
		p.end()
		p.start(p)
	}
	return counts
}

// strayValues names the values that changed besides the field's.
func strayValues(before, after map[string]string, f plantedField, c plantedCall) (strays []string) {
	for _, key := range slices.Sorted(maps.Keys(after)) {
		if key != f.key && key != "keys in "+f.key && before[key] != after[key] && (!c.submit || key != "sent") {
			strays = append(strays, fmt.Sprintf("%s: %q was %q", key, after[key], before[key]))
		}
	}
	return strays
}

// strayFrames names the elements outside the page or the document that hold another text, or the
// text that was sent.
func strayFrames(before, after []*thing, text string) (strays []string) {
	held := func(e *thing) string { return strings.TrimPrefix(e.text, "http://") }
	for _, e := range after {
		same := e.states&rawEditable == 0 || e.text == "" || slices.ContainsFunc(before, func(was *thing) bool { return held(was) == held(e) })
		if !same || len(text) > 2 && strings.Contains(e.name+e.text, text) {
			strays = append(strays, fmt.Sprintf("role %d %q: %q", e.role, e.name, e.text))
		}
	}
	return strays
}
