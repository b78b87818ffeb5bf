package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/platform/linux/private"
)

// typedText is the text typed into the window. No keyboard layout has all its letters.
const typedText = "Grüße, 你好 7"

// An inputDialog is a program that asks for a line in a window, and prints it.
type inputDialog struct {
	program string
	args    []string
	field   string // the query of its field
	accept  string // the name of its button
}

func inputDialogs() []inputDialog {
	return []inputDialog{
		{"zenity", []string{"--entry", "--title=AAI doctor", "--text=A window of the doctor", "--ok-label=Accept"}, "role:textbox", "Accept"},
		{"kdialog", []string{"--title", "AAI doctor", "--inputbox", "A window of the doctor"}, "role:textbox", "OK"},
	}
}

// window operates a real window: it finds it by name, types, takes a screenshot, clicks, and
// compares the text with the program's output.
func (d *Doctor) window(ctx context.Context, f *Finding) {
	asks, err := installedDialog()
	if err != nil {
		f.setNote("no program for a test window is installed: zenity, kdialog", "To try one:", InstallCommand("zenity"))
		f.State = answer.StateSkipped
		return
	}
	desk, where, end := d.windowSession(ctx, f)
	defer end()
	if desk == nil {
		return
	}
	f.Did = "in " + where + ": opened a window of " + asks.program + ", found its field, typed, took a screenshot, clicked its button"
	s, err := d.newScratch(desk.Env)
	if err != nil {
		f.setCallError("no temporary folder", err)
		return
	}
	defer s.end() //nolint:errcheck // leftovers are in the temporary folder
	seen, err := asks.operate(ctx, desk, s.gateway)
	if err != nil {
		f.setCallError("a window could not be operated", err)
		f.Advice = "Programs expose their windows through at-spi2-core. Install all of it, and try again:"
		f.Commands = []string{InstallCommand("at-spi2-core", asks.program)}
		return
	}
	f.setOK("%s printed the typed text; the screenshot is %s", asks.program, seen)
}

// windowSession returns a session for a window, and a function that ends it. The session is nil
// if there is none; the finding then has the reason.
func (d *Doctor) windowSession(ctx context.Context, f *Finding) (desk *private.Session, where string, end func()) {
	desk, where, err := d.openWindowSession(ctx)
	end = func() {
		if desk != nil {
			_ = errors.Join(desk.End(), desk.Remove()) // leftovers are in /tmp
		}
	}
	switch {
	case errors.Is(err, errWindowNotAllowed):
		f.setNote("not tested: Xvfb is not installed, and no person can allow a window on the screen", "To test it on an invisible screen:", InstallCommand("xvfb"))
		f.State = answer.StateSkipped
		return nil, "", end
	case err != nil:
		f.setCallError("there is no session for it", err)
		f.Commands = []string{InstallCommand("xvfb", "dbus-daemon", "at-spi2-core")}
		return nil, "", end
	}
	return desk, where, end
}

