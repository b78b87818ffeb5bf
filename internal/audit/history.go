package audit

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
)

// timeFormat sorts as text, unlike time.RFC3339Nano, which drops trailing zeros.
const timeFormat = "2006-01-02T15:04:05.000000000Z07:00"

// maxLine is the maximum length of a readable line, in bytes.
const maxLine = 1 << 20

// A Filter selects the calls that History returns. Empty fields match all calls.
type Filter struct {
	App, Tool        string    // exact; App also matches the target
	Caller           string    // part of the caller's name or its door, ignoring case
	Result           string    // "ok", "unknown", "refused" or an error code, ignoring case
	Since            time.Time // received at or after
	Until            time.Time // received before
	Call             string    // the ID of a call
	Before           string    // calls older than the one with this ID, for the next page; none if it is unknown
	Parent           string    // the calls that this call made
	Text             string    // the first maxWords words of the call include all these, or words with these prefixes
	Limit            int       // the maximum number of the newest calls; zero means 50
	ExcludePageReads bool      // without reads of the gateway's own app by the dashboard
}

// isEmpty reports whether the filter, except for its limit, matches all calls.
func (f Filter) isEmpty() bool {
	f.Limit = 0
	return f == Filter{}
}

// maxCalls returns the maximum number of calls.
func (f Filter) maxCalls() int {
	if f.Limit <= 0 {
		return 50
	}
	return f.Limit
}

// A CallRecord is one call in the history, or a summary of refused calls.
type CallRecord struct {
	Time     time.Time         `json:"time"`
	Call     string            `json:"call"`
	Parent   string            `json:"parent,omitempty"`
	Door     string            `json:"door"`
	Caller   string            `json:"caller"`             // the self-reported name
	Identity string            `json:"identity,omitempty"` // the verified identity, if known
	App      string            `json:"app"`
	Tool     string            `json:"tool"`
	Target   string            `json:"target,omitempty"` // the target app, if it is not App
	On       aai.TargetElement `json:"on,omitzero"`      // the element in the target, such as a button
	Effect   string            `json:"effect,omitempty"`
	Consent  string            `json:"consent,omitempty"`
	Args     json.RawMessage   `json:"args,omitempty"`
	// Answer is the call's result, if the journal keeps it.
	Answer json.RawMessage `json:"answer,omitempty"`
	// Result is "ok", an error code, or "unknown" for a call without an outcome: it is
	// still running, or the gateway ended first. It is "refused" for a summary of Count
	// calls of one caller, none of which ran. Codes then counts the calls by error code;
	// Time and Until are the times of the first and the last.
	Result  string         `json:"result"`
	Message string         `json:"message,omitempty"`
	Millis  float64        `json:"ms"`
	Count   int            `json:"count,omitempty"`
	Codes   map[string]int `json:"codes,omitempty"`
	Until   time.Time      `json:"until,omitzero"`
}

// refusedResult is the result of a summary of refused calls.
const refusedResult = "refused"

// unknownResult is the result of a call that has no outcome.
const unknownResult = "unknown"

// History returns the calls that match the filter, newest first. A journal that does not
// exist yet has no calls. Invalid lines are skipped. History uses the index, or, if the
// index is unavailable, reads the files.
func (j *Journal) History(ctx context.Context, f Filter) ([]CallRecord, error) {
	if err := j.writeRefusals(); err != nil {
		j.warn(err)
	}
	files, err := j.files()
	if err != nil || len(files) == 0 {
		return nil, err
	}
	found, err := j.searchIndex(ctx, f)
	if err == nil || ctx.Err() != nil {
		return found, err
	}
	j.warn(fmt.Errorf("the index of the history: %w", err))
	return j.scanFiles(ctx, f)
}

