package dialog

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// osascriptMaxBytes is the limit for text that display dialog shows without scrolling, in bytes.
const osascriptMaxBytes = 2000

// script shows the dialog of the value "asked", which is written in front of it. It returns the number of
// the button, or "gave up". Its text comes by standard input, since all accounts can read arguments.
const script = `
var app = Application.currentApplication()
app.includeStandardAdditions = true
function result() {
	try {
		var answer = app.displayDialog(asked.text, {
			withTitle: asked.title, buttons: asked.buttons.slice().reverse(), defaultButton: asked.buttons[0],
			cancelButton: asked.buttons[0], withIcon: "caution", givingUpAfter: asked.seconds
		})
		return answer.gaveUp ? "gave up" : String(Math.max(0, asked.buttons.indexOf(answer.buttonReturned)))
	} catch (e) {
		if (e.errorNumber === -128) return "0"
		throw e
	}
}
result()`

// presenters returns the presenter of macOS: AppleScript's dialog, with up to three buttons.
func presenters(func(string) string) []presenter {
	return []presenter{
		{name: "osascript", maxButtons: 3, maxBytes: osascriptMaxBytes, appearTime: 300 * time.Millisecond, show: osascript},
	}
}

// screen returns "": screens have no names here.
func screen(func(string) string) string { return "" }

func osascript(ctx context.Context, p page, process func(int)) (int, error) {
	left := patience
	if deadline, ok := ctx.Deadline(); ok {
		left = time.Until(deadline)
	}
	asked, err := json.Marshal(map[string]any{"seconds": int(left.Seconds()) + 2, "title": p.title, "text": p.text,
		"buttons": p.buttons})
	if err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, "/usr/bin/osascript", "-l", "JavaScript", "-")
	cmd.Stdin = strings.NewReader("var asked = " + asciiJSON(string(asked)) + script)
	cmd.WaitDelay = time.Second
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	process(cmd.Process.Pid)
	err = cmd.Wait()
	switch answer := strings.TrimSpace(out.String()); {
	case ctx.Err() != nil:
		return 0, ctx.Err()
	case err != nil:
		return 0, fmt.Errorf("osascript: %w: %.200s", err, said.String())
	case answer == "gave up":
		return 0, context.DeadlineExceeded
	default:
		n, err := strconv.Atoi(answer)
		if err != nil || n < 0 || n >= len(p.buttons) {
			return 0, fmt.Errorf("osascript said %.40q", answer)
		}
		return n, nil
	}
}

// asciiJSON returns the JSON text in ASCII, because osascript guesses the encoding of a script.
func asciiJSON(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}
