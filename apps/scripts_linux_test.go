package apps

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// editor returns the arguments of an act on the text being written.
func (s *stage) editor(more params) params {
	more["query"] = cmp.Or(s.program.field, "role:textbox")
	if s.program.name == "featherpad" {
		more["nth"] = 1 // the other one is a search field
	}
	return more
}

// write replaces the text of an editor, and saves it.
func (s *stage) write() []step {
	role, file := s.program.paper(), s.file(cmp.Or(s.program.file, "a.txt"))
	a, b := s.word(), s.word()
	return []step{
		made("type", "ax_type", s.editor(params{"text": a, "clear_first": true}), holds(role, a)),
		key("ctrl+s", keeps(file, a)).then(),
		made("type", "ax_type", s.editor(params{"text": b}), holds(role, a+b)),
		made("field", "ax_set_value", s.editor(params{"value": b}), holds(role, b)),
		key("ctrl+s", keeps(file, b)).then(),
	}
}

func (s *stage) mousepad() []step {
	steps := s.write()
	return slices.Concat(steps, s.program.shown(), []step{
		choose("Select All", nil).unseen(), key("ctrl+x", holds("text", "")), key("ctrl+v", shows("text", "w")), choose("Undo", holds("text", "")), choose("Redo", shows("text", "w")),
		made("near miss", "ax_click", params{"query": "Save Al"}, nil),
	})
}

func (s *stage) l3afpad() []step {
	return slices.Concat(s.write(), s.program.shown(), []step{{kind: "near miss", tool: "ax_click", args: params{"query": "Jump"}}})
}

func (s *stage) thunar() []step {
	folder := "f" + strings.ReplaceAll(s.word(), " ", "")
	return slices.Concat([]step{
		key("ctrl+shift+n", opens("Create")),
		made("field", "ax_set_value", params{"query": "role:textbox", "value": folder}, holds("text", folder)).about("Create"),
		press("Create", onDisk(s.file(folder), true)).about("Create"),
		made("near miss", "ax_click", params{"query": "Delet"}, nil),
	}, s.program.shown())
}

// sum presses the keys of a calculator, and expects the correct sum.
func (s *stage) sum(clear, times, equals string, role string) []step {
	a, b := 11+s.random.IntN(88), 3+s.random.IntN(6)
	steps := []step{}
	for i, digit := range fmt.Sprint(a) {
		steps = append(steps, press(string(digit), shows(role, fmt.Sprint(a)[:i+1])))
	}
	return append(steps, press(times, nil).unseen(), press(fmt.Sprint(b), shows(role, fmt.Sprint(b))),
		press(equals, shows(role, fmt.Sprint(a*b))), key(clear, nil).unseen())
}

func (s *stage) calculator() []step {
	return slices.Concat(s.sum("escape", "×", "=", "text"))
}

func (s *stage) kcalc() []step {
	return slices.Concat(s.sum("escape", "×", "=", ""), s.program.shown())
}

func (s *stage) textEditor() []step { return s.write() }

func (s *stage) featherpad() []step {
	return slices.Concat(s.write(), s.program.shown())
}

func (s *stage) designer() []step {
	if s.tally.acts == 0 {
		return s.program.first
	}
	// Qt's own action for a nested row selects another one.
	var rows []step
	for _, name := range []string{"sizePolicy", "palette"} {
		rows = append(rows, made("row", "ax_click", params{"query": name}, comesOn(node{role: "tree item", name: name})))
	}
	return append(rows, s.program.shown()...)
}

func (s *stage) form() []step {
	w, n := s.word(), 10+s.random.IntN(80)
	colour, fruit := []string{"Red", "Green", "Blue"}, fmt.Sprintf("Fruit %d", 1+s.random.IntN(4))
	return []step{
		press("Press", only("presses")),
		made("field", "ax_type", params{"query": "Full name", "text": w, "clear_first": true}, eachOf(only("name"), tells(fmt.Sprintf(`"name":%q`, w)))),
		made("field", "ax_set_value", params{"query": "Notes", "value": w + " and more"}, eachOf(only("notes"), tells(fmt.Sprintf(`"notes":"%s and more"`, w)))),
		made("number", "ax_set_value", params{"query": "Volume", "value": fmt.Sprint(n)}, eachOf(only("volume"), tells(fmt.Sprintf(`"volume":%d`, n)))),
		made("number", "ax_set_value", params{"query": "Count", "value": fmt.Sprint(n)}, eachOf(only("count"), tells(fmt.Sprintf(`"count":%d`, n)))),
		made("select", "ax_set_value", params{"query": "Colour", "value": colour[(slices.Index(colour, fmt.Sprint(s.page.form.State(s.T)["colour"]))+1)%3]}, only("colour")),
		made("drag", "ax_drag", params{"from_query": "Canvas", "to_query": "Shuffle"}, only("clicks", "drags")),
		press("Open dialog", eachOf(only("dialog"), tells(`"dialog":"open"`))),
		press([]string{"Yes", "No"}[s.random.IntN(2)], only("dialog")),
		made("near miss", "ax_click", params{"query": "OK"}, nil),
		made("near miss", "ax_click", params{"query": "Bookmark"}, nil),
		press("Slow", only("slow")),
		made("scroll", "ax_scroll", params{"query": fruit, "to_view": true}, seen("list item", fruit)),
		made("row", "ax_click", params{"query": fruit}, only("fruit")),
	}
}

// pointed returns further acts on the page's elements.
func (s *stage) pointed() []step {
	var was float64
	to := func(more params, down bool) step {
		p := made("scroll", "ax_scroll", more, func(observation, observation) bool {
			now := s.fresh("scroll")
			return down && now > was || !down && now < was
		})
		p.lateArgs = func() params {
			was = s.fresh("scroll")
			return params{}
		}
		return p
	}
	return []step{
		made("right click", "ax_click", params{"query": "Canvas", "click_type": "right"}, eachOf(only("clicks"), tells(`"button":3`))),
		made("double click", "ax_click", params{"query": "Canvas", "click_type": "double"}, eachOf(only("clicks"), tells(`"count":2`))),
		to(params{"query": "Fruit 1", "direction": "down", "amount": 200}, true),
		to(params{"query": "role:listbox title:Fruits", "direction": "up", "amount": 2000}, false),
	}
}

func (s *stage) sheet() []step {
	n, m := fmt.Sprint(100+s.random.IntN(900)), fmt.Sprint(1000+s.random.IntN(9000))
	file := s.file(s.program.file)
	return append(s.program.shown(), []step{
		made("cell", "ax_set_value", params{"query": "role:cell title:C1", "value": n}, shows("table cell", n)),
		made("cell", "ax_click", params{"query": "role:cell title:D1"}, shows("text", "D1")),
		made("type", "ax_type", params{"query": "role:cell title:D1", "text": m + "\n"}, shows("table cell", m)),
		key("ctrl+s", keeps(file, `office:value="`+m+`"`)).then(),
		press("Bold", togglesNamed("toggle button", "Bold")),
		made("near miss", "ax_click", params{"query": "Bol"}, nil),
	}...)
}

func (s *stage) letter() []step {
	return slices.Concat(s.write(), s.program.shown(), []step{
		press("Italic", togglesNamed("toggle button", "Italic")),
		made("near miss", "ax_click", params{"query": "Don't Save"}, nil),
	})
}