// scanFiles is History without the index: it reads all files.
func (j *Journal) scanFiles(ctx context.Context, f Filter) ([]CallRecord, error) {
	seen, err := j.openSnapshot(false)
	if err != nil {
		return nil, err
	}
	defer seen.close()
	joined := newRecordAssembler(nil)
	for _, file := range seen.files {
		_, err := readLines(ctx, io.NewSectionReader(file.file, 0, file.size), func(b []byte, _ int64) {
			if file.includes(b) {
				joined.add(b)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	var found []CallRecord
	older := f.Before == ""
	for _, c := range slices.Backward(joined.calls) {
		if len(found) == f.maxCalls() {
			break
		}
		if older && f.passes(c) {
			found = append(found, *c)
		}
		older = older || c.Call == f.Before
	}
	return found, nil
}

func (f Filter) passes(p *CallRecord) bool {
	return (f.App == "" || f.App == p.App || f.App == p.Target) &&
		(f.Tool == "" || f.Tool == p.Tool) &&
		(f.Call == "" || f.Call == p.Call) &&
		(f.Parent == "" || f.Parent == p.Parent) &&
		(f.Result == "" || slices.Contains(p.resultTexts(), strings.ToLower(f.Result))) &&
		(f.Caller == "" || strings.Contains(p.callerText(), strings.ToLower(f.Caller))) &&
		(f.Since.IsZero() || !p.Time.Before(f.Since)) &&
		(f.Until.IsZero() || p.Time.Before(f.Until)) &&
		(!f.ExcludePageReads || !p.isPageRead()) &&
		(f.Text == "" || containsAll(p.words(), f.phrases()))
}

// isPageRead reports whether the dashboard made the call to read from the gateway itself.
func (p *CallRecord) isPageRead() bool {
	return p.Door == aai.DoorWeb && p.App == aai.BuiltinApp && p.Effect == aai.Reads.String()
}

// resultTexts returns the texts that Filter.Result is compared with.
func (p *CallRecord) resultTexts() []string {
	found := []string{strings.ToLower(p.Result)}
	for code := range p.Codes {
		found = append(found, strings.ToLower(code))
	}
	return found
}

// callerText returns the text that Filter.Caller is searched in.
func (p *CallRecord) callerText() string {
	return strings.ToLower(p.Door + ":" + p.Caller + " " + p.Identity)
}

// readLines passes each line and its offset to add, except lines that are too long, and
// returns the number of bytes read. A last line without a newline counts if it is
// complete.
func readLines(ctx context.Context, r io.Reader, add func(line []byte, offset int64)) (read int64, err error) {
	lines := bufio.NewReaderSize(r, maxLine)
	var long int64 // bytes so far of a line that is too long
	for ended := false; !ended; {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		b, err := lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			long += int64(len(b))
			continue
		}
		ended = errors.Is(err, io.EOF)
		if err != nil && !ended {
			return 0, fmt.Errorf("read the journal: %w", err)
		}
		if ended && (long > 0 || !json.Valid(b)) {
			break // the rest may be written later
		}
		if long == 0 {
			add(b, read)
		}
		read += long + int64(len(b))
		long = 0
	}
	return read, nil
}

// A recordAssembler combines lines into calls.
type recordAssembler struct {
	calls []*CallRecord          // in the order of their first lines
	open  map[string]*CallRecord // those without an outcome
	// known finds an earlier call without an outcome; may be nil.
	known func(call string) *CallRecord
}

func newRecordAssembler(known func(string) *CallRecord) *recordAssembler {
	return &recordAssembler{open: make(map[string]*CallRecord), known: known}
}

// A readLine is a decoded line.
type readLine struct {
	line
	refusalLine
	Args   json.RawMessage `json:"args"`
	Answer json.RawMessage `json:"answer"`
}

// add decodes one line, and returns its call. It returns nil for a line that is no entry.
func (j *recordAssembler) add(b []byte) (p *CallRecord) {
	var l readLine
	if json.Unmarshal(b, &l) != nil || l.Call == "" {
		return nil
	}
	when, err := time.Parse(timeFormat, l.Time)
	when = when.UTC()
	if err != nil || when.Year() < 1 {
		return nil
	}
	switch l.Kind {
	case aai.Received, aai.Intent:
		p = j.found(&l, when)
		p.merge(&l)
	case aai.Outcome:
		p = j.found(&l, began(when, l.Millis))
		p.merge(&l)
		if l.Result != succeeded && l.On == (recordedElement{}) {
			p.On = aai.TargetElement{} // the intended element
		}
		p.Result, p.Message, p.Millis, p.Answer = l.Result, l.Message, l.Millis, l.Answer
		delete(j.open, l.Call)
	case refusedKind:
		p = l.refusalRecord(when)
		j.calls = append(j.calls, p)
	}
	return p
}

// longestCall is the longest plausible duration of a call, in milliseconds.
const longestCall = 1e9

// began returns the start of a call that ended at ended, after ms milliseconds.
func began(ended time.Time, ms float64) time.Time {
	if ms < 0 || ms > longestCall {
		return ended
	}
	if t := ended.Add(-time.Duration(ms * float64(time.Millisecond))); t.Year() >= 1 {
		return t
	}
	return ended
}

// found returns the record of the call that l belongs to. If there is none yet, found adds one
// with the time came.
func (j *recordAssembler) found(l *readLine, came time.Time) *CallRecord {
	p := j.find(l.Call)
	if p == nil {
		p = &CallRecord{Time: came, Call: l.Call, Parent: l.Parent, Door: l.Door, Caller: l.Caller, Identity: l.Identity, App: l.App, Tool: l.Tool, Result: unknownResult}
		j.open[l.Call] = p
		j.calls = append(j.calls, p)
	}
	return p
}

// merge adds a line's facts to the call. Of the effect, the consent and the arguments the
// first ones count; of the apps and the element the last ones.
func (p *CallRecord) merge(l *readLine) {
	if l.Kind != aai.Received && l.App != "" {
		p.App = l.App
	}
	if l.Target != l.App && l.Target != "" {
		p.Target = l.Target
	}
	p.On = cmp.Or(aai.TargetElement(l.On), p.On)
	if p.Effect == "" && l.Effect != "" {
		p.Effect, p.Consent, p.Args = l.Effect, l.Consent, l.Args
	}
}

// find returns the call with that ID if it has no outcome yet, or else nil.
func (j *recordAssembler) find(call string) *CallRecord {
	p := j.open[call]
	if p == nil && j.known != nil {
		if p = j.known(call); p != nil {
			j.open[call] = p
		}
	}
	return p
}
