package journal

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
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
	Result    string    // "ok", or an error code
	Since     time.Time // received at or after
	Limit     int       // the newest so many; zero means 50
}

// A Past is one call of the past.
type Past struct {
	Time    time.Time       `json:"time"`
	Call    string          `json:"call"`
	Parent  string          `json:"parent,omitempty"`
	Door    string          `json:"door"`
	Caller  string          `json:"caller"`
	App     string          `json:"app"`
	Tool    string          `json:"tool"`
	Target  string          `json:"target,omitempty"` // what the call touched, where that is not the app
	Effect  string          `json:"effect,omitempty"`
	Consent string          `json:"consent,omitempty"`
	Args    json.RawMessage `json:"args,omitempty"`
	// Result is "ok", an error code, or "unknown" for a call that has no outcome:
	// it is still running, or the gateway ended before it did.
	Result  string  `json:"result"`
	Message string  `json:"message,omitempty"`
	Millis  float64 `json:"ms"`
}

// History returns the calls that pass the filter, newest first. A journal that
// does not exist yet has no calls. Lines that cannot be understood are skipped.
func (j *Journal) History(ctx context.Context, f Filter) ([]Past, error) {
	file, err := os.Open(j.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the journal: %w", err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	calls, err := readCalls(ctx, file)
	if err != nil {
		return nil, err
	}
	limit := f.Limit
	if limit <= 0 {
		limit = 50
	}
	var found []Past
	for _, c := range slices.Backward(calls) {
		if len(found) == limit {
			break
		}
		if f.passes(c) {
			found = append(found, *c)
		}
	}
	return found, nil
}

func (f Filter) passes(p *Past) bool {
	caller := strings.ToLower(p.Door + ":" + p.Caller)
	return (f.App == "" || f.App == p.App || f.App == p.Target) &&
		(f.Tool == "" || f.Tool == p.Tool) &&
		(f.Result == "" || strings.EqualFold(f.Result, p.Result)) &&
		(f.Caller == "" || strings.Contains(caller, strings.ToLower(f.Caller))) &&
		(f.Since.IsZero() || !p.Time.Before(f.Since))
}

// readCalls joins the lines of each call, in the order they were received.
func readCalls(ctx context.Context, r io.Reader) ([]*Past, error) {
	joined := joiner{open: make(map[string]*Past)}
	lines := bufio.NewReaderSize(r, maxLine)
	for inLong := false; ; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		b, err := lines.ReadSlice('\n')
		long := errors.Is(err, bufio.ErrBufferFull)
		if !long && !inLong {
			joined.add(b)
		}
		inLong = long
		switch {
		case errors.Is(err, io.EOF):
			return joined.calls, nil
		case err != nil && !long:
			return nil, fmt.Errorf("read the journal: %w", err)
		}
	}
}

// A joiner makes calls of lines.
type joiner struct {
	calls []*Past          // in the order of their first lines
	open  map[string]*Past // those without an outcome
}

// add takes one line. What is not an entry is left out.
func (j *joiner) add(b []byte) {
	var l struct {
		line
		Args json.RawMessage `json:"args"`
	}
	if json.Unmarshal(b, &l) != nil || l.Call == "" {
		return
	}
	when, err := time.Parse(timeFormat, l.Time)
	if err != nil || !slices.Contains([]aai.EntryKind{aai.Received, aai.Intent, aai.Outcome}, l.Kind) {
		return
	}
	p := j.open[l.Call]
	if p == nil {
		p = &Past{Time: when, Call: l.Call, Parent: l.Parent, Door: l.Door, Caller: l.Caller, App: l.App, Tool: l.Tool, Result: "unknown"}
		j.open[l.Call] = p
		j.calls = append(j.calls, p)
	}
	if l.Target != l.App && l.Target != "" {
		p.Target = l.Target
	}
	switch l.Kind {
	case aai.Received:
	case aai.Intent:
		p.App, p.Effect, p.Consent, p.Args = l.App, l.Effect, l.Agreed, l.Args
	case aai.Outcome:
		p.Result, p.Message, p.Millis = l.Result, l.Detail, l.Millis
		delete(j.open, l.Call)
	}
}
