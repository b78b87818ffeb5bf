package discovery

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// What is remembered of scans.
const (
	maxHistory   = 1 << 20 // bytes
	maxSightings = 5000
	newPeriod    = 7 * 24 * time.Hour  // how long a find is a new one
	forgetAfter  = 90 * 24 * time.Hour // after which one that was not seen again is forgotten
)

// A memory is what scans found so far, of all gateways of the person.
type scanHistory struct {
	Claimed time.Time           `json:"claimed"` // when a gateway last began to scan
	Scanned time.Time           `json:"scanned"` // when one last ended
	Began   time.Time           `json:"began"`   // the first of all: what it found is not new
	Ways    map[string]sighting `json:"ways"`
}

// A sight is when a way was seen by scans.
type sighting struct {
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
}

// parseHistory reads what is remembered. What cannot be understood is nothing.
func parseHistory(text []byte) scanHistory {
	var m scanHistory
	if err := json.Unmarshal(text, &m); err != nil || m.Ways == nil {
		return scanHistory{Ways: make(map[string]sighting)}
	}
	return m
}

// addHistory says of a report what scans have found lately.
func (r *Scanner) addHistory(report *ScanReport) {
	if r.cfg.HistoryFile == "" {
		return
	}
	text, err := atomicfile.Read(r.cfg.HistoryFile, atomicfile.ReadLimits{Size: maxHistory})
	if err != nil {
		return
	}
	m, now := parseHistory(text), r.cfg.Now()
	if m.Scanned.IsZero() {
		return
	}
	report.LastScan = &m.Scanned
	for i, w := range report.Integrations {
		s, seen := m.Ways[w.ID]
		report.Integrations[i].New = seen && s.First.After(m.Began) && now.Sub(s.First) < newPeriod
	}
}

// Watch scans from time to time until ctx ends, and says in the log what is new. Of all
// gateways that share the memory one scans, when the interval has passed since the last
// scan of any. Nothing that is found is switched on.
func (r *Scanner) Watch(ctx context.Context, interval time.Duration) {
	if interval <= 0 || r.cfg.HistoryFile == "" {
		return
	}
	rest := r.cfg.InitialDelay
	for aai.Sleep(ctx, rest) == nil {
		found, changed, next, err := r.scanIfDue(ctx, interval)
		if err != nil {
			r.cfg.Log.Warn("the scan for ways into apps could not be kept", "cause", err)
		}
		if len(found) > 0 {
			names := found[:min(len(found), 5)]
			r.cfg.Log.Info("new ways into apps were found; nothing was switched on: aai-gateway discover", "ways", len(found), "such as", names)
		}
		if len(changed) > 0 {
			r.cfg.Log.Info("what apps were made of has changed; the apps are as they were: aai-gateway discover", "apps", len(changed), "such as", changed[:min(len(changed), 5)])
		}
		rest = max(next, r.cfg.InitialDelay)
	}
}

// scanIfDue looks, if no gateway has within the interval, and remembers. It returns the names of
// what is new, the apps whose sources have changed since the scan before, and when to come again.
func (r *Scanner) scanIfDue(ctx context.Context, interval time.Duration) (found, changed []string, next time.Duration, err error) {
	next = interval
	mine := false
	limits := atomicfile.ReadLimits{Size: maxHistory}
	err = atomicfile.Update(ctx, r.cfg.HistoryFile, limits, func(old []byte) ([]byte, error) {
		m, now := parseHistory(old), r.cfg.Now()
		if since := now.Sub(m.Claimed); since >= 0 && since < interval {
			next = interval - since
			return old, nil
		}
		mine, m.Claimed = true, now
		return json.Marshal(m)
	})
	if err != nil || !mine {
		return nil, nil, next, err
	}
	report := r.Scan(ctx) // one that was cut short keeps what it saw
	err = atomicfile.Update(ctx, r.cfg.HistoryFile, limits, func(old []byte) ([]byte, error) {
		m := parseHistory(old)
		found, changed = m.add(report, r.cfg.Now()), m.addChanged(report.changed, r.cfg.Now())
		return json.Marshal(m)
	})
	return found, changed, next, err
}

// add remembers what a scan found, and returns what is new.
func (m *scanHistory) add(report *ScanReport, now time.Time) (found []string) {
	first := m.Began.IsZero()
	if first {
		m.Began = now
	}
	m.Scanned = now
	for id, s := range m.Ways {
		if now.Sub(s.Last) > forgetAfter {
			delete(m.Ways, id)
		}
	}
	for _, w := range report.Integrations {
		s, seen := m.Ways[w.ID]
		switch {
		case !seen && len(m.Ways) >= maxSightings:
			continue
		case !seen:
			s.First = now
			if !first {
				found = append(found, fmt.Sprintf("%s (%s)", w.App, w.Kind))
			}
		}
		s.Last = now
		m.Ways[w.ID] = s
	}
	return found
}
