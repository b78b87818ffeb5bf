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
	"github.com/gybob/aai-gateway/internal/answer"
)

// maxChildren is the maximum number of children in a trace.
const maxChildren = 100

// Trace returns all records about the call with that ID, or nil if there is none.
func (j *Journal) Trace(ctx context.Context, call string) (*answer.Trace, error) {
	files, err := j.files()
	if err != nil || len(files) == 0 || call == "" {
		return nil, err
	}
	var s *answer.Trace
	err = j.withIndex(ctx, func(x *indexer) (err error) {
		s, err = x.story(ctx, call)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("the index of the history: %w", err)
	}
	return s, nil
}

func (x *indexer) story(ctx context.Context, call string) (*answer.Trace, error) {
	found, err := query(ctx, x.db, Filter{Call: call, Limit: 1})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	s := &answer.Trace{Call: found[0]}
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
func (x *indexer) steps(ctx context.Context, call string) (steps []answer.TraceStep, err error) {
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
func stepAt(file *os.File, offset int64, call string) (answer.TraceStep, bool) {
	if file == nil {
		return answer.TraceStep{}, false
	}
	text, err := bufio.NewReaderSize(io.NewSectionReader(file, offset, maxLine), 4<<10).ReadBytes('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return answer.TraceStep{}, false
	}
	text = bytes.TrimSuffix(text, []byte("\n"))
	var l readLine
	if json.Unmarshal(text, &l) != nil || l.Call != call {
		return answer.TraceStep{}, false
	}
	when, err := time.Parse(timeFormat, l.Time)
	if err != nil {
		return answer.TraceStep{}, false
	}
	link, _ := parseLink(text)
	return answer.TraceStep{
		Kind: l.Kind, Time: when.UTC(), Record: link.seq, Session: l.Session, Principal: l.Principal,
		App: l.App, Tool: l.Tool, Target: l.Target, On: aai.TargetElement(l.On), Effect: l.Effect, Digest: l.Digest, Consent: l.Consent,
		Result: l.Result, Message: l.Message, Delivery: l.Delivery, Ran: l.Ran, Millis: l.Millis, PersonWaitMillis: l.PersonWait, KeptDigest: l.Kept,
	}, true
}
