package discovery

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// Limits on the scan history.
const (
	maxHistory   = 1 << 20 // bytes
	maxSightings = 5000
	newPeriod    = 7 * 24 * time.Hour  // time during which an integration counts as new
	forgetAfter  = 90 * 24 * time.Hour // time after which an integration not seen again is removed
)

// A scanHistory records the findings of earlier scans by all gateways of the person.
type scanHistory struct {
	Claimed time.Time           `json:"claimed"` // begin of the last scan
	Scanned time.Time           `json:"scanned"` // end of the last scan
	Began   time.Time           `json:"began"`   // first scan; its integrations are not new
	Ways    map[string]sighting `json:"ways"`
}

// A sighting records when scans saw an integration.
type sighting struct {
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
}

// parseHistory decodes a history; an invalid one becomes empty.
func parseHistory(text []byte) scanHistory {
	var m scanHistory
	if err := json.Unmarshal(text, &m); err != nil || m.Ways == nil {
		return scanHistory{Ways: make(map[string]sighting)}
	}
	return m
}

// addHistory sets the time of the last scan, and marks integrations that were first found recently.
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

// Watch scans at intervals until ctx ends, and logs new integrations. Of all gateways that share the history only one
// scans, when interval has passed since the last scan. Watch enables no integration. It needs HistoryFile and a
// positive interval.
func (r *Scanner) Watch(ctx context.Context, interval time.Duration) {
	if interval <= 0 || r.cfg.HistoryFile == "" {
		return
	}
	rest := r.cfg.InitialDelay
	for aai.Sleep(ctx, rest) == nil {
		found, changed, next, err := r.scanIfDue(ctx, interval)
		if err != nil {
			r.cfg.Log.Warn("the scan for integrations could not be saved", "cause", err)
		}
		if len(found) > 0 {
			names := found[:min(len(found), 5)]
			r.cfg.Log.Info("new integrations of apps were found; none was enabled: aai-gateway discover", "ways", len(found),
				"such as", names)
		}
		if len(changed) > 0 {
			r.cfg.Log.Info("sources of apps have changed; the apps are unchanged: aai-gateway discover", "apps", len(changed),
				"such as", changed[:min(len(changed), 5)])
		}
		rest = max(next, r.cfg.InitialDelay)
	}
}

// scanIfDue scans unless another gateway did so within the interval, and saves the history. It returns
// new integrations, apps with newly changed sources, and the delay before the next attempt.
func (r *Scanner) scanIfDue(ctx context.Context,
	interval time.Duration) (found, changed []string, next time.Duration, err error) {
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
	report := r.Scan(ctx) // an interrupted scan keeps its findings
	err = atomicfile.Update(ctx, r.cfg.HistoryFile, limits, func(old []byte) ([]byte, error) {
		m := parseHistory(old)
		found, changed = m.add(report, r.cfg.Now()), m.addChanged(report.changed, r.cfg.Now())
		return json.Marshal(m)
	})
	return found, changed, next, err
}

// add records the findings of a scan, and returns the new ones for the log. The first scan has none.
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
