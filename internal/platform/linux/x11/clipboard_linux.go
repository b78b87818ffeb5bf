package x11

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/linux/clipserver"
)

// maxClip is the maximum size of a clip, in bytes.
const maxClip = 16 << 20

// Get reads the clipboard: its text, or without text its picture as PNG. The result is an
// empty clip if the clipboard is empty or holds neither. If the owner does not answer, Get
// fails with TIMEOUT; a clip of more than 16 MiB results in AUTOMATION_FAILED.
func (d *Display) Get(ctx context.Context) (desktop.Clip, error) {
	const doing = "reading the clipboard"
	c, err := d.clipper(ctx)
	if err != nil {
		return desktop.Clip{}, err
	}
	owner := getSelectionOwner(c.atoms["CLIPBOARD"])
	if err := c.must(ctx, owner); err != nil {
		return desktop.Clip{}, wrapError(doing, err)
	}
	id := from(owner.reply, 8).u32()
	if id == none {
		return desktop.Clip{}, nil
	}
	process, err := c.processOf(ctx, id&^c.setup.idMask)
	if err != nil {
		return desktop.Clip{}, wrapError(doing, err)
	}
	r, err := c.reader(ctx)
	if err != nil {
		return desktop.Clip{}, wrapError(doing, err)
	}
	defer r.close(ctx)
	clip, err := r.read(ctx)
	if err != nil && isContext(err) && c.alive() {
		e := aai.Errorf(aai.Timeout, "the program that owns the clipboard (process %d) did not answer: %w", process, err)
		e.Hint = "It may hang. Copy something in another program, or try again."
		e.Delivery = aai.NotDelivered
		return desktop.Clip{}, e
	}
	return clip, wrapError(doing, err)
}

// Set puts the clip on the clipboard: its text, its picture, or both; the program that
// pastes chooses. An empty clip empties the clipboard. The clip stays until another
// program replaces it, the X server ends, or Close is called. With Config.ClipServer
// another process serves the clip: for ten minutes at most, but also after Close. stays
// is a phrase for messages that says so. Invalid UTF-8, a picture that is no PNG, and
// more than 16 MiB fail with INVALID_PARAMS.
func (d *Display) Set(ctx context.Context, clip desktop.Clip) (stays string, err error) {
	if err := fitClip(clip); err != nil {
		return "", err
	}
	server := d.config.ClipServer
	if clip.Text == "" && len(clip.PNG) == 0 {
		server = nil
	}
	return clipserver.Put(ctx, server, d.config.Log, clip, func(ctx context.Context) error { return d.ownClip(ctx, clip) })
}

// fitClip returns an error if the clip cannot be put on the clipboard.
func fitClip(clip desktop.Clip) error {
	switch {
	case len(clip.Text) > maxClip || len(clip.PNG) > maxClip:
		return notDeliveredError(aai.InvalidParams, "a clip may have %d bytes, and this one has %d", maxClip, max(len(clip.Text), len(clip.PNG)))
	case !utf8.ValidString(clip.Text):
		return notDeliveredError(aai.InvalidParams, "the text is not valid UTF-8")
	case len(clip.PNG) > 0 && !bytes.HasPrefix(clip.PNG, []byte("\x89PNG\r\n\x1a\n")):
		return notDeliveredError(aai.InvalidParams, "the picture is no PNG")
	}
	return nil
}

// ownClip makes this process the owner of the clip.
func (d *Display) ownClip(ctx context.Context, clip desktop.Clip) error {
	const doing = "writing the clipboard"
	c, err := d.clipper(ctx)
	if err != nil {
		return err
	}
	return wrapError(doing, c.own(ctx, clip))
}

func (d *Display) clipper(ctx context.Context) (*clipboardConn, error) {
	c, err := d.clip.get(ctx, func(ctx context.Context) (*clipboardConn, error) { return newClipboardConn(ctx, d) })
	if err != nil {
		return nil, wrapError("connecting to the clipboard", err)
	}
	return c, nil
}

// A reader reads one clip. It has its own window, so that a late answer to another request
// is not mistaken for its own.
type reader struct {
	*clipboardConn
	window xid
	events <-chan event
	asked  bool // the owner still has to answer
}

func (c *clipboardConn) reader(ctx context.Context) (*reader, error) {
	r := &reader{clipboardConn: c, window: c.newID()}
	r.events = c.listen(r.window)
	if err := c.must(ctx, createWindow(r.window, c.root, propertyChange)); err != nil {
		c.unlisten(r.window)
		return nil, err
	}
	return r, nil
}

// close destroys the window. If the owner has not answered yet, the window stays until it
// does: an answer to a destroyed window would cause an X error in the owner, and some
// programs exit on it.
func (r *reader) close(ctx context.Context) {
	r.unlisten(r.window)
	_ = r.cleanUp(ctx, func(ctx context.Context) error {
		if r.asked {
			r.deferDestroy(ctx, r.window)
			return nil
		}
		return r.do(ctx, destroyWindow(r.window)) // otherwise it is destroyed with the connection
	})
}

