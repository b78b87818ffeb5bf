package audit

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"

	"github.com/gybob/aai-gateway/internal/files/database"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// An indexer updates an index.
type indexer struct {
	db          *sql.DB
	step        int64              // bytes per transaction
	files       map[int64]*os.File // by their numbers in the index
	checkSpace  func() error       // returns an error if the index must not grow
	done, total int64              // bytes of the journal
}

// indexedFile is the progress of the index in a file.
type indexedFile struct {
	id       int64
	consumed int64
	tail     []byte // the bytes before consumed
}

// stepBytes is the number of bytes per transaction. An interrupted update continues after
// the last transaction.
const stepBytes = 16 << 20

// update reads the new part of the journal. It reports progress during a long update.
func (x *indexer) update(ctx context.Context, files []openFile) error {
	kept := keptIdent(files)
	if err := x.checkKept(ctx, kept); err != nil {
		return err
	}
	for _, f := range files {
		x.total += f.size
	}
	idents := map[string]bool{kept: true}
	for _, f := range files {
		begun := x.done
		if !f.spare {
			if err := x.updateFile(ctx, f, idents); err != nil {
				return err
			}
		}
		x.done = begun + f.size
	}
	return x.forget(ctx, idents)
}

// keptIdent returns an ident that changes with the files of kept lines in use.
func keptIdent(files []openFile) string {
	name := "kept:"
	for _, f := range files {
		if f.kept && !f.spare {
			name += " " + f.keptIdent()
		}
	}
	return name
}

func (f *openFile) keptIdent() string {
	return fmt.Sprintf("%s %d %d", f.name, f.size, min(f.spareFrom, f.last+1))
}

// checkKept returns an error if the index contains other kept lines. It is unknown which
// of its lines were dropped since, so the index is created again.
func (x *indexer) checkKept(ctx context.Context, ident string) error {
	var files, same int
	row := x.db.QueryRowContext(ctx, "SELECT count(*), count(*) FILTER (WHERE ident = ?) FROM files", ident)
	if err := row.Scan(&files, &same); err != nil {
		return err
	}
	switch {
	case same > 0:
		return nil
	case files > 0:
		return database.ErrSchemaMismatch
	}
	_, err := x.db.ExecContext(ctx, "INSERT OR IGNORE INTO files (ident, consumed, tail) VALUES (?, 0, x'')", ident)
	return err
}

// updateFile reads one file. A file is identified by its first line, not by its name,
// which changes on rotation; files of kept lines are identified by their names.
func (x *indexer) updateFile(ctx context.Context, f openFile, idents map[string]bool) error {
	ident := f.keptIdent()
	if !f.kept {
		var err error
		if ident, err = identOf(f.file); err != nil || ident == "" {
			return err
		}
	}
	line := ident
	for n := 2; idents[ident]; n++ { // the file is a copy of an earlier one
		ident = line + "#" + strconv.Itoa(n)
	}
	idents[ident] = true
	for step := x.step; ; {
		read, more, err := x.readChunk(ctx, f, ident, step)
		if err != nil || !more {
			return err
		}
		if read == 0 {
			step *= 2 // one line is longer than step
		}
		x.done += read
		gateway.Progress(ctx, float64(x.done), float64(x.total), "reading the journal")
	}
}

func identOf(file *os.File) (string, error) {
	text, err := bufio.NewReaderSize(io.NewSectionReader(file, 0, 1<<62), maxLine).ReadSlice('\n')
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
		return "", err
	}
	if len(text) == 0 {
		return "", nil
	}
	sum := sha256.Sum256(bytes.TrimSuffix(text, []byte("\n")))
	return hex.EncodeToString(sum[:]), nil
}

