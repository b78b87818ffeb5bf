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

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/linux/clipserver"
	"github.com/gybob/aai-gateway/internal/platform/linux/fdwire"
)

// Limits on the clipboard.
const (
	maxClip      = 32 << 20        // bytes of one clip
	maxOffers    = 64              // types of one clip
	clipPatience = 3 * time.Second // for the program that has the clip
)

// dataControls are the interfaces for the clipboard. Their requests and events are the same.
func dataControls() []string {
	return []string{"ext_data_control_manager_v1", "zwlr_data_control_manager_v1"}
}

// dataControl returns the offered interface for the clipboard; "" if there is none.
func (c *conn) dataControl() string {
	for _, kind := range dataControls() {
		if _, ok := c.offered(kind); ok {
			return kind
		}
	}
	return ""
}

// A clipService is a way to the clipboard.
type clipService interface {
	// offer returns the clip that programs would paste. The caller calls done.
	offer(ctx context.Context) (clipOffer, error)
	// own sets the clip, by type; without content the clipboard is empty. served is called after a program has got it.
	own(ctx context.Context, content map[string][]byte, served func()) error
}

// A clipOffer is a clip.
type clipOffer struct {
	types   []string
	receive func(ctx context.Context, kind string) ([]byte, error)
	done    func()
}

// hasClipboard reports whether the compositor is the way to the clipboard. It asks no question.
func (d *Display) hasClipboard(ctx context.Context) bool {
	c, err := d.connect(ctx)
	if err != nil || c.dataControl() != "" {
		return err == nil
	}
	// XWayland has the clipboard too, without a question.
	return (d.isPrivate() || d.config.Getenv("DISPLAY") == "") && d.hasRemoteClip(ctx)
}

// clipboard returns the way to the clipboard.
func (d *Display) clipboard(ctx context.Context) (clipService, error) {
	c, err := d.connect(ctx)
	if err != nil {
		return nil, err
	}
	if c.dataControl() != "" {
		return c, nil
	}
	if !d.hasRemoteClip(ctx) {
		return nil, unsupported("the compositor gives no access to the clipboard", "")
	}
	r, err := d.remoteControl(ctx)
	if err != nil {
		return nil, err
	}
	if !r.hasClip() {
		return nil, unsupported("the session of remote control has no clipboard", "")
	}
	return r.clip, nil
}

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
	manager, _, err = c.bind(ctx, c.dataControl(), 2)
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

// offer implements clipService.
func (c *conn) offer(ctx context.Context) (o clipOffer, err error) {
	const destroy = 1
	var mu sync.Mutex
	var clip uint32 // 0 is none
	types := make(map[uint32][]string)
	_, device, err := c.clipDevice(ctx, func(opcode uint16, e *reader) {
		const offered, selection = 0, 1
		mu.Lock()
		defer mu.Unlock()
		switch opcode {
		case offered:
			id := e.Uint()
			types[id] = nil
			c.handle(id, func(_ uint16, e *reader) {
				mu.Lock()
				defer mu.Unlock()
				if kind := e.Text(); len(types[id]) < maxOffers {
					types[id] = append(types[id], kind)
				}
			})
		case selection:
			clip = e.Uint()
		}
	})
	if err == nil {
		err = c.sync(ctx)
	}
	mu.Lock()
	defer mu.Unlock()
	o.types = types[clip]
	o.receive = func(ctx context.Context, kind string) ([]byte, error) { return c.receive(ctx, clip, kind) }
	o.done = func() {
		ctx := context.WithoutCancel(ctx)
		for id := range types {
			_ = c.send(ctx, id, destroy)
			c.forget(id)
		}
		if device != 0 {
			_ = c.send(ctx, device, destroy)
		}
	}
	return o, err
}

// Get implements desktop.Clipboard.
func (d *Display) Get(ctx context.Context) (desktop.Clip, error) {
	const doing = "reading the clipboard"
	service, err := d.clipboard(ctx)
	if err != nil {
		return desktop.Clip{}, err
	}
	o, err := service.offer(ctx)
	if o.done != nil {
		defer o.done()
	}
	if err != nil {
		return desktop.Clip{}, failure(doing, err)
	}
	if i := slices.IndexFunc(textTypes(), func(kind string) bool { return slices.Contains(o.types, kind) }); i >= 0 {
		text, err := o.receive(ctx, textTypes()[i])
		return desktop.Clip{Text: strings.ToValidUTF8(string(text), "\uFFFD")}, failure(doing, err)
	}
	if !slices.Contains(o.types, pngType) {
		return desktop.Clip{}, nil
	}
	picture, err := o.receive(ctx, pngType)
	return desktop.Clip{PNG: picture}, failure(doing, err)
}

