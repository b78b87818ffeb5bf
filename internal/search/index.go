package search

import (
	"context"
	"database/sql"
	"maps"
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
	indexTables  = `CREATE VIRTUAL TABLE tools USING fts5(words, things,
	content='', contentless_delete=1, tokenize="porter unicode61 remove_diacritics 2");`
)

// An entry is a tool that can be found.
type entry struct {
	app   *aai.App
	tool  *aai.Tool
	face  face
	name  string // the tool's, spelled
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

	mu    sync.Mutex
	db    *sql.DB
	of    map[string]*indexed // by the app's id
	rows  map[int64]*entry
	last  int64 // row
	known *vocabulary
	// counted is how many tools are counted in what is rare.
	counted int
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
	named int // what of its names the request has
}

// find returns the tools of the apps in which any of the words are, the best first.
func (x *index) find(ctx context.Context, apps []*aai.App, text, app string, most int) ([]hit, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	found, err := x.findOnce(ctx, apps, text, app, most)
	if err != nil && database.Broken(err) {
		x.drop()
		found, err = x.findOnce(ctx, apps, text, app, most)
	}
	return found, err
}

func (x *index) findOnce(ctx context.Context, apps []*aai.App, text, app string, most int) ([]hit, error) {
	if err := x.follow(ctx, apps); err != nil {
		return nil, err
	}
	asked := x.known.read(text)
	found := x.named(namingOf(text), app)
	if len(asked.words) > 0 {
		of, err := x.ask(ctx, asked.words, app, most)
		if err != nil {
			return nil, err
		}
		found = slices.Concat(of, slices.DeleteFunc(found, func(h hit) bool {
			return slices.ContainsFunc(of, func(other hit) bool { return other.entry == h.entry })
		}))
	}
	for i, h := range found {
		found[i].score = tieBreak*h.score + x.known.fits(h.face, asked.aspects, x.counted)
	}
	return found, nil
}

// named are tools that are called by their names, a bounded number: those may be of an app of so
// many that SQLite does not come to them.
func (x *index) named(n naming, app string) []hit {
	var found []hit
	for _, row := range slices.Sorted(maps.Keys(x.rows)) {
		e := x.rows[row]
		if (app == "" || app == e.app.ID) && n.says(e.tool.Name, e.name, true) {
			if found = append(found, hit{entry: e}); len(found) == maxOfApp {
				break
			}
		}
	}
	return found
}

// tieBreak is what the rank of SQLite is worth beside ours.
const tieBreak = 0.2

// How many of the tools that SQLite ranks may be of one app, for each time that it is asked,
// and how often it is.
const (
	maxOfApp = 30
	maxAsked = 4
)

// ask returns the tools in which any of the words are, the best first; only of the app with
// that id, if one is given. The rows of an app stand together, so that one which would have
// most of the places, by very many tools, is left out and the others are asked for.
func (x *index) ask(ctx context.Context, words []string, app string, most int) ([]hit, error) {
	condition, args := "", []any{match(words)}
	if app != "" {
		of := x.of[app]
		if of == nil || len(of.rows) == 0 {
			return nil, nil
		}
		found, err := x.askOnce(ctx, " AND rowid BETWEEN ? AND ?", append(args, of.rows[0], of.rows[len(of.rows)-1], most))
		return found, err
	}
	count, crowds, all := make(map[string]int), make(map[string]bool), []hit(nil)
	for range maxAsked {
		found, err := x.askOnce(ctx, condition, append(slices.Clone(args), most))
		if err != nil {
			return nil, err
		}
		crowded := ""
		for _, h := range found {
			if count[h.app.ID]++; count[h.app.ID] > maxOfApp {
				crowded = h.app.ID
				continue
			}
			all = append(all, h)
		}
		if crowded == "" || len(found) < most {
			break
		}
		crowds[crowded] = true // the others are found again
		all = slices.DeleteFunc(all, func(h hit) bool { return !crowds[h.app.ID] })
		clear(count)
		of := x.of[crowded].rows
		condition, args = condition+" AND rowid NOT BETWEEN ? AND ?", append(args, of[0], of[len(of)-1])
	}
	return all, nil
}

// askOnce asks SQLite; the last of the arguments is how many it may find.
func (x *index) askOnce(ctx context.Context, condition string, args []any) ([]hit, error) {
	statement := "SELECT rowid, rank FROM tools WHERE tools MATCH ?" + condition
	rows, err := x.db.QueryContext(ctx, statement+" ORDER BY rank LIMIT ?", args...)
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
			found = append(found, hit{entry: e, score: -score}) // SQLite's is the better the less
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
	x.db, x.of, x.rows, x.known, x.counted = nil, nil, nil, nil, 0
}

// follow brings the index up to the apps: what has not changed stays.
func (x *index) follow(ctx context.Context, apps []*aai.App) error {
	if x.db == nil {
		db, err := database.Memory(ctx, database.Layout{Version: indexVersion, Tables: indexTables})
		if err != nil {
			return err
		}
		x.db, x.of, x.rows, x.known = db, make(map[string]*indexed), make(map[int64]*entry), newVocabulary(x.glossary)
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
	insert, err := tx.PrepareContext(ctx, "INSERT INTO tools (rowid, words, things) VALUES (?, ?, ?)")
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
	for i, row := range was.rows {
		if _, err := remove.ExecContext(ctx, row); err != nil {
			return err
		}
		if i < maxCounted {
			x.known.count(x.rows[row].face, -1)
			x.counted--
		}
		delete(x.rows, row)
	}
	delete(x.of, id)
	return nil
}

func (x *index) learn(ctx context.Context, insert *sql.Stmt, app *aai.App) error {
	now := &indexed{app: app}
	x.of[app.ID] = now
	names, whole := namesOf(app), x.known.faceOfApp(app)
	words, things := append(wordsOf(names...), wordsOf(app.Description)...), x.glossary.said(append(names, " ", app.Description)...)
	for _, tool := range app.Tools {
		if tool.Run == nil || app.ID == aai.OwnApp && !x.open[tool.Name] {
			continue
		}
		x.last++
		said := slices.Concat(wordsOf(tool.Name, " ", tool.Title), wordsOf(tool.Description), wordsOf(takenBy(tool)...), words)
		meant := append(x.glossary.said(tool.Name, " ", tool.Title, " ", tool.Description), things...)
		if _, err := insert.ExecContext(ctx, x.last, strings.Join(said, " "), strings.Join(meant, " ")); err != nil {
			return err
		}
		now.rows = append(now.rows, x.last)
		x.rows[x.last] = &entry{app: app, tool: tool, face: x.known.faceOf(whole, tool), name: spelled(tool.Name)}
		if len(now.rows) <= maxCounted {
			x.known.count(x.rows[x.last].face, 1)
			x.counted++
		}
	}
	return nil
}

// maxCounted is how many tools of an app are counted in what is rare: by very many of them
// nobody makes common what others do.
const maxCounted = 30

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
