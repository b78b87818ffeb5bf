package search

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/files/database"
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
	face  termWeights
	name  string // the tool's, spelled
	once  sync.Once
	brief catalog.Brief
}

// toolBrief is the tool in few words.
func (e *entry) toolBrief() catalog.Brief {
	e.once.Do(func() { e.brief = catalog.NewBrief(e.app, e.tool) })
	return e.brief
}

// An index finds tools by words. It is safe for concurrent use.
type index struct {
	agentTools map[string]bool // tools of the gateway's own app that are offered
	glossary   *glossary

	mu         sync.Mutex
	db         *sql.DB
	byApp      map[string]*indexedApp // by the app's id
	rows       map[int64]*entry
	last       int64 // row
	vocabulary *vocabulary
	// rareCounted is how many tools are counted in what is rare.
	rareCounted int
}

// indexedApp is an app as the index has it.
type indexedApp struct {
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
	if err != nil && database.IsUnusable(err) {
		x.reset()
		found, err = x.findOnce(ctx, apps, text, app, most)
	}
	return found, err
}

func (x *index) findOnce(ctx context.Context, apps []*aai.App, text, app string, most int) ([]hit, error) {
	if err := x.sync(ctx, apps); err != nil {
		return nil, err
	}
	asked := x.vocabulary.parseRequest(text)
	found := x.named(newNameMatcher(text), app)
	if len(asked.words) > 0 {
		of, err := x.rankedTools(ctx, asked.words, app, most)
		if err != nil {
			return nil, err
		}
		found = slices.Concat(of, slices.DeleteFunc(found, func(h hit) bool {
			return slices.ContainsFunc(of, func(other hit) bool { return other.entry == h.entry })
		}))
	}
	for i, h := range found {
		found[i].score = sqliteRankWeight*h.score + x.vocabulary.score(h.face, asked.aspects, x.rareCounted)
	}
	return found, nil
}

// named are tools that are called by their names, a bounded number: those may be of an app of so
// many that SQLite does not come to them.
func (x *index) named(n nameMatcher, app string) []hit {
	var found []hit
	for _, row := range slices.Sorted(maps.Keys(x.rows)) {
		e := x.rows[row]
		if (app == "" || app == e.app.ID) && n.matches(e.tool.Name, e.name, true) {
			if found = append(found, hit{entry: e}); len(found) == maxOfApp {
				break
			}
		}
	}
	return found
}

// sqliteRankWeight is what the rank of SQLite is worth beside ours.
const sqliteRankWeight = 0.2

// How many of the tools that SQLite ranks may be of one app, for each time that it is asked,
// and how often it is.
const (
	maxOfApp = 30
	maxAsked = 4
)

// rankedTools returns the tools in which any of the words are, the best first; only of the app with
// that id, if one is given. The rows of an app stand together, so that one which would have
// most of the places, by very many tools, is left out and the others are asked for.
func (x *index) rankedTools(ctx context.Context, words []string, app string, most int) ([]hit, error) {
	condition, args := "", []any{match(words)}
	if app != "" {
		of := x.byApp[app]
		if of == nil || len(of.rows) == 0 {
			return nil, nil
		}
		found, err := x.queryOnce(ctx, " AND rowid BETWEEN ? AND ?", append(args, of.rows[0], of.rows[len(of.rows)-1], most))
		return found, err
	}
	count, crowds, all := make(map[string]int), make(map[string]bool), []hit(nil)
	for range maxAsked {
		found, err := x.queryOnce(ctx, condition, append(slices.Clone(args), most))
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
		of := x.byApp[crowded].rows
		condition, args = condition+" AND rowid NOT BETWEEN ? AND ?", append(args, of[0], of[len(of)-1])
	}
	return all, nil
}

