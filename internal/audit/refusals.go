package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
)

// A caller that is refused again and again must not fill the journal. Of each caller
// so many refused calls a minute are written one by one; the rest are counted, and
// told every few seconds while it lasts. Nothing of them ran, so nothing that is not
// on record has happened; a process that is killed loses what it counted since.
//
// A refusal that must be on disk is one of which a person may then be asked. Nobody can be
// asked so often in a minute as foldAsked says; what comes beyond is counted too.
const (
	maxRefusalsWritten         = 20
	maxQuestionRefusalsWritten = 60
	refusalWindow              = time.Minute
	refusalInterval            = 5 * time.Second
)

// foldCallers and foldCodes bound what is remembered: callers beyond count as one for
// each door, codes as one.
const (
	maxRefusalCallers = 64
	maxRefusalCodes   = 40
	othersName        = "(others)"
	othersCode        = "OTHERS"
)

// refusalCounter are the refused calls that were not written yet. The timer is there only
// while there are some.
type refusalCounter struct {
	mu       sync.Mutex
	interval time.Duration // foldEvery
	callers  map[aai.Caller]*callerRefusals
	pending  bool
	timer    *time.Timer

	writing sync.Mutex // held by whoever writes them
}

// callerRefusals are one caller's.
type callerRefusals struct {
	window  time.Time // when it began
	written int       // in it
	asked   int       // in it, of those that must be on disk
	refusalCount
}

// refusalCount are calls that were refused and not written.
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

// countRefusal counts an entry that need not be written, and reports whether it did. A call
// with an earlier line, which names its caller, is never counted: its end is on record.
// Nor is anything while the journal cannot be written: who hears that an entry was
// recorded takes that for a proof that it can.
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

// refusalsOf finds a caller's refusals.
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

// scheduleWrite sees to it that what was counted is told.
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

// writeRefusals writes a line for each caller of whom refused calls were counted. What cannot
// be written is counted still.
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

// refusedKind is the kind of a line that stands for many refused calls.
const refusedKind = "refused"

// refusalLine is what such a line has beside its caller, its time and an id as calls
// have one. Times are as in line.
type refusalLine struct {
	Count int            `json:"count"`
	Since string         `json:"since"`
	Until string         `json:"until"`
	Codes map[string]int `json:"codes"`
}

// refusalRecord is the row of such a line, which was written at that time.
func (l *readLine) refusalRecord(written time.Time) *CallRecord {
	p := &CallRecord{
		Time: written, Call: l.Call, Door: l.Door, Caller: l.Caller, Identity: l.Identity, Result: refusedResult,
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
