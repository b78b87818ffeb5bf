package journal

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"
)

// A Tally is what became of the calls of one tool, or of all of an app.
type Tally struct {
	App   string `json:"app"`
	Tool  string `json:"tool,omitempty"` // "" for all of the app
	Calls int    `json:"calls"`
	// Failures are the calls that ended with an error, those that were refused among them.
	// Those of which nobody knows how they ended are none.
	Failures int       `json:"failures"`
	P50      float64   `json:"p50_ms"` // of the calls that ran: half of them took no longer
	P95      float64   `json:"p95_ms"`
	First    time.Time `json:"first"`
	Last     time.Time `json:"last"`
}

// Tallies says what became of the calls that pass the filter, but for its Limit, Before and
// Call; by app and tool, or by app alone. Those with most calls come first. A journal that
// does not exist has none.
func (j *Journal) Tallies(ctx context.Context, f Filter, byApp bool) ([]Tally, error) {
	files, err := j.files()
	if err != nil || len(files) == 0 {
		return nil, err
	}
	t := make(tallying)
	err = j.withIndex(ctx, func(db *sql.DB) error {
		clear(t)
		return t.read(ctx, db, f, byApp)
	})
	if err != nil {
		return nil, fmt.Errorf("the index of the history: %w", err)
	}
	return t.sums(), nil
}

// tallying gathers calls by app and tool.
type tallying map[[2]string]*counted

type counted struct {
	Tally
	times []float64
}

func (t tallying) read(ctx context.Context, db *sql.DB, f Filter, byApp bool) (err error) {
	where, args := f.where()
	statement := "SELECT time, app, tool, result, ms, count FROM calls" + where
	rows, err := db.QueryContext(ctx, statement+" ORDER BY id", args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var when, app, tool, result string
		var ms float64
		var count int
		if err := rows.Scan(&when, &app, &tool, &result, &ms, &count); err != nil {
			return err
		}
		at, err := time.Parse(timeFormat, when)
		if err != nil {
			return err
		}
		if byApp {
			tool = ""
		}
		t.add(app, tool, result, at, ms, count)
	}
	return rows.Err()
}

func (t tallying) add(app, tool, result string, at time.Time, ms float64, count int) {
	key := [2]string{app, tool}
	c := t[key]
	if c == nil {
		c = &counted{Tally: Tally{App: app, Tool: tool, First: at, Last: at}}
		t[key] = c
	}
	n := max(count, 1)
	c.Calls += n
	switch result {
	case succeeded, "unknown":
	default:
		c.Failures += n
	}
	if count == 0 && result != "unknown" {
		c.times = append(c.times, ms)
	}
	if at.Before(c.First) {
		c.First = at
	}
	if at.After(c.Last) {
		c.Last = at
	}
}

func (t tallying) sums() []Tally {
	all := make([]Tally, 0, len(t))
	for _, c := range t {
		slices.Sort(c.times)
		c.P50, c.P95 = percentile(c.times, 50), percentile(c.times, 95)
		all = append(all, c.Tally)
	}
	slices.SortFunc(all, func(a, b Tally) int {
		return cmp.Or(b.Calls-a.Calls, cmp.Compare(a.App, b.App), cmp.Compare(a.Tool, b.Tool))
	})
	return all
}

// percentile is the least of sorted values that so many of a hundred do not exceed; 0 of
// none.
func percentile(sorted []float64, hundredths int) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)*hundredths+99)/100-1]
}

// A Use is how often one tool was called on one day by one caller.
type Use struct {
	App, Tool string
	Door, Who string // whose calls they were: their door and, where it is known, their identity
	Day       time.Time
	Calls, OK int
}

// Uses says how often the tools of apps were called since then, the gateway's own left out.
func (j *Journal) Uses(ctx context.Context, since time.Time) (found []Use, err error) {
	files, err := j.files()
	if err != nil || len(files) == 0 {
		return nil, err
	}
	err = j.withIndex(ctx, func(db *sql.DB) (err error) {
		found, err = uses(ctx, db, since)
		return err
	})
	return found, err
}

func uses(ctx context.Context, db *sql.DB, since time.Time) (found []Use, err error) {
	rows, err := db.QueryContext(ctx, `SELECT app, tool, door, identity, substr(time, 1, 10), count(*), sum(result = ?)
		FROM calls WHERE time >= ? AND app <> 'aai' AND app <> '' AND tool <> '' AND count = 0
		GROUP BY 1, 2, 3, 4, 5 LIMIT 100000`, succeeded, sortable(since))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var u Use
		var day string
		if err := rows.Scan(&u.App, &u.Tool, &u.Door, &u.Who, &day, &u.Calls, &u.OK); err != nil {
			return nil, err
		}
		if u.Day, err = time.Parse(time.DateOnly, day); err != nil {
			return nil, err
		}
		found = append(found, u)
	}
	return found, rows.Err()
}
