package cdp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// errStale means that the element is not in its document any more.
var errStale = errors.New("the element is gone")

// An answer is the result of an act of page/act.js.
type answer struct {
	Error string  `json:"error"`
	Kind  string  `json:"kind"`
	X     float64 `json:"x"` // in CSS pixels
	Y     float64 `json:"y"`
	Empty bool    `json:"empty"`
	Lines bool    `json:"lines"`
	Rich  bool    `json:"rich"`
	Has   bool    `json:"focused"`
	Cover struct {
		Role string `json:"role"`
		Name string `json:"name"`
	} `json:"cover"`
}

// An operation is one act on an element of a page.
type operation struct {
	page  *page
	frame *frame
	key   key
	app   desktop.App
	act   desktop.Act
	sent  bool // the page may have received something
}

// perform performs the act. The caller has checked that a window shows the page.
func (o *operation) perform(ctx context.Context) error {
	if o.act.Name != "" {
		if a, err := o.call(ctx, "isNow", o.act.Name); err == nil && a.Error != "" && o.isSetMember(ctx) {
			return o.fail(a)
		}
	}
	switch o.act.Verb {
	case desktop.Press:
		return o.press(ctx, 0)
	case desktop.SelectItem:
		return o.selectItem(ctx)
	case desktop.SetText:
		return o.write(ctx, true)
	case desktop.InsertText:
		return o.write(ctx, false)
	case desktop.SetNumber:
		o.sent = true
		return o.simple(ctx, "set", strconv.FormatFloat(o.act.Number, 'f', -1, 64))
	case desktop.TakeFocus:
		if err := o.emulateFocus(ctx); err != nil {
			return err
		}
		return o.simple(ctx, "focus")
	case desktop.ScrollTo:
		return o.simple(ctx, "reveal")
	case desktop.ChooseFile:
		return o.chooseFile(ctx)
	case desktop.RefreshText:
		return nil // every reading is fresh
	}
	return o.unsupported("has no such action in its page")
}

// isSetMember reports whether the element is reused for other items by some pages.
func (o *operation) isSetMember(ctx context.Context) bool {
	e, err := o.page.readOne(ctx, o.frame, o.key)
	return err == nil && e.Role.IsSetMember()
}

// call calls an act of page/act.js.
func (o *operation) call(ctx context.Context, name string, args ...any) (a answer, err error) {
	return callIn(ctx, o.page, o.frame, name, append([]any{o.key.number}, args...)...)
}

func callIn(ctx context.Context, p *page, f *frame, name string, args ...any) (a answer, err error) {
	text, err := json.Marshal(args)
	if err != nil {
		return a, err
	}
	err = p.unlessBlocked(ctx, func(ctx context.Context) error {
		return f.evaluate(ctx, fmt.Sprintf("%s.act(%q, ...%s)", readerOf, name, text), &a)
	})
	return a, err
}

// simple performs an act that page/act.js does alone.
func (o *operation) simple(ctx context.Context, name string, args ...any) error {
	return o.end(o.call(ctx, name, args...))
}

// end returns the error of an act that has ended with the answer or the error. A dialog that the act has opened is none.
func (o *operation) end(a answer, err error) error {
	if errors.Is(err, errDialog) && o.sent {
		return nil
	}
	if err != nil {
		return o.broken(err)
	}
	return o.fail(a)
}

// selectItem chooses an option of a list, or clicks an item of another one.
func (o *operation) selectItem(ctx context.Context) error {
	o.sent = true
	a, err := o.call(ctx, "choose", o.act.AddToSelection)
	if err == nil && a.Error == "unsupported" {
		o.sent = false
		modifiers := 0
		if o.act.AddToSelection {
			modifiers = controlKey
		}
		return o.press(ctx, modifiers)
	}
	return o.end(a, err)
}

// controlKey is the bit of the control key in the modifiers of the protocol.
const controlKey = 2

// press clicks the element with a pointer of the page.
func (o *operation) press(ctx context.Context, modifiers int) error {
	if o.key.number < 0 {
		return o.unsupported("opens with its field")
	}
	if err := o.emulateFocus(ctx); err != nil {
		return err
	}
	x, y, err := o.point(ctx)
	if err != nil {
		return err
	}
	err = o.page.unlessBlocked(ctx, func(ctx context.Context) error {
		for _, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
			event := map[string]any{"type": kind, "x": x, "y": y, "modifiers": modifiers}
			if kind != "mouseMoved" {
				event["button"], event["clickCount"] = "left", 1
				o.sent = true
			}
			if err := o.page.session.Call(ctx, "Input.dispatchMouseEvent", event, nil); err != nil {
				return err
			}
		}
		return nil
	})
	return o.end(answer{}, err)
}

// point returns a point of the element in the page, in CSS pixels, at which a pointer meets it.
func (o *operation) point(ctx context.Context) (x, y float64, err error) {
	a, err := o.call(ctx, "point")
	if err != nil {
		return 0, 0, o.broken(err)
	}
	if a.Error != "" {
		return 0, 0, o.fail(a)
	}
	x, y = a.X, a.Y
	for f := o.frame; f.parent != nil; f = f.parent {
		owner, err := f.ownerNumber(ctx)
		if err != nil {
			return 0, 0, o.broken(err)
		}
		x, y, err = o.pointAbove(ctx, f.parent, owner, x, y)
		if err != nil {
			return 0, 0, err
		}
	}
	return x, y, nil
}

