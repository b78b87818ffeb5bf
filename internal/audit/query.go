package audit

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

// manyKinds is the maximum number of kinds in a full-text query. With more, most calls
// match, and each is checked.
const manyKinds = 200

// A kind holds the attributes by which calls are filtered.
type kind struct {
	app, target, tool, door, identity, callerText, result, resultText string
	pageRead                                                          bool
}

// endingMark surrounds each result in kind.resultText, so that a search finds whole ones.
const endingMark = "\n"

func kindOfRecord(p *answer.CallRecord) kind {
	return kind{
		p.App, p.Target, p.Tool, p.Door, p.Identity, callerText(p), p.Result,
		endingMark + strings.Join(resultTexts(p), endingMark) + endingMark, isPageRead(p),
	}
}

// A condition is a SQL condition with its arguments.
type condition struct {
	parts []string
	args  []any
}

func (c *condition) is(text string, values ...any) {
	c.parts, c.args = append(c.parts, text), append(c.args, values...)
}

func (c *condition) where() string {
	if len(c.parts) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(c.parts, " AND ")
}

// kindCondition returns the filter's condition for kinds.
func (f Filter) kindCondition() (c condition) {
	if f.App != "" {
		c.is("(app = ? OR target = ?)", f.App, f.App)
	}
	if f.Tool != "" {
		c.is("tool = ?", f.Tool)
	}
	if f.Result != "" {
		c.is("instr(ending, ?) > 0", endingMark+strings.ToLower(f.Result)+endingMark)
	}
	if f.Caller != "" {
		c.is("instr(who, ?) > 0", strings.ToLower(f.Caller))
	}
	if f.ExcludePageReads {
		c.is("NOT look")
	}
	return c
}

// query searches an up-to-date index.
func query(ctx context.Context, db *sql.DB, f Filter) ([]answer.CallRecord, error) {
	watched := f // page reads are few: callCondition excludes them
	watched.ExcludePageReads = false
	of := watched.kindCondition()
	var count int
	var kinds string
	if len(of.parts) > 0 {
		//nolint:gosec // of our own words alone
		row := db.QueryRowContext(ctx, "SELECT count(*), coalesce(group_concat(id, ' OR '), '') FROM (SELECT id FROM kinds"+of.where()+" LIMIT "+strconv.Itoa(manyKinds+1)+")", of.args...)
		if err := row.Scan(&count, &kinds); err != nil || count == 0 {
			return nil, err
		}
	}
	rest, err := f.callCondition(ctx, db)
	if err != nil {
		return nil, err
	}
	from, by := "calls", "calls.id"
	var sought []string
	if few := count > 0 && count <= manyKinds; few && f.Call == "" && f.Parent == "" {
		sought = append(sought, "kind : ("+kinds+")")
	} else if count > 0 {
		rest.is("calls.kind IN (SELECT id FROM kinds"+of.where()+")", of.args...)
	}
	if f.Text != "" {
		phrases := f.phrases()
		if len(phrases) == 0 {
			return nil, nil
		}
		sought = append(sought, match(phrases))
	}
	if len(sought) > 0 {
		from, by = "texts CROSS JOIN calls ON calls.id = texts.rowid", "texts.rowid"
		rest.is("texts MATCH ?", strings.Join(sought, " AND "))
	}
	//nolint:gosec // of our own words alone
	rows, err := db.QueryContext(ctx, "SELECT "+pastColumns+" FROM "+from+strings.ReplaceAll(rest.where(), "{id}", by)+
		" ORDER BY "+by+" DESC LIMIT ?", append(rest.args, f.maxCalls())...)
	if err != nil {
		return nil, err
	}
	return pasts(rows)
}

// callCondition returns the filter's condition for calls; {id} stands for the ID of a call.
func (f Filter) callCondition(ctx context.Context, db *sql.DB) (c condition, err error) {
	if f.Call != "" {
		c.is("call = ?", f.Call)
	}
	if f.Parent != "" {
		c.is("parent = ?", f.Parent)
	}
	if f.ExcludePageReads {
		c.is("NOT (calls.door = ? AND calls.app = ? AND calls.effect = ?)", aai.DoorWeb, aai.BuiltinApp, aai.Reads.String())
	}
	if f.Before != "" {
		c.is("{id} < (SELECT max(id) FROM calls WHERE call = ?)", f.Before)
	}
	bound := func(text, hours string, hour int64) error {
		var id sql.NullInt64
		if err := db.QueryRowContext(ctx, hours, hour).Scan(&id); err != nil {
			return err
		}
		c.is("{id} "+text+" ?", id.Int64)
		return nil
	}
	// Calls are ordered by their first lines, which is about the order of their times, so
	// few calls of other times are checked.
	if !f.Since.IsZero() {
		c.is("time >= ?", sortable(f.Since))
		err = errors.Join(err, bound(">=", "SELECT coalesce(min(low), 9223372036854775807) FROM hours WHERE hour >= ?", hourOf(f.Since)))
	}
	if !f.Until.IsZero() {
		c.is("time < ?", sortable(f.Until))
		err = errors.Join(err, bound("<=", "SELECT coalesce(max(high), -1) FROM hours WHERE hour <= ?", hourOf(f.Until)))
	}
	return c, err
}

func pasts(rows *sql.Rows) (found []answer.CallRecord, err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		p, err := scanPast(rows.Scan)
		if err != nil {
			return nil, err
		}
		found = append(found, *p)
	}
	return found, rows.Err()
}

// hourOf returns the number of the hour that contains t.
func hourOf(t time.Time) int64 {
	n := t.Unix()
	if n < 0 {
		n -= 3599
	}
	return n / 3600
}

// sortable returns a time in the format of the index, even for a year outside the range of
// four digits.
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
