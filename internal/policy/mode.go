package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"aai"
)

// A Mode says how much any caller may do at all, whatever was allowed before.
type Mode string

// The modes, from the freest to the strictest.
const (
	Normal    Mode = "normal"    // what was allowed
	Safe      Mode = "safe"      // and no scripts; what may destroy is asked about each time
	Sandboxed Mode = "sandboxed" // only what reads
)

// ModeNames lists the modes, from the freest to the strictest.
func ModeNames() []string { return []string{string(Normal), string(Safe), string(Sandboxed)} }

// stricter returns the stricter of two modes. One that is not known is the
// strictest.
func stricter(a, b Mode) Mode {
	rank := func(m Mode) int {
		if i := slices.Index(ModeNames(), string(m)); i >= 0 {
			return i
		}
		return len(ModeNames())
	}
	if rank(a) > rank(b) {
		return a
	}
	return b
}

// Modes is the gate of the mode in force: the stricter of the configured one and
// the one that a person set meanwhile, which is kept in a file that every running
// gateway of the person looks at. A file that cannot be read or understood means
// the strictest. It is safe for concurrent use.
type Modes struct {
	configured Mode
	path       string

	mu   sync.Mutex
	seen fs.FileInfo
	set  Mode

	telling   sync.Mutex // held while listeners are called
	next      int
	listeners map[int]func()
}

// NewModes returns the gate. The file at path need not be there.
func NewModes(configured Mode, path string) *Modes {
	return &Modes{configured: configured, path: path, listeners: make(map[int]func())}
}

// modeFile is what the file holds.
type modeFile struct {
	Mode Mode `json:"mode"`
}

// Current returns the mode in force. The error says why it is the strictest,
// where nobody chose that.
func (m *Modes) Current() (Mode, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	info, err := os.Stat(m.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		m.seen = nil
		return m.configured, nil
	case err != nil:
		return Sandboxed, fmt.Errorf("the mode cannot be read: %w", err)
	case unchanged(m.seen, info):
		return stricter(m.configured, m.set), nil
	}
	b, err := os.ReadFile(m.path)
	if err != nil {
		return Sandboxed, fmt.Errorf("the mode cannot be read: %w", err)
	}
	var file modeFile
	if err := json.Unmarshal(b, &file); err != nil || !slices.Contains(ModeNames(), string(file.Mode)) {
		return Sandboxed, fmt.Errorf("%s does not hold a mode; expected one of %q", m.path, ModeNames())
	}
	m.seen, m.set = info, file.Mode
	return stricter(m.configured, m.set), nil
}

// Set puts the mode into force in every running gateway, and returns the one that
// is in force then: the configured one stays where it is stricter.
func (m *Modes) Set(mode Mode) (Mode, error) {
	if !slices.Contains(ModeNames(), string(mode)) {
		return "", aai.Errorf(aai.InvalidParams, "mode: there is no mode %q; expected one of %q", aai.CleanLabel(string(mode), 60), ModeNames())
	}
	b, err := json.Marshal(modeFile{mode})
	if err != nil {
		return "", fmt.Errorf("write the mode: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(m.path), 0o700); err != nil {
		return "", fmt.Errorf("make the folder of the mode: %w", err)
	}
	if err := replaceFile(m.path, append(b, '\n')); err != nil {
		return "", fmt.Errorf("write the mode: %w", err)
	}
	return m.Current()
}

// Check admits what the mode leaves. What the mode has asked about each time is
// the Confirm gate's to ask.
func (m *Modes) Check(_ context.Context, r *aai.Request) ([]aai.Question, error) {
	if r.App.ID == aai.OwnApp {
		return nil, nil // whose gate lets agents only read
	}
	mode, err := m.Current()
	if err != nil {
		return nil, &aai.Error{
			Code: aai.PermissionDenied, Message: err.Error() + "; so only what reads is let through",
			Hint: "Ask the person at this computer to run: aai-gateway mode normal", Err: err,
		}
	}
	switch {
	case mode == Normal:
		return nil, nil
	case mode == Safe && r.Tool.Kind != aai.KindScript:
		return nil, nil
	case mode == Sandboxed && r.Effect() == aai.Reads:
		return nil, nil
	}
	e := aai.Errorf(aai.PermissionDenied, "%s of %s is blocked: this gateway is in the mode %q, in which %s",
		r.Tool.Name, r.Target.ID, mode, modeWords(mode))
	e.Hint = "Only the person at this computer can change that, with: aai-gateway mode normal"
	return nil, e
}

func modeWords(m Mode) string {
	if m == Safe {
		return "no scripts run"
	}
	return "tools only read"
}

// watchMode is how often a running gateway looks whether the mode has changed.
const watchMode = time.Second

// Watch tells the listeners whenever the mode in force has changed, until the
// context ends.
func (m *Modes) Watch(ctx context.Context) {
	was, _ := m.Current()
	ticks := time.NewTicker(watchMode)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		if is, _ := m.Current(); is != was {
			was = is
			m.tell()
		}
	}
}

// OnChange has f called when Watch has seen the mode change, until stop. After
// stop has returned f is not called again; f itself must not call stop.
func (m *Modes) OnChange(f func()) (stop func()) {
	m.telling.Lock()
	defer m.telling.Unlock()
	m.next++
	number := m.next
	m.listeners[number] = f
	return func() {
		m.telling.Lock()
		defer m.telling.Unlock()
		delete(m.listeners, number)
	}
}

func (m *Modes) tell() {
	m.telling.Lock()
	defer m.telling.Unlock()
	for _, number := range slices.Sorted(maps.Keys(m.listeners)) {
		m.listeners[number]()
	}
}
