package search

import (
	"context"
	"database/sql"
	"math"
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
	indexTables  = `CREATE VIRTUAL TABLE tools USING fts5(name, app, says, takes, about, names, apps, does,
	content='', contentless_delete=1, tokenize="porter unicode61 remove_diacritics 2");`
)

// What a word is worth by where it stands: in the tool's name and title, in the names of its
// app, in what is said of it, in its parameters, in what is said of its app; and a thing of the
// glossary in the first three of those.
const ranking = "bm25(1.0, 0.4, 0.5, 0.2, 0.15, 0.8, 0.2, 0.35)"

// An entry is a tool that can be found.
type entry struct {
	app   *aai.App
	tool  *aai.Tool
	face  face // made when it is first found
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
	open     map[string]bool // tools of the gateway's own app that are offered
	glossary *glossary

	mu   sync.Mutex
	db   *sql.DB
	of   map[string]*indexed // by the app's id
	rows map[int64]*entry
	last int64 // row
	// shown is how many tools show a word or a thing.
	shown map[string]int
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
func (x *index) find(ctx context.Context, apps []*aai.App, request string, most int) ([]hit, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	found, err := x.findOnce(ctx, apps, request, most)
	if err != nil && database.Broken(err) {
		x.drop()
		found, err = x.findOnce(ctx, apps, request, most)
	}
	return found, err
}

func (x *index) findOnce(ctx context.Context, apps []*aai.App, request string, most int) ([]hit, error) {
	if err := x.follow(ctx, apps); err != nil {
		return nil, err
	}
	aspects, words := x.glossary.aspectsOf(request)
	if len(words) == 0 {
		return nil, nil
	}
	found, err := x.ask(ctx, words, most)
	for i, h := range found {
		found[i].score = tieBreak*h.score + x.faceOf(h.entry).fits(aspects, x.rarity)
	}
	return found, err
}

// tieBreak is what the rank of SQLite is worth beside ours.
const tieBreak = 0.2

// rarity is what a word or a thing is worth by itself. The caller holds x.mu.
func (x *index) rarity(term string) float64 {
	return math.Log(1 + float64(len(x.rows))/float64(1+x.shown[term]))
}

// faceOf is the face of a tool. The caller holds x.mu.
func (x *index) faceOf(e *entry) face {
	if e.face == nil {
		e.face = x.glossary.faceOf(e.app, e.tool)
	}
	return e.face
}

// count notes what a tool shows, or with -1 that it shows it no more.
func (x *index) count(e *entry, n int) {
	for term := range x.glossary.faceOf(e.app, e.tool) {
		if x.shown[term] += n; x.shown[term] == 0 {
			delete(x.shown, term)
		}
	}
}

// ask returns the tools in which any of the words are, the best first.
func (x *index) ask(ctx context.Context, words []string, most int) ([]hit, error) {
	rows, err := x.db.QueryContext(ctx, "SELECT rowid, rank FROM tools WHERE tools MATCH ? AND rank MATCH '"+ranking+"' ORDER BY rank LIMIT ?", match(words), most)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err tells
	var found []hit
	for rows.Next() {
		var row int64
		var score float64
		if err := rows.Scan(&row, &score); err != nil {
			return nil, err
		}
		if e := x.rows[row]; e != nil {
			found = append(found, hit{e, -score}) // SQLite's is the better the less
		}
	}
	return found, rows.Err()
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
	x.db, x.of, x.rows, x.shown = nil, nil, nil, nil
}

// follow brings the index up to the apps: what has not changed stays.
func (x *index) follow(ctx context.Context, apps []*aai.App) error {
	if x.db == nil {
		db, err := database.Memory(ctx, database.Layout{Version: indexVersion, Tables: indexTables})
		if err != nil {
			return err
		}
		x.db, x.of, x.rows, x.shown = db, make(map[string]*indexed), make(map[int64]*entry), make(map[string]int)
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
	insert, err := tx.PrepareContext(ctx, "INSERT INTO tools (rowid, name, app, says, takes, about, names, apps, does) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
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
		x.count(x.rows[row], -1)
		delete(x.rows, row)
	}
	delete(x.of, id)
	return nil
}

func (x *index) learn(ctx context.Context, insert *sql.Stmt, app *aai.App) error {
	now := &indexed{app: app}
	x.of[app.ID] = now
	join := func(words []string) string { return strings.Join(words, " ") }
	called := namesOf(app)
	names, about, apps := join(wordsOf(called...)), join(wordsOf(app.Description)), join(x.glossary.said(append(called, " ", app.Description)...))
	for _, tool := range app.Tools {
		if tool.Run == nil || app.ID == aai.OwnApp && !x.open[tool.Name] {
			continue
		}
		x.last++
		_, err := insert.ExecContext(ctx, x.last, join(wordsOf(tool.Name, " ", tool.Title)), names,
			join(wordsOf(tool.Description)), join(wordsOf(takenBy(tool)...)), about,
			join(x.glossary.said(tool.Name, " ", tool.Title)), apps, join(x.glossary.said(tool.Description)))
		if err != nil {
			return err
		}
		now.rows = append(now.rows, x.last)
		x.rows[x.last] = &entry{app: app, tool: tool}
		x.count(x.rows[x.last], 1)
	}
	return nil
}

// maxAliases is how many other names of an app count.
const maxAliases = 10

// namesOf are the names of an app.
func namesOf(app *aai.App) []string {
	texts := []string{app.Name, " ", strings.Join(app.Aliases[:min(len(app.Aliases), maxAliases)], " "), " "}
	parts := strings.Split(app.ID, ".")
	if len(parts) > 2 {
		parts = parts[2:] // those before say whose it is
	}
	return append(texts, strings.Join(parts, " "))
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
