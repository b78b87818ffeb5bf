package gui

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/operate"
	"github.com/gybob/aai-gateway/internal/gui/params"
	"github.com/gybob/aai-gateway/internal/gui/programs"
)

func (d *toolset) keyPressTool() *aai.Tool {
	return spec{
		name: "ax_key_press", title: "Press keys", types: true,
		returns:     actionReturns,
		description: "Press a key with modifiers, such as s with ctrl, in a window or an element.",
		params: appProp + `,` + queryProp + `,` + nthProp + `,
			"key": {"type": "string", "minLength": 1, "maxLength": 32, "description": "One character, or return, escape, tab, f5, page_down …"},
			"modifiers": {"type": "array", "maxItems": 4, "items": {"type": "string", "enum": ["ctrl", "shift", "alt", "meta", "cmd", "opt"]}},` + modeProp,
		required: `["app", "key"]`, secret: []string{"key"}, // it may be part of a password
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
	}.tool()
}

func keyPress(ctx context.Context, v *callView) (*aai.Result, error) {
	if err := params.CheckKeys(ctx, v.Call); err != nil {
		return nil, err
	}
	chord, _ := params.Chord(v.Call)
	i := -1
	if query := params.String(v.Call, "query"); query != "" {
		m, err := v.FindForAction(ctx, query)
		if err != nil {
			return nil, err
		}
		i = m.Index
	}
	typed := i
	if m, err := v.Focused(); i < 0 && err == nil {
		typed = m.Index
	}
	if typed >= 0 {
		if err := v.mayType(ctx, typed); err != nil {
			return nil, err
		}
	}
	v.WatchCanvas(typed)
	a := operate.Action{View: v.View, Index: i, DoneText: "Pressed " + strings.Join(append(chord.Modifiers, aai.CleanLabel(chord.Key, 32)), "+")}
	press := func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		if i >= 0 {
			if err := v.FocusWithoutPress(ctx, i, input, seat, w); err != nil {
				return err
			}
		}
		return input.Key(ctx, seat, w.ID, chord)
	}
	way := v.ByKeys(i, press)
	if i >= 0 {
		a.DoneText += " in"
	} else if own, err := v.AppWindows(ctx); err == nil && len(own) > 1 {
		// LibreOffice's tip of the day may have the keyboard; the named window gets the key.
		w := programs.FrontWindow(own)
		a.DoneText += fmt.Sprintf(" in the window %q", aai.CleanLabel(w.Title, 60))
		way = v.ByKeysIn(operate.FixedWindow(w), press)
	}
	a.Techniques = []operate.Technique{way}
	return a.Execute(ctx)
}
