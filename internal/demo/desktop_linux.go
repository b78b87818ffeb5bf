package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
)

// windowDemo is the part of the demo in which the agent works with windows in the background,
// while the user works in another one.
type windowDemo struct {
	*agent
	person *simulatedPerson
	form   *bookingForm
	file   string // the editor's file
}

// demonstrateWindows shows the desktop's tools. Independent witnesses prove each step: a file, the
// sum, the web page's own server, and xdotool.
func (a *agent) demonstrateWindows(s *privateSession) func(context.Context) error {
	return func(ctx context.Context) error {
		form, err := serveForm(ctx)
		if err != nil {
			return err
		}
		defer form.close()
		w := &windowDemo{agent: a, person: &simulatedPerson{session: s}, form: form, file: filepath.Join(a.home, "Documents", "letter.txt")}
		steps := []func(context.Context) error{w.open, w.write, w.press, w.demonstrateWorkflows, w.teach}
		if hasBrowser() {
			steps = append(steps, w.fill)
		}
		for _, step := range steps {
			if err := step(ctx); err != nil {
				return err
			}
		}
		return nil
	}
}

// callDesktop calls a desktop tool, which must succeed.
func (w *windowDemo) callDesktop(ctx context.Context, tool string, args map[string]any, show func(string) string) (*mcp.CallToolResult, error) {
	result, err := w.call(ctx, "ax_"+tool, args, show)
	if err == nil && result.IsError {
		err = aai.Errorf(aai.AutomationFailed, "ax_%s failed", tool)
	}
	if err == nil && w.person.expected != (inputState{}) {
		err = w.person.checkUndisturbed(ctx)
	}
	return result, err
}

// printProof prints the finding of an independent witness, and that the user was not disturbed.
func (w *windowDemo) printProof(format string, args ...any) {
	w.line("✓", fmt.Sprintf(format, args...))
	w.line("✓", fmt.Sprintf("not disturbed, %d looks so far: %q has the keyboard, the pointer rests at %s (by xdotool)",
		w.person.checks, w.person.expected.keyboard, w.person.expected.pointer))
}

// changedLines returns the lines of an answer that describe changes.
func changedLines(answer string) string {
	first, rest, found := strings.Cut(answer, "\n")
	if !found {
		return first
	}
	return rest
}

