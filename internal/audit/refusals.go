package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

// A caller with many refused calls must not fill the journal. For each caller a limited
// number of refused calls a minute is written one by one; the rest is counted, and written
// every few seconds as a summary. None of these calls ran, so no action is missing from
// the record. A killed process loses its counts since the last summary.
//
// A durable refusal may be followed by a question to the person. A person cannot answer
// maxQuestionRefusalsWritten questions a minute; further refusals are counted too.
const (
	maxRefusalsWritten         = 20
	maxQuestionRefusalsWritten = 60
	refusalWindow              = time.Minute
	refusalInterval            = 5 * time.Second
)

// Limits for memory: further callers are counted as one for each door, further codes as
// one.
const (
	maxRefusalCallers = 64
	maxRefusalCodes   = 40
	othersName        = "(others)"
	othersCode        = "OTHERS"
)

// refusalCounter counts the refused calls that are not written yet. The timer exists only
// while there are some.
type refusalCounter struct {
	mu       sync.Mutex
	interval time.Duration // refusalInterval
	callers  map[aai.Caller]*callerRefusals
	pending  bool
	timer    *time.Timer

	writing sync.Mutex // held while the summaries are written
}

// callerRefusals counts one caller's refusals.
type callerRefusals struct {
	window  time.Time // start of the window
	written int       // in the window
	asked   int       // durable ones written in the window
	refusalCount
}

// refusalCount summarizes refused calls that are not written.
type refusalCount struct {
	count       int
	first, last time.Time
	codes       map[string]int
}

func (r *refusalCount) add(more refusalCount) {
	if r.count == 0 || more.first.Before(r.first) {
		r.first = more.first
	}
	if r.count == 0 || more.last.After(r.last) {
		r.last = more.last
	}
	r.count += more.count
	if r.codes == nil {
		r.codes = make(map[string]int)
	}
	for code, n := range more.codes {
		if _, known := r.codes[code]; !known && len(r.codes) >= maxRefusalCodes {
			code = othersCode
		}
		r.codes[code] += n
	}
}

// countRefusal counts an entry that need not be written, and reports whether it did. It
// never counts a call with an earlier line, which names its caller, because its outcome
// must be on record. It counts none while the journal is not writable: a successful Record
// implies that it is.
func (j *Journal) countRefusal(e *aai.Entry) bool {
	if e.Kind != aai.Outcome || e.Ran || e.Code == "" || e.Caller == (aai.Caller{}) ||
		e.Code == aai.RecordFailed || j.failing.Load() {
		return false
	}
	f, now := &j.folds, j.now()
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.refusalsOf(e.Caller, now)
	if age := now.Sub(r.window); age < 0 || age >= refusalWindow {
		r.window, r.written, r.asked = now, 0, 0
	}
	written, most := &r.written, maxRefusalsWritten
	if e.Durable {
		written, most = &r.asked, maxQuestionRefusalsWritten
	}
	if *written < most {
		*written++
		return false
	}
	r.add(refusalCount{1, e.Time, e.Time, map[string]int{string(e.Code): 1}})
	f.scheduleWrite(j)
	return true
}

// refusalsOf returns the counts of a caller, or, with too many callers, those that the
// further callers of its door share.
func (f *refusalCounter) refusalsOf(caller aai.Caller, now time.Time) *callerRefusals {
	if r := f.callers[caller]; r != nil {
		return r
	}
	if f.callers == nil {
		f.callers = make(map[aai.Caller]*callerRefusals)
	}
	if len(f.callers) >= maxRefusalCallers {
		for known, r := range f.callers {
			if age := now.Sub(r.window); r.count == 0 && (age < 0 || age >= refusalWindow) {
				delete(f.callers, known)
			}
		}
	}
	if len(f.callers) >= maxRefusalCallers {
		caller = aai.Caller{Door: caller.Door, Name: othersName}
		if r := f.callers[caller]; r != nil {
			return r
		}
	}
	r := &callerRefusals{window: now}
	f.callers[caller] = r
	return r
}

// scheduleWrite schedules the next summary.
func (f *refusalCounter) scheduleWrite(j *Journal) {
	if f.pending {
		return
	}
	f.pending = true
	f.timer = time.AfterFunc(f.interval, func() {
		if err := j.writeRefusals(); err != nil {
			j.warn(err)
			f.mu.Lock()
			defer f.mu.Unlock()
			f.scheduleWrite(j)
		}
	})
}

// writeRefusals writes a summary for each caller with counted refusals. Refusals that
// cannot be written stay counted.
func (j *Journal) writeRefusals() error {
	f := &j.folds
	f.writing.Lock()
	defer f.writing.Unlock()
	f.mu.Lock()
	if f.timer != nil {
		f.timer.Stop()
	}
	f.pending, f.timer = false, nil
	taken := make(map[aai.Caller]refusalCount)
	for caller, r := range f.callers {
		if r.count > 0 {
			taken[caller] = r.refusalCount
			r.refusalCount = refusalCount{}
		}
	}
	f.mu.Unlock()
	var errs []error
	for caller, r := range taken {
		if err := j.writeRefusalsOf(caller, r); err != nil {
			errs = append(errs, fmt.Errorf("record %d refused calls: %w", r.count, err))
			f.mu.Lock()
			f.refusalsOf(caller, j.now()).add(r)
			f.mu.Unlock()
		}
	}
	return errors.Join(errs...)
}

func (j *Journal) writeRefusalsOf(caller aai.Caller, r refusalCount) error {
	text, err := json.Marshal(struct {
		line
		refusalLine
	}{
		line{
			Boot: j.bootName(), Time: j.now().UTC().Format(timeFormat), Kind: refusedKind, Call: aai.NewCallID(),
			Door: caller.Door, Caller: caller.Name, Session: caller.Session, Principal: caller.Principal, Identity: caller.Identity,
		},
		refusalLine{r.count, r.first.UTC().Format(timeFormat), r.last.UTC().Format(timeFormat), r.codes},
	})
	if err != nil {
		return err
	}
	_, err = j.append(&pendingEntry{text: text[1 : len(text)-1]})
	return err
}

// refusedKind is the kind of a summary of refused calls.
const refusedKind = "refused"

// refusalLine holds the fields of a summary in addition to its caller, time and call ID.
// Times are as in line.
type refusalLine struct {
	Count int            `json:"count"`
	Since string         `json:"since"`
	Until string         `json:"until"`
	Codes map[string]int `json:"codes"`
}

// refusalRecord returns the record of a summary that was written at that time.
func (l *readLine) refusalRecord(written time.Time) *answer.CallRecord {
	p := &answer.CallRecord{
		Time: written, Call: l.Call, Door: l.Door, Caller: l.Caller, Identity: l.Identity, Result: answer.ResultRefused,
		Count: l.Count, Codes: l.Codes, Until: written,
	}
	if t, err := time.Parse(timeFormat, l.Since); err == nil && t.Year() >= 1 {
		p.Time = t.UTC()
	}
	if t, err := time.Parse(timeFormat, l.Until); err == nil && t.Year() >= 1 {
		p.Until = t.UTC()
	}
	return p
}
