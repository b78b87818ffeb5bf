package journal

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

	"aai"
)

// timeFormat sorts as text, unlike time.RFC3339Nano, which drops trailing zeros.
const timeFormat = "2006-01-02T15:04:05.000000000Z07:00"

// maxLine is the longest line that reading understands, in bytes.
const maxLine = 1 << 20

// A Filter says which calls History returns. Empty fields let everything pass.
type Filter struct {
	App, Tool string    // exact; App is also what the call touched
	Caller    string    // part of the caller's name or its door, ignoring case
	Result    string    // "ok", or an error code, ignoring case
	Since     time.Time // received at or after
	Until     time.Time // received before
	Call      string    // that call alone
	Before    string    // older than that call, for the next page; of an unknown call there is none
	Parent    string    // those that this call made
	Text      string    // has all these words, or such as begin so, in its first words
	Limit     int       // the newest so many; zero means 50
	Unwatched bool      // without what the web page looked at, of the gateway's own app
}

// all reports whether the filter, but for its limit, lets everything pass.
func (f Filter) all() bool {
	f.Limit = 0
	return f == Filter{}
}

// limit is how many calls there may be at most.
func (f Filter) limit() int {
	if f.Limit <= 0 {
		return 50
	}
	return f.Limit
}

// A Past is one call of the past.
type Past struct {
	Time    time.Time       `json:"time"`
	Call    string          `json:"call"`
	Parent  string          `json:"parent,omitempty"`
	Door    string          `json:"door"`
	Caller  string          `json:"caller"`             // what it calls itself
	Who     string          `json:"identity,omitempty"` // who it is for certain, where that is known
	App     string          `json:"app"`
	Tool    string          `json:"tool"`
	Target  string          `json:"target,omitempty"` // what the call touched, where that is not the app
	On      aai.Hit         `json:"on,omitzero"`      // and what in it, such as a button
	Effect  string          `json:"effect,omitempty"`
	Consent string          `json:"consent,omitempty"`
	Args    json.RawMessage `json:"args,omitempty"`
	// Answer is what it answered, if the journal keeps that.
	Answer json.RawMessage `json:"answer,omitempty"`
	// Result is "ok", an error code, or "unknown" for a call that has no outcome:
	// it is still running, or the gateway ended before it did. It is "refused" for
	// Count calls of one caller, none of which ran, that were not written one by one:
	// Codes says how often each was refused why, Time and Until when they came.
	Result  string         `json:"result"`
	Message string         `json:"message,omitempty"`
	Millis  float64        `json:"ms"`
	Count   int            `json:"count,omitempty"`
	Codes   map[string]int `json:"codes,omitempty"`
	Until   time.Time      `json:"until,omitzero"`
}

// refusedResult is the result of calls that were folded into one line.
const refusedResult = "refused"

// unknownResult is the result of a call that has no outcome.
const unknownResult = "unknown"

// History returns the calls that pass the filter, newest first. A journal that
// does not exist yet has no calls. Lines that cannot be understood are skipped. It
// is answered by the index, or, where that is not to be had, by reading the files.
func (j *Journal) History(ctx context.Context, f Filter) ([]Past, error) {
	if err := j.tell(); err != nil {
		j.warn(err)
	}
	files, err := j.files()
	if err != nil || len(files) == 0 {
		return nil, err
	}
	found, err := j.search(ctx, f)
	if err == nil || ctx.Err() != nil {
		return found, err
	}
	j.warn(fmt.Errorf("the index of the history: %w", err))
	return j.scan(ctx, f)
}

