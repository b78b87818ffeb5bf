// Package halt is how a person ends what runs: every call, those of a caller, or one
// call. What is stopped stands in a file that all gateways of the person look at, before
// each stage of each call and between the strokes of input, and that they watch, so that
// what is under way ends at once. It stays stopped until the person starts it again.
//
// The file is there only while something is stopped. One that cannot be read, or not be
// understood, stops everything: nobody knows what it was to stop. The package needs no
// bus, no screen, no index and no record. It imports the root and wholefile.
package active

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// A Stop is one thing that is stopped: everything, where it names neither a call nor a
// caller.
type Stop struct {
	Call string `json:"call,omitempty"`
	// Caller is an identity, or "mcp:" for all who have none at that door: a name is the
	// caller's own word, and it would go on under another one.
	Caller string    `json:"caller,omitempty"`
	At     time.Time `json:"at"`
	Door   string    `json:"door"` // by which it was stopped
}

// IsEverything reports whether everything is stopped.
func (s Stop) IsEverything() bool { return s.Call == "" && s.Caller == "" }

// sameScope reports whether both stop the same.
func (s Stop) sameScope(other Stop) bool { return s.Call == other.Call && s.Caller == other.Caller }

// matches reports whether it stops what is meant.
func (s Stop) matches(w aai.CallScope) bool {
	switch {
	case s.Call != "":
		return slices.Contains(w.CallIDs, s.Call)
	case s.Caller != "":
		return w.Caller.Identity == s.Caller || w.Caller.Identity == "" && w.Caller.Door+":" == s.Caller
	}
	return true
}

const (
	maxStopFile = 1 << 20
	// maxStops is how many stops the file holds; of calls the oldest go first.
	maxStops = 1000
	// callStopLifetime is how long the stop of a call is kept: no call lasts for longer.
	callStopLifetime = 24 * time.Hour
)

// StopConfig says what is stopped by what.
type StopConfig struct {
	// Path is the file; its folder has nothing else in it.
	Path string
	// Exempt reports whether a call goes on though everything is stopped, or its caller:
	// what the person needs to see what runs and to start it again. Nil: none does.
	Exempt func(aai.CallScope) bool
	// OnChange is told when what is stopped has changed; it is quick.
	OnChange func()
	Log      *slog.Logger
}

// A Halt is the person's, as one gateway sees it. It is safe for concurrent use.
type StopList struct {
	cfg StopConfig

	mu         sync.Mutex // guards what follows
	content    []byte     // as it was read last
	parsed     []Stop
	parseError error

	watching    sync.Once
	cancelWatch context.CancelFunc
	watchEnded  chan struct{}
}

// NewStopList returns what looks at the file. It touches nothing until it is asked.
func NewStopList(cfg StopConfig) *StopList {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &StopList{cfg: cfg}
}

// CheckStopped implements aai.Halt.
func (h *StopList) CheckStopped(w aai.CallScope) *aai.Error {
	h.watching.Do(h.startWatching)
	stops, err := h.Stops()
	exempt := h.cfg.Exempt != nil && h.cfg.Exempt(w)
	if err != nil {
		if exempt {
			return nil
		}
		return unreadableError(h.cfg.Path, err)
	}
	for _, s := range stops {
		if s.matches(w) && (s.Call != "" || !exempt) {
			return s.callError()
		}
	}
	return nil
}

// Stops are what is stopped now. Where it fails, everything is.
func (h *StopList) Stops() ([]Stop, error) {
	text, err := atomicfile.Read(h.cfg.Path, atomicfile.ReadLimits{Size: maxStopFile})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.content == nil || !bytes.Equal(text, h.content) {
		h.content = text
		h.parsed, h.parseError = parseStops(text)
	}
	return h.parsed, h.parseError
}

// stopDocument is what stands in the file.
type stopDocument struct {
	Stops []Stop `json:"stops"`
}

// parseStops reads the file. What it does not know it does not skip.
func parseStops(text []byte) ([]Stop, error) {
	var doc stopDocument
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&doc); err != nil {
		return nil, fmt.Errorf("expected JSON with stops: %w", err)
	}
	if d.More() || len(doc.Stops) == 0 {
		return nil, errors.New("expected JSON with at least one stop, and nothing behind it")
	}
	for i, s := range doc.Stops {
		if who := callerKey(s.Caller); who != "" {
			doc.Stops[i].Caller = who // as older gateways wrote it
		}
	}
	return doc.Stops, nil
}

