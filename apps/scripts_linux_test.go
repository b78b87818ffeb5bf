package apps

import (
	"archive/zip"
	"cmp"
	"encoding/xml"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
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

// Checks of the results of a task. They return the fault, or "".

// sheetIs checks that a workbook has exactly these cells.
func sheetIs(file string, cells map[string]string) func(*stage) string {
	return func(s *stage) string {
		holds, err := workbook(s.file(file))
		if err != nil {
			return err.Error()
		}
		if !maps.Equal(holds, cells) {
			return fmt.Sprintf("%s holds %v; expected %v", file, holds, cells)
		}
		return ""
	}
}

// workbook reads the cells of the first sheet of an xlsx, by the format's definition.
func workbook(file string) (map[string]string, error) {
	book, err := zip.OpenReader(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = book.Close() }()
	read := func(part string, into any) error {
		f, err := book.Open(part)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		return xml.NewDecoder(f).Decode(into)
	}
	var texts struct {
		Text []string `xml:"si>t"`
	}
	var sheet struct {
		Cells []struct {
			At    string `xml:"r,attr"`
			Type  string `xml:"t,attr"`
			Value string `xml:"v"`
		} `xml:"sheetData>row>c"`
	}
	if err := read("xl/sharedStrings.xml", &texts); err != nil {
		return nil, err
	}
	if err := read("xl/worksheets/sheet1.xml", &sheet); err != nil {
		return nil, err
	}
	cells := make(map[string]string)
	for _, c := range sheet.Cells {
		n, err := strconv.Atoi(c.Value)
		if c.Type == "s" && err == nil && n < len(texts.Text) {
			c.Value = texts.Text[n]
		}
		if c.Value != "" {
			cells[c.At] = c.Value
		}
	}
	return cells, nil
}

// fileHas checks that a document has all the parts, and none that begins with "!".
func fileHas(file string, parts ...string) func(*stage) string {
	return func(s *stage) string { return holdsAll(s.file(file), parts) }
}

// homeHas checks that a file in the user's home has all the parts.
func homeHas(file string, parts ...string) func(*stage) string {
	return func(s *stage) string { return holdsAll(filepath.Join(s.Home, file), parts) }
}

// documentsGone checks that the documents are deleted.
func documentsGone(files ...string) func(*stage) string {
	return func(s *stage) string {
		for _, file := range files {
			if _, err := os.Stat(s.file(file)); err == nil {
				return file + " is there"
			}
		}
		return ""
	}
}

// titleIs checks for a window with the title, by xdotool.
func titleIs(title string) func(*stage) string {
	return func(s *stage) string {
		if titles := s.windows(); !slices.Contains(titles, title) {
			return fmt.Sprintf("the windows are %q; expected %q", titles, title)
		}
		return ""
	}
}

// holdsAll names a part that is missing in the file.
func holdsAll(file string, parts []string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	at := slices.IndexFunc(parts, func(part string) bool {
		not, without := strings.CutPrefix(part, "!")
		return strings.Contains(string(b), not) == without
	})
	if at >= 0 {
		return fmt.Sprintf("%s: not so: %s; it is %.300q", file, parts[at], b)
	}
	return ""
}

// actTally counts the faults of the acts on a program.
type actTally struct {
	program, toolkit                             string
	kinds                                        map[string]int
	acts, done, refused, unsure, focus           int
	target, falseSuccess, falseFailure, textLost int
}

func (s *stage) judge(p step, said reply, done bool, changes []string) {
	s.Helper()
	t, fault := s.tally, ""
	t.acts++
	t.kinds[p.kind]++
	sure := said.isVerified()
	switch {
	case p.want == nil && len(changes) > 0:
		t.target, fault = t.target+1, "wrong target"
	case p.want == nil && !said.Failed:
		t.falseSuccess, fault = t.falseSuccess+1, "false success"
	case p.want == nil:
		t.done++
	case done && said.Failed && said.Code == "TIMEOUT" && said.Delivery == "delivered":
		t.unsure, fault = t.unsure+1, "done, but said to be unsure"
	case done && said.Failed:
		t.falseFailure, fault = t.falseFailure+1, "false failure"
	case done && !sure:
		t.unsure, fault = t.unsure+1, "done, but said to be unsure"
	case done:
		t.done++
	case s.foreign(p, changes):
		t.target, fault = t.target+1, "wrong target"
	case sure:
		t.falseSuccess, fault = t.falseSuccess+1, "false success"
	default:
		t.refused, fault = t.refused+1, "not done, and said so"
	}
	if fault != "" {
		s.Logf("%s: %s: %s\n  said: failed %v %s %s verified %v: %.700s\n  true: %q", s.program.name, fault, p, said.Failed, said.Code, said.Delivery, sure, said.Text, changes)
	}
	if os.Getenv("AAI_APPS_SAY") != "" {
		s.Logf("%s: %s: verified %v: %q", s.program.name, p, sure, changes)
	}
}

// foreign reports whether an unnamed element was acted on.
func (s *stage) foreign(p step, changes []string) bool {
	return len(changes) > 0 && slices.Contains([]string{"toggle", "radio", "tab", "row", "field", "number"}, p.kind)
}

func (t *actTally) add(o *actTally) {
	for kind, n := range o.kinds {
		t.kinds[kind] += n
	}
	t.acts, t.done, t.refused, t.unsure, t.focus = t.acts+o.acts, t.done+o.done, t.refused+o.refused, t.unsure+o.unsure, t.focus+o.focus
	t.target, t.falseSuccess, t.falseFailure, t.textLost = t.target+o.target, t.falseSuccess+o.falseSuccess, t.falseFailure+o.falseFailure, t.textLost+o.textLost
}

// Minimum numbers of a full run.
const (
	wantedActs     = 300
	wantedPrograms = 10
	wantedToolkits = 5
	wantedKinds    = 15
)

// report prints the results of all acts. It fails if one was wrong, if most had no effect, or if a
// full run was smaller than required.
func report(t *testing.T, tallies []*actTally, whole bool) {
	t.Helper()
	slices.SortFunc(tallies, func(a, b *actTally) int {
		return cmp.Or(cmp.Compare(a.toolkit, b.toolkit), cmp.Compare(a.program, b.program))
	})
	const row = "%-18s %-12s %5v %5v %6v %8v %7v %14v %16v %15v %10v\n"
	var b strings.Builder
	fmt.Fprintf(&b, row, "program", "toolkit", "acts", "done", "unsure", "not done", "focus", "wrong targets", "false successes", "false failures", "text lost")
	sum, toolkits := &actTally{program: "in all", kinds: make(map[string]int)}, make(map[string]bool)
	for _, c := range tallies {
		sum.add(c)
		toolkits[c.toolkit] = true
	}
	for _, c := range append(tallies, sum) {
		fmt.Fprintf(&b, row, c.program, c.toolkit, c.acts, c.done, c.unsure, c.refused, c.focus, c.target, c.falseSuccess, c.falseFailure, c.textLost)
	}
	for _, kind := range slices.Sorted(maps.Keys(sum.kinds)) {
		fmt.Fprintf(&b, "%s %d; ", kind, sum.kinds[kind])
	}
	fmt.Println(b.String())
	if wrong := sum.target + sum.falseSuccess + sum.falseFailure + sum.textLost; wrong > 0 || sum.acts == 0 {
		t.Errorf("%d of %d acts were wrong: on another target, said to have succeeded or failed and had not, or text was lost", wrong, sum.acts)
	}
	assert.Check(t, sum.done+sum.unsure >= sum.acts*3/4, "of %d acts %d were done: too few to say anything", sum.acts, sum.done+sum.unsure)
	if whole && (sum.acts < wantedActs || len(tallies) < wantedPrograms || len(toolkits) < wantedToolkits || len(sum.kinds) < wantedKinds) {
		t.Errorf("%d acts of %d kinds on %d programs of %d toolkits; expected %d, %d, %d, %d", sum.acts, len(sum.kinds), len(tallies), len(toolkits), wantedActs, wantedKinds, wantedPrograms, wantedToolkits)
	}
}
