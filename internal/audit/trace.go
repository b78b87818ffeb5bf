package audit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/gybob/aai-gateway"
)

// A TraceStep is one journal line about a call.
type TraceStep struct {
	Kind   aai.EntryKind `json:"kind"`
	Time   time.Time     `json:"time"`
	Record uint64        `json:"record,omitempty"` // its number in the chain; zero if it is not of the chain
	// Session and Principal are the caller's, in the first step.
	Session          string            `json:"session,omitempty"`
	Principal        string            `json:"principal,omitempty"`
	App              string            `json:"app,omitempty"`
	Tool             string            `json:"tool,omitempty"`
	Target           string            `json:"target,omitempty"`
	On               aai.TargetElement `json:"on,omitzero"`
	Effect           string            `json:"effect,omitempty"`
	Digest           string            `json:"digest,omitempty"` // of the descriptor that consent is bound to
	Consent          string            `json:"consent,omitempty"`
	Result           string            `json:"result,omitempty"`
	Message          string            `json:"message,omitempty"`
	Delivery         aai.Delivery      `json:"delivery,omitempty"`
	Ran              bool              `json:"ran,omitempty"`
	Millis           float64           `json:"ms,omitempty"`
	PersonWaitMillis float64           `json:"asked_ms,omitempty"`      // the part of Millis spent waiting for the person
	KeptDigest       string            `json:"answer_sha256,omitempty"` // of the result that is kept beside the journal
}

// A Trace holds all records about one call.
type Trace struct {
	Call  CallRecord  `json:"call"`
	Steps []TraceStep `json:"steps"` // in their order
	// Parent is the call that made this one, Children the calls that this one made, oldest
	// first. OmittedChildren counts the children that are left out.
	Parent          *CallRecord  `json:"parent,omitempty"`
	Children        []CallRecord `json:"children,omitempty"`
	OmittedChildren int          `json:"children_omitted,omitempty"`
}

// maxChildren is the maximum number of children in a trace.
const maxChildren = 100

// Trace returns all records about the call with that ID, or nil if there is none.
func (j *Journal) Trace(ctx context.Context, call string) (*Trace, error) {
	files, err := j.files()
	if err != nil || len(files) == 0 || call == "" {
		return nil, err
	}
	var s *Trace
	err = j.withIndex(ctx, func(x *indexer) (err error) {
		s, err = x.story(ctx, call)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("the index of the history: %w", err)
	}
	return s, nil
}

func (x *indexer) story(ctx context.Context, call string) (*Trace, error) {
	found, err := query(ctx, x.db, Filter{Call: call, Limit: 1})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	s := &Trace{Call: found[0]}
	if s.Steps, err = x.steps(ctx, call); err != nil {
		return nil, err
	}
	if s.Call.Parent != "" {
		parents, err := query(ctx, x.db, Filter{Call: s.Call.Parent, Limit: 1})
		if err != nil {
			return nil, err
		}
		if len(parents) > 0 {
			s.Parent = &parents[0]
		}
	}
	var children int
	if err := x.db.QueryRowContext(ctx, "SELECT count(*) FROM calls WHERE parent = ? AND parent <> ''", call).Scan(&children); err != nil {
		return nil, err
	}
	rows, err := x.db.QueryContext(ctx, "SELECT "+pastColumns+" FROM calls WHERE parent = ? AND parent <> '' ORDER BY id LIMIT ?", call, maxChildren)
	if err != nil {
		return nil, err
	}
	s.Children, err = pasts(rows)
	s.OmittedChildren = children - len(s.Children)
	return s, err
}

// steps reads the lines of a call from the files.
func (x *indexer) steps(ctx context.Context, call string) (steps []TraceStep, err error) {
	type place struct{ file, offset int64 }
	var places []place
	rows, err := x.db.QueryContext(ctx, `SELECT lines.file, lines.offset FROM lines JOIN calls ON calls.id = lines.call
		WHERE calls.call = ? ORDER BY lines.file, lines.offset`, call)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var p place
		if err := rows.Scan(&p.file, &p.offset); err != nil {
			return nil, err
		}
		places = append(places, p)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	for _, p := range places {
		if step, ok := stepAt(x.files[p.file], p.offset, call); ok {
			steps = append(steps, step)
		}
	}
	return steps, nil
}

// stepAt reads the line of a call at the offset; false if it is not there any more.
func stepAt(file *os.File, offset int64, call string) (TraceStep, bool) {
	if file == nil {
		return TraceStep{}, false
	}
	text, err := bufio.NewReaderSize(io.NewSectionReader(file, offset, maxLine), 4<<10).ReadBytes('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return TraceStep{}, false
	}
	text = bytes.TrimSuffix(text, []byte("\n"))
	var l readLine
	if json.Unmarshal(text, &l) != nil || l.Call != call {
		return TraceStep{}, false
	}
	when, err := time.Parse(timeFormat, l.Time)
	if err != nil {
		return TraceStep{}, false
	}
	link, _ := parseLink(text)
	return TraceStep{
		Kind: l.Kind, Time: when.UTC(), Record: link.seq, Session: l.Session, Principal: l.Principal,
		App: l.App, Tool: l.Tool, Target: l.Target, On: aai.TargetElement(l.On), Effect: l.Effect, Digest: l.Digest, Consent: l.Consent,
		Result: l.Result, Message: l.Message, Delivery: l.Delivery, Ran: l.Ran, Millis: l.Millis, PersonWaitMillis: l.PersonWait, KeptDigest: l.Kept,
	}, true
}