// Add stops from now on what s names: a line of what acts that is written after it has
// returned is of nothing that it names.
func (h *StopList) Add(ctx context.Context, s Stop) error {
	if s.Caller != "" {
		who := callerKey(s.Caller)
		if who == "" {
			return unknownCallerError(s.Caller)
		}
		s.Caller = who
	}
	err := h.editFile(ctx, func(stops []Stop) []Stop {
		stops = slices.DeleteFunc(stops, func(other Stop) bool { return other.sameScope(s) })
		return pruneStops(append(stops, s))
	})
	if err != nil && s.IsEverything() {
		// What cannot be written down can be said with an empty file, for which there is room
		// on a disk that is full.
		if f, opened := os.OpenFile(h.cfg.Path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600); opened == nil {
			_ = f.Close() // nothing was written to it
			err = nil
		}
	}
	h.notifyChanged()
	return err
}

// pruneStops are the stops without those of calls that have ended long ago.
func pruneStops(stops []Stop) []Stop {
	stops = slices.DeleteFunc(stops, func(s Stop) bool { return s.Call != "" && time.Since(s.At) > callStopLifetime })
	for len(stops) > maxStops {
		i := slices.IndexFunc(stops, func(s Stop) bool { return s.Call != "" })
		if i < 0 {
			return []Stop{{At: stops[len(stops)-1].At, Door: stops[len(stops)-1].Door}} // more than can be told apart
		}
		stops = slices.Delete(stops, i, i+1)
	}
	return stops
}

// Remove ends the stops that the function names, and returns them. A file that cannot be
// understood is one stop of everything.
func (h *StopList) Remove(ctx context.Context, which func(Stop) bool) (ended []Stop, err error) {
	err = h.editFile(ctx, func(stops []Stop) []Stop {
		return slices.DeleteFunc(stops, func(s Stop) bool {
			if which(s) {
				ended = append(ended, s)
				return true
			}
			return false
		})
	})
	h.notifyChanged()
	if err != nil {
		return nil, err
	}
	return ended, nil
}

// editFile changes the file, one gateway at a time.
func (h *StopList) editFile(ctx context.Context, change func([]Stop) []Stop) error {
	if err := os.MkdirAll(filepath.Dir(h.cfg.Path), 0o700); err != nil {
		return fmt.Errorf("make the folder of what is stopped: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	unlock, err := atomicfile.Lock(ctx, h.cfg.Path)
	if err != nil {
		return fmt.Errorf("lock what is stopped: %w", err)
	}
	defer unlock()
	stops, bad := h.Stops()
	if bad != nil {
		stops = []Stop{{}}
	}
	left := change(slices.Clone(stops))
	if len(left) == 0 {
		if err := os.Remove(h.cfg.Path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	text, err := json.Marshal(stopDocument{left})
	if err != nil {
		return err
	}
	return atomicfile.ReplaceDurable(h.cfg.Path, append(text, '\n'))
}

// String says what is stopped.
func (s Stop) String() string {
	switch {
	case s.Call != "":
		return "the call " + aai.CleanLabel(s.Call, 100)
	case strings.HasSuffix(s.Caller, ":"):
		return "all calls by " + aai.CleanLabel(strings.TrimSuffix(s.Caller, ":"), 100) + " of callers that nobody knows for certain"
	case s.Caller != "":
		return "all calls of " + aai.CleanLabel(s.Caller, 200)
	}
	return "everything"
}

// startCommand is the command that starts it again.
func (s Stop) startCommand() string {
	switch {
	case s.Call != "":
		return sanitize.ShellJoin("aai-gateway", "start", "--call", s.Call)
	case s.Caller != "":
		return sanitize.ShellJoin("aai-gateway", "start", "--caller", s.Caller)
	}
	return "aai-gateway start"
}

// callError is the error of a call that is stopped.
func (s Stop) callError() *aai.Error {
	what := s.String()
	if s.Call != "" {
		what = "this call"
	}
	e := aai.Errorf(aai.PermissionDenied, "the person at this computer stopped %s, %s", what, formatTime(s.At))
	e.Hint = "Until the person starts it again, with " + s.startCommand() + ", every such call is refused like this one. Go on when they say so."
	if s.Call != "" {
		e.Hint = "Make it again only if the person asks for it."
	}
	return e
}

// formatTime is a moment as people read it; of one that is not known that it is not.
func formatTime(at time.Time) string {
	if at.IsZero() {
		return "at a time that is not known"
	}
	return "at " + at.Local().Format("15:04:05 on 2006-01-02")
}

// unreadableError is the error of every call while nobody knows what is stopped.
func unreadableError(path string, err error) *aai.Error {
	e := aai.Errorf(aai.PermissionDenied, "%s, which says what the person at this computer stopped, cannot be read, so everything is stopped: %w", path, err)
	e.Hint = "Until the person has looked at the file, or starts everything again with aai-gateway start, every call is refused like this one."
	return e
}
