package apps

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// commonSteps returns the steps of every program in a full run, in its first round: its window,
// the clipboard, and for programs with a text, the pointer.
func (s *stage) commonSteps(round int) []step {
	s.Helper()
	if round > 0 {
		return nil
	}
	steps := slices.Concat(s.windowing(), s.clipping(), s.pointing())
	if s.program.extraSteps != nil {
		steps = append(steps, s.program.extraSteps(s)...)
	}
	return steps
}

// windowing manages the focused window, beside one of the user's own.
func (s *stage) windowing() []step {
	s.Helper()
	window := ""
	state := func(part string) expectation {
		return func(observation, observation) bool {
			return strings.Contains(s.run("xprop", "-id", window, "WM_STATE"), part)
		}
	}
	active := func(observation, observation) bool { return s.keyboard() == window }
	manage := func(action string, wanted expectation) step {
		return made("window", "ax_window", params{"action": action}, wanted)
	}
	other := manage("activate", active)
	other.lateArgs = func() params {
		own := s.Launch(s.T, "xterm", "-geometry", "20x4", "-T", "of the person")
		s.eventually("the person's own window has the keyboard", func() bool {
			return strings.TrimSpace(s.run("xdotool", "getactivewindow", "getwindowname")) == "of the person"
		})
		s.Cleanup(func() { own.Kill(s.T) })
		return params{}
	}
	first := manage("minimize", state("Iconic"))
	first.lateArgs = func() params {
		s.eventually("a window of the program is managed", func() bool {
			clients := s.clients()
			if len(clients) > 0 {
				if window = s.keyboard(); !slices.Contains(clients, window) {
					window = clients[0]
				}
				return true
			}
			return false
		})
		return params{}
	}
	return []step{first, manage("restore", state("Normal")), other, manage("raise", state("Normal"))}
}

// clients returns the windows of the window manager.
func (s *stage) clients() (ids []string) {
	_, list, _ := strings.Cut(s.run("xprop", "-root", "_NET_CLIENT_LIST"), "#")
	for word := range strings.FieldsSeq(strings.ReplaceAll(list, ",", " ")) {
		if id, err := strconv.ParseInt(word, 0, 64); err == nil {
			ids = append(ids, fmt.Sprint(id))
		}
	}
	return ids
}

// keyboard returns the focused window, according to the window manager.
func (s *stage) keyboard() string {
	return strings.TrimSpace(s.run("xdotool", "getactivewindow"))
}

// clipping writes the clipboard, and reads the user's content.
func (s *stage) clipping() []step {
	w, own := s.word(), s.word()
	there := s.clips("clipboard", own)
	read := made("clipboard", "ax_clipboard", params{"action": "read"}, there)
	read.lateArgs = func() params {
		s.run("sh", "-c", `printf %s "$1" | xclip -i -selection clipboard >/dev/null 2>&1`, "sh", own)
		s.eventually("xclip has the clipboard, which it may take after it went into the background", func() bool { return there(observation{}, observation{}) })
		return params{}
	}
	read.replyCheck = func(r reply) bool { return strings.Contains(r.Text, own) }
	return []step{made("clipboard", "ax_clipboard", params{"action": "write", "text": w}, s.clips("clipboard", w)), read}
}

// clips expects the text on the clipboard, or selected ("primary"), by xclip.
func (s *stage) clips(which, text string) expectation {
	return func(observation, observation) bool {
		return strings.TrimSpace(s.run("xclip", "-o", "-selection", which)) == strings.TrimSpace(text)
	}
}

// selects expects the text to be selected, by xclip or by the witness: on a busy computer Writer
// does not always publish the selection.
func (s *stage) selects(text string) expectation {
	given := s.clips("primary", text)
	return func(before, after observation) bool {
		return given(before, after) || slices.ContainsFunc(slices.Collect(maps.Values(after.nodes)), func(n node) bool {
			return strings.Contains(n.text, text) && s.witness.selects(n) == text
		})
	}
}

// selects returns the selected part of an element's text.
func (w atspiWitness) selects(n node) string {
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
	defer cancel()
	var from, to int32
	asked := w.put(ctx, n.ref, textFace+".GetSelection", int32(0))
	<-asked.Done
	text := []rune(n.text)
	if asked.Store(&from, &to) != nil || from < 0 || to < from || int(to) > len(text) {
		return ""
	}
	return string(text[from:to])
}

// spot is the position of a text on the screen, from the program.
type spot struct{ X, Y, W, H int32 }

// spot returns the position of a character.
func (w atspiWitness) spot(r ref, at int) (p spot, ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
	defer cancel()
	asked := w.put(ctx, r, textFace+".GetCharacterExtents", int32(at), uint32(0))
	<-asked.Done
	err := asked.Store(&p.X, &p.Y, &p.W, &p.H)
	return p, err == nil && p.W > 0 && p.H > 0
}

