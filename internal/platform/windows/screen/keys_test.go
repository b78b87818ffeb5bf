package screen

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/linux/keysym"
)

func TestNormalizedMeetsEveryPixel(t *testing.T) {
	for _, c := range []struct{ first, size int }{{0, 1280}, {-1920, 1920 + 3840}, {-1080, 7680}, {100, 1}, {0, 32767}} {
		for at := c.first; at < c.first+c.size; at++ {
			pixel := int(normalized(at, c.first, c.size))*c.size>>16 + c.first
			if pixel != at {
				t.Fatalf("pixel %d of %d from %d on becomes %d", at, c.size, c.first, pixel)
			}
		}
	}
}

func TestEveryNamedKeyHasAVirtualKey(t *testing.T) {
	names := []string{
		"return", "tab", "escape", "space", "backspace", "delete", "insert", "home", "end", "page_up", "page_down",
		"left", "up", "right", "down", "menu", "print", "pause", "help", "caps_lock", "num_lock", "scroll_lock", "f1", "f12", "f24",
	}
	seen := make(map[uint16]string)
	for _, name := range names {
		sym, err := keysym.Key(name)
		assert.NilError(t, err, name)
		key, ok := namedKey(sym)
		assert.Check(t, ok, name)
		assert.Equal(t, seen[key.code], "", "%s has the key of another", name)
		seen[key.code] = name
	}
	for _, name := range []string{"ctrl", "shift", "alt", "meta"} {
		sym, err := keysym.Modifier(name)
		assert.NilError(t, err, name)
		_, ok := namedKey(sym)
		assert.Check(t, ok, name)
	}
}

func TestCharactersOfKeysyms(t *testing.T) {
	for _, r := range "aZ0~ß€日🙂" {
		sym, ok := keysym.Of(r)
		assert.Check(t, ok)
		assert.Equal(t, character(sym), r)
	}
	assert.Equal(t, character(keysym.Return), rune(0))
}

func TestStopChordNeedsItsModifiers(t *testing.T) {
	stop := desktop.Chord{Key: "escape", Modifiers: []string{"super"}}
	sym, modifiers, err := keysym.Chord("esc", []string{"shift", "win"})
	assert.NilError(t, err)
	assert.Check(t, isChord(stop, sym, modifiers))
	assert.Check(t, !isChord(stop, sym, nil))
	assert.Check(t, !isChord(desktop.Chord{}, sym, modifiers))
}

func TestClassesThatReadNoMessages(t *testing.T) {
	for class, want := range map[string]bool{
		"Edit": true, "Notepad": true, "#32770": true, "HwndWrapper[App.exe;;1]": false, "Chrome_WidgetWin_1": false, "Windows.UI.Core.CoreWindow": false,
	} {
		assert.Equal(t, takesMessages(class), want, class)
	}
}
