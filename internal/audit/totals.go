package audit

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"slices"
	"time"
)

// durations count how long calls took, each time rounded up to two digits: 12.3 ms is 13
// ms. So a few numbers are enough for any percentile, and what is said of them is true:
// so many of a hundred took no longer.
type durations map[uint16]int

// exactMicros is how many microseconds are counted as they are.
const exactMicros = 100

// durationCode is the place of a time among durations; that of a longer one is no smaller.
func durationCode(ms float64) uint16 {
	us := math.Ceil(ms*1000 - 1e-6)
	if !(us > 0) {
		return 0
	}
	if us < exactMicros {
		return uint16(us)
	}
	code, step := uint16(exactMicros), 10.0
	for ; us > 99*step && step < 1e17; step *= 10 {
		code += 90
	}
	return code + uint16(max(math.Ceil(us/step), 10)) - 10
}

// ofCode is the longest time that has the place, in milliseconds.
func ofCode(code uint16) float64 {
	if code < exactMicros {
		return float64(code) / 1000
	}
	n := int(code) - exactMicros
	return float64(10+n%90) * math.Pow10(n/90+1) / 1000
}

// percentile is the least time that so many of a hundred do not exceed; 0 of none.
func (d durations) percentile(hundredths int) float64 {
	all := 0
	for _, n := range d {
		all += n
	}
	below := 0
	for _, code := range slices.Sorted(maps.Keys(d)) {
		if below += d[code]; below*100 >= all*hundredths {
			return ofCode(code)
		}
	}
	return 0
}

func (d durations) add(more durations) {
	for code, n := range more {
		d[code] += n
	}
}

func (d durations) encode() []byte {
	b := []byte{}
	for _, code := range slices.Sorted(maps.Keys(d)) {
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(code)), uint64(d[code]))
	}
	return b
}

// unpack adds those that were encoded.
func (d durations) unpack(b []byte) {
	for len(b) > 0 {
		code, n := binary.Uvarint(b)
		if n <= 0 {
			break
		}
		count, m := binary.Uvarint(b[n:])
		if m <= 0 {
			break
		}
		d[uint16(code)] += int(count)
		b = b[n+m:]
	}
}

// A total is what became of some calls.
type total struct {
	calls, failures int
	first, last     string
	times           durations
	packed          []byte // as times, encoded
}

func (t *total) add(more *total) {
	if t.calls == 0 {
		t.first, t.last, t.times = more.first, more.last, make(durations)
	}
	t.calls += more.calls
	t.failures += more.failures
	t.first, t.last = min(t.first, more.first), max(t.last, more.last)
	t.times.add(more.times)
	t.times.unpack(more.packed)
}

// totalOf is that of one line of the history, which is of several calls where it counts them.
func totalOf(when string, ms float64, count int, result string) *total {
	t := &total{calls: max(count, 1), first: when, last: when, times: make(durations)}
	if result != succeeded && result != unknownResult {
		t.failures = t.calls
	}
	if count == 0 && result != unknownResult {
		t.times[durationCode(ms)] = 1
	}
	return t
}

// The sizes of totals, in hours.
const (
	hourly = 1
	daily  = 24
)

// What is in the place of a kind's number in totals of all of them, and of all that are no
// looks of the web page.
const (
	allKinds    = 0
	noPageReads = -1
)

// totalKey says of what a total is: of the hour, or day, with that number.
type totalKey struct{ size, kind, start int64 }

// totals gather what is to be added to the index.
type totals map[totalKey]*total

// add adds a total of calls of one kind that came in one hour.
func (t totals) add(hour, kind int64, look bool, more *total) {
	keys := []totalKey{{hourly, kind, hour}, {daily, kind, dayOf(hour)}, {hourly, allKinds, hour}}
	if !look {
		keys = append(keys, totalKey{hourly, noPageReads, hour})
	}
	for _, key := range keys {
		if t[key] == nil {
			t[key] = new(total)
		}
		t[key].add(more)
	}
}

