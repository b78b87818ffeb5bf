package x11

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gybob/aai-gateway"
)

// A layout maps keys to keysyms.
type layout struct {
	first     byte // keycode
	per       int  // keysyms of each key; the first is the key alone, the second with Shift
	keysyms   []keysym
	modifiers []byte // keycodes that are modifiers
}

func (s *server) layout(ctx context.Context) (*layout, error) {
	mapping, modifiers := getKeyboardMapping(s.setup), getModifierMapping()
	if err := s.must(ctx, mapping, modifiers); err != nil {
		return nil, err
	}
	l := &layout{first: s.setup.minKeycode, per: max(1, int(mapping.reply[1]))}
	data := from(mapping.reply, 32)
	l.keysyms = data.u32s(len(data.rest) / 4)
	l.modifiers = from(modifiers.reply, 32).rest
	return l, nil
}

// at returns the keysym of a key at a level: 0 alone, 1 with Shift.
func (l *layout) at(code byte, level int) keysym {
	i := int(code-l.first)*l.per + level
	if code < l.first || level >= l.per || i >= len(l.keysyms) {
		return 0
	}
	return l.keysyms[i]
}

// silence removes a key's keysyms.
func (l *layout) silence(code byte) {
	for level := range l.per {
		if i := int(code-l.first)*l.per + level; code >= l.first && i < len(l.keysyms) {
			l.keysyms[i] = 0
		}
	}
}

// codes returns all keycodes.
func (l *layout) codes() []byte {
	codes := make([]byte, len(l.keysyms)/l.per)
	for i := range codes {
		codes[i] = l.first + byte(i)
	}
	return codes
}

// find returns a key with the keysym at a level below levels.
func (l *layout) find(sym keysym, levels int) (stroke, bool) {
	for level := range levels {
		for _, code := range l.codes() {
			if l.at(code, level) == sym {
				return stroke{code: code, shift: level == 1}, true
			}
		}
	}
	return stroke{}, false
}

// spare returns the keys without keysyms.
func (l *layout) spare() []byte {
	var codes []byte
	for _, code := range l.codes() {
		i := int(code-l.first) * l.per
		meanings := l.keysyms[i : i+l.per]
		if !slices.Contains(l.modifiers, code) && !slices.ContainsFunc(meanings, func(s keysym) bool { return s != 0 }) {
			codes = append(codes, code)
		}
	}
	// Highest first: programs do not expect the very first keycodes to have a meaning.
	slices.Reverse(codes)
	return codes
}

// A stroke is a key press, with Shift or without.
type stroke struct {
	code  byte
	shift bool
}

// A keyboard lends spare keys to characters that have no key. It returns them a while
// after their last use, not at once: a slow program would look up an earlier key press in
// the new map.
type keyboard struct {
	lock     chan struct{} // held while typing
	lent     map[keysym]byte
	notified map[xid]bool // windows of programs that know all lent keys
	server   *server      // the server of the lent keys
	giveBack *time.Timer
	recorded bool // a record of held input exists; it may be outdated
}

const (
	// settle is the time for programs to read keys, or to learn of new ones, if they do
	// not answer pings.
	settle = 60 * time.Millisecond
	// lendTime is the time a key stays lent after its last use.
	lendTime = 3 * time.Second
)

func newKeyboard() keyboard {
	return keyboard{lock: make(chan struct{}, 1), lent: make(map[keysym]byte), notified: make(map[xid]bool)}
}

