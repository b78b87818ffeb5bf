package apps

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// tasks returns the agents' tasks, each with the calls of an agent that knows the program.
func tasks() []task {
	return []task{
		{name: "fill a sheet, save it as xlsx", on: named("calc"), inEveryRun: true, calls: []call{
			{tool: "ax_fill", args: params{"fields": []params{{"query": "A1", "value": "Item\tPrice\nTea\t3\nMilk\t4"}}}},
			{tool: "ax_fill", args: params{"fields": []params{{"query": "A5", "value": "Sum\t=B2+B3"}, {"query": "A300", "value": "Far"}}}, until: "Filled 2 of 2"},
			{tool: "ax_key_press", args: params{"key": "s", "modifiers": []string{"ctrl", "shift"}}},
			{tool: "ax_fill", args: params{"fields": []params{{"query": "Name:", "value": "$FOLDER/b.xlsx"}}, "submit": "return"}, until: "Filled 1 of 1"},
			{tool: "ax_click", args: params{"query": "contains:Use Excel"}, until: "Clicked"},
		}, fault: sheetIs("b.xlsx", map[string]string{"A1": "Item", "B1": "Price", "A2": "Tea", "B2": "3", "A3": "Milk", "B3": "4", "A5": "Sum", "B5": "7", "A300": "Far"})},

		{name: "find and replace in a text, save it", on: letter("Der Hund, der Hundekorb und die Katze"), calls: []call{
			{tool: "ax_key_press", args: params{"key": "h", "modifiers": []string{"ctrl"}}},
			{tool: "ax_fill", args: params{"submit": "Replace All", "fields": []params{
				{"query": "textbox Find:", "value": "Hund"},
				{"query": "textbox Replace:", "value": "Fuchs"},
			}}},
			{tool: "ax_click", args: params{"query": "Close"}},
			{tool: "ax_key_press", args: params{"key": "s", "modifiers": []string{"ctrl"}}},
		}, fault: fileHas("a.fodt", "Der Fuchs, der Fuchsekorb und die Katze", "!Hund")},

		{name: "a setting in GIMP", on: gimp(), calls: []call{
			{tool: "ax_click", args: params{"query": "Preferences"}},
			{tool: "ax_fill", args: params{"fields": []params{{"query": "Minimal number of undo levels:", "value": "17"}}, "submit": "OK"}, until: "Filled 1 of 1"},
		}, fault: homeHas(".config/GIMP/2.10/gimprc", "(undo-levels 17)")},

		{name: "two settings in a dialog of Qt", on: named("featherpad"), calls: []call{
			{tool: "ax_click", args: params{"query": "Preferences"}},
			{tool: "ax_fill", args: params{"fields": []params{{"query": "Hide search bar by default", "value": "true"}, {"query": "Show cursor position on status bar", "value": "true"}}, "submit": "Close"}},
		}, fault: homeHas(".config/featherpad/fp.conf", "hideSearchbar=true", "showCursorPos=true")},

		{name: "rename, move and overwrite files", on: files(), calls: []call{
			{tool: "ax_key_press", args: params{"key": "2", "modifiers": []string{"ctrl"}}}, // as a list
			{tool: "ax_click", args: params{"query": "b.txt"}},
			{tool: "ax_key_press", args: params{"key": "f2"}},
			{tool: "ax_fill", args: params{"fields": []params{{"query": "role:textbox", "value": "c.txt"}}, "submit": "Rename"}},
			{tool: "ax_click", args: params{"query": "c.txt"}},
			{tool: "ax_key_press", args: params{"key": "x", "modifiers": []string{"ctrl"}}},
			{tool: "ax_click", args: params{"query": "Archive", "click_type": "double", "mode": "focus"}},
			{tool: "ax_key_press", args: params{"key": "v", "modifiers": []string{"ctrl"}}},
			{tool: "ax_click", args: params{"query": "Replace"}},
		}, fault: func(s *stage) string {
			if wrong := fileHas("Archive/c.txt", "new")(s); wrong != "" {
				return wrong
			}
			return documentsGone("b.txt", "c.txt")(s)
		}},

		{name: "a date in a page", on: web(`<label>Departure <input type=date onchange="document.title=this.value"></label>`), calls: []call{
			{tool: "ax_set_value", args: params{"query": "Departure", "value": "2027-03-14"}},
		}, fault: titleIs("2027-03-14 - Chromium")},

		{name: "an item of a thousand in a page", on: web(thousand), calls: []call{
			{tool: "ax_click", args: params{"query": "Town 777"}},
		}, fault: titleIs("Town 777 - Chromium")},

		{name: "an item of a thousand in a list of GTK", on: rows(), inEveryRun: true, calls: []call{
			{tool: "ax_click", args: params{"query": "row-777"}},
			{tool: "ax_click", args: params{"query": "OK"}},
		}, fault: fileHas("said.txt", "row-777\n")},

		{name: "the right one of nameless icons", on: web(icons), inEveryRun: true, calls: []call{
			{tool: "ax_get_tree", args: params{}},
			{tool: "ax_click", args: params{"query": `/\[(e[0-9]+)\] \.trash/`}},
		}, fault: titleIs("trash - Chromium")},

		{name: "a point of a canvas", on: web(drawn), calls: []call{
			{tool: "ax_screenshot", args: params{"query": "role:canvas"}, until: "pixels"},
			{tool: "ax_click_at", args: params{"mode": "focus"}, aim: (*stage).green},
		}, fault: titleIs("green - Chromium")},

		{name: "a command in a terminal", on: terminal(), calls: []call{
			{tool: "ax_type", args: params{"text": "echo done > $FOLDER/said.txt\n", "mode": "focus"}},
		}, fault: fileHas("said.txt", "done\n")},

		{name: "copy from an editor into a page", on: editorAndPage(), also: []string{"chromium"}, calls: []call{
			{tool: "ax_click", args: params{"query": "Select All"}},
			{tool: "ax_key_press", args: params{"key": "c", "modifiers": []string{"ctrl"}}},
			{tool: "ax_key_press", args: params{"app": "chromium", "query": "Notes", "key": "v", "modifiers": []string{"ctrl"}}},
		}, fault: titleIs("copied over - Chromium")},
	}
}