// queryOnce asks SQLite; the last of the arguments is how many it may find.
func (x *index) queryOnce(ctx context.Context, condition string, args []any) ([]hit, error) {
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

// reset forgets all that is indexed.
func (x *index) reset() {
	if x.db != nil {
		_ = x.db.Close()
	}
	x.db, x.byApp, x.rows, x.vocabulary, x.rareCounted = nil, nil, nil, nil, 0
}

// sync brings the index up to the apps: what has not changed stays.
func (x *index) sync(ctx context.Context, apps []*aai.App) error {
	if x.db == nil {
		db, err := database.OpenMemory(ctx, database.Schema{Version: indexVersion, Tables: indexTables})
		if err != nil {
			return err
		}
		x.db, x.byApp, x.rows, x.vocabulary = db, make(map[string]*indexedApp), make(map[int64]*entry), newVocabulary(x.glossary)
	}
	there := make(map[string]bool, len(apps))
	var changed []*aai.App
	for _, app := range apps {
		there[app.ID] = true
		if was := x.byApp[app.ID]; was == nil || !sameApp(was.app, app) {
			changed = append(changed, app)
		}
	}
	var gone []string
	for id := range x.byApp {
		if !there[id] {
			gone = append(gone, id)
		}
	}
	if len(changed)+len(gone) == 0 {
		return nil
	}
	if err := x.change(ctx, changed, gone); err != nil {
		x.reset() // half of it may be there
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
		if err := x.deleteApp(ctx, remove, id); err != nil {
			return err
		}
	}
	for _, app := range changed {
		err := x.deleteApp(ctx, remove, app.ID)
		if err == nil {
			err = x.insertApp(ctx, insert, app)
		}
		if err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (x *index) deleteApp(ctx context.Context, remove *sql.Stmt, id string) error {
	was := x.byApp[id]
	if was == nil {
		return nil
	}
	for i, row := range was.rows {
		if _, err := remove.ExecContext(ctx, row); err != nil {
			return err
		}
		if i < maxCounted {
			x.vocabulary.count(x.rows[row].face, -1)
			x.rareCounted--
		}
		delete(x.rows, row)
	}
	delete(x.byApp, id)
	return nil
}

func (x *index) insertApp(ctx context.Context, insert *sql.Stmt, app *aai.App) error {
	now := &indexedApp{app: app}
	x.byApp[app.ID] = now
	names, whole := appNames(app), x.vocabulary.appWeights(app)
	words, things := append(wordsOf(names...), wordsOf(app.Description)...), x.glossary.concepts(append(names, " ", app.Description)...)
	for _, tool := range app.Tools {
		if tool.Run == nil || app.ID == aai.BuiltinApp && !x.agentTools[tool.Name] {
			continue
		}
		x.last++
		said := slices.Concat(wordsOf(tool.Name, " ", tool.Title), wordsOf(tool.Description), wordsOf(paramNames(tool)...), words)
		meant := append(x.glossary.concepts(tool.Name, " ", tool.Title, " ", tool.Description), things...)
		if _, err := insert.ExecContext(ctx, x.last, strings.Join(said, " "), strings.Join(meant, " ")); err != nil {
			return err
		}
		now.rows = append(now.rows, x.last)
		x.rows[x.last] = &entry{app: app, tool: tool, face: x.vocabulary.toolWeights(whole, tool), name: spacedWords(tool.Name)}
		if len(now.rows) <= maxCounted {
			x.vocabulary.count(x.rows[x.last].face, 1)
			x.rareCounted++
		}
	}
	return nil
}

// maxCounted is how many tools of an app are counted in what is rare: by very many of them
// nobody makes common what others do.
const maxCounted = 30

// maxAliases is how many other names of an app count.
const maxAliases = 10

// appNames are the names of an app.
func appNames(app *aai.App) []string {
	texts := []string{app.Name, " ", strings.Join(app.Aliases[:min(len(app.Aliases), maxAliases)], " "), " "}
	parts := strings.Split(app.ID, ".")
	if len(parts) > 2 {
		parts = parts[2:] // those before say whose it is
	}
	return append(texts, strings.Join(parts, " "))
}

// paramNames are the names of a tool's parameters.
func paramNames(tool *aai.Tool) []string {
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
	x.reset()
}
