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
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// sameScope reports whether both stop the same calls.
func sameScope(s, other answer.Stop) bool { return s.Call == other.Call && s.Caller == other.Caller }

// matches reports whether the stop applies to the call.
func matches(s answer.Stop, w gateway.CallScope) bool {
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
	// maxStops is the maximum number of stops; the oldest stops of single calls are removed
	// first.
	maxStops = 1000
	// callStopLifetime is the lifetime of a single call's stop: no call takes longer.
	callStopLifetime = 24 * time.Hour
)

// StopConfig configures a StopList.
type StopConfig struct {
	// Path is the file of the stops; its folder contains nothing else.
	Path string
	// Exempt reports whether a call continues despite a stop of everything or of its caller, such
	// as the tools that list and start calls. Nil exempts none.
	Exempt func(gateway.CallScope) bool
	// OnChange is called after a change of the stops; it must be quick.
	OnChange func()
	Log      *slog.Logger
}

// A StopList is one gateway's view of the person's stops. It is safe for concurrent use.
type StopList struct {
	cfg StopConfig

	mu         sync.Mutex // guards the fields below
	content    []byte     // as of the last read
	parsed     []answer.Stop
	parseError error

	watching    sync.Once
	cancelWatch context.CancelFunc
	watchEnded  chan struct{}
}

// NewStopList returns a StopList, which touches no file until its first use.
func NewStopList(cfg StopConfig) *StopList {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &StopList{cfg: cfg}
}

// CheckStopped implements gateway.StopChecker.
func (h *StopList) CheckStopped(w gateway.CallScope) *aai.Error {
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
		if matches(s, w) && (s.Call != "" || !exempt) {
			return callError(s)
		}
	}
	return nil
}

// Stops returns the current stops. An error means that everything is stopped.
func (h *StopList) Stops() ([]answer.Stop, error) {
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

// stopDocument is the content of the file.
type stopDocument struct {
	Stops []answer.Stop `json:"stops"`
}

// parseStops parses the file. Unknown fields are an error.
func parseStops(text []byte) ([]answer.Stop, error) {
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
			doc.Stops[i].Caller = who // written by older gateways
		}
	}
	return doc.Stops, nil
}

// Add adds a stop. After it has returned, no gateway records the intent of a call that the stop
// covers.
func (h *StopList) Add(ctx context.Context, s answer.Stop) error {
	if s.Caller != "" {
		who := callerKey(s.Caller)
		if who == "" {
			return unknownCallerError(s.Caller)
		}
		s.Caller = who
	}
	err := h.editFile(ctx, func(stops []answer.Stop) []answer.Stop {
		stops = slices.DeleteFunc(stops, func(other answer.Stop) bool { return sameScope(other, s) })
		return pruneStops(append(stops, s))
	})
	if err != nil && s.IsEverything() {
		// An empty file stops everything, and can be written even if the disk is full.
		if f, opened := os.OpenFile(h.cfg.Path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600); opened == nil {
			_ = f.Close() // nothing was written to it
			err = nil
		}
	}
	h.notifyChanged()
	return err
}

// pruneStops removes expired stops of single calls, and the oldest above maxStops.
func pruneStops(stops []answer.Stop) []answer.Stop {
	stops = slices.DeleteFunc(stops, func(s answer.Stop) bool { return s.Call != "" && time.Since(s.At) > callStopLifetime })
	for len(stops) > maxStops {
		i := slices.IndexFunc(stops, func(s answer.Stop) bool { return s.Call != "" })
		if i < 0 {
			return []answer.Stop{{At: stops[len(stops)-1].At, Door: stops[len(stops)-1].Door}} // too many to list: stop everything
		}
		stops = slices.Delete(stops, i, i+1)
	}
	return stops
}

// Remove removes the stops for which the function returns true, and returns them. A file that
// cannot be parsed counts as one stop of everything.
func (h *StopList) Remove(ctx context.Context, which func(answer.Stop) bool) (ended []answer.Stop, err error) {
	err = h.editFile(ctx, func(stops []answer.Stop) []answer.Stop {
		return slices.DeleteFunc(stops, func(s answer.Stop) bool {
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

// editFile changes the file under a lock across gateways.
func (h *StopList) editFile(ctx context.Context, change func([]answer.Stop) []answer.Stop) error {
	if err := os.MkdirAll(filepath.Dir(h.cfg.Path), 0o700); err != nil {
		return fmt.Errorf("make the folder of the stop list: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	unlock, err := atomicfile.Lock(ctx, h.cfg.Path)
	if err != nil {
		return fmt.Errorf("lock the stop list: %w", err)
	}
	defer unlock()
	stops, bad := h.Stops()
	if bad != nil {
		stops = []answer.Stop{{}}
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

// callError returns the error of a stopped call.
func callError(s answer.Stop) *aai.Error {
	what := s.String()
	if s.Call != "" {
		what = "this call"
	}
	e := aai.Errorf(aai.PermissionDenied, "the person at this computer stopped %s, %s", what, formatTime(s.At))
	e.Hint = "Until the person starts it again, with " + s.StartCommand() + ", every such call is refused. Continue when the person says so."
	if s.Call != "" {
		e.Hint = "Make it again only if the person asks for it."
	}
	return e
}

// formatTime formats a time for people, including an unknown one.
func formatTime(at time.Time) string {
	if at.IsZero() {
		return "at an unknown time"
	}
	return "at " + at.Local().Format("15:04:05 on 2006-01-02")
}

// unreadableError returns the error of every call while the stops are unknown.
func unreadableError(path string, err error) *aai.Error {
	e := aai.Errorf(aai.PermissionDenied, "%s, the person's list of stopped calls, cannot be read, so everything is stopped: %w", path, err)
	e.Hint = "Until the person has looked at the file, or starts everything again with aai-gateway start, every call is refused like this one."
	return e
}
