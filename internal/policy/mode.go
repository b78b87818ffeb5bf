package policy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// A Mode bounds the calls of all callers, independent of grants.
type Mode int

// The modes, from the least to the most restrictive.
const (
	Normal    Mode = iota // grants decide
	Safe                  // irreversible calls need confirmation each time; no scripts, and no typing into terminals
	Sandboxed             // callers only read; the effect that a tool declares is not trusted
)

// String returns the word for the mode.
func (m Mode) String() string {
	switch m {
	case Normal:
		return "normal"
	case Safe:
		return "safe"
	case Sandboxed:
	}
	return "sandboxed"
}

// ParseMode returns the mode for the word.
func ParseMode(word string) (Mode, error) {
	for _, m := range []Mode{Normal, Safe, Sandboxed} {
		if word == m.String() {
			return m, nil
		}
	}
	return Sandboxed, fmt.Errorf("expected %q, %q or %q", Normal, Safe, Sandboxed)
}

// ModeGate is the gate that enforces the mode. The mode is the stricter one of Configured
// and of the person's choice in the file, which applies to every gateway at once,
// including running ones. It is safe for concurrent use.
type ModeGate struct {
	Configured Mode
	// Path is the file that [SetMode] writes; "" is none.
	Path string
}

// SetMode writes the mode for every gateway of this person.
func SetMode(path string, m Mode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the folder of the mode: %w", err)
	}
	if err := atomicfile.ReplaceDurable(path, []byte(m.String()+"\n")); err != nil {
		return fmt.Errorf("write the mode: %w", err)
	}
	return nil
}

// Current returns the current mode. An unreadable or invalid file results in the strictest
// mode.
func (m *ModeGate) Current() Mode {
	if m == nil {
		return Normal
	}
	if m.Path == "" {
		return m.Configured
	}
	b, err := atomicfile.Read(m.Path, atomicfile.ReadLimits{Size: 1 << 10})
	if errors.Is(err, fs.ErrNotExist) {
		return m.Configured
	}
	said, parseErr := ParseMode(strings.TrimSpace(string(b)))
	if err != nil || parseErr != nil {
		return Sandboxed
	}
	return max(m.Configured, said)
}

// Check implements aai.Gate.
func (m *ModeGate) Check(_ context.Context, r *aai.Request) ([]aai.Question, error) {
	if r.Sandboxed && !onlyMakesCalls(r.App, r.Tool) && (r.Effect() != aai.Reads || !r.Assessment().EffectInherent && r.App.ID != aai.BuiltinApp) {
		return nil, onlyReads(r)
	}
	mode := m.Current()
	if mode != Normal && r.App.OperatesOthers() && r.Permission() == aai.PermissionRun {
		what := "typing into a terminal"
		if r.StartsProgram() {
			what = "the start"
		}
		return nil, refusedBy(mode, what, r.Call.Target)
	}
	if mode == Normal || mode.Allows(r.App, r.Tool) && (mode != Sandboxed || r.App.ID == aai.BuiltinApp || r.Effect() == aai.Reads) {
		return nil, nil
	}
	return nil, refusedBy(mode, r.Tool.Name, r.App)
}

// onlyReads returns the error for a call that changes something although its caller set sandboxed.
func onlyReads(r *aai.Request) error {
	e := aai.Errorf(aai.PermissionDenied, "%s of %s does more than read, and its caller set sandboxed", r.Tool.Name, r.App.ID)
	e.Hint = "Call it without sandboxed."
	return e
}

func refusedBy(mode Mode, what string, app *aai.App) error {
	e := aai.Errorf(aai.PermissionDenied, "%s of %s may not be used in the mode %q of this gateway", what, app.ID, mode)
	e.Hint = "Only the person at this computer can change the mode: aai-gateway mode normal"
	return e
}

// Allows reports whether the mode admits the tool. The gateway's own app has its own gate, except for its tools
// that make the calls of a caller.
func (m Mode) Allows(app *aai.App, tool *aai.Tool) bool {
	switch {
	case m == Normal:
		return true
	case m == Safe:
		return tool.Assessment(nil).Kind != aai.KindScript && !tool.Assessment(nil).RunsScript
	case app.ID == aai.BuiltinApp:
		return tool.Effect == aai.Reads || !tool.Assessment(nil).OnlyMakesCalls
	}
	return tool.Effect == aai.Reads && tool.Assessment(nil).EffectInherent
}

// VisibleCatalog is the catalog that callers see. It does not list tools that the mode
// denies, and it notifies listeners when the mode changes. Lookups still find unlisted
// tools, so that the refusal can give the reason.
type VisibleCatalog struct {
	aai.Catalog
	Modes *ModeGate

	listeners aai.Listeners
}

// Apps implements aai.Catalog.
func (v *VisibleCatalog) Apps() []*aai.App {
	apps, mode := v.Catalog.Apps(), v.Modes.Current()
	if mode == Normal {
		return apps
	}
	shown := slices.Clone(apps)
	for i, app := range shown {
		shown[i] = mode.visible(app)
	}
	return shown
}

// Visible returns the app with the tools that the current mode admits.
func (m *ModeGate) Visible(app *aai.App) *aai.App { return m.Current().visible(app) }

func (m Mode) visible(app *aai.App) *aai.App {
	if m == Normal {
		return app
	}
	less := *app
	less.Tools = slices.DeleteFunc(slices.Clone(app.Tools), func(t *aai.Tool) bool { return !m.Allows(app, t) })
	return &less
}

// CheckTool returns the error for a tool that the current mode denies.
func (m *ModeGate) CheckTool(app *aai.App, tool *aai.Tool) error {
	if mode := m.Current(); !mode.Allows(app, tool) {
		return refusedBy(mode, tool.Name, app)
	}
	return nil
}

// OnChange implements aai.Catalog.
func (v *VisibleCatalog) OnChange(f func()) (stop func()) {
	stopCatalog, stopMode := v.Catalog.OnChange(f), v.listeners.Add(f)
	return func() {
		stopCatalog()
		stopMode()
	}
}

// lookForMode is the interval between checks of the mode; calls check it each time.
const lookForMode = time.Second

// Watch notifies the listeners of changes of the mode, until ctx ends.
func (v *VisibleCatalog) Watch(ctx context.Context) {
	ticks := time.NewTicker(lookForMode)
	defer ticks.Stop()
	was := v.Modes.Current()
	for {
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return
		}
		mode := v.Modes.Current()
		if mode == was {
			continue
		}
		was = mode
		v.listeners.Call()
	}
}
