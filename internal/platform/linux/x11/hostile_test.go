//go:build linux

package x11

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
)

// A liar is an X server that sometimes sends false replies. Its script selects a reply for
// each request, with a number and more bytes if needed. At the end of the script the liar
// becomes honest.
type liar struct {
	mu     sync.Mutex // it serves several connections
	script []byte
	frozen bool
}

// The kinds of replies. All other bytes mean the truth.
const (
	sayError       = 0xf0 + iota // with the number as its code
	sayNothing                   //
	sayEvent                     // before the truth; the number is its code
	sayScript                    // the next bytes of the script, as many as the number
	sayWrong                     // the truth except one byte, at the number
	sayOther                     // the reply to a request that is the number away
	sayLittle                    // the truth without the bytes after the first 32
	sayNothingMore               // it reads on, but no longer replies
	sayGoodbye
)

func (l *liar) next() byte {
	if len(l.script) == 0 {
		return 0
	}
	b := l.script[0]
	l.script = l.script[1:]
	return b
}

// serve answers requests until one side ends the connection.
func (l *liar) serve(socket net.Conn) {
	defer func() { _ = socket.Close() }()
	for sequence := uint16(1); ; sequence++ {
		request := make([]byte, 4)
		if _, err := io.ReadFull(socket, request); err != nil {
			return
		}
		request = append(request, make([]byte, 4*int(binary.NativeEndian.Uint16(request[2:]))-4)...)
		if _, err := io.ReadFull(socket, request[4:]); err != nil {
			return
		}
		answer, ok := l.answer(sequence, truth(sequence, request))
		if !ok {
			return
		}
		if _, err := socket.Write(answer); err != nil {
			return
		}
	}
}

// answer converts the true reply as the script says.
func (l *liar) answer(sequence uint16, reply []byte) (said []byte, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	way := l.next()
	if l.frozen {
		return nil, true
	}
	if way < sayError || way > sayGoodbye {
		return reply, true
	}
	number := l.next()
	switch way {
	case sayError:
		reply = replyTo(sequence)
		reply[0], reply[1] = 0, number
	case sayNothing:
		return nil, true
	case sayEvent:
		event := make([]byte, 32)
		n := copy(event[4:], l.script)
		l.script = l.script[n:]
		if event[0] = number; number&0x7f == 35 || number&0x7f < 2 {
			event[0] = 28
		}
		return append(event, reply...), true
	case sayScript:
		reply = replyTo(sequence)
		n := min(int(number), len(l.script))
		extra := max(0, n-24+3) / 4
		reply = append(reply, make([]byte, 4*extra)...)
		reply[1] = number
		binary.NativeEndian.PutUint32(reply[4:], uint32(extra))
		copy(reply[8:], l.script[:n])
		l.script = l.script[n:]
	case sayWrong:
		if i := 8 + int(number); i < len(reply) {
			reply[i] = l.next()
		}
	case sayOther:
		if len(reply) > 0 {
			binary.NativeEndian.PutUint16(reply[2:], sequence+uint16(int8(number)))
		}
	case sayLittle:
		if len(reply) > 32 {
			reply = reply[:32]
			binary.NativeEndian.PutUint32(reply[4:], 0)
		}
	case sayNothingMore:
		l.frozen = true
		return nil, true
	case sayGoodbye:
		return nil, false
	}
	return reply, true
}