// programTree returns the program's part of a tree.
func programTree(answer string) string {
	var lines []string
	for line := range strings.Lines(answer) {
		if !strings.HasPrefix(line, "<<<") && !strings.HasPrefix(line, "Content of the app") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// open starts the programs. Then the user returns to their own window.
func (w *windowDemo) open(ctx context.Context) error {
	w.title("An agent opens programs")
	starts := []map[string]any{
		{"app": "mousepad", "launch": true, "arguments": []string{w.file}, "alias": "editor"},
		{"app": "gnome-calculator", "launch": true, "alias": "calculator"},
	}
	if hasBrowser() {
		starts = append(starts, map[string]any{
			"app": "chromium", "launch": true, "arguments": []string{w.form.address}, "alias": "browser",
		})
	} else {
		w.line("·", "Chromium is not installed here, or only as a snap; the form on the web is skipped")
	}
	for _, start := range starts {
		if _, err := w.callDesktop(ctx, "connect", start, fullText); err != nil {
			return err
		}
	}
	if hasBrowser() {
		if err := w.waitForElement(ctx, "browser", "Book it"); err != nil {
			return err
		}
	}
	if err := w.person.sitDown(ctx); err != nil {
		return err
	}
	w.line("·", fmt.Sprintf("new windows come to the front; the person goes back to %q, and stays there", w.person.expected.keyboard))
	return nil
}

// waitForElement waits until the program shows the element.
func (w *windowDemo) waitForElement(ctx context.Context, app, query string) error {
	args, last := map[string]any{"app": app, "query": query}, ""
	w.request("ax_find", args)
	err := waitFor(ctx, func() bool {
		result, err := w.session.CallTool(ctx, &mcp.CallToolParams{Name: "ax_find", Arguments: args})
		if err != nil {
			last = err.Error()
			return false
		}
		last = textOf(result)
		return !result.IsError
	})
	if err != nil {
		return aai.Errorf(aai.AutomationFailed, "%q did not appear in %s: %s", query, app, last)
	}
	w.line("←", last)
	return nil
}

// letter is the text that the agent writes, in several scripts.
const letter = `Dear all,

dinner is tonight at eight. There will be:

  • crème brûlée
  • σαλάτα με φέτα
  • борщ со сметаной
  • jalapeños

Please bring ½ kg of cherries → we bake a pie, ∅ 26 cm.
`

// write types a text into the editor and saves it.
func (w *windowDemo) write(ctx context.Context) error {
	w.title("A text editor: the agent types and saves, the window stays in the background")
	if _, err := w.callDesktop(ctx, "type", map[string]any{"app": "editor", "query": "role:textbox", "text": letter}, fullText); err != nil {
		return err
	}
	if _, err := w.callDesktop(ctx, "key_press", map[string]any{"app": "editor", "key": "s", "modifiers": []string{"ctrl"}}, fullText); err != nil {
		return err
	}
	var onDisk []byte
	if err := waitFor(ctx, func() bool {
		onDisk, _ = os.ReadFile(w.file)
		return string(onDisk) == letter
	}); err != nil {
		return aai.Errorf(aai.AutomationFailed, "%s contains %q instead of the typed text: %w", w.file, onDisk, err)
	}
	w.printProof("on disk, letter.txt contains the typed text: all %d bytes", len(onDisk))
	return w.takeScreenshot(ctx, "editor", "editor")
}

// press computes with the calculator's buttons, and then with its keyboard.
func (w *windowDemo) press(ctx context.Context) error {
	w.title("A calculator: the agent keeps its picture, and presses its buttons")
	if err := w.compare(ctx, true); err != nil {
		return err
	}
	for _, button := range []string{"1", "2", "×", "3", "4", "="} {
		if _, err := w.callDesktop(ctx, "click", map[string]any{"app": "calculator", "query": "role:button title:" + button}, changedLines); err != nil {
			return err
		}
	}
	if err := w.expectText(ctx, "calculator", "408"); err != nil {
		return err
	}
	w.printProof("12 × 34 = %d", 12*34)
	w.title("The same calculator: the agent types")
	if _, err := w.callDesktop(ctx, "type", map[string]any{"app": "calculator", "query": display, "nth": 1, "text": "√(3²+4²)", "clear_first": true}, changedLines); err != nil {
		return err
	}
	if _, err := w.callDesktop(ctx, "key_press", map[string]any{"app": "calculator", "key": "return"}, changedLines); err != nil {
		return err
	}
	if err := w.expectText(ctx, "calculator", "5"); err != nil {
		return err
	}
	w.printProof("√(3² + 4²) = 5")
	if err := w.takeScreenshot(ctx, "calculator", "calculator"); err != nil {
		return err
	}
	return w.compare(ctx, false)
}

// display is the query for a program's text box, which shows its content.
const display = "role:textbox"

// expectText checks the program's text in its accessibility tree.
func (w *windowDemo) expectText(ctx context.Context, app, want string) error {
	result, err := w.callDesktop(ctx, "get_value", map[string]any{"app": app, "query": display, "nth": 1}, fullText)
	if err != nil {
		return err
	}
	var got struct {
		Value string `json:"value"`
	}
	if err := remarshal(result.StructuredContent, &got); err != nil {
		return err
	}
	if strings.TrimSpace(got.Value) != strings.TrimSpace(want) {
		return aai.Errorf(aai.AutomationFailed, "the %s shows %q, expected %q", app, got.Value, want)
	}
	return nil
}

// fill fills in a form in a browser and submits it.
func (w *windowDemo) fill(ctx context.Context) error {
	w.title("A form on the web: the agent sees it as an outline, fills it in and submits it")
	want := url.Values{
		"name": {"Café Ωmega, № 7"}, "email": {"cafe@example.org"}, "guests": {"4"}, "vegetarian": {"yes"},
		"message": {"A table by the window, please.\r\nGrüße, ευχαριστώ!"},
	}
	for _, step := range []struct {
		tool string
		args map[string]any
		show func(string) string
	}{
		{"get_tree", map[string]any{}, programTree},
		{"type", map[string]any{"query": "Name", "text": want.Get("name")}, changedLines},
		{"type", map[string]any{"query": "E-mail", "text": want.Get("email")}, changedLines},
		{"set_value", map[string]any{"query": "Guests", "value": "four"}, changedLines},
		{"type", map[string]any{"query": "Message", "text": strings.ReplaceAll(want.Get("message"), "\r\n", "\n")}, changedLines},
		{"click", map[string]any{"query": "role:checkbox title:\"Vegetarian, please\""}, changedLines},
	} {
		step.args["app"] = "browser"
		if _, err := w.callDesktop(ctx, step.tool, step.args, step.show); err != nil {
			return err
		}
	}
	if err := w.takeScreenshot(ctx, "form", "browser"); err != nil { // before it is gone
		return err
	}
	if _, err := w.callDesktop(ctx, "click", map[string]any{"app": "browser", "query": "Book it"}, changedLines); err != nil {
		return err
	}
	got, err := w.form.wait(ctx)
	if err != nil {
		return aai.Errorf(aai.AutomationFailed, "the form did not arrive: %w", err)
	}
	if got.Encode() != want.Encode() {
		return aai.Errorf(aai.AutomationFailed, "the form arrived with %v, expected %v", got, want)
	}
	if err := w.waitForElement(ctx, "browser", "role:heading title:Thank you"); err != nil {
		return err
	}
	w.printProof("the web server got %s", shownValues(got))
	return nil
}

func shownValues(values url.Values) string {
	b, err := json.Marshal(map[string][]string(values))
	if err != nil {
		return err.Error()
	}
	return string(b)
}