func (k *keyboard) hold(ctx context.Context) error {
	select {
	case k.lock <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (k *keyboard) release() { <-k.lock }

// compare forgets lent keys that have got another keysym since, for example from a new
// layout or another server. It removes the lent keys from the layout, which then is the
// person's own.
func (k *keyboard) compare(s *server, l *layout) {
	if k.server != s {
		clear(k.lent)
		clear(k.notified)
		k.server = s
	}
	maps.DeleteFunc(k.lent, func(sym keysym, code byte) bool { return l.at(code, 0) != sym })
	for _, code := range k.lent {
		l.silence(code)
	}
}

// choose returns the keys that must get a keysym so that each of syms has one. The layout
// must have passed compare, and syms must not outnumber its spare keys. Before a key gets
// a second keysym, choose calls rest, which waits until the program has read its keys; the
// caller must wait likewise after the change. Otherwise a slow program would look up old
// keys in the new map.
func (k *keyboard) choose(ctx context.Context, l *layout, syms []keysym, rest func(context.Context) error) (map[byte]keysym, error) {
	var missing []keysym
	for _, sym := range syms {
		if _, ok := k.lent[sym]; !ok {
			missing = append(missing, sym)
		}
	}
	if len(missing) == 0 {
		return nil, nil
	}
	unused, reusable := k.free(l, syms)
	free := append(unused, reusable...)
	if len(free) < len(missing) {
		return nil, unsupportedError("the keyboard has no free key to type a character with that it lacks", "Set the element's text instead.")
	}
	if len(missing) > len(unused) {
		if err := rest(ctx); err != nil {
			return nil, err
		}
	}
	keys := make(map[byte]keysym)
	for i, sym := range missing {
		keys[free[i]] = sym
	}
	return keys, nil
}

// lend records the keys as lent before the request is sent: if its answer does not come,
// they must be returned too.
func (k *keyboard) lend(keys map[byte]keysym) {
	clear(k.notified)
	maps.DeleteFunc(k.lent, func(_ keysym, code byte) bool { return keys[code] != 0 })
	for code, sym := range keys {
		k.lent[sym] = code
	}
}

// free returns the keys that can be lent: those that are not lent, and those lent for
// keysyms other than the needed ones.
func (k *keyboard) free(l *layout, needed []keysym) (unused, reusable []byte) {
	lentFor := make(map[byte]keysym)
	for sym, code := range k.lent {
		lentFor[code] = sym
	}
	for _, code := range l.spare() {
		switch sym, lent := lentFor[code]; {
		case !lent:
			unused = append(unused, code)
		case !slices.Contains(needed, sym):
			reusable = append(reusable, code)
		}
	}
	return unused, reusable
}

// giveBackAll returns all lent keys.
func (k *keyboard) giveBackAll(ctx context.Context) error {
	if len(k.lent) == 0 || !k.server.alive() {
		clear(k.lent)
		return nil
	}
	l, err := k.server.layout(ctx)
	if err != nil {
		return err
	}
	k.compare(k.server, l)
	keys := make(map[byte]keysym)
	for _, code := range k.lent {
		keys[code] = 0
	}
	clear(k.lent)
	return k.server.remap(ctx, keys)
}

// returnKeys removes the symbols of all lent keys from the layout, and then clears the record of held input.
func (d *Display) returnKeys(ctx context.Context) {
	if d.keys.hold(ctx) != nil {
		return
	}
	defer d.keys.release()
	s := d.keys.server
	if err := d.keys.giveBackAll(ctx); err != nil {
		d.config.Log.Warn("x11: borrowed keys were not given back", "error", err)
		return
	}
	if s != nil {
		d.clearHeld(ctx, inputConn{server: s, person: s})
	}
}

// returnKeysLater returns the lent keys if none is used for lendTime. The caller holds the
// keyboard.
func (d *Display) returnKeysLater() {
	if d.keys.giveBack != nil {
		d.keys.giveBack.Stop()
	}
	if len(d.keys.lent) == 0 {
		return
	}
	d.keys.giveBack = time.AfterFunc(lendTime, func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		d.returnKeys(ctx)
	})
}

// A keysym is the meaning of a key; X11 protocol, appendix A.
type keysym = uint32

const (
	keyReturn keysym = 0xff0d
	keyTab    keysym = 0xff09
)

// keysymOf returns the keysym of a character. Latin-1 characters are their own keysyms;
// all others add an offset to the code point.
func keysymOf(r rune) (keysym, bool) {
	const unicodeKeysym = 0x01000000
	switch {
	case r == '\n':
		return keyReturn, true
	case r == '\t':
		return keyTab, true
	case unicode.IsControl(r) || r > unicode.MaxRune || 0xd800 <= r && r < 0xe000 || r&0xfffe == 0xfffe || 0xfdd0 <= r && r <= 0xfdef:
		return 0, false // no character: control codes, surrogates, noncharacters
	case r <= 0xff:
		return keysym(r), true
	}
	return unicodeKeysym + keysym(r), true
}

// keysymsOf returns the keys to press for a text.
func keysymsOf(text string) ([]keysym, error) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.ReplaceAll(text, "\r", "\n")
	if !utf8.ValidString(text) {
		return nil, notDeliveredError(aai.InvalidParams, "the text is not valid UTF-8")
	}
	var syms []keysym
	for i, r := range text {
		sym, ok := keysymOf(r)
		if !ok {
			e := notDeliveredError(aai.InvalidParams, "the text has the character %U at byte %d, which cannot be typed", r, i)
			e.Hint = "Leave it out; other keys than characters, line breaks and tabs are pressed by name."
			return nil, e
		}
		syms = append(syms, sym)
	}
	return syms, nil
}

// keyNames returns the keysyms of named keys; X.Org's keysymdef.h.
func keyNames() map[string]keysym {
	names := map[string]keysym{
		"return": keyReturn, "enter": keyReturn, "tab": keyTab, "escape": 0xff1b, "esc": 0xff1b, "space": ' ',
		"backspace": 0xff08, "delete": 0xffff, "insert": 0xff63, "home": 0xff50, "end": 0xff57,
		"page_up": 0xff55, "pageup": 0xff55, "page_down": 0xff56, "pagedown": 0xff56,
		"left": 0xff51, "up": 0xff52, "right": 0xff53, "down": 0xff54,
		"menu": 0xff67, "print": 0xff61, "pause": 0xff13, "help": 0xff6a,
		"caps_lock": 0xffe5, "num_lock": 0xff7f, "scroll_lock": 0xff14,
	}
	const f1 keysym = 0xffbe
	for i, digits := range strings.Fields("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24") {
		names["f"+digits] = f1 + keysym(i)
	}
	return names
}

// modifierNames returns the keysyms of the modifiers.
func modifierNames() map[string]keysym {
	const shift, control, alt, super keysym = 0xffe1, 0xffe3, 0xffe9, 0xffeb
	return map[string]keysym{
		"shift": shift, "ctrl": control, "control": control, "alt": alt, "option": alt,
		"meta": super, "super": super, "cmd": super, "command": super, "win": super,
	}
}

// keyOf returns the keysym of a key: a character, or a name in any case.
func keyOf(name string) (keysym, error) {
	if r, size := utf8.DecodeRuneInString(name); size == len(name) && size > 0 {
		if sym, ok := keysymOf(r); ok {
			return sym, nil
		}
	}
	return named("key", name, keyNames())
}

func named(what, name string, known map[string]keysym) (keysym, error) {
	if sym, ok := known[strings.ToLower(name)]; ok {
		return sym, nil
	}
	names := slices.Sorted(maps.Keys(known))
	e := notDeliveredError(aai.InvalidParams, "there is no %s %q", what, aai.CleanLabel(name, 80))
	e.Candidates = aai.Nearest(name, names, 5)
	e.Hint = "They are: " + strings.Join(names, ", ") + "."
	if what == "key" {
		e.Hint = "A key is one character or one of: " + strings.Join(names, ", ") + "."
	}
	return 0, e
}
