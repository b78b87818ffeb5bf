package apps

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"strings"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// A program is one that nobody wrote for these tests; only the page in Chromium is ours.
type program struct {
	name, toolkit string
	inEveryRun    bool   // the one of its toolkit whose acts every run has
	grant         string // what agents call it
	witness       string // part of its name on the accessibility bus
	ready         string // what shows when it is up
	start         func(s *stage) *linuxtest.App
	steps         func(s *stage) []step // what to do with it, once and again
	extraSteps    func(s *stage) []step // what else, in a run of all
	excludedNames []string              // parts of names that lead out of it
	generatedActs int                   // how many acts on what its screen offers, a round
	first         []step                // before its dialogs
	dialogs       []dialog
	personKey     string // the key that a person presses beside us; "": x
	inertElement  string // what does nothing when it is clicked
	writes        bool   // a text that may be lost
	sheet         string // the role of what it is written in; "": text
	field         string // by which words agents say that; "": role:textbox
	file          string // what it is saved in; "": a.txt
}

// A dialog is opened by a menu's item or a button, and closed by a button of it, or where
// it has none by Escape. The item and the button are what agents say; "key:ctrl+o" is a key.
type dialog struct{ item, title, button string }

// shown are steps that open and close the dialogs.
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

// opening is the act that opens it.
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

// office starts LibreOffice with a document of its own format, of which the XML can be read.
func (s *stage) office(program, file, kind, content string) *linuxtest.App {
	s.Helper()
	const xml = `<?xml version="1.0" encoding="UTF-8"?><office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" ` +
		`xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" ` +
		`office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.%s"><office:body><office:%s>%s</office:%s></office:body></office:document>`
	return s.LaunchEnv(s.T, []string{"SAL_USE_VCLPLUGIN=gtk3"}, program, "--norestore", "--nologo", "--nofirststartwizard",
		"-env:UserInstallation=file://"+s.Path("tmp", "libreoffice"), s.document(file, fmt.Sprintf(xml, kind, kind, content, kind)))
}

// paper is the role of what is written in.
func (p program) paper() string { return cmp.Or(p.sheet, "text") }

// unpacked is the path of what scripts/need-apps unpacked.
func (s *stage) unpacked(name string) string {
	s.Helper()
	path, err := filepath.Abs(filepath.Join("../.cache/apps", name))
	if err != nil {
		s.Fatal(err)
	}
	return path
}

// A page is one in Chromium, whose own JavaScript tells a server what has happened.
type page struct {
	*stage
	form *linuxtest.Fixture
}

// said is what the page says of itself, but where things are.
func (p *page) said() string {
	state := maps.Clone(p.form.State(p.T))
	for _, passing := range []string{"where", "focused", "keys", "scroll"} {
		delete(state, passing)
	}
	b, _ := json.Marshal(state)
	return string(b)
}

// tells wants the page to say so, and to have said otherwise.
func tells(part string) expectation {
	return func(before, after observation) bool {
		return strings.Contains(after.page, part) && !strings.Contains(before.page, part)
	}
}

// about is the step, left out where the dialog is not there.
func (p step) about(title string) step {
	p.dialogTitle = title
	return p
}

func made(kind, tool string, args params, wanted expectation) step {
	return step{kind: kind, tool: tool, args: args, want: wanted}
}

// unseen is the step, whose effect later ones show.
func (p step) unseen() step {
	p.isUnobserved = true
	return p
}

// then is the step, about what the one before it did.
func (p step) then() step {
	p.after = true
	return p
}

// focused is the step with the person's own keyboard and pointer.
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

// holds wants the text in the first element of the role.
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
