package apps

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"strings"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// program is a third-party program; only the page in Chromium belongs to the tests.
type program struct {
	name, toolkit string
	inEveryRun    bool   // the program of its toolkit for every run
	grant         string // its name for agents
	witness       string // part of its name on the accessibility bus
	ready         string // element that shows when it is ready
	start         func(s *stage) *linuxtest.App
	steps         func(s *stage) []step // steps of each round
	extraSteps    func(s *stage) []step // additional ones in a full run
	excludedNames []string              // parts of names that lead out of it
	generatedActs int                   // number of acts on elements of its screen, per round
	first         []step                // before its dialogs
	dialogs       []dialog
	personKey     string // the user's key in parallel; "": x
	inertElement  string // element without effect when clicked
	writes        bool   // it has a text to overwrite
	sheet         string // role of the text's element; "": text
	field         string // query for that element; "": role:textbox
	file          string // its file; "": a.txt
}

// dialog is opened by a menu item or a button, and closed by one of its buttons, or by Escape if
// it has none. item and button are queries; "key:ctrl+o" is a key.
type dialog struct{ item, title, button string }

// shown returns steps that open and close the dialogs.
func (p program) shown() (steps []step) {
	for _, d := range p.dialogs {
		steps = append(steps, d.opening())
		if d.button == "" {
			steps = append(steps, key("escape", closes(d.title)).about(d.title))
		} else {
			steps = append(steps, press(d.button, closes(d.title)).about(d.title))
		}
	}
	return steps
}

// opening returns the act that opens the dialog.
func (d dialog) opening() step {
	if combination, is := strings.CutPrefix(d.item, "key:"); is {
		return key(combination, opens(d.title))
	}
	return choose(d.item, opens(d.title))
}

func programs() []program {
	return []program{
		{name: "mousepad", toolkit: "GTK 3", inEveryRun: true, witness: "mousepad", ready: "text:", steps: (*stage).mousepad, writes: true, dialogs: []dialog{{"Save As...", "Save As", "Cancel"}, {"Open...", "Open File", "Cancel"}, {"About", "About Mousepad", "Close"}, {"Preferences...", "Preferences", ""}},
			start: func(s *stage) *linuxtest.App {
				return s.Launch(s.T, "mousepad", "--disable-server", s.document("a.txt", ""))
			}},
		{name: "l3afpad", toolkit: "GTK 3", witness: "l3afpad", ready: "text:", steps: (*stage).l3afpad, writes: true, dialogs: []dialog{{"Save As...", "Save As", "Cancel"}, {"About", "About", "Close"}, {"Font...", "Font", "Cancel"}},
			start: func(s *stage) *linuxtest.App {
				return s.Launch(s.T, s.unpacked("usr/bin/l3afpad"), s.document("a.txt", ""))
			}},
		{name: "thunar", toolkit: "GTK 3", witness: "thunar", ready: "table:", steps: (*stage).thunar, excludedNames: []string{"home", "back", "parent", "file system", "search", "symbolic"}, personKey: "Shift_L", dialogs: []dialog{{"key:ctrl+shift+n", "Create", "Cancel"}},
			start: func(s *stage) *linuxtest.App {
				s.document("b.txt", "b")
				return s.Launch(s.T, "thunar", s.folder)
			}},
		{name: "gnome-calculator", toolkit: "GTK 4", inEveryRun: true, witness: "calculator", ready: "push button:7", steps: (*stage).calculator, start: func(s *stage) *linuxtest.App {
			return s.Launch(s.T, "gnome-calculator")
		}},
		{name: "gnome-text-editor", toolkit: "GTK 4", witness: "text", ready: "frame:", steps: (*stage).textEditor, writes: true, dialogs: []dialog{{"key:ctrl+shift+s", "Save", ""}, {"key:ctrl+o", "Open", ""}},
			start: func(s *stage) *linuxtest.App {
				return s.Launch(s.T, s.unpacked("usr/bin/gnome-text-editor"), "--standalone", s.document("a.txt", ""))
			}},
		{name: "designer", toolkit: "Qt 6", inEveryRun: true, witness: "designer", ready: "push button:Create", steps: (*stage).designer, excludedNames: []string{"()"}, generatedActs: 10, first: []step{press("Create", closes("New Form"))}, dialogs: []dialog{{"About Qt Designer", "About", "Close"}, {"Preferences...", "Preferences", ""}},
			start: func(s *stage) *linuxtest.App {
				return s.Launch(s.T, "/usr/lib/qt6/bin/designer")
			}},
		{name: "featherpad", toolkit: "Qt 5", witness: "featherpad", ready: "text:", steps: (*stage).featherpad, writes: true, dialogs: []dialog{{"About", "About", "Close"}, {"Preferences", "Preferences", "Close"}, {"Open", "Open", "Cancel"}},
			start: func(s *stage) *linuxtest.App {
				return s.Launch(s.T, s.unpacked("usr/bin/featherpad"), "--standalone", s.document("a.txt", ""))
			}},
		{name: "kcalc", toolkit: "Qt 5", witness: "kcalc", ready: "push button:7", steps: (*stage).kcalc, dialogs: []dialog{{"About KCalc", "About", "Close"}, {"Configure KCalc...", "Configure", "Cancel"}},
			start: func(s *stage) *linuxtest.App {
				return s.Launch(s.T, s.unpacked("usr/bin/kcalc"))
			}},
		{name: "chromium", toolkit: "Chromium", inEveryRun: true, witness: "chromium", ready: "push button:Press", steps: (*stage).form, extraSteps: (*stage).pointed, dialogs: []dialog{{"key:ctrl+s", "Save", ""}}, generatedActs: 8, start: func(s *stage) *linuxtest.App {
			f := s.Fixture(s.T, linuxtest.Chromium)
			s.page = &page{s, f}
			return f.App
		}},
		{name: "calc", toolkit: "LibreOffice", inEveryRun: true, grant: "soffice", witness: "soffice", ready: "document spreadsheet:", steps: (*stage).sheet, excludedNames: []string{"fontwork", "hyperlink", "preview", "menu", "left", "right", "center", "justified"}, file: "a.fods", inertElement: "Sheet1",
			dialogs: []dialog{{"key:ctrl+1", "Format Cells", "Cancel"}, {"key:ctrl+h", "Find", "Close"}, {"Goal Seek...", "Goal Seek", "Cancel"}},
			start: func(s *stage) *linuxtest.App {
				return s.office("soffice", "a.fods", "spreadsheet", `<table:table table:name="Sheet1"/>`)
			}},
		{name: "writer", toolkit: "LibreOffice", grant: "soffice", witness: "soffice", ready: "document text:", steps: (*stage).letter, excludedNames: []string{"fontwork", "hyperlink", "preview", "menu", "left", "right", "center", "justified"}, file: "a.fodt", inertElement: "Left", field: "role:paragraph", sheet: "paragraph", writes: true,
			dialogs: []dialog{{"Word Count...", "Word Count", "Close"}, {"key:ctrl+h", "Find", "Close"}},
			start: func(s *stage) *linuxtest.App {
				return s.office(s.unpacked("libreoffice/program/soffice"), "a.fodt", "text", `<text:p/>`)
			}},
	}
}

