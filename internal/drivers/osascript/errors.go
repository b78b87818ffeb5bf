package osascript

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway"
)

// Numbers of errors that the code decides by.
const (
	notPermitted    = -1743
	wouldAsk        = -1744
	assistiveAccess = -25211
	invalidIndex    = -1719
	keystrokes      = 1002
	noSuchObject    = -1728
	generalError    = -2700
	canceled        = -128
)

// A failure is an error that a script ended with.
type failure struct {
	number  int
	known   bool // it has a number
	message string
	line    int  // of the template; 0: unknown
	unbegun bool // the script is no script, so nothing ran
}

// codeOf maps the failure to a code. Words count only where a number has two meanings, and only words that no language changes.
func (f *failure) codeOf() aai.Code {
	switch n := f.number; {
	case f.unbegun, f.isSyntax():
		return aai.ScriptParseError
	case !f.known:
		return aai.AutomationFailed
	case f.needsAutomation() || f.needsAccessibility():
		return aai.PermissionDenied
	case slices.Contains([]int{-10004, -54, -5000, -905}, n):
		return aai.PermissionDenied
	case slices.Contains([]int{-10814, -10811, -10827, -10660, -10661, -10825, -10826, -2703}, n):
		return aai.AppNotFound
	case n == noSuchObject && namesApp(f.message), n == generalError && strings.Contains(f.message, "Application can") && strings.Contains(f.message, "be found"):
		return aai.AppNotFound
	case n == -600 || n == -609:
		return aai.AppNotRunning
	case n == -1712 || n == -1718:
		return aai.Timeout
	}
	return aai.AutomationFailed
}

// isSyntax reports whether the compiler rejected the script.
func (f *failure) isSyntax() bool {
	n := -f.number
	return f.known && (n >= 2740 && n <= 2763 && n != 2753 || n >= 1750 && n <= 1753)
}

func (f *failure) needsAutomation() bool {
	return f.known && (f.number == notPermitted || f.number == wouldAsk)
}

// needsAccessibility reports a denied access to windows. The number -1719 also means a wrong index; the denial names osascript.
func (f *failure) needsAccessibility() bool {
	return f.known && (f.number == assistiveAccess || f.number == keystrokes ||
		f.number == invalidIndex && (strings.Contains(f.message, "osascript") || strings.Contains(f.message, "assistive access")))
}

// namesApp reports whether a message names an app itself and not an object of one. References are English in every language.
func namesApp(message string) bool {
	i := strings.Index(message, `application "`)
	return i >= 0 && !strings.HasSuffix(message[:i], " of ")
}

// meaning describes a number, or returns "".
func meaning(number int) string {
	return map[int]string{
		canceled: "the person cancelled it", -600: "the app does not run", -609: "the app has ended", -1712: "the app did not answer in time",
		-1708: "the app does not know the command", noSuchObject: "there is no such object", invalidIndex: "there is no such item",
		-1700: "a value has the wrong type", -10814: "no such app is installed", -43: "there is no such file", -10004: "the app does not allow it",
		-2753: "a variable is not defined",
	}[number]
}

// parseFailure reads the errors that osascript prints: "from:to: execution error: TEXT (-NNNN)". The words are localized.
func parseFailure(stderr string) *failure {
	text := strings.TrimSpace(stderr)
	f := &failure{message: text}
	if found := regexp.MustCompile(`(?s)^(.*?)\s*\((-?\d{1,6})\)$`).FindStringSubmatch(text); found != nil {
		f.message = found[1]
		f.number, _ = strconv.Atoi(found[2])
		f.known = true
	}
	if found := regexp.MustCompile(`(?s)^(?:[^\n]*?:)?(\d+):\d+: (?:[^:\n]{1,40}: )?(.*)$`).FindStringSubmatch(f.message); found != nil {
		f.line, _ = strconv.Atoi(found[1]) // a place in the script, until placeOf converts it
		f.line++
		f.message = found[2]
	}
	f.message = strings.TrimPrefix(strings.TrimPrefix(f.message, "execution error: "), "syntax error: ")
	f.unbegun = !f.known && strings.Contains(stderr, "syntax error") || f.isSyntax()
	return f
}

