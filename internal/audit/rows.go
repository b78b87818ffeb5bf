package audit

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

// indexRows are the rows of an index in one transaction.
type indexRows struct {
	ctx         context.Context //nolint:containedctx // it lives as long as the transaction
	tx          *sql.Tx
	file        int64
	rows        map[*answer.CallRecord]int64   // calls that were in the index before
	lineOffsets map[*answer.CallRecord][]int64 // offsets of their lines in the file
	loaded      map[int64]bool
	kinds       map[kind]int64
	totals      totals
	hours       map[int64][2]int64 // the first and the last call of each
	failure     error
}

func newIndexRows(ctx context.Context, tx *sql.Tx, file int64) *indexRows {
	return &indexRows{
		ctx: ctx, tx: tx, file: file, rows: make(map[*answer.CallRecord]int64), loaded: make(map[int64]bool),
		lineOffsets: make(map[*answer.CallRecord][]int64), kinds: make(map[kind]int64), totals: make(totals), hours: make(map[int64][2]int64),
	}
}

// addOffset records the offset of a line of a call.
func (r *indexRows) addOffset(p *answer.CallRecord, offset int64) {
	if p != nil {
		r.lineOffsets[p] = append(r.lineOffsets[p], offset)
	}
}

// The columns of a call, and the columns for searching.
const (
	pastColumns = "time, call, parent, door, caller, app, tool, target, effect, consent, args, answer, result, message, ms, acted, count, codes, until, identity"
	allColumns  = pastColumns + ", open, file, kind"
	allValues   = "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?"
)

// known returns a call that has no outcome yet, or nil.
func (r *indexRows) known(call string) *answer.CallRecord {
	var id int64
	row := r.tx.QueryRowContext(r.ctx, "SELECT id, "+pastColumns+" FROM calls WHERE call = ? AND open ORDER BY id DESC LIMIT 1", call)
	p, err := scanPast(func(to ...any) error { return row.Scan(append([]any{&id}, to...)...) })
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		r.failure = err
		return nil
	}
	if r.loaded[id] {
		return nil // it has its outcome by now
	}
	r.loaded[id], r.rows[p] = true, id
	return p
}

// scanPast decodes a call with a row's Scan.
func scanPast(scan func(...any) error) (*answer.CallRecord, error) {
	var p answer.CallRecord
	var when, until string
	var args, answer, codes, on sql.NullString
	err := scan(&when, &p.Call, &p.Parent, &p.Door, &p.Caller, &p.App, &p.Tool, &p.Target, &p.Effect, &p.Consent,
		&args, &answer, &p.Result, &p.Message, &p.Millis,
		&on, &p.Count, &codes, &until, &p.Identity)
	if err != nil {
		return nil, err
	}
	if p.Time, err = time.Parse(timeFormat, when); err != nil {
		return nil, err
	}
	if on.Valid {
		if err := json.Unmarshal([]byte(on.String), &p.On); err != nil {
			return nil, err
		}
	}
	if codes.Valid {
		if err := json.Unmarshal([]byte(codes.String), &p.Codes); err != nil {
			return nil, err
		}
	}
	if until != "" {
		if p.Until, err = time.Parse(timeFormat, until); err != nil {
			return nil, err
		}
	}
	if args.Valid {
		p.Args = []byte(args.String)
	}
	if answer.Valid {
		p.Answer = []byte(answer.String)
	}
	return &p, nil
}

// insertStatements are the prepared statements that save a call.
type insertStatements struct{ call, again, text, line *sql.Stmt }

func (r *indexRows) saver() (s insertStatements, err error) {
	for _, made := range []struct {
		to   **sql.Stmt
		text string
	}{
		{&s.call, "INSERT INTO calls (" + allColumns + ") VALUES (" + allValues + ")"},
		{&s.again, "UPDATE calls SET (" + allColumns + ") = (" + allValues + ") WHERE id = ?"},
		{&s.text, "INSERT OR REPLACE INTO texts (kind, text, rowid) VALUES (?, ?, ?)"},
		{&s.line, "INSERT OR IGNORE INTO lines (call, file, offset) VALUES (?, ?, ?)"},
	} {
		if *made.to, err = r.tx.PrepareContext(r.ctx, made.text); err != nil {
			return s, err
		}
	}
	return s, nil // the transaction closes them
}