// named returns one of the programs, for a task without alternatives.
func named(name string) program {
	list := programs()
	return list[slices.IndexFunc(list, func(p program) bool { return p.name == name })]
}

// letter returns Writer with a letter.
func letter(text string) program {
	p := named("writer")
	p.start = func(s *stage) *linuxtest.App {
		return s.office(s.unpacked("libreoffice/program/soffice"), "a.fodt", "text", "<text:p>"+text+"</text:p>")
	}
	return p
}

// gimp returns a GTK 2 program, which exposes its tree when the gateway starts it.
func gimp() program {
	return program{name: "gimp", toolkit: "GTK 2", grant: "gimp-2.10", witness: "gimp", ready: "menu bar:", start: func(s *stage) *linuxtest.App {
		if r := s.byMCP("ax_connect", params{"app": "gimp", "launch": true}); r.Failed && !strings.Contains(r.Text, "was started as process") { // its first start may take longer than a call
			s.Fatalf("GIMP was not started: %s", r.Text)
		}
		return nil
	}}
}

// files returns a file manager in a folder with a subfolder.
func files() program {
	p := named("thunar")
	p.start = func(s *stage) *linuxtest.App {
		assert.NilError(s, os.Mkdir(s.file("Archive"), 0o700))
		s.document("Archive/c.txt", "old")
		s.document("b.txt", "new")
		return s.Launch(s.T, "thunar", s.folder)
	}
	return p
}

// rows returns a list that prints the selected row.
func rows() program {
	return program{name: "zenity", toolkit: "GTK 3", witness: "zenity", ready: "push button:OK", start: func(s *stage) *linuxtest.App {
		return s.Launch(s.T, "sh", "-c", "zenity --list --column=Row $(seq -f row-%g 1000) >"+s.file("said.txt"))
	}}
}

// terminal returns a program without accessible content.
func terminal() program {
	return program{name: "xterm", toolkit: "none", start: func(s *stage) *linuxtest.App { return s.Launch(s.T, "xterm") }}
}

// editorAndPage returns an editor with a text beside a page.
func editorAndPage() program {
	p := named("mousepad")
	p.start = func(s *stage) *linuxtest.App {
		s.Browser(s.T, s.html(`<textarea aria-label=Notes oninput="document.title=this.value"></textarea>`))
		s.eventually("the page shows", func() bool { return titleIs("Page - Chromium")(s) == "" })
		return s.Launch(s.T, "mousepad", "--disable-server", s.document("a.txt", "copied over"))
	}
	return p
}

// Pages that report the effect of an act in their title.
const (
	icons = `<style>i{display:inline-block;width:24px;height:24px;background:#888}</style>
<i class=pen onclick="document.title='pen'"></i> <i class=trash onclick="document.title='trash'"></i> <i class=star onclick="document.title='star'"></i>`
	thousand = `<div role=listbox aria-label=Towns id=l style="height:120px;overflow:auto"></div><script>
for (let i = 1; i <= 1000; i++) {
	const o = document.createElement('div'); o.role = 'option'; o.tabIndex = -1; o.textContent = 'Town ' + i
	o.onclick = () => document.title = o.textContent; l.append(o)
}</script>`
	drawn = `<canvas id=c width=300 height=200></canvas><script>
const x = c.getContext('2d'); x.fillStyle = '#0a0'; x.fillRect(200, 120, 60, 40); x.fillStyle = '#a00'; x.fillRect(40, 30, 60, 40)
c.onclick = e => { const [r, g] = x.getImageData(e.offsetX, e.offsetY, 1, 1).data; document.title = g > r ? 'green' : r > g ? 'red' : 'nothing' }
</script>`
)

// web returns Chromium with a page.
func web(body string) program {
	return program{name: "chromium", toolkit: "Chromium", witness: "chromium", ready: "document web:", start: func(s *stage) *linuxtest.App {
		return s.Browser(s.T, s.html(body))
	}}
}

// html returns the address of a page.
func (s *stage) html(body string) string {
	return "file://" + s.document("page.html", "<!doctype html><meta charset=utf-8><title>Page</title>"+body)
}

// green returns a point of that colour, from a picture of the screen.
func (s *stage) green() params {
	found := regexp.MustCompile(`(?m)^(\d+),(\d+):.*#00AA00`).FindStringSubmatch(s.run("import", "-window", "root", "-depth", "8", "txt:-"))
	if found == nil {
		return params{}
	}
	x, _ := strconv.Atoi(found[1])
	y, _ := strconv.Atoi(found[2])
	return params{"x": x + 20, "y": y + 20}
}
