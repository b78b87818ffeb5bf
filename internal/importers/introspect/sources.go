package introspect

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// Limits on a look at the sources of descriptors.
const (
	maxDescriptor       = 8 << 20 // bytes, of a descriptor
	maxChecked          = 100     // descriptors
	maxConcurrentChecks = 8       // that are looked at side by side
)

// What became of the source of a descriptor.
const (
	SourceCurrent = "current"
	SourceChanged = "changed"
	SourceUnknown = "unknown"
)

// A Source is what became of that of which one descriptor was made.
type SourceStatus struct {
	State  string `json:"state"` // current, changed, or unknown
	App    string `json:"app"`
	Reason string `json:"why,omitempty"`
	Path   string `json:"path"`
	// Name and Digest name the source and what it says now; Again is the command that shows
	// the app that is made of it now. For who has looked, and not for the tool's answer.
	Name              string `json:"-"`
	Digest            string `json:"-"`
	RegenerateCommand string `json:"-"`
	// TimedOut: it did not answer in time.
	TimedOut bool `json:"-"`
}

// checkAll looks at the source of every descriptor that was made of one. It starts nothing.
func (g *Generator) checkAll(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
	return &aai.Result{Data: g.CheckSources(ctx, generateTimeout)}, nil
}

// CheckSources looks at what the person's descriptors were made of, side by side, at each for so
// long. Nothing is started, nothing is fetched, and nothing is called that acts.
func (g *Generator) CheckSources(ctx context.Context, each time.Duration) []SourceStatus {
	made := g.generatedDescriptors()
	var looks sync.WaitGroup
	turns := make(chan struct{}, maxConcurrentChecks)
	for i := range made {
		looks.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			ctx, cancel := context.WithTimeout(ctx, each)
			defer cancel()
			made[i].check(ctx, g)
		})
	}
	looks.Wait()
	rows := make([]SourceStatus, len(made))
	for i := range made {
		rows[i] = made[i].SourceStatus
	}
	return rows
}

// A sourced is a descriptor that was made of something.
type generatedDescriptor struct {
	SourceStatus
	document *catalog.Document
}

// generatedDescriptors are the descriptors that were made of something, in the order of their files.
func (g *Generator) generatedDescriptors() []generatedDescriptor {
	files, err := filepath.Glob(filepath.Join(g.cfg.Folder, "*", catalog.FileName))
	if err != nil || g.cfg.Folder == "" {
		return nil // such a folder has none
	}
	var all []generatedDescriptor
	for _, path := range files {
		if len(all) == maxChecked {
			break
		}
		text, err := atomicfile.Read(path, atomicfile.ReadLimits{Size: maxDescriptor})
		if err != nil {
			continue
		}
		d, err := catalog.Parse(text, catalog.Options{HostPlatform: "linux"})
		if err != nil || d.Document.Generated == nil {
			continue
		}
		all = append(all, generatedDescriptor{SourceStatus{App: d.Document.ID, Path: path, Name: d.Document.Generated.From}, d.Document})
	}
	return all
}

// check fills in what became of the source.
func (s *generatedDescriptor) check(ctx context.Context, g *Generator) {
	digest, again, err := g.digestOf(ctx, s.document)
	s.State, s.Digest, s.RegenerateCommand = SourceCurrent, digest, again
	switch {
	case err != nil:
		s.State, s.Reason, s.TimedOut = SourceUnknown, aai.AsError(err).Message, ctx.Err() != nil
	case digest != s.document.Generated.Digest:
		s.State, s.Reason = SourceChanged, "run: "+again
	}
}

// digestOf names what a source says now, and the command that makes the app of it again.
func (g *Generator) digestOf(ctx context.Context, d *catalog.Document) (digest, again string, err error) {
	name, onBus := strings.CutPrefix(d.Generated.From, fromBus)
	switch {
	case onBus && g.cfg.Driver != nil:
		digest, err = g.digestOnBus(ctx, name, d)
		return digest, "aai-gateway generate " + name, err
	case !onBus && g.cfg.ExternalSource != nil:
		return g.cfg.ExternalSource(ctx, d)
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
	s, err := g.walk(ctx, f, &noteList{})
	if err != nil {
		return "", err
	}
	return s.digest()
}