func (r *reader) read(ctx context.Context) (desktop.Clip, error) {
	targets, ok, err := r.convert(ctx, "TARGETS")
	if err != nil {
		return desktop.Clip{}, err
	}
	offered := targets.numbers()
	for _, name := range []string{"UTF8_STRING", "text/plain;charset=utf-8", "STRING", "image/png"} {
		if ok && !slices.Contains(offered, r.target(name)) {
			continue // without a list of targets, all formats are tried
		}
		p, converted, err := r.convert(ctx, name)
		if err != nil {
			return desktop.Clip{}, err
		}
		if !converted {
			continue
		}
		switch name {
		case "image/png":
			return desktop.Clip{PNG: p.data}, nil
		case "STRING":
			return desktop.Clip{Text: latin1(p.data)}, nil
		}
		return desktop.Clip{Text: string(bytes.ToValidUTF8(p.data, []byte("\uFFFD")))}, nil
	}
	return desktop.Clip{}, nil
}

func latin1(data []byte) string {
	runes := make([]rune, len(data))
	for i, b := range data {
		runes[i] = rune(b)
	}
	return string(runes)
}

// target returns the atom of a format.
func (c *clipboardConn) target(name string) xid {
	if name == "STRING" {
		return atomString
	}
	return c.atoms[name]
}

// convert requests the clip in a format. It returns false if the owner does not have the
// format; ICCCM, section 2.4.
func (r *reader) convert(ctx context.Context, format string) (property, bool, error) {
	into := r.atoms["AAI_CLIPBOARD"]
	target := r.target(format)
	const currentTime = 0
	ask := []*call{deleteProperty(r.window, into),
		convertSelection(r.window, r.atoms["CLIPBOARD"], target, into, currentTime)}
	r.asked = true
	if err := r.must(ctx, ask...); err != nil {
		return property{}, false, err
	}
	p, ok, err := r.answer(ctx, target)
	r.asked = err != nil && isContext(err)
	return p, ok, err
}

// answer waits for the owner's answer, and returns the clip from it. It returns false if
// the owner does not have the format.
func (r *reader) answer(ctx context.Context, target xid) (property, bool, error) {
	for {
		e, err := r.next(ctx)
		if err != nil {
			return property{}, false, err
		}
		if e.code != selectionNotify || e.target != target {
			continue
		}
		if e.property == none {
			return property{}, false, nil
		}
		break
	}
	p, err := r.take(ctx)
	if err != nil || p.kind != r.atoms["INCR"] {
		return p, p.kind != none, err
	}
	return r.pieces(ctx)
}

// take reads and deletes the property into which the owner writes the clip.
func (r *reader) take(ctx context.Context) (property, error) {
	get := getProperty(r.window, r.atoms["AAI_CLIPBOARD"], maxClip, true)
	if err := r.must(ctx, get); err != nil {
		return property{}, err
	}
	p := get.property()
	if p.after > 0 {
		return property{}, tooBig(len(p.data) + p.after)
	}
	return p, nil
}

// pieces reads a clip that arrives in pieces; the last is empty. ICCCM, section 2.7.2.
func (r *reader) pieces(ctx context.Context) (property, bool, error) {
	var whole property
	for {
		e, err := r.next(ctx)
		if err != nil {
			return property{}, false, err
		}
		if e.code != propertyNotify || e.property != r.atoms["AAI_CLIPBOARD"] || e.deleted {
			continue
		}
		p, err := r.take(ctx)
		if err != nil {
			return property{}, false, err
		}
		if p.kind == none {
			continue // a late event for a piece that was already read
		}
		if len(p.data) == 0 {
			return whole, true, nil
		}
		whole.kind, whole.format = p.kind, p.format
		whole.data = append(whole.data, p.data...)
		if len(whole.data) > maxClip {
			return property{}, false, tooBig(len(whole.data))
		}
	}
}

func tooBig(size int) error {
	e := notDeliveredError(aai.AutomationFailed, "the clipboard holds at least %d bytes; at most %d are read", size, maxClip)
	e.Hint = "Copy less."
	return e
}

// next waits for an event of the reader's window.
func (r *reader) next(ctx context.Context) (event, error) { return r.await(ctx, r.events) }

// await waits for an event, for patience at most.
func (c *clipboardConn) await(ctx context.Context, events <-chan event) (event, error) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case e := <-events:
		return e, nil
	case <-c.gone:
		return event{}, c.lostError()
	case <-timer.C:
		return event{}, fmt.Errorf("no answer for %s: %w", patience, context.DeadlineExceeded)
	case <-ctx.Done():
		return event{}, ctx.Err()
	}
}