// truth returns the reply of a server with all extensions, no window manager, and window 2
// with the focus.
func truth(sequence uint16, request []byte) []byte {
	extensions := []string{"X-Resource", "Composite", "MIT-SHM", "RANDR", "XTEST", "XInputExtension", "SHAPE", "XKEYBOARD", "DAMAGE", "XFIXES"}
	reply := replyTo(sequence)
	say := func(fields ...any) []byte {
		body := reply[:8]
		for _, field := range fields {
			body = appendField(body, field)
		}
		body = append(body, make([]byte, max(padding(len(body)), 32-len(body)))...)
		binary.NativeEndian.PutUint32(body[4:], uint32(len(body)/4-8))
		return body
	}
	switch opcode := request[0]; opcode {
	case 3: // GetWindowAttributes
		return say(uint32(2), uint16(1), pad(12), byte(viewable))
	case 14: // GetGeometry
		return say(uint32(1), int16(0), int16(0), uint16(8), uint16(8))
	case 15: // QueryTree
		return say(uint32(1), uint32(1), uint16(1), pad(14), uint32(2))
	case 16: // InternAtom
		return say(100 + uint32(sequence))
	case 17: // GetAtomName
		return say(uint16(4), pad(22), "name")
	case 18: // ChangeProperty: the client gets an event about its own
		reply[0] = propertyNotify
		copy(reply[4:], request[4:12])
		reply[12] = 1
		return reply
	case 20: // GetProperty: only the client's own windows have any
		if binary.NativeEndian.Uint32(request[4:]) < 0x200000 {
			return say()
		}
		reply[1] = 32
		atoms := make([]uint32, 30)
		for i := range atoms {
			atoms[i] = 100 + uint32(i)
		}
		return say(atomAtom, uint32(0), uint32(len(atoms)), pad(12), atoms)
	case 24: // ConvertSelection: the owner has converted it
		reply[0] = selectionNotify
		copy(reply[8:], request[4:20])
		return reply
	case 40: // TranslateCoordinates
		return say(uint32(0), int16(0), int16(0))
	case 23: // GetSelectionOwner: the client's first window
		return say(uint32(0x200001))
	case 43: // GetInputFocus
		return say(uint32(2))
	case 38: // QueryPointer
		return say(uint32(1), uint32(2))
	case 73: // GetImage
		reply[1] = 24
		return say(uint32(2), pad(20), pad(4*8*8))
	case 98: // QueryExtension
		name := string(request[8 : 8+binary.NativeEndian.Uint16(request[4:])])
		return say(true, 128+byte(slices.Index(extensions, name)))
	case 101: // GetKeyboardMapping
		reply[1] = 2
		return say(pad(24), []uint32{'a', 'A', 0xffe1, 0, 0xffe3, 0}, pad(8*200))
	case 119: // GetModifierMapping
		reply[1] = 1
		return say(pad(24), pad(8))
	default:
		return extensionTruth(opcode-128, request, say)
	}
}

func extensionTruth(extension byte, request []byte, say func(...any) []byte) []byte {
	type query struct{ extension, minor byte }
	switch (query{extension, request[1]}) {
	case query{0, 0}, query{5, 47}, query{6, 0}, query{7, 0}: // versions
		return say(uint16(2), uint16(5))
	case query{1, 0}, query{3, 0}, query{8, 0}, query{9, 0}:
		return say(uint32(2), uint32(5))
	case query{0, 4}: // X-Resource QueryClientIds
		return say(uint32(1), pad(20), uint32(0x200000), uint32(2), uint32(4), uint32(77))
	case query{2, 4}: // MIT-SHM GetImage
		answer := say(uint32(2), uint32(4*8*8))
		answer[1] = 24
		return answer
	case query{3, 42}: // RANDR GetMonitors
		return say(uint32(0), uint32(1), uint32(1), pad(12), uint32(70), true, true, uint16(1), pad(4), uint16(8), uint16(8), pad(8), uint32(5))
	case query{5, 48}: // XInput QueryDevice: masters with the names of the gateway's future ones
		names := []string{seatName + " 77 200000 1 pointer", seatName + " 77 200000 1 keyboard"}
		fields := []any{uint16(2), pad(22)}
		for i, name := range names {
			fields = append(fields, uint16(10+i), pad(4), uint16(1), uint16(len(name)), pad(2), name, pad(padding(len(name))), uint16(1), uint16(2), pad(4))
		}
		return say(fields...)
	case query{6, 8}: // SHAPE GetRectangles
		return say(uint32(1), pad(20), pad(4), uint16(8), uint16(8))
	case query{7, 4}: // XKB GetState
		return say(uint32(0))
	case query{7, 8}: // XKB GetMap: keys without meaning
		first, n := request[12], request[13]
		return say(pad(2), byte(8), byte(255), uint16(2), pad(3), first, uint16(0), n, pad(19+8*int(n)))
	case query{9, 19}: // XFIXES FetchRegion
		return say(pad(4), pad(4), uint16(8), uint16(8))
	}
	return nil // a request without a reply
}

// liarDisplay returns a display of a liar's screen.
func liarDisplay(folder string, script []byte) *Display {
	getenv := func(name string) string { return map[string]string{"DISPLAY": ":0"}[name] }
	shared := inputlock.New(inputlock.Config{Folder: func() (string, error) { return folder, nil }, Getenv: getenv})
	d := New(Config{Getenv: getenv, InputLock: shared})
	l := &liar{script: script}
	d.dial = func(_ context.Context, _ func(string) string, onEvent func([]byte)) (*conn, error) {
		ours, theirs := net.Pipe()
		go l.serve(theirs)
		usual := visual{0xff0000, 0xff00, 0xff}
		return newConn(ours, &setup{idBase: 0x200000, idMask: 0x1fffff, minKeycode: 8, maxKeycode: 255, root: 1, rootDepth: 24,
			bitsPerPixel: map[byte]byte{24: 32}, rootVisual: usual, visuals: map[xid]visual{2: usual}}, onEvent), nil
	}
	return d
}

