package dialog

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// osascriptMaxBytes is the limit for text that display dialog shows without scrolling, in bytes.
const osascriptMaxBytes = 2000

// script shows a dialog. Its texts are arguments, so that none can become a part of it:
// the time in seconds, the title, the text, and the buttons. It prints the number of the
// button, or "gave up".
const script = `on run argv
	set texts to items 4 thru -1 of argv
	set shown to reverse of texts
	try
		set answer to display dialog (item 3 of argv) with title (item 2 of argv) buttons shown default button (item 1 of texts) cancel button (item 1 of texts) with icon caution giving up after ((item 1 of argv) as integer)
	on error number -128
		return "0"
	end try
	if gave up of answer then return "gave up"
	repeat with i from 1 to count of texts
		if item i of texts is button returned of answer then return (i - 1) as text
	end repeat
	return "0"
end run`

// presenters returns the presenter of macOS: AppleScript's dialog, with up to three buttons.
func presenters(func(string) string) []presenter {
	return []presenter{{name: "osascript", maxButtons: 3, maxBytes: osascriptMaxBytes, appearTime: 300 * time.Millisecond, show: osascript}}
}

// screen returns "": screens have no names here.
func screen(func(string) string) string { return "" }

func osascript(ctx context.Context, p page, process func(int)) (int, error) {
	left := patience
	if deadline, ok := ctx.Deadline(); ok {
		left = time.Until(deadline)
	}
	args := []string{"-", strconv.Itoa(int(left.Seconds()) + 2), p.title, p.text}
	cmd := exec.CommandContext(ctx, "/usr/bin/osascript", append(args, p.buttons...)...)
	cmd.Stdin = strings.NewReader(script)
	cmd.WaitDelay = time.Second
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	process(cmd.Process.Pid)
	err := cmd.Wait()
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
