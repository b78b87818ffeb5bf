package ei

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gybob/aai-gateway/internal/platform/linux/fdwire"
)

// maxKeymap is the limit for a keymap, in bytes.
const maxKeymap = 4 << 20

// A Region is a part of the desktop that an absolute pointer reaches, in the compositor's coordinates.
type Region struct{ X, Y, W, H int }

// A Device is an emulated device. It is safe for concurrent use; only one goroutine may emulate input at a time.
type Device struct {
	client *Client
	id     uint64

	// Guarded by client.mu.
	objects   map[string]uint64 // by interface
	regions   []Region
	serial    uint32
	resumed   bool
	gone      bool
	keymap    string
	keymapErr error
	locked    uint32 // modifiers
	group     uint32
}

func (d *Device) has(interfaces []string) bool {
	for _, kind := range interfaces {
		if d.objects[kind] == 0 {
			return false
		}
	}
	return true
}

// Regions returns the parts of the desktop that the pointer reaches.
func (d *Device) Regions() []Region {
	d.client.mu.Lock()
	defer d.client.mu.Unlock()
	return d.regions
}

// Keymap returns the keyboard's keymap in the format of XKB, the locked modifiers and the group (layout) in use.
func (d *Device) Keymap() (text string, locked, group uint32, err error) {
	d.client.mu.Lock()
	defer d.client.mu.Unlock()
	if d.keymap == "" && d.keymapErr == nil {
		return "", 0, 0, errors.New("the compositor gave no keymap")
	}
	return d.keymap, d.locked, d.group, d.keymapErr
}

func (c *Client) onDevice(id uint64, opcode uint32, e *fdwire.Reader) {
	const destroyed, region, added, resumed, paused = 0, 4, 5, 7, 8
	d := c.devices[id]
	if d == nil {
		return
	}
	switch opcode {
	case destroyed:
		d.resumed, d.gone = false, true
		delete(c.devices, id)
		delete(c.kinds, id)
		for _, object := range d.objects {
			delete(c.kinds, object)
			delete(c.owners, object)
		}
	case region:
		at := func() int { return int(int32(e.Uint())) }
		d.regions = append(d.regions, Region{X: at(), Y: at(), W: at(), H: at()})
	case added:
		object, kind := e.Uint64(), e.Text()
		d.objects[kind], c.kinds[object], c.owners[object] = object, kind, d
	case resumed:
		d.serial, d.resumed = e.Uint(), true
	case paused:
		d.serial, d.resumed = e.Uint(), false
	}
	close(c.changed)
	c.changed = make(chan struct{})
}

func (c *Client) onKeyboard(d *Device, opcode uint32, e *fdwire.Reader) {
	const keymap, modifiers, xkb = 1, 3, 1
	switch opcode {
	case keymap:
		kind, size, file := e.Uint(), e.Uint(), e.File()
		if file == nil || d == nil {
			return
		}
		defer func() { _ = file.Close() }()
		if kind != xkb || size > maxKeymap {
			d.keymapErr = fmt.Errorf("the compositor gave a keymap of type %d with %d bytes", kind, size)
			return
		}
		text := make([]byte, size)
		n, err := file.ReadAt(text, 0)
		if err != nil && !errors.Is(err, io.EOF) {
			d.keymapErr = err
			return
		}
		d.keymap, d.keymapErr = string(text[:n]), nil
	case modifiers:
		e.Uint()
		depressed, locked, latched, group := e.Uint(), e.Uint(), e.Uint(), e.Uint()
		_, _ = depressed, latched
		if d != nil {
			d.locked, d.group = locked, group
		}
	}
}

// errPaused means that the compositor has paused or removed the device, for example since the screen is locked.
var errPaused = errors.New("the compositor has paused the device")

// request sends requests for an interface of the device, each of them as a frame.
func (d *Device) request(kind string, opcode uint32, args ...any) error {
	const frame = 3
	d.client.mu.Lock()
	object, serial, usable := d.objects[kind], d.serial, d.resumed
	d.client.mu.Unlock()
	if !usable {
		return errPaused
	}
	message := appendMessage(nil, object, opcode, args...)
	return d.client.write(appendMessage(message, d.id, frame, serial, uint64(time.Now().UnixMicro())))
}

// Start begins an emulation.
func (d *Device) Start() error {
	const start = 1
	d.client.mu.Lock()
	d.client.sequence++
	serial, sequence, usable := d.serial, d.client.sequence, d.resumed
	d.client.mu.Unlock()
	if !usable {
		return errPaused
	}
	return d.client.write(appendMessage(nil, d.id, start, serial, sequence))
}

// Stop ends an emulation.
func (d *Device) Stop() error {
	const stop = 2
	d.client.mu.Lock()
	serial, gone := d.serial, d.gone
	d.client.mu.Unlock()
	if gone {
		return errPaused
	}
	return d.client.write(appendMessage(nil, d.id, stop, serial))
}

// Move moves the pointer.
func (d *Device) Move(x, y float32) error { return d.request(PointerAbsolute, 1, x, y) }

// Press presses or releases a button, by its code of Linux input events.
func (d *Device) Press(button uint32, down bool) error {
	return d.request(Button, 1, button, state(down))
}

// Turn turns the wheels by notches.
func (d *Device) Turn(dx, dy int) error {
	const discrete, notch = 2, 120
	return d.request(Scroll, discrete, int32(dx*notch), int32(dy*notch))
}

// Key presses or releases a key, by its code of Linux input events.
func (d *Device) Key(code uint32, down bool) error { return d.request(Keyboard, 1, code, state(down)) }

func state(down bool) uint32 {
	if down {
		return 1
	}
	return 0
}