// pointAbove converts a point of a frame to one of its parent, and scrolls it into view there.
func (o *operation) pointAbove(ctx context.Context, parent *frame, owner int, x, y float64) (float64, float64, error) {
	a, err := callIn(ctx, o.page, parent, "meets", owner, x, y)
	if err != nil {
		return 0, 0, o.broken(err)
	}
	if a.Error != "" {
		return 0, 0, o.fail(a)
	}
	return a.X, a.Y, nil
}

// write types a text into the element as an input method does.
func (o *operation) write(ctx context.Context, replace bool) error {
	if err := o.emulateFocus(ctx); err != nil {
		return err
	}
	a, err := o.call(ctx, "prepare", replace)
	if err != nil {
		return o.broken(err)
	}
	if a.Error == "set" {
		o.sent = true
		return o.simple(ctx, "set", o.act.Text)
	}
	if a.Error != "" {
		return o.fail(a)
	}
	if now, err := o.call(ctx, "focused"); err != nil || !now.Has {
		return o.fail(answer{Error: "unfocused"})
	}
	o.sent = true
	err = o.page.unlessBlocked(ctx, func(ctx context.Context) error {
		if o.act.Text == "" {
			if replace && !a.Empty {
				return o.key1(ctx, "Delete", 46)
			}
			return nil
		}
		if !a.Rich {
			return o.page.session.Call(ctx, "Input.insertText", map[string]any{"text": o.act.Text}, nil)
		}
		for n, line := range strings.Split(o.act.Text, "\n") {
			if n > 0 {
				if err := o.key1(ctx, "Enter", 13); err != nil {
					return err
				}
			}
			if line != "" {
				if err := o.page.session.Call(ctx, "Input.insertText", map[string]any{"text": line}, nil); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err := o.end(answer{}, err); err != nil || !replace {
		return err
	}
	return o.simple(ctx, "settle")
}

// key1 presses a key in the page.
func (o *operation) key1(ctx context.Context, name string, code int) error {
	event := map[string]any{"type": "keyDown", "key": name, "code": name, "windowsVirtualKeyCode": code}
	if name == "Enter" {
		event["text"] = "\r"
		event["modifiers"] = 8 // shift: enter alone may send the text
	}
	if err := o.page.session.Call(ctx, "Input.dispatchKeyEvent", event, nil); err != nil {
		return err
	}
	return o.page.session.Call(ctx, "Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": name, "code": name, "windowsVirtualKeyCode": code}, nil)
}

// emulateFocus makes the page behave as if its window had the keyboard, which stays where it is.
func (o *operation) emulateFocus(ctx context.Context) error {
	if !o.page.isVisible(ctx) {
		return o.fail(answer{Error: "hidden"})
	}
	if err := o.page.emulateFocus(ctx, true); err != nil {
		return o.broken(err)
	}
	return nil
}

func (o *operation) name() string {
	if o.act.Name != "" {
		return desktop.Quote(o.act.Name, 60)
	}
	return "the element"
}

// fail returns the error for an answer of page/act.js, or nil.
func (o *operation) fail(a answer) error {
	switch a.Error {
	case "":
		return nil
	case "stale":
		return stale(o.app)
	case "unsupported":
		return o.unsupported("has no such action in its page")
	case "covered":
		e := aai.Errorf(aai.AutomationFailed, "%s is covered by %s", o.name(), strings.TrimSpace(desktop.Role(a.Cover.Role).SafeName()+" "+desktop.Quote(a.Cover.Name, 60)))
		e.Delivery, e.Hint = aai.NotDelivered, "Close or move that element first, or operate it."
		return e
	case "format":
		e := aai.Errorf(aai.InvalidParams, "expected a text that a field of the type %s accepts", aai.CleanLabel(a.Kind, 20))
		e.Delivery, e.Hint = aai.NotDelivered, "Write it as 2026-03-04, 13:45, 2026-03-04T13:45, 2026-03 or 2026-W10."
		return e
	}
	e := aai.Errorf(aai.AutomationFailed, "%s %s", o.name(), errorText(a.Error))
	e.Delivery = aai.NotDelivered
	return e
}

func (o *operation) unsupported(why string) error {
	e := aai.Errorf(aai.AutomationNotSupported, "%s %s", o.name(), why)
	e.Delivery = aai.NotDelivered
	return e
}

// broken returns the error of a page that did not answer.
func (o *operation) broken(err error) error {
	if errors.Is(err, errStale) || errors.Is(err, errNoWorld) {
		return stale(o.app)
	}
	delivery := aai.NotDelivered
	if o.sent {
		delivery = aai.DeliveryUnknown
	}
	e := aai.Errorf(aai.AutomationFailed, "the page does not answer over DevTools: %w", err)
	e.Delivery, e.Hint = delivery, "Look at the page before you try again."
	if errors.Is(err, errDialog) {
		e.Hint = "Answer that dialog first."
	}
	return e
}

func stale(app desktop.App) error {
	e := aai.Errorf(aai.StaleRef, "the element is not in %s any more", aai.CleanLabel(app.Name, 60))
	e.Delivery, e.Hint = aai.NotDelivered, "Take a new snapshot and find it there."
	return e
}
