package reauth

import (
	"context"
	"encoding/json"
	"maps"
	"time"

	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// Limits on questions that a start of the gateway causes.
const (
	askInterval = 24 * time.Hour // between two questions about a setting of one source
	maxAsked    = 3              // questions in an interval, about all settings
)

// An AskLog is the file that records when a start of the gateway last asked the person about a setting, so that a
// program that starts the gateway again and again cannot ask each time.
type AskLog struct {
	path string
	now  func() time.Time
}

// NewAskLog returns the AskLog in the file.
func NewAskLog(path string) *AskLog { return &AskLog{path, time.Now} }

// Begin reports whether the person may be asked about the setting now, and records the question. An unreadable file
// counts as empty and is replaced. If the file cannot be written, the person is not asked.
func (l *AskLog) Begin(ctx context.Context, setting Setting) (bool, error) {
	allowed := false
	err := atomicfile.Update(ctx, l.path, atomicfile.ReadLimits{Size: maxFile}, func(old []byte) ([]byte, error) {
		asked, now := make(map[string]time.Time), l.now()
		if json.Unmarshal(old, &asked) != nil {
			asked = make(map[string]time.Time)
		}
		maps.DeleteFunc(asked, func(_ string, at time.Time) bool { return now.Sub(at) >= askInterval })
		_, before := asked[setting.name()]
		if allowed = !before && len(asked) < maxAsked; allowed {
			asked[setting.name()] = now
		}
		return json.Marshal(asked)
	})
	return allowed && err == nil, err
}