// office starts LibreOffice with a document in its own format, with readable XML.
func (s *stage) office(program, file, kind, content string) *linuxtest.App {
	s.Helper()
	const xml = `<?xml version="1.0" encoding="UTF-8"?><office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" ` +
		`xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" ` +
		`office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.%s"><office:body><office:%s>%s</office:%s></office:body></office:document>`
	return s.LaunchEnv(s.T, []string{"SAL_USE_VCLPLUGIN=gtk3"}, program, "--norestore", "--nologo", "--nofirststartwizard",
		"-env:UserInstallation=file://"+s.Path("tmp", "libreoffice"), s.document(file, fmt.Sprintf(xml, kind, kind, content, kind)))
}

// paper returns the role of the text's element.
func (p program) paper() string { return cmp.Or(p.sheet, "text") }

// unpacked returns the path of a program that scripts/need-apps unpacked.
func (s *stage) unpacked(name string) string {
	s.Helper()
	path, err := filepath.Abs(filepath.Join("../.cache/apps", name))
	assert.NilError(s, err)
	return path
}

// page is a page in Chromium with JavaScript that reports events to a server.
type page struct {
	*stage
	form *linuxtest.Fixture
}

// said returns the page's report without positions.
func (p *page) said() string {
	state := maps.Clone(p.form.State(p.T))
	for _, passing := range []string{"where", "focused", "keys", "scroll"} {
		delete(state, passing)
	}
	b, _ := json.Marshal(state)
	return string(b)
}

// tells expects the page to report the text newly.
func tells(part string) expectation {
	return func(before, after observation) bool {
		return strings.Contains(after.page, part) && !strings.Contains(before.page, part)
	}
}

// about returns the step, skipped without the dialog.
func (p step) about(title string) step {
	p.dialogTitle = title
	return p
}

func made(kind, tool string, args params, wanted expectation) step {
	return step{kind: kind, tool: tool, args: args, want: wanted}
}

// unseen returns the step without its own expectation; later ones show its effect.
func (p step) unseen() step {
	p.isUnobserved = true
	return p
}

// then returns the step, dependent on the one before it.
func (p step) then() step {
	p.after = true
	return p
}

// focused returns the step with the user's own keyboard and pointer.
func (p step) focused() step {
	p.args["mode"] = "focus"
	return p
}

func press(name string, wanted expectation) step {
	return made("button", "ax_click", params{"query": name}, wanted)
}

func choose(item string, wanted expectation) step {
	return made("menu item", "ax_click", params{"query": item}, wanted)
}

// key presses a key, such as "ctrl+s".
func key(combination string, wanted expectation) step {
	held := strings.Split(combination, "+")
	return made("key", "ax_key_press", params{"key": held[len(held)-1], "modifiers": held[:len(held)-1]}, wanted)
}

// holds expects the text in the first element of the role.
func holds(role, text string) expectation {
	return func(_, after observation) bool {
		for _, n := range after.nodes {
			if n.role == role && n.is(editable) && strings.ReplaceAll(n.text, "\n", "") == text {
				return true
			}
		}
		return false
	}
}
