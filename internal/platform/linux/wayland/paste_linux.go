package wayland

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/linux/keysym"
)

// paste puts the text into the window by the clipboard, and gives the old clip back. reason says why it is not typed.
func (d *Display) paste(ctx context.Context, t typist, window desktop.WindowID, text, reason string) error {
	service, err := d.clipboard(ctx)
	var old map[string][]byte
	if err == nil {
		old, err = wholeClip(ctx, service)
	}
	if err != nil {
		e := refused(aai.AutomationNotSupported, "%s, and the text cannot be pasted: %w", reason, err)
		e.Hint = "Set the value of the field by its ref, or leave these characters out. Nothing was typed."
		return e
	}
	defer func() { // given back even after a failure
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), clipPatience)
		defer cancel()
		_, _ = d.keep(ctx, service, old)
	}()
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	for len(text) > 0 { // line breaks and tabs are keys
		if key, ok := map[byte]keysym.Sym{'\n': keysym.Return, '\t': keysym.Tab}[text[0]]; ok {
			if err := t.chord(ctx, key, nil); err != nil {
				return err
			}
			text = text[1:]
			continue
		}
		end := strings.IndexAny(text, "\n\t")
		if end < 0 {
			end = len(text)
		}
		if err := d.pastePart(ctx, t, window, service, text[:end]); err != nil {
			return err
		}
		text = text[end:]
	}
	return nil
}

// The times of a paste.
const (
	managerPause  = 50 * time.Millisecond // for clipboard managers, which read each clip
	pastePatience = 2 * time.Second       // for the program to read the clip
	insertPause   = 50 * time.Millisecond // for the program to insert the text
)

// secretHint is a type by which clipboard managers leave a clip out of their history.
const secretHint = "x-kde-passwordManagerHint"

// pastePart pastes one line.
func (d *Display) pastePart(ctx context.Context, t typist, window desktop.WindowID, service clipService, line string) error {
	content := textClip(line)
	content[secretHint] = []byte("secret")
	read := make(chan struct{}, 16)
	err := service.own(ctx, content, func() {
		select {
		case read <- struct{}{}:
		default:
		}
	})
	if err == nil {
		err = aai.Sleep(ctx, managerPause)
	}
	if err != nil {
		return failure("setting the clipboard", err)
	}
	for len(read) > 0 {
		<-read
	}
	modifiers := []keysym.Sym{control}
	if w, err := d.find(ctx, window); err == nil && isTerminal(w.Class) {
		modifiers = append(modifiers, keysym.Shift)
	}
	if err := t.chord(ctx, 'v', modifiers); err != nil {
		return err
	}
	late := time.NewTimer(pastePatience)
	defer late.Stop()
	select {
	case <-read:
		return stoppedTyping(aai.Sleep(ctx, insertPause), true, 0, 1)
	case <-ctx.Done():
		return stoppedTyping(ctx.Err(), true, 0, 1)
	case <-late.C:
		return stoppedTyping(errors.New("the program did not paste the text after Ctrl+V"), true, 0, 1)
	}
}

// control is the modifier Ctrl.
const control keysym.Sym = 0xffe3

// isTerminal reports whether a program is a terminal by the class of its window. Terminals paste by Ctrl+Shift+V.
func isTerminal(class string) bool {
	class = strings.ToLower(class)
	return slices.ContainsFunc([]string{"terminal", "konsole", "ptyxis", "kgx", "console", "alacritty", "kitty", "foot", "wezterm", "ghostty", "tilix"},
		func(name string) bool { return strings.Contains(class, name) })
}

// wholeClip returns the clip of all types, so that it can be given back.
func wholeClip(ctx context.Context, service clipService) (map[string][]byte, error) {
	o, err := service.offer(ctx)
	if o.done != nil {
		defer o.done()
	}
	if err != nil {
		return nil, err
	}
	content, size := make(map[string][]byte), 0
	for _, kind := range o.types {
		if kind == strings.ToUpper(kind) && !slices.Contains(textTypes(), kind) {
			continue // protocol words of X11, such as TARGETS
		}
		part, err := o.receive(ctx, kind)
		if size += len(part); err == nil && size > maxClip {
			err = errors.New("the clip on the clipboard is too large to be given back")
		}
		if err != nil {
			return nil, err
		}
		content[kind] = part
	}
	return content, nil
}

// losesKeys returns the reason why the program of a window loses keys of the text; "" if it does not. Chromium, and
// with it Electron, takes no key with a character that UTF-16 writes as two units.
func (d *Display) losesKeys(ctx context.Context, id desktop.WindowID, text string) string {
	at := strings.IndexFunc(text, func(r rune) bool { return r > 0xffff })
	if at < 0 {
		return ""
	}
	w, err := d.find(ctx, id)
	if err != nil {
		return "" // typing finds it neither
	}
	program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", w.PID))
	if err != nil {
		return ""
	}
	// The file that each copy of Chromium has beside its program, seen with the program's own root folder.
	if _, err := os.Stat(filepath.Join(fmt.Sprintf("/proc/%d/root", w.PID), filepath.Dir(program), "chrome_100_percent.pak")); err != nil {
		return ""
	}
	return "the program takes no key for " + string([]rune(text[at:])[0])
}