// save writes the calls to the index, new ones in order.
func (r *indexRows) save(joined *recordAssembler) error {
	s, err := r.saver()
	if err != nil {
		return err
	}
	for _, p := range joined.calls {
		if err := r.put(s, joined, p, 0); err != nil {
			return err
		}
	}
	for p, id := range r.rows {
		if err := r.put(s, joined, p, id); err != nil {
			return err
		}
	}
	for hour, of := range r.hours {
		if _, err := r.tx.ExecContext(r.ctx, `INSERT INTO hours (hour, low, high) VALUES (?, ?, ?)
			ON CONFLICT (hour) DO UPDATE SET low = min(low, excluded.low), high = max(high, excluded.high)`, hour, of[0], of[1]); err != nil {
			return err
		}
	}
	return r.totals.save(r.ctx, r.tx)
}

// put saves one call; with an id it replaces that row.
func (r *indexRows) put(s insertStatements, joined *recordAssembler, p *answer.CallRecord, id int64) error {
	kind, err := r.kindOf(p)
	if err != nil {
		return err
	}
	open := joined.open[p.Call] == p
	values := append(r.values(p), open, r.file, kind)
	if id != 0 {
		_, err = s.again.ExecContext(r.ctx, append(values, id)...)
	} else if made, failure := s.call.ExecContext(r.ctx, values...); failure != nil {
		err = failure
	} else {
		id, err = made.LastInsertId()
	}
	if err != nil {
		return err
	}
	if _, err := s.text.ExecContext(r.ctx, kind, strings.Join(recordWords(p), " "), id); err != nil {
		return err
	}
	for _, offset := range r.lineOffsets[p] {
		if _, err := s.line.ExecContext(r.ctx, id, r.file, offset); err != nil {
			return err
		}
	}
	hour := hourOf(p.Time)
	of, known := r.hours[hour]
	if !known {
		of = [2]int64{id, id}
	}
	r.hours[hour] = [2]int64{min(of[0], id), max(of[1], id)}
	if !open {
		r.totals.add(hour, kind, isPageRead(p), totalOf(p.Time.Format(timeFormat), p.Millis, p.Count, p.Result))
	}
	return nil
}

// kindOf returns the ID of a call's kind, and inserts a new kind.
func (r *indexRows) kindOf(p *answer.CallRecord) (int64, error) {
	k := kindOfRecord(p)
	if id := r.kinds[k]; id != 0 {
		return id, nil
	}
	values := []any{k.app, k.target, k.tool, k.door, k.identity, k.callerText, k.result, k.resultText, k.pageRead}
	var id int64
	row := r.tx.QueryRowContext(r.ctx, "SELECT id FROM kinds WHERE (app, target, tool, door, identity, who, result, ending, look) = (?, ?, ?, ?, ?, ?, ?, ?, ?)", values...)
	err := row.Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		var made sql.Result
		if made, err = r.tx.ExecContext(r.ctx, "INSERT INTO kinds (app, target, tool, door, identity, who, result, ending, look) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", values...); err == nil {
			id, err = made.LastInsertId()
		}
	}
	r.kinds[k] = id
	return id, err
}

// values returns the values of pastColumns.
func (r *indexRows) values(p *answer.CallRecord) []any {
	var codes, on []byte
	if p.On != (aai.TargetElement{}) {
		on, _ = json.Marshal(p.On) // cannot fail: texts only
	}
	if p.Codes != nil {
		codes, _ = json.Marshal(p.Codes) // cannot fail: texts and numbers only
	}
	until := ""
	if !p.Until.IsZero() {
		until = p.Until.Format(timeFormat)
	}
	return []any{
		p.Time.Format(timeFormat), p.Call, p.Parent, p.Door, p.Caller, p.App, p.Tool, p.Target, p.Effect, p.Consent,
		nullable(p.Args), nullable(p.Answer), p.Result, p.Message, p.Millis,
		nullable(on), p.Count, nullable(codes), until, p.Identity,
	}
}

func nullable(text []byte) sql.NullString {
	return sql.NullString{String: string(text), Valid: text != nil}
}