// scan is History by reading all of it.
func (j *Journal) scan(ctx context.Context, f Filter) ([]Past, error) {
	seen, err := j.look(false)
	if err != nil {
		return nil, err
	}
	defer seen.close()
	joined := newJoiner(nil)
	for _, file := range seen.files {
		_, err := readLines(ctx, io.NewSectionReader(file.file, 0, file.size), func(b []byte, _ int64) {
			if file.wants(b) {
				joined.add(b)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	var found []Past
	older := f.Before == ""
	for _, c := range slices.Backward(joined.calls) {
		if len(found) == f.limit() {
			break
		}
		if older && f.passes(c) {
			found = append(found, *c)
		}
		older = older || c.Call == f.Before
	}
	return found, nil
}

func (f Filter) passes(p *Past) bool {
	return (f.App == "" || f.App == p.App || f.App == p.Target) &&
		(f.Tool == "" || f.Tool == p.Tool) &&
		(f.Call == "" || f.Call == p.Call) &&
		(f.Parent == "" || f.Parent == p.Parent) &&
		(f.Result == "" || slices.Contains(p.endings(), strings.ToLower(f.Result))) &&
		(f.Caller == "" || strings.Contains(p.who(), strings.ToLower(f.Caller))) &&
		(f.Since.IsZero() || !p.Time.Before(f.Since)) &&
		(f.Until.IsZero() || p.Time.Before(f.Until)) &&
		(!f.Unwatched || !p.look()) &&
		(f.Text == "" || saysAll(p.words(), f.phrases()))
}

// look reports whether it is one of the web page's, that reads of the gateway itself.
func (p *Past) look() bool {
	return p.Door == aai.DoorWeb && p.App == aai.OwnApp && p.Effect == aai.Reads.String()
}

// endings are what Filter.Result is looked for in.
func (p *Past) endings() []string {
	found := []string{strings.ToLower(p.Result)}
	for code := range p.Codes {
		found = append(found, strings.ToLower(code))
	}
	return found
}

// who is what Filter.Caller is looked for in.
func (p *Past) who() string { return strings.ToLower(p.Door + ":" + p.Caller + " " + p.Who) }

// readLines gives each line to a function, with where it begins, without those that are
// too long, and returns how many bytes it read. A last line without its end counts if it is
// whole.
func readLines(ctx context.Context, r io.Reader, add func(line []byte, offset int64)) (read int64, err error) {
	lines := bufio.NewReaderSize(r, maxLine)
	var long int64 // bytes of a line that is too long so far
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
			break // there may be more of it later
		}
		if long == 0 {
			add(b, read)
		}
		read += long + int64(len(b))
		long = 0
	}
	return read, nil
}

// A joiner makes calls of lines.
type joiner struct {
	calls []*Past          // in the order of their first lines
	open  map[string]*Past // those without an outcome
	// known finds a call without an outcome among those of before; may be nil.
	known func(call string) *Past
}

func newJoiner(known func(string) *Past) *joiner {
	return &joiner{open: make(map[string]*Past), known: known}
}

// A readLine is a line as it is read.
type readLine struct {
	line
	foldedLine
	Args   json.RawMessage `json:"args"`
	Answer json.RawMessage `json:"answer"`
}

// add takes one line, and returns the call it is of. What is not an entry is left out.
func (j *joiner) add(b []byte) (p *Past) {
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
		p.learn(&l)
	case aai.Outcome:
		p = j.found(&l, began(when, l.Millis))
		p.learn(&l)
		if l.Result != succeeded && l.On == (onRecord{}) {
			p.On = aai.Hit{} // what it was about to act on
		}
		p.Result, p.Message, p.Millis, p.Answer = l.Result, l.Detail, l.Millis, l.Answer
		delete(j.open, l.Call)
	case refusedKind:
		p = l.folded(when)
		j.calls = append(j.calls, p)
	}
	return p
}

// longestCall is how long a call is believed to have taken, in milliseconds.
const longestCall = 1e9

// began is when a call came that ended then, after so many milliseconds.
func began(ended time.Time, ms float64) time.Time {
	if ms < 0 || ms > longestCall {
		return ended
	}
	if t := ended.Add(-time.Duration(ms * float64(time.Millisecond))); t.Year() >= 1 {
		return t
	}
	return ended
}

// found is the call that a line belongs to; a new one if this is its first, which
// came at that time.
func (j *joiner) found(l *readLine, came time.Time) *Past {
	p := j.find(l.Call)
	if p == nil {
		p = &Past{Time: came, Call: l.Call, Parent: l.Parent, Door: l.Door, Caller: l.Caller, Who: l.Is, App: l.App, Tool: l.Tool, Result: unknownResult}
		j.open[l.Call] = p
		j.calls = append(j.calls, p)
	}
	return p
}

// learn takes what a line says of what runs. The first that says it counts.
func (p *Past) learn(l *readLine) {
	if l.Kind != aai.Received && l.App != "" {
		p.App = l.App
	}
	if l.Target != l.App && l.Target != "" {
		p.Target = l.Target
	}
	p.On = cmp.Or(aai.Hit(l.On), p.On)
	if p.Effect == "" && l.Effect != "" {
		p.Effect, p.Consent, p.Args = l.Effect, l.Agreed, l.Args
	}
}

// find returns the call that a line belongs to, if it is not the first of it.
func (j *joiner) find(call string) *Past {
	p := j.open[call]
	if p == nil && j.known != nil {
		if p = j.known(call); p != nil {
			j.open[call] = p
		}
	}
	return p
}
