package generate

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"aai"
	"aai/internal/catalog"
	"aai/internal/wholefile"
)

// Limits on a look at the sources of descriptors.
const (
	maxLooked  = 8 << 20 // bytes, of a descriptor
	maxChecked = 100     // descriptors
	atOnce     = 8       // that are looked at side by side
)

// What became of the source of a descriptor.
const (
	Current = "current"
	Changed = "changed"
	Unknown = "unknown"
)

// A Source is what became of that of which one descriptor was made.
type Source struct {
	State string `json:"state"` // current, changed, or unknown
	App   string `json:"app"`
	Why   string `json:"why,omitempty"`
	Path  string `json:"path"`
	// From and Digest name the source and what it says now; Again is the command that shows
	// the app that is made of it now. For who has looked, and not for the tool's answer.
	From   string `json:"-"`
	Digest string `json:"-"`
	Again  string `json:"-"`
	// Late: it did not answer in time.
	Late bool `json:"-"`
}

// checkAll looks at the source of every descriptor that was made of one. It starts nothing.
func (g *Generator) checkAll(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
	return &aai.Result{Data: g.Sources(ctx, generating)}, nil
}

// Sources looks at what the person's descriptors were made of, side by side, at each for so
// long. Nothing is started, nothing is fetched, and nothing is called that acts.
func (g *Generator) Sources(ctx context.Context, each time.Duration) []Source {
	made := g.made()
	var looks sync.WaitGroup
	turns := make(chan struct{}, atOnce)
	for i := range made {
		looks.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			ctx, cancel := context.WithTimeout(ctx, each)
			defer cancel()
			made[i].look(ctx, g)
		})
	}
	looks.Wait()
	rows := make([]Source, len(made))
	for i := range made {
		rows[i] = made[i].Source
	}
	return rows
}

// A sourced is a descriptor that was made of something.
type sourced struct {
	Source
	document *catalog.Document
}

// made are the descriptors that were made of something, in the order of their files.
func (g *Generator) made() []sourced {
	files, err := filepath.Glob(filepath.Join(g.cfg.Folder, "*", catalog.FileName))
	if err != nil || g.cfg.Folder == "" {
		return nil // such a folder has none
	}
	var all []sourced
	for _, path := range files {
		if len(all) == maxChecked {
			break
		}
		text, err := wholefile.Read(path, wholefile.Limits{Size: maxLooked})
		if err != nil {
			continue
		}
		d, err := catalog.Parse(text, catalog.Options{Host: "linux"})
		if err != nil || d.Document.Generated == nil {
			continue
		}
		all = append(all, sourced{Source{App: d.Document.ID, Path: path, From: d.Document.Generated.From}, d.Document})
	}
	return all
}

// look fills in what became of the source.
func (s *sourced) look(ctx context.Context, g *Generator) {
	digest, again, err := g.digestOf(ctx, s.document)
	s.State, s.Digest, s.Again = Current, digest, again
	switch {
	case err != nil:
		s.State, s.Why, s.Late = Unknown, aai.AsError(err).Message, ctx.Err() != nil
	case digest != s.document.Generated.Digest:
		s.State, s.Why = Changed, "run: "+again
	}
}

// digestOf names what a source says now, and the command that makes the app of it again.
func (g *Generator) digestOf(ctx context.Context, d *catalog.Document) (digest, again string, err error) {
	name, onBus := strings.CutPrefix(d.Generated.From, fromBus)
	switch {
	case onBus && g.cfg.Driver != nil:
		digest, err = g.digestOnBus(ctx, name, d)
		return digest, "aai-gateway generate " + name, err
	case !onBus && g.cfg.Elsewhere != nil:
		return g.cfg.Elsewhere(ctx, d)
	}
	return "", "", aai.Errorf(aai.AutomationNotSupported, "%s cannot be looked at here", aai.CleanLabel(d.Generated.From, 200))
}

// digestOnBus names what a program says of itself now. A program that does not run is not
// started.
func (g *Generator) digestOnBus(ctx context.Context, name string, d *catalog.Document) (string, error) {
	bus := ""
	if len(d.Sections) > 0 {
		bus = d.Sections[0].Bus
	}
	f, err := g.find(ctx, name, bus)
	if err != nil {
		return "", err
	}
	if !f.running {
		return "", aai.Errorf(aai.AppNotRunning, "it does not run")
	}
	s, err := g.walk(ctx, f, &noted{})
	if err != nil {
		return "", err
	}
	return s.digest()
}
