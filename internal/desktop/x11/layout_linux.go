package x11

import (
	"context"
	"maps"
	"slices"
	"time"
)

// A layout says which key has which meanings.
type layout struct {
	first     byte // keycode
	per       int  // keysyms of each key; the first is the key alone, the second with Shift
	keysyms   []keysym
	modifiers []byte // keycodes that are modifiers
}

func (s *session) layout(ctx context.Context) (*layout, error) {
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

// at returns what a key means at a level: 0 alone, 1 with Shift.
func (l *layout) at(code byte, level int) keysym {
	i := int(code-l.first)*l.per + level
	if code < l.first || level >= l.per || i >= len(l.keysyms) {
		return 0
	}
	return l.keysyms[i]
}

// codes are all keycodes.
func (l *layout) codes() []byte {
	codes := make([]byte, len(l.keysyms)/l.per)
	for i := range codes {
		codes[i] = l.first + byte(i)
	}
	return codes
}

// find looks for a key with the meaning at a level below levels.
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

// spare are the keys that mean nothing.
func (l *layout) spare() []byte {
	var codes []byte
	for _, code := range l.codes() {
		i := int(code-l.first) * l.per
		meanings := l.keysyms[i : i+l.per]
		if !slices.Contains(l.modifiers, code) && !slices.ContainsFunc(meanings, func(s keysym) bool { return s != 0 }) {
			codes = append(codes, code)
		}
	}
	// The last first: programs do not expect the very first keycodes to mean
	// anything.
	slices.Reverse(codes)
	return codes
}

// A stroke is a key that is pressed, with Shift or without.
type stroke struct {
	code  byte
	shift bool
}

// A keyboard lends keys that mean nothing to characters that have no key. They
// are given back a while after their last use, not at once: a program that is
// slow would look up an old key in the new map.
type keyboard struct {
	lock     chan struct{} // held by who types
	lent     map[keysym]byte
	session  *session // of whose server they are
	giveBack *time.Timer
}

const (
	// settle is how long programs may take to learn of new keys. They are told
	// before they are told of the key, but some look a little later.
	settle = 60 * time.Millisecond
	// loan is how long a key is lent after its last use.
	loan = 3 * time.Second
	// maxLent bounds how many keys are lent at once: each is a message to every
	// program.
	maxLent = 64
)

func newKeyboard() keyboard {
	return keyboard{lock: make(chan struct{}, 1), lent: make(map[keysym]byte)}
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

// borrow sees to it that each keysym has a key. The keysyms must be no more than
// capacity says.
func (k *keyboard) borrow(ctx context.Context, s *session, syms []keysym) error {
	if k.session != s {
		clear(k.lent)
		k.session = s
	}
	var missing []keysym
	for _, sym := range syms {
		if _, ok := k.lent[sym]; !ok {
			missing = append(missing, sym)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	l, err := s.layout(ctx)
	if err != nil {
		return err
	}
	spare := l.spare()
	if len(missing) > min(len(spare), maxLent-len(k.lent)) {
		// Some that are lent are not needed now.
		for sym, code := range maps.Clone(k.lent) {
			if !slices.Contains(syms, sym) {
				delete(k.lent, sym)
				spare = append(spare, code)
			}
		}
	}
	if len(spare) < len(missing) {
		return unsupported("the keyboard has no free key to type a character with that it lacks", "Set the element's text instead.")
	}
	keys := make(map[byte]keysym)
	for i, sym := range missing {
		keys[spare[i]] = sym
	}
	if err := s.must(ctx, remap(keys)...); err != nil {
		return err
	}
	for code, sym := range keys {
		k.lent[sym] = code
	}
	return sleep(ctx, settle)
}

// capacity is how many keysyms can be borrowed at once.
func (k *keyboard) capacity(l *layout) int {
	return min(maxLent, len(l.spare())+len(k.lent))
}

// remap gives keys one meaning each, with and without Shift and in both of the
// groups that the core protocol knows, in as few requests as can be.
func remap(keys map[byte]keysym) []*call {
	const per = 4
	codes := slices.Sorted(maps.Keys(keys))
	var calls []*call
	for i := 0; i < len(codes); {
		first := codes[i]
		var meanings []keysym
		for ; i < len(codes) && int(codes[i]) == int(first)+len(meanings)/per; i++ {
			sym := keys[codes[i]]
			meanings = append(meanings, sym, sym, sym, sym)
		}
		calls = append(calls, changeKeyboardMapping(first, per, meanings))
	}
	return calls
}

// giveBackAll gives all lent keys back, unless they have got another meaning since,
// such as from a new layout.
func (k *keyboard) giveBackAll(ctx context.Context) error {
	if len(k.lent) == 0 || !k.session.alive() {
		clear(k.lent)
		return nil
	}
	l, err := k.session.layout(ctx)
	if err != nil {
		return err
	}
	keys := make(map[byte]keysym)
	for sym, code := range k.lent {
		if l.at(code, 0) == sym {
			keys[code] = 0
		}
	}
	clear(k.lent)
	return k.session.must(ctx, remap(keys)...)
}

// returnKeys gives the lent keys back.
func (d *Display) returnKeys(ctx context.Context) {
	if d.keys.hold(ctx) != nil {
		return
	}
	defer d.keys.release()
	if err := d.keys.giveBackAll(ctx); err != nil {
		d.config.Log.Warn("x11: borrowed keys were not given back", "error", err)
	}
}

// returnKeysLater gives the lent keys back if none is used for a while. The caller
// holds the keyboard.
func (d *Display) returnKeysLater() {
	if d.keys.giveBack != nil {
		d.keys.giveBack.Stop()
	}
	if len(d.keys.lent) == 0 {
		return
	}
	d.keys.giveBack = time.AfterFunc(loan, func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		d.returnKeys(ctx)
	})
}
