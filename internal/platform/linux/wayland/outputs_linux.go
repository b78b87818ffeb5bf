package wayland

import (
	"context"
	"slices"
	"sync"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// wlOutput is the interface of a monitor.
const wlOutput = "wl_output"

// An output is a monitor, in the logical pixels of the compositor's layout.
type output struct {
	id      uint32
	mode    desktop.Rect // by wl_output: its place, and its size in physical pixels
	factor  int          // by wl_output: the scale, rounded up
	turned  bool         // by a quarter
	logical desktop.Rect // by xdg_output; empty without it
	desktop.Monitor
}

// screens holds the monitors of a connection. Events keep it current.
type screens struct {
	loading sync.Mutex // held while they are asked for

	mu  sync.Mutex
	all []output
}

// outputs returns the monitors.
func (c *conn) outputs(ctx context.Context) ([]output, error) {
	s := &c.screens
	s.loading.Lock()
	defer s.loading.Unlock()
	if err := c.sync(ctx); err != nil {
		return nil, err
	}
	if g, _ := c.offered(wlOutput); len(s.all) != 1+len(g.more) { // at the first call, and after one was plugged in
		if err := c.watchOutputs(ctx); err != nil {
			return nil, err
		}
	}
	if err := c.sync(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.Clone(s.all)
	for i := range all {
		all[i].settle()
	}
	return all, nil
}

// watchOutputs makes the objects of all monitors.
func (c *conn) watchOutputs(ctx context.Context) error {
	const xdgManager, getOutput = "zxdg_output_manager_v1", 1
	g, ok := c.offered(wlOutput)
	if !ok {
		return unsupported("the compositor has no monitor", "")
	}
	manager, hasPlaces, err := c.bind(ctx, xdgManager, 3)
	if err != nil {
		return err
	}
	names := append([]uint32{g.name}, g.more...)
	s := &c.screens
	all := make([]output, len(names))
	s.mu.Lock()
	s.all = all
	s.mu.Unlock()
	for i, name := range names {
		o := &all[i]
		id, err := c.bindName(ctx, wlOutput, name, min(4, g.version), s.update(o, (*output).describe))
		if err != nil {
			return err
		}
		s.mu.Lock()
		o.id = id
		s.mu.Unlock()
		if err = c.sync(ctx); err == nil && hasPlaces {
			err = c.send(ctx, manager, getOutput, c.add(s.update(o, (*output).place)), id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *screens) update(o *output, by func(*output, uint16, *reader)) handler {
	return func(opcode uint16, e *reader) {
		s.mu.Lock()
		defer s.mu.Unlock()
		by(o, opcode, e)
	}
}

// describe handles the events of wl_output.
func (o *output) describe(opcode uint16, e *reader) {
	const geometry, mode, scale, name = 0, 1, 3, 4
	switch opcode {
	case geometry:
		o.mode.X, o.mode.Y = e.Int(), e.Int()
		_, _, _ = e.Int(), e.Int(), e.Int() // size in millimetres, order of colours
		_, _ = e.Text(), e.Text()           // maker and model
		o.turned = e.Int()&1 != 0
	case mode:
		if flags := e.Uint(); flags&1 != 0 { // the current one
			o.mode.W, o.mode.H = e.Int(), e.Int()
		}
	case scale:
		o.factor = e.Int()
	case name:
		o.Name = aai.CleanLabel(e.Text(), maxTitle)
	}
}

// place handles the events of xdg_output.
func (o *output) place(opcode uint16, e *reader) {
	const position, size = 0, 1
	switch opcode {
	case position:
		o.logical.X, o.logical.Y = e.Int(), e.Int()
	case size:
		o.logical.W, o.logical.H = e.Int(), e.Int()
	}
}

// settle sets the place and the scale. The events of both interfaces come in any order.
func (o *output) settle() {
	pixels := o.mode
	if o.turned {
		pixels.W, pixels.H = pixels.H, pixels.W
	}
	if o.Frame, o.Scale = o.logical, float64(max(o.factor, 1)); o.Frame.Empty() {
		pixels.W, pixels.H = pixels.W/max(o.factor, 1), pixels.H/max(o.factor, 1)
		o.Frame = pixels
	} else {
		o.Scale = float64(pixels.W) / float64(o.Frame.W)
	}
}

// Monitors implements desktop.Screen. The first counts as the primary one: Wayland has none.
func (d *Display) Monitors(ctx context.Context) ([]desktop.Monitor, error) {
	all, err := d.allOutputs(ctx)
	if err != nil {
		return nil, err
	}
	monitors := make([]desktop.Monitor, len(all))
	for i, o := range all {
		monitors[i] = o.Monitor
		monitors[i].Primary = i == 0
	}
	return monitors, nil
}

func (d *Display) allOutputs(ctx context.Context) ([]output, error) {
	c, err := d.connect(ctx)
	if err != nil {
		return nil, err
	}
	all, err := c.outputs(ctx)
	return all, failure("listing the monitors", err)
}

// isUnscaled reports whether monitors show the rectangle, all with the scale 1, in the layout and for the programs.
func isUnscaled(r desktop.Rect, all []output) bool {
	const rounding = 0.001
	shown := false
	for _, o := range all {
		if o.Frame.Intersect(r).Empty() {
			continue
		}
		if shown = true; o.factor > 1 || o.Scale < 1-rounding || o.Scale > 1+rounding {
			return false
		}
	}
	return shown
}