// receive reads an offer from the program that has it.
func (c *conn) receive(ctx context.Context, id uint32, kind string) ([]byte, error) {
	const receive = 0
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	err = c.send(ctx, id, receive, kind, fdwire.OpenFile{File: w})
	_ = w.Close()
	if err != nil {
		_ = r.Close()
		return nil, err
	}
	return readClip(ctx, r)
}

// A source is a clip that the gateway offers.
type source struct {
	conn    *conn
	id      uint32
	content map[string][]byte // by type
	served  func()            // may be nil
	gone    chan struct{}     // closed when another clip has replaced it
}

// Set implements desktop.Clipboard. With data control and Config.ClipServer another process serves the clip, for ten
// minutes at most, but also after the gateway has ended.
func (d *Display) Set(ctx context.Context, clip desktop.Clip) (stays string, err error) {
	service, err := d.clipboard(ctx)
	if err != nil {
		return "", err
	}
	content := make(map[string][]byte)
	switch {
	case clip.PNG != nil:
		content[pngType] = clip.PNG
	case clip.Text != "":
		content = textClip(clip.Text)
	}
	stays, err = d.keep(ctx, service, content)
	return stays, failure("setting the clipboard", err)
}

// keep sets the clip so that it stays, and returns a phrase that says how long.
func (d *Display) keep(ctx context.Context, service clipService, content map[string][]byte) (stays string, err error) {
	server := d.config.ClipServer
	if _, is := service.(*conn); !is || len(content) == 0 {
		server = nil
	}
	return clipserver.Put(ctx, server, d.config.Log, content, func(ctx context.Context) error { return service.own(ctx, content, nil) })
}

// ServeClip serves a clip in this process, as [clipserver.Serve] says.
func (d *Display) ServeClip(ctx context.Context, in io.Reader, out io.Writer) error {
	var content map[string][]byte
	return clipserver.Serve(ctx, in, out, &content, func(ctx context.Context) (replaced, gone <-chan struct{}, err error) {
		c, err := d.connect(ctx)
		if err != nil {
			return nil, nil, err
		}
		s := &source{conn: c, content: content, gone: make(chan struct{})}
		return s.gone, c.gone, c.offerSource(ctx, s)
	})
}

// textClip returns a text as a clip.
func textClip(text string) map[string][]byte {
	content := make(map[string][]byte)
	for _, kind := range textTypes() {
		content[kind] = []byte(text)
	}
	return content
}

// own implements clipService.
func (c *conn) own(ctx context.Context, content map[string][]byte, served func()) error {
	if len(content) > 0 {
		return c.offerSource(ctx, &source{conn: c, content: content, served: served, gone: make(chan struct{})})
	}
	const setSelection, destroyDevice = 0, 1
	_, device, err := c.clipDevice(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = c.send(context.WithoutCancel(ctx), device, destroyDevice) }()
	return errors.Join(c.send(ctx, device, setSelection, uint32(0)), c.sync(ctx))
}

// offerSource makes a source the clip.
func (c *conn) offerSource(ctx context.Context, s *source) error {
	const createSource, offerType, setSelection, destroyDevice = 0, 0, 0, 1
	manager, device, err := c.clipDevice(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = c.send(context.WithoutCancel(ctx), device, destroyDevice) }()
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
	return err
}

// serve handles the events of a source.
func (s *source) serve(opcode uint16, e *reader) {
	const wanted, cancelled, destroy = 0, 1, 1
	switch opcode {
	case wanted:
		kind, file := e.Text(), e.File()
		if file == nil {
			return
		}
		content := s.content[kind]
		go func() { // the reader may be slow
			if writeClip(file, content) == nil && s.served != nil {
				s.served()
			}
		}()
	case cancelled: // something else was copied
		close(s.gone)
		go func() { _ = s.conn.send(context.Background(), s.id, destroy) }() // a handler must not block
	}
}