// placeIn converts the place of the error, in UTF-16 units of the script that ran, to a line of the template.
func (f *failure) placeIn(script string, t *template) {
	if f.line == 0 {
		return
	}
	units, lines := 1, 1
	for _, c := range script {
		if units >= f.line {
			break
		}
		units++
		if c > 0xFFFF {
			units++
		}
		if c == '\n' {
			lines++
		}
	}
	if lines > strings.Count(t.code[:t.head], "\n") {
		lines = max(lines-len(t.slots), 1)
	}
	f.line = lines
}

// problem returns the error of a failed script. once reports that the script does nothing before it talks to its only app, so
// that a refusal of macOS came before any effect.
func (d *Driver) problem(f *failure, call *aai.Call, app string, once bool) *aai.Error {
	at := app
	if f.line > 0 {
		at += fmt.Sprintf(": line %d of the script", f.line)
	}
	said := aai.CleanText(f.message, 500)
	if short := meaning(f.number); f.known && short != "" {
		said = strings.TrimSuffix(short+": "+said, ": ")
	}
	if f.known {
		said += fmt.Sprintf(" (error %d)", f.number)
	}
	err := aai.Errorf(f.codeOf(), "%s: %s", at, strings.TrimSpace(said))
	err.Delivery = aai.DeliveryUnknown
	switch {
	case err.Code == aai.ScriptParseError:
		err.Delivery = aai.NotDelivered
		err.Hint = "The descriptor's author corrects the script. Terms of an app are only known where the app is installed."
	case f.needsAutomation() || f.needsAccessibility():
		d.explainDenial(err, f, call, app)
	case f.number == invalidIndex && f.known:
		err.Hint = "If the script operates windows by System Events, it may lack the right to it: " + d.settingsPath("Accessibility", call)
	case err.Code == aai.PermissionDenied:
		err.Hint = "macOS or the app does not allow this to the person's account, such as the access to a file."
	case err.Code == aai.AppNotFound:
		err.Hint = "Make sure that the app of the script is installed on this Mac."
	case err.Code == aai.AppNotRunning:
		err.Hint = "Look at the app's state, then try again: a new call starts the app, unless it ends while it starts."
	case err.Code == aai.Timeout:
		err.Hint = "The app may be busy, or show a dialog. Look at its state before you try again."
	}
	if once && (f.needsAutomation() || err.Code == aai.AppNotFound) {
		err.Delivery = aai.NotDelivered
	}
	return err
}

// endedError reports that osascript itself ended without an answer: at the deadline, by a signal or for too much output.
func endedError(ctx context.Context, app string, cause error) *aai.Error {
	err := aai.Errorf(aai.AutomationFailed, "%s: the answer of the script cannot be read: %w", app, cause)
	err.Delivery = aai.DeliveryUnknown
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		err = aai.Errorf(aai.Timeout, "%s: the script did not end by the deadline, and was ended", app)
		err.Hint = "The app may be busy, or show a dialog; macOS may also ask the person for a permission. Look at the app's state before you try again."
		err.Delivery, err.Err = aai.DeliveryUnknown, ctx.Err()
	case ctx.Err() != nil:
		err = aai.Errorf(aai.AutomationFailed, "the caller cancelled the call")
		err.Delivery, err.Err = aai.DeliveryUnknown, ctx.Err()
	}
	return err
}

// startError reports that osascript did not start.
func startError(cause error) *aai.Error {
	err := aai.Errorf(aai.AutomationNotSupported, "osascript cannot be started: %w", cause)
	if errors.Is(cause, context.Canceled) || errors.Is(cause, context.DeadlineExceeded) {
		err.Code = aai.Timeout
	} else if _, ok := errors.AsType[*exec.Error](cause); ok {
		err.Hint = "It is a part of macOS, at /usr/bin/osascript."
	}
	err.Delivery = aai.NotDelivered
	return err
}

func unreadable(app string, cause error) *aai.Error {
	err := aai.Errorf(aai.AutomationFailed, "the answer of %s cannot be read: %w", app, cause)
	err.Hint, err.Delivery = "The script has run to its end.", aai.Delivered
	return err
}

func undelivered(err error) *aai.Error {
	e := aai.AsError(err)
	e.Delivery = aai.NotDelivered
	return e
}
