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

// The index is a table of all tools in memory. This package splits the words, which bounds the
// text of a descriptor and supports scripts without spaces; SQLite stems and ranks.
const (
	indexVersion = 1
	indexTables  = `CREATE VIRTUAL TABLE tools USING fts5(words, things,
	content='', contentless_delete=1, tokenize="porter unicode61 remove_diacritics 2");`
)

// An entry is a tool in the index.
type entry struct {
	app   *aai.App
	tool  *aai.Tool
	face  termWeights
	name  string // the tool's name as words
	once  sync.Once
	brief catalog.Brief
}

// toolBrief returns the short description of the tool.
func (e *entry) toolBrief() catalog.Brief {
	e.once.Do(func() { e.brief = catalog.NewBrief(e.app, e.tool) })
	return e.brief
}

// An index finds tools by words. It is safe for concurrent use.
type index struct {
	agentTools map[string]bool // listed tools of the builtin app
	glossary   *glossary

	mu         sync.Mutex
	db         *sql.DB
	byApp      map[string]*indexedApp // by the app's id
	rows       map[int64]*entry
	last       int64 // row
	vocabulary *vocabulary
	// rareCounted is the number of tools in the vocabulary's counts.
	rareCounted int
}

// indexedApp is an app in the index, with the rows of its tools.
type indexedApp struct {
	app  *aai.App
	rows []int64
}

// A hit is a matching tool with its score: higher is better.
type hit struct {
	*entry
	score float64
	named int // the names that the request contains
}

// find returns the tools of the apps that match any of the words, best first.
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

// named returns a bounded number of tools that the request names. SQLite's ranking may omit them
// if their app has very many tools.
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

// sqliteRankWeight is the weight of SQLite's rank relative to the score of this package.
const sqliteRankWeight = 0.2

// Limits on the tools of one app among those that SQLite ranks, for each query, and on the number
// of queries.
const (
	maxOfApp = 30
	maxAsked = 4
)

// rankedTools returns the tools that match any of the words, best first; only of the app with
// that id, if given. If one app with very many tools takes most of the places, it is excluded by
// its range of rows and the query repeated.
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

// queryOnce queries SQLite; the last argument is the limit.
func (x *index) queryOnce(ctx context.Context, condition string, args []any) ([]hit, error) {
	statement := "SELECT rowid, rank FROM tools WHERE tools MATCH ?" + condition
	rows, err := x.db.QueryContext(ctx, statement+" ORDER BY rank LIMIT ?", args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err reports errors
	var found []hit
	for rows.Next() {
		var row int64
		var score float64
		if err := rows.Scan(&row, &score); err != nil {
			return nil, err
		}
		if e := x.rows[row]; e != nil {
			found = append(found, hit{entry: e, score: -score}) // in SQLite, lower is better
		}
	}
	return found, rows.Err()
}

// match returns the query for any of the words, which are letters and digits.
func match(words []string) string {
	return `"` + strings.Join(words, `" OR "`) + `"`
}

// reset clears the index.
func (x *index) reset() {
	if x.db != nil {
		_ = x.db.Close()
	}
	x.db, x.byApp, x.rows, x.vocabulary, x.rareCounted = nil, nil, nil, nil, 0
}

// sync updates the index for the apps; unchanged apps stay.
func (x *index) sync(ctx context.Context, apps []*aai.App) error {
	if x.db == nil {
		db, err := database.OpenMemory(ctx, database.Schema{Version: indexVersion, Tables: indexTables})
		if err != nil {
			return err
		}
		x.db, x.byApp, x.rows, x.vocabulary = db, make(map[string]*indexedApp), make(map[int64]*entry),
			newVocabulary(x.glossary)
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
		x.reset() // it may be half updated
		return err
	}
	return nil
}

// sameApp reports whether two versions of an app have the same tools. Published tools are
// immutable.
func sameApp(a, b *aai.App) bool {
	return a == b || a.Name == b.Name && a.Description == b.Description && slices.Equal(a.Aliases, b.Aliases) &&
		slices.Equal(a.Tools, b.Tools)
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
	words, things := append(wordsOf(names...), wordsOf(app.Description)...),
		x.glossary.concepts(append(names, " ", app.Description)...)
	for _, tool := range app.Tools {
		if tool.Run == nil || app.ID == aai.BuiltinApp && !x.agentTools[tool.Name] {
			continue
		}
		x.last++
		said := slices.Concat(wordsOf(tool.Name, " ", tool.Title), wordsOf(tool.Description),
			wordsOf(paramNames(tool)...), words)
		meant := append(x.glossary.concepts(tool.Name, " ", tool.Title, " ", tool.Description), things...)
		if _, err := insert.ExecContext(ctx, x.last, strings.Join(said, " "), strings.Join(meant, " ")); err != nil {
			return err
		}
		now.rows = append(now.rows, x.last)
		x.rows[x.last] = &entry{app: app, tool: tool, face: x.vocabulary.toolWeights(whole, tool),
			name: spacedWords(tool.Name)}
		if len(now.rows) <= maxCounted {
			x.vocabulary.count(x.rows[x.last].face, 1)
			x.rareCounted++
		}
	}
	return nil
}

// maxCounted limits the tools of an app that count for term frequencies, so that an app with very
// many tools cannot make the terms of others common.
const maxCounted = 30

// maxAliases limits the aliases of an app that count.
const maxAliases = 10

// appNames returns the texts that name an app: its name, aliases and id.
func appNames(app *aai.App) []string {
	texts := []string{app.Name, " ", strings.Join(app.Aliases[:min(len(app.Aliases), maxAliases)], " "), " "}
	parts := strings.Split(app.ID, ".")
	if len(parts) > 2 {
		parts = parts[2:] // the parts before name the vendor
	}
	return append(texts, strings.Join(parts, " "))
}

// paramNames returns the names of a tool's parameters.
func paramNames(tool *aai.Tool) []string {
	var texts []string
	for _, name := range tool.Params.Order {
		texts = append(texts, name, " ")
	}
	return texts
}

// close closes the index.
func (x *index) close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.reset()
}
