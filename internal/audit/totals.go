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

	"github.com/gybob/aai-gateway/internal/answer"
)

// durations counts the durations of calls in microseconds, each rounded up to two digits: 12.3 ms is
// 13 ms. So a few numbers suffice for any percentile, and each percentile is a correct upper bound.
type durations map[uint64]int

// longestMicros is the maximum number of microseconds that is counted, 30 years.
const longestMicros = 1e15

// roundUp returns a duration of so many milliseconds in microseconds, rounded up to two digits.
func roundUp(ms float64) uint64 {
	us := min(math.Ceil(ms*1000-1e-6), longestMicros)
	if !(us > 0) {
		return 0
	}
	step := 1.0
	for us > 99*step {
		step *= 10
	}
	return uint64(math.Ceil(us/step) * step)
}

// percentile returns the least duration, in milliseconds, that hundredths percent of the
// calls do not exceed. Without any call it returns 0.
func (d durations) percentile(hundredths int) float64 {
	all := 0
	for _, n := range d {
		all += n
	}
	below := 0
	for _, us := range slices.Sorted(maps.Keys(d)) {
		if below += d[us]; below*100 >= all*hundredths {
			return float64(us) / 1000
		}
	}
	return 0
}

func (d durations) encode() []byte {
	b := []byte{}
	for us, n := range d {
		b = binary.AppendUvarint(binary.AppendUvarint(b, us), uint64(n))
	}
	return b
}

// unpack adds encoded durations.
func (d durations) unpack(b []byte) {
	for len(b) > 0 {
		us, n := binary.Uvarint(b)
		count, m := binary.Uvarint(b[max(n, 0):])
		if n <= 0 || m <= 0 {
			return
		}
		d[us] += int(count)
		b = b[n+m:]
	}
}

// A total holds the statistics of some calls.
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
	for us, n := range more.times {
		t.times[us] += n
	}
	t.times.unpack(more.packed)
}

// totalOf returns the total of one CallRecord, which may summarize several calls.
func totalOf(when string, ms float64, count int, result string) *total {
	t := &total{calls: max(count, 1), first: when, last: when, times: make(durations)}
	if result != answer.ResultOK && result != answer.ResultUnknown {
		t.failures = t.calls
	}
	if count == 0 && result != answer.ResultUnknown {
		t.times[roundUp(ms)] = 1
	}
	return t
}

// The sizes of totals, in hours.
const (
	hourly = 1
	daily  = 24
)

// Kind IDs of totals of all kinds, and of all kinds except reads by the dashboard.
const (
	allKinds    = 0
	noPageReads = -1
)

// totalKey identifies a total: its size, its kind, and the number of its hour or day.
type totalKey struct{ size, kind, start int64 }

// totals collects the changes for the index.
type totals map[totalKey]*total

// add adds a total of calls of one kind in one hour.
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

// dayOf returns the number of the UTC day that contains an hour.
func dayOf(hour int64) int64 {
	if hour < 0 {
		hour -= daily - 1
	}
	return hour / daily
}

// save adds the totals to those in the index.
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
	return nil // the transaction closes the statement
}

// recount recomputes the totals of some days from the remaining calls.
func recount(ctx context.Context, tx *sql.Tx, from, through string) error {
	begin, failed := time.Parse(timeFormat, from)
	end, err := time.Parse(timeFormat, through)
	if err = errors.Join(failed, err); err != nil {
		return err
	}
	first, last := dayOf(hourOf(begin)), dayOf(hourOf(end))
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

// hourTime returns the start of an hour in the format of the index.
func hourTime(hour int64) string { return sortable(time.Unix(hour*3600, 0)) }

// A querier is a *sql.DB or a *sql.Tx of the index.
type querier interface {
	QueryContext(ctx context.Context, statement string, args ...any) (*sql.Rows, error)
}

// eachCall passes each call from one time until another to add, as a total, if it meets
// the SQL condition which.
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
		var p answer.CallRecord
		var ms float64
		var count int
		if err := rows.Scan(&kind, &when, &ms, &count, &p.Result, &p.Door, &p.App, &p.Effect); err != nil {
			return err
		}
		at, err := time.Parse(timeFormat, when)
		if err != nil {
			return err
		}
		add(hourOf(at), kind, isPageRead(&p), totalOf(when, ms, count, p.Result))
	}
	return rows.Err()
}

// maxHour is later than any hour; its negative is earlier than any.
const maxHour = 1 << 40

// A statsQuery selects totals and passes them to visit.
type statsQuery struct {
	db    *sql.DB
	f     Filter
	kinds map[int64]*kind // that match the filter
	visit func(hour int64, k *kind, t *total)
	// byHour requires separate hours; otherwise whole days may come as one total, with the
	// first hour of the day. byKind requires separate totals of each kind.
	byHour, byKind bool
}

func (c *statsQuery) add(hour, kind int64, _ bool, t *total) {
	if k := c.kinds[kind]; k != nil {
		c.visit(hour, k, t)
	}
}

// visitAll visits all calls that match the filter, which may select by kind and time only.
// If the time range begins or ends inside an hour, it counts that hour's calls one by one.
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

// visitHours visits whole hours.
func (c *statsQuery) visitHours(ctx context.Context, first, end int64) error {
	firstDay, endDay := dayOf(first+daily-1), dayOf(end)
	if c.byHour || firstDay >= endDay {
		return c.visitTotals(ctx, hourly, first, end)
	}
	return errors.Join(c.visitTotals(ctx, daily, firstDay, endDay), c.visitTotals(ctx, hourly, first, firstDay*daily), c.visitTotals(ctx, hourly, endDay*daily, end))
}

// visitTotals visits the totals of one size.
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

// onlyExcludesPageReads reports whether ExcludePageReads is the filter's only condition for kinds.
func (f Filter) onlyExcludesPageReads() bool {
	return f.ExcludePageReads && len(f.kindCondition().parts) == 1
}

// kindsBy returns the kinds that match the filter, by their IDs. If all match, the result
// includes allKinds.
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
