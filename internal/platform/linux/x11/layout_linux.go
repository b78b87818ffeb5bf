package x11

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/gybob/aai-gateway/internal/platform/linux/keysym"
)

// A layout maps keys to keysyms.
type layout struct {
	first     byte // keycode
	per       int  // keysyms of each key; the first is the key alone, the second with Shift
	keysyms   []keysym.Sym
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
func (l *layout) at(code byte, level int) keysym.Sym {
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
func (l *layout) find(sym keysym.Sym, levels int) (stroke, bool) {
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
		if !slices.Contains(l.modifiers, code) && !slices.ContainsFunc(meanings, func(s keysym.Sym) bool { return s != 0 }) {
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
	lent     map[keysym.Sym]byte
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
	return keyboard{lock: make(chan struct{}, 1), lent: make(map[keysym.Sym]byte), notified: make(map[xid]bool)}
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
	maps.DeleteFunc(k.lent, func(sym keysym.Sym, code byte) bool { return l.at(code, 0) != sym })
	for _, code := range k.lent {
		l.silence(code)
	}
}

// choose returns the keys that must get a keysym so that each of syms has one. The layout
// must have passed compare, and syms must not outnumber its spare keys. Before a key gets
// a second keysym, choose calls rest, which waits until the program has read its keys; the
// caller must wait likewise after the change. Otherwise a slow program would look up old
// keys in the new map.
func (k *keyboard) choose(ctx context.Context, l *layout, syms []keysym.Sym, rest func(context.Context) error) (map[byte]keysym.Sym, error) {
	var missing []keysym.Sym
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
	keys := make(map[byte]keysym.Sym)
	for i, sym := range missing {
		keys[free[i]] = sym
	}
	return keys, nil
}

// lend records the keys as lent before the request is sent: if its answer does not come,
// they must be returned too.
func (k *keyboard) lend(keys map[byte]keysym.Sym) {
	clear(k.notified)
	maps.DeleteFunc(k.lent, func(_ keysym.Sym, code byte) bool { return keys[code] != 0 })
	for code, sym := range keys {
		k.lent[sym] = code
	}
}

// free returns the keys that can be lent: those that are not lent, and those lent for
// keysyms other than the needed ones.
func (k *keyboard) free(l *layout, needed []keysym.Sym) (unused, reusable []byte) {
	lentFor := make(map[byte]keysym.Sym)
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
	keys := make(map[byte]keysym.Sym)
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
