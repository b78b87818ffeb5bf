package audit

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"

	"github.com/gybob/aai-gateway/internal/answer"
)

// exportedCalls returns the IDs of the calls that match f; nil means all lines.
func (j *Journal) exportedCalls(ctx context.Context, f Filter) (map[string]bool, error) {
	f.Limit = math.MaxInt
	if f.isEmpty() {
		return nil, nil
	}
	found, err := j.History(ctx, f)
	if err != nil {
		return nil, err
	}
	calls := make(map[string]bool, len(found))
	for _, p := range found {
		calls[p.Call] = true
	}
	return calls, nil
}

// An exporter writes lines with the results of their verification.
type exporter struct {
	w     *bufio.Writer
	calls map[string]bool // nil: all
}

func newExporter(w io.Writer, calls map[string]bool) *exporter {
	return &exporter{bufio.NewWriterSize(w, 64<<10), calls}
}

type exportedLine struct {
	Verified bool   `json:"verified"`
	File     string `json:"file"`
	Record   any    `json:"record"`
}

func (e *exporter) line(text []byte, good bool, file string) error {
	if e.calls != nil {
		var of struct {
			Call string `json:"call"`
		}
		if err := json.Unmarshal(text, &of); err != nil {
			of.Call = "" // no entry, so it belongs to no call
		}
		if !e.calls[of.Call] {
			return nil
		}
	}
	l := exportedLine{Verified: good, File: file, Record: string(text)}
	if json.Valid(text) {
		l.Record = json.RawMessage(text)
	}
	return e.put(l)
}

func (e *exporter) end(v *answer.Verification) error {
	if err := e.put(map[string]*answer.Verification{"verification": v}); err != nil {
		return err
	}
	if err := e.w.Flush(); err != nil {
		return fmt.Errorf("export the journal: %w", err)
	}
	return nil
}

func (e *exporter) put(value any) error {
	b, err := json.Marshal(value)
	if err == nil {
		_, err = e.w.Write(append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("export the journal: %w", err)
	}
	return nil
}
