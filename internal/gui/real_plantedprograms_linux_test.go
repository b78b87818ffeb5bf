package gui_test

import (
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"
	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// plantedProgram has fields to type into and other places for the keyboard focus.
type plantedProgram struct {
	name          string
	few, all      int // rounds of a usual and of a complete run
	fields        []plantedField
	plants, modal []plant                             // modal ones prevent typing into the fields
	start         func(p *planting)                   // starts a program that runs for more than one round
	fresh         func(p *planting) bool              // empties all fields and closes dialogs, menus and bars
	read          func(p *planting) map[string]string // values of all fields and key counts, as the program reports them
}

// plantedField is a field with its query and its key in the program's report.
type plantedField struct {
	query, key    string
	secret, lines bool
}

// plant moves the person's keyboard focus to a place.
type plant struct {
	name, click string   // the control to click, in fixtures
	keys        []string // keys to press then
	shows       string   // "page:" and the id of the active element, or the name of an element elsewhere
	types       []string // keys to press when that is reached
	leave       []string // keys that close it again
	grabs       bool     // no other window can be activated meanwhile
}

// planting is a running program.
type planting struct {
	*realWorld
	plantedProgram
	app     string // its PID
	window  string // its X11 window ID
	person  *person
	form    *webForm
	fixture *linuxtest.Fixture
	loads   int
}

func plantedPrograms() []plantedProgram {
	zq := []string{"z", "q"}
	browser := plantedProgram{fields: []plantedField{{"textbox User", "user", false, false}, {"textbox Password", "pass", true, false}, {"textbox Note", "note", false, true}, {"textbox City", "city", false, false}},
		read: (*planting).readPage, fresh: (*planting).freshPage}
	chromium, firefox := browser, browser
	chromium.name, chromium.few, chromium.all = "chromium", 24, 160
	chromium.plants, chromium.modal = browserPlants("Address and search bar", "Find", "Bookmark name", "New window")
	chromium.start = func(p *planting) { p.found(p.webFormIn(plantedPage, "")) }
	firefox.name, firefox.all = "firefox", 120
	firefox.plants, firefox.modal = browserPlants("Search", "Find in page", "", "New Window") // the name of the bookmark is not awaited
	firefox.start = func(p *planting) { p.found(p.firefoxForm(plantedPage, "button Ready")) }
	writer := plantedProgram{name: "writer", all: 80, fields: []plantedField{{"role:paragraph", "text", false, true}}, read: (*planting).readWriter, fresh: (*planting).freshWriter,
		plants: []plant{{name: "the document"}, {name: "the find bar", keys: []string{"ctrl+f"}, shows: "Find"}, {name: "the find bar", keys: []string{"ctrl+f"}, shows: "Find", types: zq},
			{name: "the find dialog", keys: []string{"ctrl+h"}, shows: "Find:"}},
		modal: []plant{{name: "a menu", keys: []string{"alt+f"}, shows: "New", grabs: true}, {name: "a dialog", keys: []string{"ctrl+F3"}, shows: "Name:", grabs: true}},
		start: func(p *planting) {
			p.app = p.process(p.Writer(p.T, ""))
			p.awaitElement(p.app, "Bold")
			p.window = p.xdotool("getactivewindow")
		}}
	return []plantedProgram{chromium, firefox, plantedFixture(linuxtest.GTK3, 10), plantedFixture(linuxtest.GTK4, 0), plantedFixture(linuxtest.Qt6, 6), writer}
}

func plantedFixture(kind linuxtest.Kind, few int) plantedProgram {
	zq := []string{"z", "q"}
	return plantedProgram{
		name: string(kind), few: few, all: 80, start: func(*planting) {}, read: (*planting).readFixture,
		fields: []plantedField{{`textbox "Full name"`, "name", false, false}, {"textbox Password", "password", true, false}, {"textbox Notes", "notes", false, true}},
		plants: []plant{{name: "the window"}, {name: "Full name", click: "Full name"}, {name: "Full name", click: "Full name", types: zq}, {name: "Password", click: "Password"},
			{name: "Notes", click: "Notes", types: zq}, {name: "Count", click: "Count"}, {name: "the list", click: "Fruit 2"}, {name: "a button", click: "Dead"}, {name: "the slider", click: "Volume"},
			{name: "a list of a combo box", click: "Colour", grabs: true}, {name: "a menu", click: "File", grabs: true}},
		modal: []plant{{name: "a dialog", click: "Open dialog"}},
		fresh: func(p *planting) bool {
			if p.fixture != nil {
				p.fixture.Kill(p.T)
			}
			p.fixture, p.app = p.open(kind)
			p.window = p.fixture.Window(p.T)
			return true
		},
	}
}

// browserPlants returns the places in a browser with these names of bars, bookmark field and menu
// item.
func browserPlants(bar, find, bookmark, item string) (plants, modal []plant) {
	zq := []string{"z", "q"}
	tabs := func(n int, more ...string) []string { return append(slices.Repeat([]string{"Tab"}, n), more...) }
	return []plant{
			{name: "the page"}, {name: "the address bar", keys: []string{"ctrl+l"}, shows: bar}, {name: "the address bar", keys: []string{"ctrl+l"}, shows: bar, types: zq},
			{name: "the address bar", keys: []string{"ctrl+l"}, shows: bar}, {name: "the find bar", keys: []string{"ctrl+f"}, shows: find, types: zq},
			{name: "User", keys: tabs(3), shows: "page:user", types: zq}, {name: "Password", keys: tabs(4), shows: "page:pass"}, {name: "Note", keys: tabs(5), shows: "page:note"},
			{name: "City", keys: tabs(6), shows: "page:city", types: zq}, {name: "Colour", keys: tabs(7), shows: "page:colour"},
			{name: "a bookmark's name", keys: []string{"ctrl+d"}, shows: bookmark, leave: []string{"Escape"}}, {name: "a tab that closed", keys: []string{"ctrl+t", "ctrl+w"}},
			{name: "DevTools", keys: []string{"ctrl+shift+i"}, shows: "Console", leave: []string{"F12"}},
		}, []plant{
			{name: "a menu", keys: []string{"alt+f"}, shows: item, leave: []string{"Escape", "Escape"}, grabs: true}, {name: "a prompt", keys: tabs(2, "space"), shows: "Why?", leave: []string{"Escape"}},
			{name: "the print dialog", keys: []string{"ctrl+p"}, shows: "Print", leave: []string{"Escape"}}, {name: "another tab", keys: []string{"ctrl+t"}, leave: []string{"ctrl+w"}, shows: "New Tab"},
		}
}

// plantedPage counts the characters that reach each of its elements.
const plantedPage = `<button id="ask" onclick="setTimeout(() => prompt('Why?'), 1)">Ask</button><form autocomplete="off" onsubmit="sent.value++; return false">
	<label>User <input id="user"></label> <label>Password <input type="password" id="pass"></label> <label>Note <textarea id="note"></textarea></label> <label>City <input id="city"></label>
	<label>Colour <select id="colour"><option>Red<option>Green<option>Blue</select></label></form>
	<input type="hidden" id="load"><input type="hidden" id="active"><input type="hidden" id="tick" value="0"><input type="hidden" id="sent" value="0"><input type="hidden" id="keys in "><script>
	for (const id of ["user", "pass", "note", "city", "colour"]) {
		const count = document.body.appendChild(document.createElement("input"));
		count.type = "hidden"; count.id = "keys in " + id; count.value = 0;
	}
	for (const kind of ["keydown", "beforeinput"]) addEventListener(kind, e => {
		if (e.target.id == "ask" || kind == "keydown" && (e.ctrlKey || e.altKey || e.key.length > 1 && !["Enter", "Backspace", "Delete"].includes(e.key))) return;
		(document.getElementById("keys in " + e.target.id) || document.getElementById("keys in ")).value++;
	}, true);
	setInterval(() => { tick.value++; load.value = location.search; active.value = document.activeElement.id; }, 30);
	</script>`

// found sets the browser's window, once the page is loaded.
func (p *planting) found(f *webForm) {
	p.Helper()
	p.form, p.app = f, f.app
	p.eventually("its window is there", func() bool {
		p.window, _, _ = strings.Cut(p.xdotool("search", "--onlyvisible", "--name", "^Form"), "\n")
		return p.window != ""
	})
}

// end ends the programs that run for more than one round.
func (p *planting) end() {
	p.Helper()
	for _, started := range p.Programs() {
		if slices.Contains([]string{"chromium", "firefox-esr", "soffice"}, started.Name) {
			assert.NilError(p, started.End())
		}
	}
}

// freshPage reloads the page, by a person's keys.
func (p *planting) freshPage() bool {
	p.Helper()
	p.loads++
	mark := fmt.Sprintf("?%04d", p.loads)
	p.press("Escape", "Escape", "ctrl+l")
	p.soon(func() bool { return p.shows(p.plants[1].shows) })
	p.xdotool("type", "--delay", "4", "http://"+p.form.host+"/"+mark)
	p.press("Return")
	return p.soon(func() bool { return p.form.holds("load") == mark && p.form.holds("active") == "" })
}

// freshWriter closes dialogs and empties the document, by a person's keys.
func (p *planting) freshWriter() bool {
	p.Helper()
	p.press("Escape", "Escape", "Escape", "ctrl+a", "Delete")
	return p.soon(func() bool { return p.readWriter()["text"] == "" })
}

// plant resets the program and moves the focus to the place.
func (p *planting) plant(where plant) {
	p.Helper()
	for range 3 {
		p.activate()
		if !p.fresh(p) {
			p.end()
			p.start(p)
			continue
		}
		p.activate()
		if where.click != "" {
			p.fixture.Press(p.T, where.click)
		}
		p.press(where.keys...)
		if p.soon(func() bool { return p.shows(where.shows) }) {
			p.press(where.types...)
			return
		}
		p.press(where.leave...)
	}
	p.Fatalf("%s: the keyboard does not come to %s", p.name, where.name)
}

// shows reports whether the focus is at the place, see [plant].
func (p *planting) shows(place string) bool {
	if id, ok := strings.CutPrefix(place, "page:"); ok {
		return p.form.holds("active") == id
	}
	return place == "" || slices.ContainsFunc(p.frame(), func(e *thing) bool {
		return strings.HasPrefix(e.name, place) && (e.states&rawEditable == 0 || e.states&rawFocused != 0)
	})
}

// soon reports whether ready becomes true soon.
func (p *planting) soon(ready func() bool) bool {
	for end := time.Now().Add(plantedShows); !ready(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// place leaves the window active, covers it with the person's terminal, or activates that one.
func (p *planting) place(window string) {
	p.Helper()
	const terminal = "^Somebody's work$"
	switch window {
	case "covered":
		p.xdotool("search", "--name", terminal, "windowmove", "0", "0", "windowsize", strconv.Itoa(linuxtest.ScreenWidth), strconv.Itoa(linuxtest.ScreenHeight-40), "windowraise", "windowactivate", "--sync")
	case "inactive":
		p.xdotool("search", "--name", terminal, "windowsize", "250", "100", "windowmove", "1300", "850", "windowraise", "windowactivate", "--sync")
	}
	p.AwaitWindowManager(p.T)
}

// activate gives the program's window the keyboard.
func (p *planting) activate() {
	p.Helper()
	if p.window == "" {
		return
	}
	p.eventually("the window is active", func() bool {
		p.xdotool("windowactivate", p.window)
		active := p.xdotool("getactivewindow")
		return active == p.window || active != "" && !strings.Contains(p.ActiveWindow(p.T), "Somebody")
	})
}

// press presses keys as a person does.
func (p *planting) press(keys ...string) {
	p.Helper()
	if len(keys) > 0 {
		p.xdotool(append([]string{"key", "--delay", "20"}, keys...)...)
	}
}

// xdotool returns the output of xdotool; the program fails if a window closes meanwhile.
func (p *planting) xdotool(args ...string) string {
	p.Helper()
	command := exec.CommandContext(p.Context(), "xdotool", args...)
	command.Env = p.Env
	out, _ := command.Output()
	return strings.TrimSpace(string(out))
}

// readPage returns the next report of the page.
func (p *planting) readPage() map[string]string {
	p.Helper()
	number := func() int { n, _ := strconv.Atoi(p.form.holds("tick")); return n }
	was := number()
	for end := time.Now().Add(plantedComes); number() <= was+1 && number() >= was && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	state := maps.Clone(*p.form.told.Load())
	if now := number(); now <= was+1 && now >= was {
		state["the page"] = "does not answer"
	}
	for _, key := range []string{"tick", "heard", "focused", "active"} {
		delete(state, key)
	}
	return state
}

// readFixture returns the fixture's state. Only in Qt do characters select rows; in GTK the focus
// does, and a tab may move it there.
func (p *planting) readFixture() map[string]string {
	p.Helper()
	state := map[string]string{}
	for key, value := range p.fixture.State(p.T) {
		if !slices.Contains([]string{"where", "keys", "focused", "scroll"}, key) && (key != "fruit" || p.fixture.Kind == linuxtest.Qt6) {
			state[key] = fmt.Sprint(value)
		}
	}
	return state
}

// Roles and states from atspi-constants.h.
const rawParagraph, rawFocused = 73, 1 << 12

// readWriter returns the document's text.
func (p *planting) readWriter() map[string]string {
	p.Helper()
	var lines []string
	for _, e := range p.look() {
		if e.role == rawParagraph {
			lines = append(lines, e.text)
		}
	}
	return map[string]string{"text": strings.Join(lines, "\n")}
}

// frame returns the elements outside the page or the document.
func (p *planting) frame() []*thing {
	p.Helper()
	if p.fixture != nil {
		return nil // the page reports the values of all fields
	}
	return slices.DeleteFunc(p.look(), func(e *thing) bool {
		for up := e; up != nil; up = up.parent {
			if up.role == rawParagraph || up.role == rawDocumentWeb && up.name == "Form" {
				return true
			}
		}
		return false
	})
}

// look reads the visible elements, and the texts of editable ones, by plain D-Bus.
func (p *planting) look() []*thing {
	p.Helper()
	conn, err := dbus.Connect(p.A11yAddress(p.T))
	assert.NilError(p, err)
	defer func() { _ = conn.Close() }()
	sender, path, _ := strings.Cut(p.appOf(p.app).Key, "/")
	o := &eyes{t: p.T, conn: conn, sender: sender, veil: rawShowing}
	o.look(dbus.ObjectPath("/"+path), nil)
	for _, e := range o.things {
		if e.states&rawEditable != 0 {
			n, _ := o.get(e.path, "Text.CharacterCount").(int32)
			o.ask(e.path, "Text.GetText", &e.text, int32(0), n)
		}
	}
	return o.things
}
