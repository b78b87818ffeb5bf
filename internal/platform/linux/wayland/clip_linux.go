package wayland

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// Limits on the clipboard.
const (
	maxClip      = 32 << 20        // bytes of one clip
	maxOffers    = 64              // types of one clip
	clipPatience = 3 * time.Second // for the program that has the clip
)

// dataControlManager is the interface for the clipboard.
const dataControlManager = "zwlr_data_control_manager_v1"

// Types of clips.
const (
	pngType  = "image/png"
	utf8Type = "text/plain;charset=utf-8"
)

// textTypes returns the types of texts, the best first.
func textTypes() []string { return []string{utf8Type, "UTF8_STRING", "text/plain", "TEXT", "STRING"} }

// clipDevice makes a data control device for the first seat, with a handler of its events.
func (c *conn) clipDevice(ctx context.Context, h handler) (manager, device uint32, err error) {
	const getDevice = 1
	manager, ok, err := c.bind(ctx, dataControlManager, 2)
	if err == nil && !ok {
		err = unsupported("the compositor gives no access to the clipboard by wlr-data-control", "")
	}
	if err != nil {
		return 0, 0, err
	}
	c.devices.loading.Lock()
	seat, err := c.theSeat(ctx)
	c.devices.loading.Unlock()
	if err != nil {
		return 0, 0, err
	}
	device = c.add(h)
	return manager, device, c.send(ctx, manager, getDevice, device, seat)
}

// An offer is the clip of another program.
type offer struct {
	id    uint32
	types []string
}

// offered returns the clip that programs would paste; its id is 0 if there is none.
func (c *conn) offeredClip(ctx context.Context) (clip offer, done func(), err error) {
	const destroy = 1
	var mu sync.Mutex
	types := make(map[uint32][]string)
	_, device, err := c.clipDevice(ctx, func(opcode uint16, e *reader) {
		const offered, selection = 0, 1
		mu.Lock()
		defer mu.Unlock()
		switch opcode {
		case offered:
			id := e.uint()
			types[id] = nil
			c.handle(id, func(_ uint16, e *reader) {
				mu.Lock()
				defer mu.Unlock()
				if kind := e.string(); len(types[id]) < maxOffers {
					types[id] = append(types[id], kind)
				}
			})
		case selection:
			clip.id = e.uint()
		}
	})
	if err == nil {
		err = c.sync(ctx)
	}
	mu.Lock()
	defer mu.Unlock()
	clip.types = types[clip.id]
	return clip, func() {
		ctx := context.WithoutCancel(ctx)
		for id := range types {
			_ = c.send(ctx, id, destroy)
			c.forget(id)
		}
		if device != 0 {
			_ = c.send(ctx, device, destroy)
		}
	}, err
}

// Get implements desktop.Clipboard.
func (d *Display) Get(ctx context.Context) (desktop.Clip, error) {
	const doing = "reading the clipboard"
	c, err := d.connect(ctx)
	if err != nil {
		return desktop.Clip{}, err
	}
	clip, done, err := c.offeredClip(ctx)
	if done != nil {
		defer done()
	}
	if err != nil || clip.id == 0 {
		return desktop.Clip{}, failure(doing, err)
	}
	if i := slices.IndexFunc(textTypes(), func(kind string) bool { return slices.Contains(clip.types, kind) }); i >= 0 {
		text, err := c.receive(ctx, clip.id, textTypes()[i])
		return desktop.Clip{Text: strings.ToValidUTF8(string(text), "\uFFFD")}, failure(doing, err)
	}
	if !slices.Contains(clip.types, pngType) {
		return desktop.Clip{}, nil
	}
	picture, err := c.receive(ctx, clip.id, pngType)
	return desktop.Clip{PNG: picture}, failure(doing, err)
}

// receive reads an offer from the program that has it.
func (c *conn) receive(ctx context.Context, id uint32, kind string) ([]byte, error) {
	const receive = 0
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	err = c.send(ctx, id, receive, kind, openFile{w})
	_ = w.Close()
	if err != nil {
		return nil, err
	}
	_ = r.SetReadDeadline(time.Now().Add(clipPatience))
	defer context.AfterFunc(ctx, func() { _ = r.SetReadDeadline(time.Now()) })()
	content, err := io.ReadAll(io.LimitReader(r, maxClip+1))
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, refused(aai.Timeout, "the program that has the clip does not give it: %w", err)
	case len(content) > maxClip:
		return nil, refused(aai.AutomationFailed, "the clip has more than %d MiB", maxClip>>20)
	}
	return content, nil
}

// A source is a clip that the gateway offers.
type source struct {
	conn    *conn
	id      uint32
	content map[string][]byte // by type
}

// Set implements desktop.Clipboard. The clip stays while the gateway runs.
func (d *Display) Set(ctx context.Context, clip desktop.Clip) (stays string, err error) {
	const doing, createSource, offerType, setSelection, destroyDevice = "setting the clipboard", 0, 0, 0, 1
	c, err := d.connect(ctx)
	if err != nil {
		return "", err
	}
	s := &source{conn: c, content: make(map[string][]byte)}
	switch {
	case clip.PNG != nil:
		s.content[pngType] = clip.PNG
	case clip.Text != "":
		for _, kind := range textTypes() {
			s.content[kind] = []byte(clip.Text)
		}
	}
	manager, device, err := c.clipDevice(ctx, nil)
	if err != nil {
		return "", failure(doing, err)
	}
	defer func() { _ = c.send(context.WithoutCancel(ctx), device, destroyDevice) }()
	if len(s.content) == 0 {
		return "", failure(doing, errors.Join(c.send(ctx, device, setSelection, uint32(0)), c.sync(ctx)))
	}
	s.id = c.add(s.serve)
	err = c.send(ctx, manager, createSource, s.id)
	for kind := range s.content {
		if err == nil {
			err = c.send(ctx, s.id, offerType, kind)
		}
	}
	if err == nil {
		err = c.send(ctx, device, setSelection, s.id)
	}
	if err == nil {
		err = c.sync(ctx)
	}
	return "and while the gateway runs, which keeps it", failure(doing, err)
}

// serve handles the events of a source.
func (s *source) serve(opcode uint16, e *reader) {
	const wanted, cancelled, destroy = 0, 1, 1
	switch opcode {
	case wanted:
		kind, file := e.string(), e.file()
		if file == nil {
			return
		}
		content := s.content[kind]
		go func() { // the reader may be slow
			defer func() { _ = file.Close() }()
			_ = file.SetWriteDeadline(time.Now().Add(clipPatience))
			_, _ = file.Write(content)
		}()
	case cancelled: // something else was copied
		go func() { _ = s.conn.send(context.Background(), s.id, destroy) }() // a handler must not block
	}
}