// readChunk indexes up to most further bytes of a file in one transaction. It returns
// their number, and whether there are more.
func (x *indexer) readChunk(ctx context.Context, f openFile, ident string, most int64) (read int64, more bool, err error) {
	file := f.file
	tx, err := x.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, false, err
	}
	defer tx.Rollback() //nolint:errcheck // it has no effect after Commit
	var at indexedFile
	row := tx.QueryRowContext(ctx, "SELECT id, consumed, tail FROM files WHERE ident = ?", ident)
	if err := row.Scan(&at.id, &at.consumed, &at.tail); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, false, err
	}
	if at.id != 0 {
		x.files[at.id] = file
	}
	if !at.matches(file) {
		return 0, false, database.ErrSchemaMismatch // the indexed part of the file has changed
	}
	if f.size <= at.consumed {
		return 0, false, nil
	}
	if err := x.checkSpace(); err != nil {
		return 0, false, err
	}
	if at.id == 0 {
		made, err := tx.ExecContext(ctx, "INSERT INTO files (ident, consumed, tail) VALUES (?, 0, x'')", ident)
		if err != nil {
			return 0, false, err
		}
		if at.id, err = made.LastInsertId(); err != nil {
			return 0, false, err
		}
		x.files[at.id] = file
	}
	rows := newIndexRows(ctx, tx, at.id)
	joined := newRecordAssembler(rows.known)
	left := min(most, f.size-at.consumed)
	read, err = readLines(ctx, io.NewSectionReader(file, at.consumed, left), func(b []byte, offset int64) {
		if f.includes(b) {
			rows.addOffset(joined.add(b), at.consumed+offset)
		}
	})
	if err = errors.Join(err, rows.failure); err != nil {
		return 0, false, err
	}
	if err := rows.save(joined); err != nil {
		return 0, false, err
	}
	at.consumed += read
	if at.tail, err = tailOf(file, at.consumed); err != nil {
		return 0, false, err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE files SET consumed = ?, tail = ? WHERE id = ?", at.consumed, at.tail, at.id); err != nil {
		return 0, false, err
	}
	return read, left == most, tx.Commit()
}

// matches reports whether the file still has the bytes before consumed.
func (at *indexedFile) matches(file *os.File) bool {
	tail, err := tailOf(file, at.consumed)
	return err == nil && bytes.Equal(tail, at.tail)
}

// tailOf returns the last bytes before an offset, 64 at most.
func tailOf(file *os.File, offset int64) ([]byte, error) {
	tail := make([]byte, min(offset, 64))
	_, err := file.ReadAt(tail, offset-int64(len(tail)))
	return tail, err
}

// goneFiles selects the files whose idents are not in a JSON list.
const goneFiles = "(SELECT id FROM files WHERE ident NOT IN (SELECT value FROM json_each(?1)))"

// forget removes the calls of deleted files, and recounts the totals of their days.
func (x *indexer) forget(ctx context.Context, idents map[string]bool) error {
	list, err := json.Marshal(slices.Collect(maps.Keys(idents)))
	if err != nil {
		return err
	}
	tx, err := x.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // it has no effect after Commit
	var gone int
	var first, last sql.NullString
	row := tx.QueryRowContext(ctx, "SELECT (SELECT count(*) FROM "+goneFiles+"), min(time), max(time) FROM calls WHERE file IN "+goneFiles, string(list))
	if err := row.Scan(&gone, &first, &last); err != nil || gone == 0 {
		return err
	}
	for _, statement := range []string{
		"DELETE FROM texts WHERE rowid IN (SELECT id FROM calls WHERE file IN " + goneFiles + ")",
		"DELETE FROM lines WHERE call IN (SELECT id FROM calls WHERE file IN " + goneFiles + ")",
		"DELETE FROM lines WHERE file IN " + goneFiles, "DELETE FROM calls WHERE file IN " + goneFiles, "DELETE FROM files WHERE id IN " + goneFiles,
	} {
		if _, err := tx.ExecContext(ctx, statement, string(list)); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM kinds WHERE id NOT IN (SELECT kind FROM calls)"); err != nil {
		return err
	}
	if first.Valid {
		if err := recount(ctx, tx, first.String, last.String); err != nil {
			return err
		}
	}
	return tx.Commit()
}
