package gui

import (
	"context"
	"strings"
	"time"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// A page may open a dialog while it receives a text. The dialog takes the keyboard, and a space presses its button.
const (
	// wordStrokes is the number of words of a text that are typed one by one into a page.
	wordStrokes = 16
	// wordArrives is how long a field may take to show a word. Some fields show another text.
	wordArrives = 300 * time.Millisecond
)

// wordEnd returns the length in bytes of the first word of the text, with the spaces before it.
func wordEnd(text string) int {
	start := len(text) - len(strings.TrimLeft(text, " "))
	if end := strings.IndexByte(text[start:], ' '); end >= 0 {
		return start + end
	}
	return len(text)
}

// keepsItsObject reports whether the element is a field of a page that stays the same object while its text changes.
// Firefox makes a new one of a cell when its first character replaces the text.
func (v *view) keepsItsObject(i int) bool {
	return v.document(i) >= 0 && v.snapshot.Elements[i].Role != desktop.Cell
}

// awaitWord returns a function that types a word and waits until the field shows it, so that the check before the
// next word sees where that goes. The function returns whether it was seen.
func (l focusCheckedInput) awaitWord(word string) func(context.Context, int, time.Duration, func() error) (bool, error) {
	return func(ctx context.Context, i int, _ time.Duration, typing func() error) (bool, error) {
		v, id := l.view, l.view.snapshot.Elements[i].ID
		before, err := v.read(ctx, id)
		if err == nil {
			err = typing()
		}
		if err != nil {
			return false, err
		}
		had := strings.Count(before.Value, word)
		count := func() (now int, isGone bool) {
			e, err := v.backend.Tree.Read(ctx, v.app, id)
			return strings.Count(e.Value, word), err != nil
		}
		return v.pollUntil(ctx, wordArrives, func() (bool, error) {
			now, isGone := count()
			return isGone || now > had, nil // if it is gone, the next check tells
		})
	}
}
