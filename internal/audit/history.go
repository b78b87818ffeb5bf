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
	"github.com/gybob/aai-gateway/internal/answer"
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

// History returns the calls that match the filter, newest first. A journal that does not
// exist yet has no calls. Invalid lines are skipped. History uses the index, or, if the
// index is unavailable, reads the files.
func (j *Journal) History(ctx context.Context, f Filter) ([]answer.CallRecord, error) {
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
func (j *Journal) scanFiles(ctx context.Context, f Filter) ([]answer.CallRecord, error) {
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
	var found []answer.CallRecord
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

func (f Filter) passes(p *answer.CallRecord) bool {
	return (f.App == "" || f.App == p.App || f.App == p.Target) &&
		(f.Tool == "" || f.Tool == p.Tool) &&
		(f.Call == "" || f.Call == p.Call) &&
		(f.Parent == "" || f.Parent == p.Parent) &&
		(f.Result == "" || slices.Contains(resultTexts(p), strings.ToLower(f.Result))) &&
		(f.Caller == "" || strings.Contains(callerText(p), strings.ToLower(f.Caller))) &&
		(f.Since.IsZero() || !p.Time.Before(f.Since)) &&
		(f.Until.IsZero() || p.Time.Before(f.Until)) &&
		(!f.ExcludePageReads || !isPageRead(p)) &&
		(f.Text == "" || containsAll(recordWords(p), f.phrases()))
}

// isPageRead reports whether the dashboard made the call to read from the gateway itself.
func isPageRead(p *answer.CallRecord) bool {
	return p.Door == aai.DoorWeb && p.App == aai.BuiltinApp && p.Effect == aai.Reads.String()
}

// resultTexts returns the texts that Filter.Result is compared with.
func resultTexts(p *answer.CallRecord) []string {
	found := []string{strings.ToLower(p.Result)}
	for code := range p.Codes {
		found = append(found, strings.ToLower(code))
	}
	return found
}

// callerText returns the text that Filter.Caller is searched in.
func callerText(p *answer.CallRecord) string {
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
	calls []*answer.CallRecord          // in the order of their first lines
	open  map[string]*answer.CallRecord // those without an outcome
	// known finds an earlier call without an outcome; may be nil.
	known func(call string) *answer.CallRecord
}

func newRecordAssembler(known func(string) *answer.CallRecord) *recordAssembler {
	return &recordAssembler{open: make(map[string]*answer.CallRecord), known: known}
}

// A readLine is a decoded line.
type readLine struct {
	line
	refusalLine
	Args   json.RawMessage `json:"args"`
	Answer json.RawMessage `json:"answer"`
}

// add decodes one line, and returns its call. It returns nil for a line that is no entry.
func (j *recordAssembler) add(b []byte) (p *answer.CallRecord) {
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
		mergeLine(p, &l)
	case aai.Outcome:
		p = j.found(&l, began(when, l.Millis))
		mergeLine(p, &l)
		if l.Result != answer.ResultOK && l.On == (recordedElement{}) {
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
func (j *recordAssembler) found(l *readLine, came time.Time) *answer.CallRecord {
	p := j.find(l.Call)
	if p == nil {
		p = &answer.CallRecord{Time: came, Call: l.Call, Parent: l.Parent, Door: l.Door, Caller: l.Caller, Identity: l.Identity, App: l.App, Tool: l.Tool, Result: answer.ResultUnknown}
		j.open[l.Call] = p
		j.calls = append(j.calls, p)
	}
	return p
}

// mergeLine adds a line's facts to the call. Of the effect, the consent and the arguments the
// first ones count; of the apps and the element the last ones.
func mergeLine(p *answer.CallRecord, l *readLine) {
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
func (j *recordAssembler) find(call string) *answer.CallRecord {
	p := j.open[call]
	if p == nil && j.known != nil {
		if p = j.known(call); p != nil {
			j.open[call] = p
		}
	}
	return p
}
