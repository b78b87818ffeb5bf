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

// Limits on checks of descriptors' sources.
const (
	maxDescriptor       = 8 << 20 // bytes, of a descriptor
	maxChecked          = 100     // descriptors
	maxConcurrentChecks = 8       // concurrent checks
)

// States of a descriptor's source; SourceUnknown means that it could not be checked.
const (
	SourceCurrent = "current"
	SourceChanged = "changed"
	SourceUnknown = "unknown"
)

// SourceStatus is the state of one descriptor's source.
type SourceStatus struct {
	State  string `json:"state"` // current, changed, or unknown
	App    string `json:"app"`
	Reason string `json:"why,omitempty"`
	Path   string `json:"path"`
	// Name identifies the source, Digest is its current digest, RegenerateCommand is the command that shows the app
	// generated from it. They are not in the result of CheckTool.
	Name              string `json:"-"`
	Digest            string `json:"-"`
	RegenerateCommand string `json:"-"`
	// TimedOut reports that the source did not answer in time.
	TimedOut bool `json:"-"`
}

// checkAll checks the source of every generated descriptor. It starts nothing.
func (g *Generator) checkAll(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
	return &aai.Result{Data: g.CheckSources(ctx, generateTimeout)}, nil
}

// CheckSources checks the sources of the person's generated descriptors concurrently; each limits one check. It
// starts no program, and calls only methods that read. It checks at most maxChecked descriptors.
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

// A generatedDescriptor is a descriptor with a known source.
type generatedDescriptor struct {
	SourceStatus
	document *catalog.Document
}

// generatedDescriptors returns the descriptors with a known source, in the order of their files.
func (g *Generator) generatedDescriptors() []generatedDescriptor {
	files, err := filepath.Glob(filepath.Join(g.cfg.Folder, "*", catalog.FileName))
	if err != nil || g.cfg.Folder == "" {
		return nil // no files
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
		all = append(all, generatedDescriptor{SourceStatus{App: d.Document.ID, Path: path, Name: d.Document.Generated.From},
			d.Document})
	}
	return all
}

// check compares the source with the descriptor's digest, and sets the state.
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

// digestOf returns the current digest of a source, and the command that regenerates its app.
func (g *Generator) digestOf(ctx context.Context, d *catalog.Document) (digest, again string, err error) {
	name, onBus := strings.CutPrefix(d.Generated.From, fromBus)
	progID, ofCOM := strings.CutPrefix(d.Generated.From, fromCOM)
	switch {
	case ofCOM && g.cfg.COM != nil:
		library, err := g.cfg.COM.Describe(ctx, progID, false)
		if err != nil {
			return "", "", err
		}
		digest, err = digestOfLibrary(library)
		return digest, "aai-gateway generate " + progID, err
	case onBus && g.cfg.Driver != nil:
		digest, err = g.digestOnBus(ctx, name, d)
		return digest, "aai-gateway generate " + name, err
	case !onBus && g.cfg.ExternalSource != nil:
		return g.cfg.ExternalSource(ctx, d)
	}
	return "", "",
		aai.Errorf(aai.AutomationNotSupported, "%s cannot be looked at here", aai.CleanLabel(d.Generated.From, 200))
}

// digestOnBus returns the current digest of a program's introspection data. It does not start the
// program.
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
