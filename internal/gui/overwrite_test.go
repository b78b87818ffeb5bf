package gui_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// brokenKeys is input that delivers keys, and fails on text with the error broken, if set.
type brokenKeys struct {
	desktop.Input
	broken *func(context.Context) error
}

func (b brokenKeys) Type(ctx context.Context, seat desktop.Seat, w desktop.WindowID, text string) error {
	if *b.broken != nil {
		return (*b.broken)(ctx)
	}
	return b.Input.Type(ctx, seat, w, text)
}

// WithKeyboard implements desktop.Keyboard: keys within it fail alike.
func (b brokenKeys) WithKeyboard(ctx context.Context, seat desktop.Seat, w desktop.WindowID, while func(context.Context, desktop.Input) error) error {
	return b.Input.WithKeyboard(ctx, seat, w, func(ctx context.Context, input desktop.Input) error { return while(ctx, brokenKeys{input, b.broken}) })
}

// TestOverwriteFails: if overwriting fails, the old content is no longer selected after the call,
// whatever the reason.
func TestOverwriteFails(t *testing.T) {
	var broken func(context.Context) error
	inWorldWithout(t, func(b *desktop.Backend) { b.Actor, b.Input = noText{b.Actor}, brokenKeys{b.Input, &broken} }, func(w *world) {
		f := form(w)
		refuses := func(context.Context) error { return fails(aai.AutomationFailed, aai.NotDelivered) }
		unknown := func(context.Context) error { return fails(aai.AutomationFailed, aai.DeliveryUnknown) }
		cancelled := func(ctx context.Context) error { <-ctx.Done(); return refuses(ctx) }
		want := ""
		for n, c := range []struct {
			tool, args string
			broken     func(context.Context) error
			held       bool // it is known that nothing was typed
		}{
			{"ax_type", `"query": "Full name", "text": "x", "clear_first": true`, refuses, true},
			{"ax_set_value", `"query": "Full name", "value": "x"`, refuses, true},
			{"ax_fill", `"fields": [{"query": "Full name", "value": "x"}]`, refuses, true},
			{"ax_set_value", `"query": "Full name", "value": "x"`, unknown, false},
			{"ax_type", `"query": "Full name", "text": "x", "clear_first": true`, cancelled, true},
			{"ax_set_value", `"query": "Full name", "value": "x"`, cancelled, true},
		} {
			broken = nil
			w.ok("ax_type", fmt.Sprintf(`{"app": "Form", "query": "Full name", "text": "%d"}`, n))
			want += fmt.Sprint(n)
			got := f.State()["name"]
			assert.Check(w, is.Equal(got, want), "before %s it holds %q, want %q", c.tool, got, want)
			broken = c.broken
			ctx, cancel := context.WithCancel(w.Context())
			time.AfterFunc(time.Second, cancel)
			_, e := w.doBy(ctx, c.tool, `{"app": "Form", `+c.args+`}`)
			assert.Assert(w, e != nil, "%s %+v", c.tool, e)
			assert.Equal(w, (e.Delivery == aai.NotDelivered), c.held, "%s %+v", c.tool, e)
			if c.held {
				w.has(e.Message, "nothing was typed, and textbox \"Full name\"", "has its former value")
			}
		}
	})
}

func fails(code aai.Code, delivery aai.Delivery) error {
	e := aai.Errorf(code, "the keys did not go")
	e.Delivery = delivery
	return e
}

// TestCheckText: a text that no field accepts is rejected before any action and any question.
func TestCheckText(t *testing.T) {
	inWorld(t, func(w *world) {
		form(w)
		since := w.mutations()
		for _, c := range [][3]string{
			{"ax_type", `"query": "Full name", "text": "a\u0000b", "clear_first": true`, "text: expected no control characters but line breaks and tabs, got U+0000 as character 2"},
			{"ax_type", `"query": "Nowhere", "text": "\u001b[A"`, "text: expected no control characters but line breaks and tabs, got U+001B as character 1"},
			{"ax_set_value", `"query": "Notes", "value": "é\n\u007f"`, "value: expected no control characters but line breaks and tabs, got U+007F as character 3"},
			{"ax_set_value", `"query": "Volume", "value": "5\u0000"`, "value: expected no"},
			{"ax_fill", `"fields": [{"query": "Notes", "value": "a"}, {"query": "Full name", "value": "\u0001"}]`, "fields[1].value: expected no control characters but line breaks and tabs, got U+0001 as character 1"},
		} {
			e := w.failure(aai.InvalidParams, c[0], `{"app": "Form", `+c[1]+`}`)
			w.has(e.Message, c[2])
			if e.Delivery != aai.NotDelivered {
				w.Errorf("%s: %s", c[2], e.Delivery)
			}
		}
		w.nothingDone(since)
		w.ok("ax_type", `{"app": "Form", "query": "Notes", "text": "a\tb\r\nc\ufffd"}`)
	})
}
