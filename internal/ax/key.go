package ax

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"aai"
	"aai/internal/desktop"
)

func (d *desk) keyPressTool() *aai.Tool {
	return spec{
		name: "ax_key_press", title: "Press keys", types: true,
		returns:     deedReturns,
		description: "Press a key with modifiers in a program's window, such as s with ctrl, or in an element.",
		params: appProp + `,` + queryProp + `,` + nthProp + `,
			"key": {"type": "string", "minLength": 1, "maxLength": 32, "description": "One character, or return, escape, tab, f5, page_down …"},
			"modifiers": {"type": "array", "maxItems": 4, "items": {"type": "string", "enum": ["ctrl", "shift", "alt", "meta", "cmd", "opt"]}},` + modeProp,
		required: `["app", "key"]`, secret: []string{"key"}, // it may be one of a password
		plain: func(args map[string]any) []string {
			if key, _ := args["key"].(string); len([]rune(key)) == 1 && !shortcut(args) {
				return nil
			}
			return []string{"key"}
		},
		vain: func(ctx context.Context, call *aai.Call) error {
			return cmp.Or(pressable(ctx, call), d.missing(ctx, call))
		},
		run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) { return d.look(ctx, call, keyPress) },
	}.tool()
}

// shortcut reports whether a key goes with others that make it no letter of a text.
func shortcut(args map[string]any) bool {
	held, _ := args["modifiers"].([]any)
	return slices.ContainsFunc(held, func(m any) bool { return m != "shift" && m != "opt" })
}

func keyPress(ctx context.Context, v *view) (*aai.Result, error) {
	if err := pressable(ctx, v.call); err != nil {
		return nil, err
	}
	chord, _ := chordOf(v.call)
	i := -1
	if query := textArg(v.call, "query"); query != "" {
		m, err := v.toActOn(ctx, query)
		if err != nil {
			return nil, err
		}
		i = m.index
	}
	typed := i
	if m, err := v.focused(); i < 0 && err == nil {
		typed = m.index
	}
	if typed >= 0 {
		if err := v.mayType(ctx, typed); err != nil {
			return nil, err
		}
	}
	v.watchCanvas(typed)
	a := deed{view: v, index: i, done: "Pressed " + strings.Join(append(chord.Modifiers, aai.CleanLabel(chord.Key, 32)), "+")}
	if i >= 0 {
		a.done += " in"
	}
	a.ways = []way{v.byInput(i, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		if i >= 0 {
			if err := v.giveKeyboard(ctx, i, input, seat, w); err != nil {
				return err
			}
		}
		return input.Key(ctx, seat, w.ID, chord)
	})}
	return a.perform(ctx)
}

// pressable is the error of keys that are not pressed, whatever is on the screen.
func pressable(_ context.Context, call *aai.Call) error {
	chord, _ := chordOf(call)
	if err := inOneWord(chord); err != nil {
		return err
	}
	if inFocus(call) || !forTheDesktop(chord) {
		return nil
	}
	e := aai.Errorf(aai.AutomationNotSupported, "%s is for the desktop and not for the program: it would act on what the person does", strings.Join(append(chord.Modifiers, chord.Key), "+"))
	e.Delivery = aai.NotDelivered
	e.Hint = "Act on an element of the program instead."
	return e
}

// inOneWord is the error of a key with modifiers that is written as one: ctrl+s.
func inOneWord(c desktop.Chord) error {
	words := strings.Split(c.Key, "+")
	if len(words) < 2 || utf8.RuneCountInString(c.Key) == 1 {
		return nil
	}
	key, held := words[len(words)-1], slices.Clone(c.Modifiers)
	if strings.HasSuffix(c.Key, "++") {
		key, words = "+", words[:len(words)-1]
	}
	for _, word := range words[:len(words)-1] {
		is := heldKey(strings.ToLower(strings.TrimSpace(word)))
		if is == "" {
			return nil
		}
		held = append(held, is)
	}
	e := aai.Errorf(aai.InvalidParams, "key: expected one key, got %s", desktop.Quote(c.Key, 32))
	e.Delivery = aai.NotDelivered
	modifiers := strings.Join(held, `", "`)
	e.Hint = fmt.Sprintf(`Give modifiers ["%s"] with the key %s.`, modifiers, desktop.Quote(strings.TrimSpace(key), 32))
	return e
}

// heldKey is the modifier that people write so, or "".
func heldKey(word string) string {
	switch word {
	case "ctrl", "shift", "alt", "meta":
		return word
	case "control", "strg":
		return "ctrl"
	case "super", "win", "windows":
		return "meta"
	case "option":
		return "alt"
	}
	if is := modifier(word); is != word {
		return is
	}
	return ""
}

// forTheDesktop reports whether window managers take the chord for themselves,
// whichever keyboard it comes from.
func forTheDesktop(c desktop.Chord) bool {
	has := func(name string) bool { return slices.Contains(c.Modifiers, name) }
	key := strings.ToLower(c.Key)
	switch {
	case has("meta"), has("ctrl") && has("alt"):
		return true
	case !has("alt"):
		return key == "print"
	}
	return slices.Contains([]string{"tab", "escape", "esc", "space", "print"}, key) || len(key) > 1 && key[0] == 'f' && key[1] >= '0' && key[1] <= '9'
}

// modifier is the platform's key for one by its name on a Mac: what cmd does
// there, ctrl does elsewhere.
func modifier(word string) string {
	switch word {
	case "cmd":
		return "ctrl"
	case "opt":
		return "alt"
	}
	return word
}