// dayOf is the number of the day, in UTC, in which an hour is.
func dayOf(hour int64) int64 {
	if hour < 0 {
		hour -= daily - 1
	}
	return hour / daily
}

// save adds them to those of the index.
func (t totals) save(ctx context.Context, tx *sql.Tx) error {
	insert, err := tx.PrepareContext(ctx, `INSERT INTO totals (size, kind, start, calls, failures, first, last, times)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`)
	if err != nil {
		return err
	}
	for key, sum := range t {
		put := func() (sql.Result, error) {
			return insert.ExecContext(ctx, key.size, key.kind, key.start, sum.calls, sum.failures, sum.first, sum.last, sum.times.encode())
		}
		made, err := put()
		if err != nil {
			return err
		}
		if n, err := made.RowsAffected(); n > 0 || err != nil {
			continue
		}
		was := total{}
		row := tx.QueryRowContext(ctx, `DELETE FROM totals WHERE size = ? AND kind = ? AND start = ?
			RETURNING calls, failures, first, last, times`, key.size, key.kind, key.start)
		if err := row.Scan(&was.calls, &was.failures, &was.first, &was.last, &was.packed); err != nil {
			return err
		}
		sum.add(&was)
		if _, err := put(); err != nil {
			return err
		}
	}
	return nil // the transaction ends the statement
}

// recount makes the totals of some days anew, of the calls that are still there.
func recount(ctx context.Context, tx *sql.Tx, from, through time.Time) error {
	first, last := dayOf(hourOf(from)), dayOf(hourOf(through))
	if _, err := tx.ExecContext(ctx, "DELETE FROM totals WHERE size = ? AND start BETWEEN ? AND ? OR size = ? AND start BETWEEN ? AND ?",
		daily, first, last, hourly, first*daily, last*daily+daily-1); err != nil {
		return err
	}
	anew := make(totals)
	if err := eachCall(ctx, tx, "NOT open", hourTime(first*daily), hourTime(last*daily+daily), anew.add); err != nil {
		return err
	}
	return anew.save(ctx, tx)
}

// hourTime is when an hour began, as the index has times.
func hourTime(hour int64) string { return sortable(time.Unix(hour*3600, 0)) }

// A querier asks the index.
type querier interface {
	QueryContext(ctx context.Context, statement string, args ...any) (*sql.Rows, error)
}

// eachCall gives the calls that came from a time on until another, each as a total.
func eachCall(ctx context.Context, db querier, which, from, until string, add func(hour, kind int64, look bool, t *total)) (err error) {
	if from >= until {
		return nil
	}
	rows, err := db.QueryContext(ctx, "SELECT kind, time, ms, count, result, door, app, effect FROM calls WHERE "+which+" AND time >= ? AND time < ?", from, until)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var kind int64
		var when string
		var p CallRecord
		var ms float64
		var count int
		if err := rows.Scan(&kind, &when, &ms, &count, &p.Result, &p.Door, &p.App, &p.Effect); err != nil {
			return err
		}
		at, err := time.Parse(timeFormat, when)
		if err != nil {
			return err
		}
		add(hourOf(at), kind, p.isPageRead(), totalOf(when, ms, count, p.Result))
	}
	return rows.Err()
}

// maxHour is later than any, and before any if it is negative.
const maxHour = 1 << 40

// A survey is a look at totals: of which calls, and who is told of them.
type statsQuery struct {
	db    *sql.DB
	f     Filter
	kinds map[int64]*kind // that pass the filter
	visit func(hour int64, k *kind, t *total)
	// byHour wants each hour by itself; else those of whole days may come as one, with the
	// first hour of the day. Kinds tells that the totals of each kind are wanted by themselves.
	byHour, byKind bool
}

func (c *statsQuery) add(hour, kind int64, _ bool, t *total) {
	if k := c.kinds[kind]; k != nil {
		c.visit(hour, k, t)
	}
}

