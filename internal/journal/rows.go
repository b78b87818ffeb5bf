package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"aai"
)

// indexRows are the calls of an index, as one transaction sees and changes them.
type indexRows struct {
	ctx     context.Context //nolint:containedctx // it lives as long as the transaction
	tx      *sql.Tx
	file    int64
	rows    map[*Past]int64 // calls that were in the index already
	loaded  map[int64]bool
	failure error
}

func newIndexRows(ctx context.Context, tx *sql.Tx, file int64) *indexRows {
	return &indexRows{ctx: ctx, tx: tx, file: file, rows: make(map[*Past]int64), loaded: make(map[int64]bool)}
}

// The columns of a call, and those by which it is found.
const (
	pastColumns = "time, call, parent, door, caller, app, tool, target, effect, consent, args, answer, result, message, ms, acted, count, codes, until, identity"
	allColumns  = pastColumns + ", who, ending, open, file"
	allValues   = "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?"
)

// endingMark stands around each of a call's endings.
const endingMark = "\n"

// known finds a call that has no outcome yet.
func (r *indexRows) known(call string) *Past {
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

// scanPast reads a call by a row's Scan.
func scanPast(scan func(...any) error) (*Past, error) {
	var p Past
	var when, until string
	var args, answer, codes, on sql.NullString
	err := scan(&when, &p.Call, &p.Parent, &p.Door, &p.Caller, &p.App, &p.Tool, &p.Target, &p.Effect, &p.Consent,
		&args, &answer, &p.Result, &p.Message, &p.Millis,
		&on, &p.Count, &codes, &until, &p.Who)
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

// save puts the calls into the index, the new ones in their order.
func (r *indexRows) save(joined *joiner) error {
	insert, err := r.tx.PrepareContext(r.ctx, "INSERT INTO calls ("+allColumns+") VALUES ("+allValues+")")
	if err != nil {
		return err
	}
	defer insert.Close() //nolint:errcheck // the transaction ends it
	for _, p := range joined.calls {
		if _, err := insert.ExecContext(r.ctx, r.values(joined, p)...); err != nil {
			return err
		}
	}
	if len(r.rows) == 0 {
		return nil
	}
	update, err := r.tx.PrepareContext(r.ctx, "UPDATE calls SET ("+allColumns+") = ("+allValues+") WHERE id = ?")
	if err != nil {
		return err
	}
	defer update.Close() //nolint:errcheck // the transaction ends it
	for p, id := range r.rows {
		if _, err := update.ExecContext(r.ctx, append(r.values(joined, p), id)...); err != nil {
			return err
		}
	}
	return nil
}

func (r *indexRows) values(joined *joiner, p *Past) []any {
	var codes, on []byte
	if p.On != (aai.Hit{}) {
		on, _ = json.Marshal(p.On) // of texts
	}
	if p.Codes != nil {
		codes, _ = json.Marshal(p.Codes) // of texts and numbers
	}
	until := ""
	if !p.Until.IsZero() {
		until = p.Until.Format(timeFormat)
	}
	return []any{
		p.Time.Format(timeFormat), p.Call, p.Parent, p.Door, p.Caller, p.App, p.Tool, p.Target, p.Effect, p.Consent,
		nullable(p.Args), nullable(p.Answer), p.Result, p.Message, p.Millis,
		nullable(on), p.Count, nullable(codes), until, p.Who,
		p.who(), endingMark + strings.Join(p.endings(), endingMark) + endingMark, joined.open[p.Call] == p, r.file,
	}
}

func nullable(text []byte) sql.NullString {
	return sql.NullString{String: string(text), Valid: text != nil}
}

// where is the condition of the filter, with what stands in it.
func (f Filter) where() (condition string, args []any) {
	var where []string
	is := func(condition string, values ...any) {
		where, args = append(where, condition), append(args, values...)
	}
	if f.App != "" {
		is("(app = ? OR target = ?)", f.App, f.App)
	}
	if f.Tool != "" {
		is("tool = ?", f.Tool)
	}
	if f.Call != "" {
		is("call = ?", f.Call)
	}
	if f.Before != "" {
		is("id < (SELECT max(id) FROM calls WHERE call = ?)", f.Before)
	}
	if f.Result != "" {
		is("instr(ending, ?) > 0", endingMark+strings.ToLower(f.Result)+endingMark)
	}
	if f.Caller != "" {
		is("instr(who, ?) > 0", strings.ToLower(f.Caller))
	}
	if !f.Since.IsZero() {
		is("time >= ?", sortable(f.Since))
	}
	if !f.Until.IsZero() {
		is("time < ?", sortable(f.Until))
	}
	if len(where) == 0 {
		return "", nil
	}
	return " WHERE " + strings.Join(where, " AND "), args
}

// query asks an index that is up to date.
func query(ctx context.Context, db *sql.DB, f Filter) ([]Past, error) {
	where, args := f.where()
	statement := "SELECT " + pastColumns + " FROM calls" + where
	rows, err := db.QueryContext(ctx, statement+" ORDER BY id DESC LIMIT ?", append(args, f.limit())...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err tells
	var found []Past
	for rows.Next() {
		p, err := scanPast(rows.Scan)
		if err != nil {
			return nil, err
		}
		found = append(found, *p)
	}
	return found, rows.Err()
}

// sortable is a time as the index has it, also one whose year has more than four
// digits or none.
func sortable(t time.Time) string {
	t = t.UTC()
	switch {
	case t.Year() < 1:
		return ""
	case t.Year() > 9999:
		return "~"
	}
	return t.Format(timeFormat)
}