// question shows the longest question that a window can have, in the person's locale.
func (d *Doctor) question(ctx context.Context, f *Finding) {
	if d.cfg.NewDialog == nil {
		f.setSkipped("the gateway does not start, see the configuration")
		return
	}
	desk, where, end := d.windowSession(ctx, f)
	defer end()
	if desk == nil {
		return
	}
	f.Did = "in " + where + ": showed the longest possible question, in your language"
	dialog := d.cfg.NewDialog(lookup(desk.Env), desk.Path("tmp"))
	if err := dialog.Ready(ctx); err != nil {
		f.setNote(err.Error(), "You are asked at a terminal. To be asked in a window:", InstallCommand("zenity"))
		return
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var shown atomic.Bool
	_, err := dialog.Ask(aai.WithClientCapabilities(ctx, aai.ClientCapabilities{OnDialogShown: func(string) { shown.Store(true); stop() }}), longestQuestion())
	if !shown.Load() {
		f.setCallError("no window with a question can be shown", err)
		f.Advice, f.Commands = "Install another program for questions:", []string{InstallCommand("zenity")}
		return
	}
	f.setOK("its window was shown")
}

// longestQuestion returns a question with the length and the characters of the longest real one.
func longestQuestion() aai.Question {
	line := aai.QuoteMark + strings.Repeat(typedText+", which goes on; ", 4) + "\n"
	return aai.Question{
		ID: "doctor", CallerIdentity: "doctor", Title: "AAI doctor", Text: strings.Repeat(line, 15), Details: line,
		Choices: []aai.Choice{{ID: "deny", Label: "Deny"}, {ID: "once", Label: "Allow once"}, {ID: "never", Label: "Never allow", IsRefusal: true}},
	}
}

// installedDialog returns the first of inputDialogs that is installed.
func installedDialog() (inputDialog, error) {
	for _, a := range inputDialogs() {
		if _, err := exec.LookPath(a.program); err == nil {
			return a, nil
		}
	}
	return inputDialog{}, errors.New("neither zenity nor kdialog is installed")
}

var errWindowNotAllowed = errors.New("no person allowed a window on the screen")

// openWindowSession returns the session for the window: a private one, or the person's with their
// consent.
func (d *Doctor) openWindowSession(ctx context.Context) (*private.Session, string, error) {
	desk, err := private.New("aai-doctor-")
	if err != nil {
		return nil, "", err
	}
	desk.Env = append(append(desk.Env, private.HeadlessEnv()...), "PATH="+d.cfg.Getenv("PATH"), "AAI_PRIVATE_SESSION=doctor", "NO_AT_BRIDGE=0")
	if _, err := exec.LookPath("Xvfb"); err == nil {
		if err := desk.StartScreen(ctx, private.ScreenConfig{Width: 800, Height: 600}); err != nil {
			return desk, "", err
		}
		return desk, "a session of its own", desk.StartBus(ctx)
	}
	found, err := d.facts.gatewayCheck()
	if err != nil || found.value("DISPLAY") == "" || d.cfg.ConfirmWindow == nil || !d.cfg.ConfirmWindow(ctx) {
		return desk, "", errWindowNotAllowed
	}
	for _, name := range []string{"DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS"} {
		if value := found.value(name); value != "" {
			desk.Env = append(desk.Env, name+"="+value)
		}
	}
	return desk, "your session", nil
}

// operate operates the window, and describes the screenshot.
func (a inputDialog) operate(ctx context.Context, desk *private.Session, g *gateway.Gateway) (string, error) {
	// This enables accessibility, which Qt programs check only when they start.
	if _, err := call(ctx, g, aai.DesktopApp, "ax_list_apps", nil); err != nil {
		return "", fmt.Errorf("programs cannot be listed: %w", err)
	}
	program, err := desk.Start(private.Command{Name: a.program, Args: a.args})
	if err != nil {
		return "", err
	}
	defer program.End() //nolint:errcheck // it may have ended as it should
	app := strconv.Itoa(program.PID)
	if err := a.appears(ctx, program, g, app); err != nil {
		return "", err
	}
	if _, err := call(ctx, g, aai.DesktopApp, "ax_type", map[string]any{"app": app, "query": a.field, "text": typedText}); err != nil {
		return "", fmt.Errorf("it cannot be typed into: %w", err)
	}
	seen, err := picture(ctx, g, app)
	if err != nil {
		return "", err
	}
	if _, err := call(ctx, g, aai.DesktopApp, "ax_click", map[string]any{"app": app, "query": a.accept}); err != nil && program.Running() {
		return "", fmt.Errorf("its button cannot be clicked: %w", err)
	}
	select {
	case <-program.Done():
	case <-ctx.Done():
		return "", errors.New("its button was clicked, and it did not end")
	}
	if printed := program.Output(); !strings.Contains(printed, typedText+"\n") {
		return "", fmt.Errorf("%q was typed, and it printed %q", typedText, printed)
	}
	return seen, nil
}

// appears waits until the window shows its button.
func (a inputDialog) appears(ctx context.Context, program *private.Program, g *gateway.Gateway, app string) error {
	var last error
	err := program.Await(ctx, "its window shows "+a.accept, func() bool {
		_, last = call(ctx, g, aai.DesktopApp, "ax_find", map[string]any{"app": app, "query": a.accept})
		return last == nil
	})
	if err != nil && last != nil {
		return fmt.Errorf("it was not found: %w", last)
	}
	return err
}

// picture takes a screenshot, which must have more than one colour, and describes its size.
func picture(ctx context.Context, g *gateway.Gateway, app string) (string, error) {
	result, err := call(ctx, g, aai.DesktopApp, "ax_screenshot", map[string]any{"app": app})
	if err != nil {
		return "", fmt.Errorf("its screenshot failed: %w", err)
	}
	if len(result.Images) != 1 {
		return "", errors.New("there is no screenshot of it")
	}
	decoded, err := png.Decode(bytes.NewReader(result.Images[0].Data))
	if err != nil {
		return "", fmt.Errorf("its screenshot is no PNG: %w", err)
	}
	if !hasSeveralColours(decoded) {
		return "", errors.New("its screenshot has only one colour")
	}
	size := decoded.Bounds().Size()
	return fmt.Sprintf("%d × %d", size.X, size.Y), nil
}

// hasSeveralColours reports whether an image has more than one colour.
func hasSeveralColours(p image.Image) bool {
	b := p.Bounds()
	first := p.At(b.Min.X, b.Min.Y)
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if p.At(x, y) != first {
				return true
			}
		}
	}
	return false
}