// visitAll tells of all calls that pass the filter, which says nothing of single calls but of
// their times. Where those begin or end within an hour, that hour's are counted one by one.
func (c *statsQuery) visitAll(ctx context.Context) (err error) {
	if c.kinds, err = kindsBy(ctx, c.db, c.f); err != nil {
		return err
	}
	from, until := "", "~"
	first, end := int64(-maxHour), int64(maxHour)
	if !c.f.Since.IsZero() {
		from, first = sortable(c.f.Since), hourOf(c.f.Since.Add(time.Hour-1))
	}
	if !c.f.Until.IsZero() {
		until, end = sortable(c.f.Until), hourOf(c.f.Until)
	}
	if err := eachCall(ctx, c.db, "open", from, until, c.add); err != nil {
		return err
	}
	if first > end {
		return eachCall(ctx, c.db, "NOT open", from, until, c.add)
	}
	if !c.f.Since.IsZero() {
		err = eachCall(ctx, c.db, "NOT open", from, hourTime(first), c.add)
	}
	if !c.f.Until.IsZero() {
		err = errors.Join(err, eachCall(ctx, c.db, "NOT open", hourTime(end), until, c.add))
	}
	return errors.Join(err, c.visitHours(ctx, first, end))
}

// visitHours tells of whole hours.
func (c *statsQuery) visitHours(ctx context.Context, first, end int64) error {
	firstDay, endDay := dayOf(first+daily-1), dayOf(end)
	if c.byHour || firstDay >= endDay {
		return c.visitTotals(ctx, hourly, first, end)
	}
	return errors.Join(c.visitTotals(ctx, daily, firstDay, endDay), c.visitTotals(ctx, hourly, first, firstDay*daily), c.visitTotals(ctx, hourly, endDay*daily, end))
}

// visitTotals tells of those of one size.
func (c *statsQuery) visitTotals(ctx context.Context, size, first, end int64) (err error) {
	which := c.f.kindCondition()
	switch {
	case c.f.onlyExcludesPageReads() && !c.byKind:
		which = condition{}
		which.is("kind = ?", noPageReads)
	case len(which.parts) > 0:
		which.parts = []string{"kind IN (SELECT id FROM kinds" + which.where() + ")"}
	case c.byKind:
		which.is("kind > ?", allKinds)
	default:
		which.is("kind = ?", allKinds)
	}
	which.is("size = ? AND start >= ? AND start < ?", size, first, end)
	rows, err := c.db.QueryContext(ctx, "SELECT kind, start, calls, failures, first, last, times FROM totals"+which.where(), which.args...) //nolint:gosec // of our own words alone
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var times sql.RawBytes
	for rows.Next() {
		var kind, start int64
		var t total
		if err := rows.Scan(&kind, &start, &t.calls, &t.failures, &t.first, &t.last, &times); err != nil {
			return err
		}
		t.packed = times
		c.add(start*size, kind, false, &t)
	}
	return rows.Err()
}

// onlyExcludesPageReads reports whether the filter says of kinds that they be no looks, and no more.
func (f Filter) onlyExcludesPageReads() bool {
	return f.ExcludePageReads && len(f.kindCondition().parts) == 1
}

// kindsBy are the kinds that pass the filter, by their numbers, and where all do, that of
// all of them.
func kindsBy(ctx context.Context, db *sql.DB, f Filter) (found map[int64]*kind, err error) {
	of := f.kindCondition()
	rows, err := db.QueryContext(ctx, "SELECT id, app, target, tool, door, identity, result FROM kinds"+of.where(), of.args...) //nolint:gosec // of our own words alone
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	found = make(map[int64]*kind)
	if len(of.parts) == 0 {
		found[allKinds] = new(kind)
	}
	if f.onlyExcludesPageReads() {
		found[noPageReads] = new(kind)
	}
	for rows.Next() {
		var id int64
		var k kind
		if err := rows.Scan(&id, &k.app, &k.target, &k.tool, &k.door, &k.identity, &k.result); err != nil {
			return nil, err
		}
		found[id] = &k
	}
	return found, rows.Err()
}