// FuzzLies checks that, for any replies, each method ends by its deadline, that errors are
// for callers, and that no goroutine remains.
func FuzzLies(f *testing.F) {
	atom := func(name string) uint32 { return 101 + uint32(slices.Index(atomNames(), name)) }
	for method := range byte(20) {
		f.Add(method, []byte{})
		for truths := 40; truths < 60; truths++ {
			lie := append(make([]byte, truths), sayEvent, selectionRequest)
			f.Add(method, append(lie, numbers(1, 0x200001, 7, atom("CLIPBOARD"), atom("UTF8_STRING"), 9, 0)...))
			f.Add(method, append(lie, numbers(1, 0x200001, 7, atom("CLIPBOARD"), atom("MULTIPLE"), 9, 0)...))
			lie = append(make([]byte, truths), sayScript, 28)
			f.Add(method, append(lie, numbers(atom("INCR"), 0, 1, 0, 0, 0, 1000)...))
		}
		for truths := range 40 {
			f.Add(method, append(make([]byte, 40+2*truths), sayNothingMore, 0))
		}
		for way := byte(sayError); way <= sayGoodbye; way++ {
			for _, truths := range []int{0, 40, 45, 50, 60, 80} {
				f.Add(method, append(make([]byte, truths), slices.Repeat([]byte{way, 9, 1, 2, 3, 4}, 30)...))
			}
		}
	}
	folder := f.TempDir()
	f.Fuzz(func(t *testing.T, method byte, script []byte) {
		synctest.Test(t, func(t *testing.T) {
			d := liarDisplay(folder, script)
			calls := methods(d, liarWindow())
			names := slices.Sorted(maps.Keys(calls))
			name := names[int(method)%len(names)]
			const limit = 300 * time.Millisecond
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			began := time.Now()
			err := calls[name](ctx)
			took := time.Since(began)
			assert.Check(t, took <= limit, "%s took %v", name, took)
			_, ok := errors.AsType[*aai.Error](err)
			assert.Check(t, err == nil || ok, "%s: the error is not for callers: %v", name, err)
			began = time.Now()
			err = d.Close()
			assert.NilError(t, err, "%s %v", name, time.Since(began))
			assert.Assert(t, time.Since(began) <= closePatience, "after %s, Close took %v: %v", name, time.Since(began), err)
			time.Sleep(time.Minute) // background work ends too
		})
	})
}

// methods returns calls of all methods, for a window.
func methods(d *Display, w desktop.WindowInfo) map[string]func(context.Context) error {
	at := w.Frame.Center()
	all := map[string]func(context.Context) error{
		"Windows":       func(ctx context.Context) error { _, err := d.Windows(ctx); return err },
		"At":            func(ctx context.Context) error { _, err := d.WindowAt(ctx, at); return err },
		"Activate":      func(ctx context.Context) error { return d.Activate(ctx, w.ID) },
		"Origin":        func(ctx context.Context) error { _, err := d.Origin(ctx, w.ID); return err },
		"Monitors":      func(ctx context.Context) error { _, err := d.Monitors(ctx); return err },
		"Capture":       func(ctx context.Context) error { _, err := d.Capture(ctx, w.Frame); return err },
		"CaptureWindow": func(ctx context.Context) error { _, err := d.CaptureWindow(ctx, w.ID); return err },
		"Get":           func(ctx context.Context) error { _, err := d.Get(ctx); return err },
		"Set":           func(ctx context.Context) error { _, err := d.Set(ctx, desktop.Clip{Text: "copied"}); return err },
	}
	for seat, name := range map[desktop.Seat]string{desktop.PersonSeat: "person", desktop.OwnSeat: "own"} {
		all["Click "+name] = func(ctx context.Context) error { return d.Click(ctx, seat, w.ID, at, desktop.LeftButton, 1) }
		all["Drag "+name] = func(ctx context.Context) error { return d.Drag(ctx, seat, w.ID, at, at, 0) }
		all["Scroll "+name] = func(ctx context.Context) error { return d.Scroll(ctx, seat, w.ID, at, 0, 1) }
		all["Type "+name] = func(ctx context.Context) error { return d.Type(ctx, seat, w.ID, "aB日") }
		all["Key "+name] = func(ctx context.Context) error {
			return d.Key(ctx, seat, w.ID, desktop.Chord{Key: "a", Modifiers: []string{"ctrl"}})
		}
	}
	return all
}

// liarWindow is the window of a liar's screen.
func liarWindow() desktop.WindowInfo {
	return desktop.WindowInfo{ID: 2, Frame: desktop.Rect{W: 4, H: 4}}
}

// TestHonest checks that all methods work with true replies, so that false ones hit real
// code.
func TestHonest(t *testing.T) {
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		for name := range methods(liarDisplay(folder, nil), liarWindow()) {
			d := liarDisplay(folder, nil)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			assert.Check(t, methods(d, liarWindow())[name](ctx), name)
			_ = d.Close()
			time.Sleep(time.Minute)
		}
	})
}
