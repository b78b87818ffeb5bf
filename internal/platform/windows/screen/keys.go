package screen

import (
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/linux/keysym"
)

// A virtualKey is a key as Windows numbers it. Extended keys share their scan code with a key of the number pad.
type virtualKey struct {
	code     uint16
	extended bool
}

// The keys that input needs by name.
const (
	keyReturn  = 0x0D
	keyTab     = 0x09
	keyShift   = 0x10
	keyControl = 0x11
	keyAlt     = 0x12
	keyWin     = 0x5B
	keyRWin    = 0x5C
)

// namedKey returns the key with a meaning that is no character.
func namedKey(sym keysym.Sym) (virtualKey, bool) {
	const f1, f24, virtualF1 keysym.Sym = 0xffbe, 0xffd5, 0x70
	if f1 <= sym && sym <= f24 {
		return virtualKey{code: uint16(sym - f1 + virtualF1)}, true
	}
	key, ok := map[keysym.Sym]virtualKey{
		keysym.Return: {code: keyReturn}, keysym.Tab: {code: keyTab}, 0xff1b: {code: 0x1B}, 0xff08: {code: 0x08}, ' ': {code: 0x20},
		0xffff: {0x2E, true}, 0xff63: {0x2D, true}, 0xff50: {0x24, true}, 0xff57: {0x23, true}, 0xff55: {0x21, true}, 0xff56: {0x22, true},
		0xff51: {0x25, true}, 0xff52: {0x26, true}, 0xff53: {0x27, true}, 0xff54: {0x28, true}, 0xff67: {0x5D, true}, 0xff61: {0x2C, true},
		0xff13: {code: 0x13}, 0xff6a: {code: 0x2F}, 0xffe5: {code: 0x14}, 0xff7f: {0x90, true}, 0xff14: {code: 0x91},
		keysym.Shift: {code: keyShift}, 0xffe3: {code: keyControl}, 0xffe9: {code: keyAlt}, 0xffeb: {keyWin, true},
	}[sym]
	return key, ok
}

// character returns the character that a keysym means, or 0.
func character(sym keysym.Sym) rune {
	const unicodeOffset = 0x01000000
	switch {
	case sym > unicodeOffset:
		return rune(sym - unicodeOffset)
	case sym >= ' ' && sym <= 0xff:
		return rune(sym)
	}
	return 0
}

// isChord reports whether the keys would press the chord.
func isChord(chord desktop.Chord, sym keysym.Sym, modifiers []keysym.Sym) bool {
	if chord.Key == "" {
		return false
	}
	key, needed, err := keysym.Chord(chord.Key, chord.Modifiers)
	if err != nil || sym != key {
		return false
	}
	down := make(map[keysym.Sym]bool)
	for _, m := range modifiers {
		down[m] = true
	}
	for _, m := range needed {
		if !down[m] {
			return false
		}
	}
	return true
}

// takesMessages reports whether windows of the class get their input from messages. Those of WPF, WinUI, Chromium and the Store ask the
// system for the pointer, or get it by another way; a posted message is lost or has another effect.
func takesMessages(class string) bool {
	for _, prefix := range []string{
		"HwndWrapper[", "Chrome_", "CefBrowserWindow", "WindowsForms10.Window.8.app.0.WebView", "ApplicationFrameWindow", "Windows.UI.", "Microsoft.UI.",
		"WinUIDesktopWin32WindowClass", "Xaml_WindowedPopupClass", "FLUTTER_RUNNER_WIN32_WINDOW", "UnrealWindow", "UnityWndClass", "SDL_app", "GLFW",
	} {
		if strings.HasPrefix(class, prefix) {
			return false
		}
	}
	return true
}

// normalized converts a pixel of an axis to SendInput's scale of 65536 steps, so that Windows finds the same pixel.
func normalized(at, first, size int) int32 {
	const steps = 1 << 16
	if size <= 0 {
		return 0
	}
	return int32(((at-first)*steps + size - 1) / size)
}
