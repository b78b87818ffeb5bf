package apps

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// task is a user's task for an agent, from its first look at the program to the state that the
// witnesses see in the end.
type task struct {
	name       string
	on         program
	inEveryRun bool     // every run has it
	also       []string // other operated programs
	calls      []call
	// fault returns the difference from the expected state, or "".
	fault func(*stage) string
}

// call is one of the agent's calls. An argument of the form "/regexp/" becomes its first group, or
// its match, in the previous answer, such as a ref. In others $FOLDER is the folder of the
// documents.
type call struct {
	tool string
	args params
	// aim returns arguments that an agent would take from a picture, by the witness.
	aim func(*stage) params
	// until repeats the call while it fails or its answer lacks this text.
	until string
}

// taskCost is the text that an agent writes and reads for a task.
type taskCost struct {
	name, toolkit      string
	calls, wrote, read int // characters
	pictures           int
	wrong              string
	last               string // answer
}

// does makes the calls in order, and returns their cost and the fault.
func (s *stage) does(k task) *taskCost {
	s.Helper()
	b := &taskCost{name: k.name, toolkit: k.on.toolkit}
	for _, c := range k.calls {
		if b.wrong = s.doesOne(b, c); b.wrong != "" {
			return b
		}
	}
	for end := time.Now().Add(patience); ; time.Sleep(pollInterval) {
		if b.wrong = k.fault(s); b.wrong == "" || time.Now().After(end) {
			return b
		}
	}
}

// doesOne makes a call, and returns the reason of a failure.
func (s *stage) doesOne(b *taskCost, c call) string {
	s.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(pollInterval) {
		meant, missing := s.substitute(c.args, b.last)
		if missing != "" {
			return fmt.Sprintf("%s %v: the answer before has no %s: %.1500s", c.tool, c.args, missing, b.last)
		}
		args := meant.(params)
		if c.aim != nil {
			maps.Copy(args, c.aim(s))
		}
		failed := s.callAndCount(b, c.tool, args)
		switch {
		case failed && strings.HasPrefix(b.last, "TIMEOUT") && strings.Contains(b.last, "it was delivered"):
			return "" // the next call shows the effect
		case failed && strings.HasPrefix(b.last, "TIMEOUT") && strings.Contains(b.last, "nothing was done") && time.Now().Before(end):
		case !failed && strings.Contains(b.last, c.until):
			return ""
		case c.until == "" || time.Now().After(end):
			return fmt.Sprintf("%s %v: %.1500s", c.tool, args, b.last)
		}
	}
}

// substitute replaces "/regexp/" with its match in the answer, and $FOLDER with the folder of the
// documents; missing is an expression without a match.
func (s *stage) substitute(value any, answer string) (meant any, missing string) {
	switch value := value.(type) {
	case string:
		if len(value) > 1 && value[0] == '/' && value[len(value)-1] == '/' {
			found := regexp.MustCompile(value[1 : len(value)-1]).FindStringSubmatch(answer)
			if found == nil {
				return nil, value
			}
			return found[len(found)-1], ""
		}
		return strings.ReplaceAll(value, "$FOLDER", s.folder), ""
	case params:
		of := make(params)
		for name, v := range value {
			if of[name], missing = s.substitute(v, answer); missing != "" {
				return nil, missing
			}
		}
		return of, ""
	case []params:
		var of []any
		for _, v := range value {
			t, missing := s.substitute(v, answer)
			if missing != "" {
				return nil, missing
			}
			of = append(of, t)
		}
		return of, ""
	}
	return value, ""
}

// callAndCount makes a call, and counts its cost.
func (s *stage) callAndCount(b *taskCost, tool string, args params) (failed bool) {
	s.Helper()
	if _, other := args["app"]; !other && tool != "ax_clipboard" {
		args["app"] = cmp.Or(s.program.grant, s.program.name)
	}
	written, err := json.Marshal(args)
	assert.NilError(s, err)
	result, err := s.agent.CallTool(s.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	assert.NilError(s, err, "%s %s", tool, written)
	b.last = ""
	for _, c := range result.Content {
		switch c := c.(type) {
		case *mcp.TextContent:
			b.last += c.Text
		case *mcp.ImageContent:
			b.pictures++
		}
	}
	b.calls, b.wrote, b.read = b.calls+1, b.wrote+utf8.RuneCountInString(tool)+utf8.RuneCount(written), b.read+utf8.RuneCountInString(b.last)
	if os.Getenv("AAI_APPS_SAY") != "" {
		s.Logf("%s: %s %s\n%s", b.name, tool, written, b.last)
	}
	return result.IsError
}

// TestTasks runs an agent's tasks, by the tools alone, and prints the cost of each.
func TestTasks(t *testing.T) {
	gateway, all, only := build(t), os.Getenv("AAI_APPS") == "all", os.Getenv("AAI_APPS_ONLY")
	var mu sync.Mutex
	var bills []*taskCost
	t.Run("of", func(t *testing.T) {
		for _, k := range tasks() {
			if only != "" && only != k.name && only != k.on.name || !all && !k.inEveryRun {
				continue
			}
			t.Run(k.name, func(t *testing.T) {
				if all {
					t.Parallel()
				}
				s := open(t, k.on, gateway, k.also...)
				b := s.does(k)
				mu.Lock()
				bills = append(bills, b)
				mu.Unlock()
				assert.Check(t, is.Equal(b.wrong, ""))
			})
		}
	})
	total(t, bills)
}

// total prints the costs; a token is about four characters.
func total(t *testing.T, bills []*taskCost) {
	t.Helper()
	slices.SortFunc(bills, func(a, b *taskCost) int {
		return cmp.Or(cmp.Compare(a.toolkit, b.toolkit), cmp.Compare(a.name, b.name))
	})
	const row = "%-44s %-12s %-5s %5v %6v %6v %7v %9v\n"
	var out strings.Builder
	fmt.Fprintf(&out, row, "task", "toolkit", "done", "calls", "wrote", "read", "tokens", "pictures")
	for _, b := range bills {
		done := "yes"
		if b.wrong != "" {
			done = "no"
		}
		fmt.Fprintf(&out, row, b.name, b.toolkit, done, b.calls, b.wrote/4, b.read/4, (b.wrote+b.read)/4, b.pictures)
	}
	fmt.Print(out.String())
	assert.Check(t, len(bills) != 0, "no task was done")
}

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
