package cdp

import (
	"context"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// versionsOfPages are the versions of merged snapshots: the platform's own ones are lower.
const versionsOfPages = 1 << 62

// merge returns the snapshot with the pages in the place of the platform's documents.
func (p *platform) merge(ctx context.Context, t *tabs, s *desktop.Snapshot, pages []reading) *desktop.Snapshot {
	given := s
	s, asked := t.withoutDialogs(s, pages)
	elements := make([]desktop.Element, 0, len(s.Elements)+1000)
	at := make([]int, len(s.Elements)) // new indexes
	placed := 0
	for i := 0; i < len(s.Elements); {
		e := s.Elements[i]
		if e.Parent >= 0 {
			e.Parent = at[e.Parent]
		}
		e.End = 0
		if e.Role == desktop.Document && e.Parent >= 0 {
			if r, place, ok := t.matching(ctx, s, i, pages, asked); ok {
				if r.dialog != nil {
					elements = append(elements, r.dialog.elements(r.page.target, len(elements), e.Parent, r.native)...)
				}
				view := desktop.Rect{X: place.X, Y: place.Y, W: r.content.Width, H: r.content.Height}
				elements = r.content.appendTo(elements, r.page.target, e.Parent, place, view)
				r.page.remember(r.content)
				placed++
				for j := i; j < s.Elements[i].End; j++ {
					at[j] = -1
				}
				i = s.Elements[i].End
				continue
			}
		}
		at[i] = len(elements)
		elements = append(elements, e)
		i++
	}
	if placed == 0 {
		return given
	}
	t.mu.Lock()
	t.calm = s
	t.mu.Unlock()
	desktop.SetEnds(elements)
	p.mu.Lock()
	defer p.mu.Unlock()
	if m := p.last[s.App.PID]; m != nil && slices.EqualFunc(m.Elements, elements, equal) {
		same := *m
		same.Taken, same.Warnings, same.App = s.Taken, s.Warnings, s.App
		return &same
	}
	p.versions++
	out := &desktop.Snapshot{App: s.App, Elements: elements, Version: versionsOfPages + p.versions, Taken: s.Taken, Warnings: s.Warnings}
	p.last[s.App.PID] = out
	return out
}

func equal(a, b desktop.Element) bool {
	if !slices.Equal(a.Actions, b.Actions) {
		return false
	}
	a.Actions, b.Actions = nil, nil
	return a.ID == b.ID && a.Role == b.Role && a.Name == b.Name && a.Value == b.Value && a.Description == b.Description && a.Identifier == b.Identifier &&
		a.States == b.States && a.Frame == b.Frame && a.Pos == b.Pos && a.Size == b.Size && a.Level == b.Level && a.Language == b.Language && a.Min == b.Min && a.Max == b.Max && a.Parent == b.Parent && a.End == b.End
}

// matching returns the page that the document of the platform shows, and its place on the screen.
func (t *tabs) matching(ctx context.Context, s *desktop.Snapshot, document int, pages []reading, asked map[desktop.ID]reading) (reading, desktop.Point, bool) {
	e, window := &s.Elements[document], &s.Elements[s.WindowOf(document)]
	if !e.States.Has(desktop.Showing) {
		return reading{}, desktop.Point{}, false
	}
	if r, ok := asked[window.ID]; ok {
		place, ok := placeOf(s, document, r.content)
		return r, place, ok
	}
	var fits []reading
	for _, r := range pages {
		isNew := len(pages) == 1 && r.page.hasJustLeft() // the platform may have its old document
		if e.Name != "" && e.Name != r.title && e.Name != r.content.Names[0] && !isNew {
			continue
		}
		if len(pages) > 1 && (r.title == "" || !strings.HasPrefix(window.Name, r.title)) && window.Frame != t.windowFrame(ctx, r.page.target) {
			continue
		}
		fits = append(fits, r)
	}
	if len(fits) > 1 {
		fits = slices.DeleteFunc(fits, func(r reading) bool { return window.Frame != t.windowFrame(ctx, r.page.target) })
	}
	if len(fits) != 1 || !t.isShown(ctx, fits[0].page, window.Name, e.Name) {
		return reading{}, desktop.Point{}, false
	}
	place, ok := placeOf(s, document, fits[0].content)
	return fits[0], place, ok
}

// windowFrame returns the frame of the window with a tab, as the browser reports it.
func (t *tabs) windowFrame(ctx context.Context, target string) desktop.Rect {
	var answer struct {
		Bounds struct {
			X int `json:"left"`
			Y int `json:"top"`
			W int `json:"width"`
			H int `json:"height"`
		} `json:"bounds"`
	}
	if t.browser.Request(ctx, "Browser.getWindowForTarget", map[string]any{"targetId": target}, &answer) != nil {
		return desktop.Rect{}
	}
	return desktop.Rect(answer.Bounds)
}

// placeOf returns the place of a page on the screen: that of the platform's document, or the bottom of the part of the
// window around it, if the platform knows the document by name alone.
func placeOf(s *desktop.Snapshot, document int, c *content) (desktop.Point, bool) {
	for i := document; i >= 0; i = s.Elements[i].Parent {
		f := s.Elements[i].Frame
		if f.W >= c.Width && f.H >= c.Height {
			return desktop.Point{X: f.X + (f.W-c.Width)/2, Y: f.Y + f.H - c.Height}, true
		}
	}
	return desktop.Point{}, false
}

// remember keeps the addresses of the documents of a page.
func (p *page) remember(c *content) {
	if f := p.frameOf(c.Token); f != nil {
		f.mu.Lock()
		f.url = c.URL
		f.mu.Unlock()
	}
	for _, inner := range c.frames {
		p.remember(inner)
	}
}

// address returns the address of the frame's document as it was read last.
func (f *frame) address() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.url
}
