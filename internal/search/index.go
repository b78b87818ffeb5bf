package search

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"sync"

	"aai"
	"aai/internal/catalog"
	"aai/internal/database"
)

// The index is a table of all tools in memory. The words are cut by us, so that what counts
// of a descriptor is bounded and scripts without spaces have words; SQLite stems and ranks.
const (
	indexVersion = 1
	indexTables  = `CREATE VIRTUAL TABLE tools USING fts5(name, app, says, takes,
	content='', contentless_delete=1, tokenize="porter unicode61 remove_diacritics 2");`
)

// What a word is worth by where it stands: in the tool's name and title, in the names of its
// app, in what is said of it, and in its parameters.
const ranking = "bm25(tools, 5.0, 3.0, 2.0, 1.0)"

// A Tool is one that can be found.
type entry struct {
	app   *aai.App
	tool  *aai.Tool
	once  sync.Once
	brief catalog.Brief
}

// told is the tool in few words.
func (e *entry) told() catalog.Brief {
	e.once.Do(func() { e.brief = catalog.BriefOf(e.app, e.tool) })
	return e.brief
}

// An index finds tools by words. It is safe for concurrent use.
type index struct {
	open map[string]bool // tools of the gateway's own app that are offered

	mu   sync.Mutex
	db   *sql.DB
	of   map[string]*indexed // by the app's id
	rows map[int64]*entry
	last int64 // row
}

// indexed is an app as the index has it.
type indexed struct {
	app  *aai.App
	rows []int64
}

// A hit is a tool that was found, and how well it fits: more is better.
type hit struct {
	*entry
	score float64
}

// find returns the tools of the apps in which any of the words are, the best first.
func (x *index) find(ctx context.Context, apps []*aai.App, q query, most int) ([]hit, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	found, err := x.findOnce(ctx, apps, q, most)
	if err != nil && database.Broken(err) {
		x.drop()
		found, err = x.findOnce(ctx, apps, q, most)
	}
	return found, err
}

func (x *index) findOnce(ctx context.Context, apps []*aai.App, q query, most int) ([]hit, error) {
	if err := x.follow(ctx, apps); err != nil {
		return nil, err
	}
	scores := make(map[int64]float64)
	for _, part := range q {
		if err := x.ask(ctx, part, most, scores); err != nil {
			return nil, err
		}
	}
	found := make([]hit, 0, len(scores))
	for row, score := range scores {
		if e := x.rows[row]; e != nil {
			found = append(found, hit{e, score})
		}
	}
	return found, nil
}

// ask adds what one part of a query is worth to the scores.
func (x *index) ask(ctx context.Context, part words, most int, scores map[int64]float64) error {
	if len(part.any) == 0 {
		return nil
	}
	rows, err := x.db.QueryContext(ctx, "SELECT rowid, "+ranking+" FROM tools WHERE tools MATCH ? ORDER BY "+ranking+" LIMIT ?", match(part.any), most)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // Err tells
	for rows.Next() {
		var row int64
		var score float64
		if err := rows.Scan(&row, &score); err != nil {
			return err
		}
		scores[row] -= part.weight * score // it is the better the less
	}
	return rows.Err()
}

// match is the question for any of the words. They are letters and digits.
func match(words []string) string {
	return `"` + strings.Join(words, `" OR "`) + `"`
}

// drop forgets all that is indexed.
func (x *index) drop() {
	if x.db != nil {
		_ = x.db.Close()
	}
	x.db, x.of, x.rows = nil, nil, nil
}

// follow brings the index up to the apps: what has not changed stays.
func (x *index) follow(ctx context.Context, apps []*aai.App) error {
	if x.db == nil {
		db, err := database.Memory(ctx, database.Layout{Version: indexVersion, Tables: indexTables})
		if err != nil {
			return err
		}
		x.db, x.of, x.rows = db, make(map[string]*indexed), make(map[int64]*entry)
	}
	there := make(map[string]bool, len(apps))
	var changed []*aai.App
	for _, app := range apps {
		there[app.ID] = true
		if was := x.of[app.ID]; was == nil || !sameApp(was.app, app) {
			changed = append(changed, app)
		}
	}
	var gone []string
	for id := range x.of {
		if !there[id] {
			gone = append(gone, id)
		}
	}
	if len(changed)+len(gone) == 0 {
		return nil
	}
	if err := x.change(ctx, changed, gone); err != nil {
		x.drop() // half of it may be there
		return err
	}
	return nil
}

// sameApp reports whether two forms of an app have the same tools. Its tools are not changed
// after they were published.
func sameApp(a, b *aai.App) bool {
	return a == b || a.Name == b.Name && a.Description == b.Description && slices.Equal(a.Aliases, b.Aliases) && slices.Equal(a.Tools, b.Tools)
}

func (x *index) change(ctx context.Context, changed []*aai.App, gone []string) error {
	tx, err := x.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // it has no effect after Commit
	remove, err := tx.PrepareContext(ctx, "DELETE FROM tools WHERE rowid = ?")
	if err != nil {
		return err
	}
	defer remove.Close() //nolint:errcheck // the transaction ends it
	insert, err := tx.PrepareContext(ctx, "INSERT INTO tools (rowid, name, app, says, takes) VALUES (?, ?, ?, ?, ?)")
	if err != nil {
		return err
	}
	defer insert.Close() //nolint:errcheck // the transaction ends it
	for _, id := range gone {
		if err := x.forget(ctx, remove, id); err != nil {
			return err
		}
	}
	for _, app := range changed {
		err := x.forget(ctx, remove, app.ID)
		if err == nil {
			err = x.learn(ctx, insert, app)
		}
		if err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (x *index) forget(ctx context.Context, remove *sql.Stmt, id string) error {
	was := x.of[id]
	if was == nil {
		return nil
	}
	for _, row := range was.rows {
		if _, err := remove.ExecContext(ctx, row); err != nil {
			return err
		}
		delete(x.rows, row)
	}
	delete(x.of, id)
	return nil
}

func (x *index) learn(ctx context.Context, insert *sql.Stmt, app *aai.App) error {
	now := &indexed{app: app}
	x.of[app.ID] = now
	names := strings.Join(namesOf(app), " ")
	for _, tool := range app.Tools {
		if tool.Run == nil || app.ID == aai.OwnApp && !x.open[tool.Name] {
			continue
		}
		x.last++
		_, err := insert.ExecContext(ctx, x.last, strings.Join(wordsOf(tool.Name, " ", tool.Title), " "), names,
			strings.Join(wordsOf(tool.Description), " "), strings.Join(wordsOf(takenBy(tool)...), " "))
		if err != nil {
			return err
		}
		now.rows = append(now.rows, x.last)
		x.rows[x.last] = &entry{app: app, tool: tool}
	}
	return nil
}

// maxAliases is how many other names of an app count.
const maxAliases = 10

// namesOf are the words by which an app is known, and of its description the first.
func namesOf(app *aai.App) []string {
	texts := []string{app.Name, " ", strings.Join(app.Aliases[:min(len(app.Aliases), maxAliases)], " "), " "}
	parts := strings.Split(app.ID, ".")
	if len(parts) > 2 {
		parts = parts[2:] // those before say whose it is
	}
	texts = append(texts, strings.Join(parts, " "), " ", app.Description)
	return wordsOf(texts...)
}

// takenBy are the names of a tool's parameters.
func takenBy(tool *aai.Tool) []string {
	var texts []string
	for _, name := range tool.Params.Order {
		texts = append(texts, name, " ")
	}
	return texts
}

// close ends the index.
func (x *index) close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.drop()
}