// written returns the element of the text being written that begins with part, or nil.
func (s *stage) written(part string) *node {
	for _, n := range s.witness.tree(false) {
		if n.is(editable) && strings.Contains(n.text, part) {
			return &n
		}
	}
	return nil
}

// pointing double-clicks, drags, right-clicks and scrolls in a text.
func (s *stage) pointing() []step {
	s.Helper()
	if !s.program.writes {
		return nil
	}
	const text = "eins zwei drei"
	steps := []step{made("field", "ax_set_value", s.editor(params{"value": text}), holds(s.program.paper(), text))}
	if s.program.toolkit != "GTK 4" { // which does not report character positions
		twice := made("double click", "ax_click_at", params{"click_type": "double"}, s.selects("zwei"))
		twice.lateArgs = s.at(text, 6, "x", "y", 0.5)
		drag := made("drag", "ax_drag", params{}, s.selects("zwei drei"))
		drag.lateArgs = func() params {
			from, to := s.at(text, 5, "from_x", "from_y", 0.1)(), s.at(text, len(text)-1, "to_x", "to_y", 0.9)()
			if from == nil || to == nil {
				return nil
			}
			maps.Copy(from, to)
			return from
		}
		steps = append(steps, drag, twice) // the selection would be dragged
	}
	if s.program.sheet != "" { // where each line is a separate element
		return append(steps, s.rolls("down"), s.rolls("up"))
	}
	var many string
	for i := range 120 {
		many += fmt.Sprintf("%d zeile %d\n", i*i, i)
	}
	return append(steps,
		made("right click", "ax_click", s.editor(params{"click_type": "right"}), menus(true)),
		key("escape", menus(false)).focused(),
		made("field", "ax_set_value", s.editor(params{"value": many}), holds(s.program.paper(), strings.ReplaceAll(many, "\n", ""))),
		s.rolls("down"), s.rolls("up"))
}

// at returns arguments for a point in a character of the text.
func (s *stage) at(text string, offset int, x, y string, part float64) func() params {
	return func() params {
		n := s.written(text)
		if n == nil {
			return nil
		}
		begins := strings.Index(n.text, text) + offset
		p, ok := s.witness.spot(n.ref, begins)
		if s.program.toolkit == "LibreOffice" { // which knows its window's position after the first pointer event in it
			s.run("xdotool", "mousemove", strconv.Itoa(int(p.X)), strconv.Itoa(int(p.Y+10*p.H)))
			time.Sleep(refusalWait)
			p, ok = s.witness.spot(n.ref, begins)
		}
		if !ok {
			return nil
		}
		return params{x: int(float64(p.X) + part*float64(p.W)), y: int(p.Y + p.H/2)}
	}
}

// menus expects that a menu is open, or that none is. Those of Qt and GTK 4 are windows without
// further data.
func menus(up bool) expectation {
	return func(before, after observation) bool {
		was, now := before.entries()+before.tops, after.entries()+after.tops
		return up && now > was || !up && now < was
	}
}

// entries returns the number of visible menu items.
func (s observation) entries() (n int) {
	for _, e := range s.nodes {
		if strings.HasSuffix(e.role, "menu item") {
			n++
		}
	}
	return n
}

// rolls scrolls in the text and expects a larger change in the window than a blinking caret
// causes.
func (s *stage) rolls(direction string) step {
	const caret = 4000 // bytes of a picture
	var was string
	picture := func() string {
		if s.isWayland() {
			return s.run("grim", "-t", "ppm", "-")
		}
		return s.run("import", "-window", strings.TrimSpace(s.run("xdotool", "getactivewindow")), "-depth", "8", "rgb:-")
	}
	args := params{"direction": direction, "amount": 400}
	if s.program.sheet == "" {
		args = s.editor(args)
	}
	p := made("scroll", "ax_scroll", args, func(observation, observation) bool {
		now, differ := picture(), 0
		for i := range min(len(was), len(now)) {
			if was[i] != now[i] {
				differ++
			}
		}
		return differ > caret
	})
	p.lateArgs = func() params {
		was = picture()
		return params{}
	}
	return p
}

// only expects the page to report changes of these values only.
func only(keys ...string) expectation {
	return func(before, after observation) bool {
		var was, now map[string]json.RawMessage
		if json.Unmarshal([]byte(before.page), &was) != nil || json.Unmarshal([]byte(after.page), &now) != nil {
			return false
		}
		var changed []string
		for k := range now {
			if string(was[k]) != string(now[k]) {
				changed = append(changed, k)
			}
		}
		slices.Sort(changed)
		return slices.Equal(changed, slices.Sorted(slices.Values(keys)))
	}
}

// fresh returns a number from the page's report.
func (s *stage) fresh(of string) float64 {
	n, _ := s.page.form.State(s.T)[of].(float64)
	return n
}
