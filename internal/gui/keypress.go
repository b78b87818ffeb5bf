package gui

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
	"github.com/gybob/aai-gateway/internal/gui/params"
	"github.com/gybob/aai-gateway/internal/gui/programs"
)

func (d *engine) keyPressTool() spec {
	return spec{
		name: keyPressName, title: "Press keys", types: true,
		description: "Press a key with modifiers, such as s with ctrl, in a window or an element.",
		params: appProp + `,` + queryProp + `,` + nthProp + `,
			"key": {"type": "string", "minLength": 1, "maxLength": 32, "description": "One character, or return, escape, tab, f5, page_down …"},
			"modifiers": {"type": "array", "maxItems": 4, "items": {"type": "string", "enum": ["ctrl", "shift", "alt", "meta", "cmd", "opt"]}},` + modeProp,
		required: `["key"]`, secret: []string{"key"}, // it may be part of a password
		plain: func(args map[string]any) []string {
			if key, _ := args["key"].(string); len([]rune(key)) == 1 && !params.IsShortcut(args) {
				return nil
			}
			return []string{"key"}
		},
		precheck: func(ctx context.Context, call *aai.Call) error {
			return cmp.Or(params.CheckKeys(ctx, call), d.precheckQueries(ctx, call))
		},
		run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
			return d.withViewToAct(ctx, call, keyPress)
		},
	}
}

func keyPress(ctx context.Context, v *view) (*aai.Result, error) {
	if err := params.CheckKeys(ctx, v.call); err != nil {
		return nil, err
	}
	chord, _ := params.Chord(v.call)
	i := -1
	if query := params.String(v.call, "query"); query != "" {
		m, err := v.findForAction(ctx, query)
		if err != nil {
			return nil, err
		}
		i = m.index
	}
	typed := i
	if m, err := v.focused(); i < 0 && err == nil {
		typed = m.index
	}
	if typed >= 0 {
		if err := v.mayType(ctx, typed); err != nil {
			return nil, err
		}
	}
	if err := v.checkSecretKeys(ctx, typed, chord); err != nil {
		return nil, err
	}
	if i < 0 {
		if err := v.checkCursor(chord); err != nil {
			return nil, err
		}
	}
	v.watchCanvas(typed)
	a := action{view: v, index: i, doneText: "Pressed " + strings.Join(append(chord.Modifiers, aai.CleanLabel(chord.Key, 32)), "+")}
	press := func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		if i >= 0 {
			if err := v.focusWithoutPress(ctx, i, input, seat, w); err != nil {
				return err
			}
		}
		return input.Key(ctx, seat, w.ID, chord)
	}
	way := v.byKeys(i, press)
	if i >= 0 {
		a.doneText += " in"
	} else if own, err := v.appWindows(ctx); err == nil && len(own) > 1 {
		// LibreOffice's tip of the day may have the keyboard; the named window gets the key.
		w := programs.FrontWindow(own)
		a.doneText += fmt.Sprintf(" in the window %q", aai.CleanLabel(w.Title, 60))
		way = v.byKeysIn(fixedWindow(w), -1, press)
	}
	a.techniques = []technique{way}
	warn := func(*aai.Result) {}
	if i < 0 {
		warn = v.droppedText()
	}
	out, err := a.execute(ctx)
	if err == nil {
		warn(out)
	}
	return out, err
}

// droppedText returns a function that warns if the text that the last action set in a field is gone after a key for
// the focused element, as in a sheet with an entry line that takes typed text alone.
func (v *view) droppedText() func(out *aai.Result) {
	id := v.engine.Sessions.For(v.call).LastTarget()
	i := v.snapshot.Index(id)
	if i < 0 || v.app.IsBrowser || !takesText(&v.snapshot.Elements[i]) || v.snapshot.Elements[i].States.Has(desktop.Focused) {
		return func(*aai.Result) {}
	}
	was := v.snapshot.Elements[i].Value
	return func(out *aai.Result) {
		now := v.snapshot.Index(id)
		done, is := out.Data.(actionResult)
		if now < 0 || was == "" || v.snapshot.Elements[now].Value != "" || !is {
			return
		}
		done.Verified = false
		out.Data = done
		out.Warning = guierr.JoinWarnings(out.Warning, "the key went to another element than "+v.name(now)+", whose text is gone: the program may have dropped it. ax_type with submit there enters it, with mode \"focus\" if it must be")
	}
}
