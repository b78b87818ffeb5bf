package audit

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A journalFile is one of the files of a journal.
type journalFile struct {
	path    string
	current bool
	kept    bool   // it has lines of deleted files
	first   uint64 // its first record, by its name; zero if the file is not of the chain
	last    uint64 // of kept lines: the last record of their files
	isCopy  bool   // its lines are copies of existing ones
	size    int64
	changed time.Time
}

// asideWord marks files outside the chain. The names of other files, beside "audit.jsonl":
// "audit-000000000042.jsonl" begins with record 42,
// "audit-before-20260504T080000.000000000Z.jsonl" is not of the chain.
const asideWord = "before-"

func nameParts(path string) (folder, stem, ext string) {
	folder, base := filepath.Split(path)
	ext = filepath.Ext(base)
	return filepath.Clean(folder), strings.TrimSuffix(base, ext) + "-", ext
}

func rotatedPath(path string, first uint64) string {
	folder, stem, ext := nameParts(path)
	return filepath.Join(folder, fmt.Sprintf("%s%012d%s", stem, first, ext))
}

func asidePath(path string, now time.Time) string {
	folder, stem, ext := nameParts(path)
	return filepath.Join(folder, stem+asideWord+now.UTC().Format("20060102T150405.000000000Z")+ext)
}

// files returns the journal's files, oldest first, the current one last if there is one.
func (j *Journal) files() ([]journalFile, error) {
	folder, stem, ext := nameParts(j.path)
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for the journal's files: %w", err)
	}
	var found []journalFile
	for _, entry := range entries {
		f := journalFile{path: filepath.Join(folder, entry.Name()), current: entry.Name() == filepath.Base(j.path)}
		middle, isStem := strings.CutPrefix(entry.Name(), stem)
		middle, isExt := strings.CutSuffix(middle, ext)
		switch {
		case f.current, isStem && isExt && strings.HasPrefix(middle, asideWord):
		case isStem && isExt:
			f.first = recordNumber(middle)
			if f.first == 0 {
				f.first, f.last, f.kept = keptRange(middle)
			}
			if f.first == 0 {
				continue
			}
		default:
			continue
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // rotated or deleted by another process meanwhile
		}
		if err != nil {
			return nil, fmt.Errorf("look for the journal's files: %w", err)
		}
		if !info.Mode().IsRegular() {
			if f.current {
				return nil, fmt.Errorf("read the journal: %w", irregular(f.path, info))
			}
			continue
		}
		f.size, f.changed = info.Size(), info.ModTime()
		found = append(found, f)
	}
	slices.SortStableFunc(found, func(a, b journalFile) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.first, b.first), cmp.Compare(a.last, b.last),
			strings.Compare(a.path, b.path))
	})
	begins, through := chainBegins(found), uint64(0)
	for i := range found {
		if f := &found[i]; f.kept {
			f.isCopy = f.first >= begins || f.first <= through
			if !f.isCopy {
				through = f.last
			}
		}
	}
	return found, nil
}

// rank returns 0 for a file outside the chain, 1 for kept lines, 2 for a rotated file and
// 3 for the current one.
func (f *journalFile) rank() int {
	switch {
	case f.current:
		return 3
	case f.kept:
		return 1
	case f.first > 0:
		return 2
	}
	return 0
}

// recordNumber parses a record number in a file name; zero if invalid.
func recordNumber(text string) uint64 {
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil || len(text) < 12 {
		return 0
	}
	return n
}

// chainBegins returns the first record that is still in its own file: kept lines from there
// on are copies.
func chainBegins(files []journalFile) uint64 {
	for _, f := range files {
		if f.rank() == 2 {
			return f.first
		}
	}
	return math.MaxUint64
}

// rotate rotates the file if it is full, or so old that its records would be kept for too
// long. It returns the files to delete and the events about that.
func (j *Journal) rotate(st *state) (doomed []string, told []event, err error) {
	age := j.now().Sub(time.Unix(0, st.writtenAt))
	if st.size == 0 || st.size < max(j.rotateSize, j.full) && age < j.maxAge/10 {
		return nil, nil, nil
	}
	if err := j.syncFile(j.file); err != nil {
		j.lost = j.written
		return nil, nil, fmt.Errorf("flush the journal: %w", err)
	}
	// After a crash an older state would search the new file for records of the old one.
	if err := j.stateFile.writeThrough(st); err != nil {
		return nil, nil, err
	}
	aside := rotatedPath(j.path, st.first)
	if !moved(j.path, aside) {
		// On Windows a file that another process has open cannot be renamed. The file
		// grows further, and a later call tries again.
		j.full = st.size + j.rotateSize/16 + 1
		return nil, nil, nil
	}
	j.full = 0
	if err := j.syncDir(filepath.Dir(j.path)); err != nil {
		return nil, nil, fmt.Errorf("flush the journal's folder: %w", err)
	}
	j.releaseFile()
	if err := j.beginFile(st); err != nil {
		return nil, nil, err
	}
	doomed, told, err = j.prune()
	if err != nil { // recording goes on; the next rotation tries again
		j.warn(err)
		return nil, nil, nil
	}
	return doomed, told, nil
}

// moved renames a file, unless the new name exists, and reports success.
func moved(from, to string) bool {
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	return os.Rename(from, to) == nil
}

// prune returns the files that are too old or exceed MaxSize, and the event about them.
// Files that are too old are deleted. For files beyond MaxSize, the lines of calls that
// acted are kept; kept lines are deleted, oldest first, only after all other files.
func (j *Journal) prune() (doomed []string, told []event, err error) {
	files, err := j.files()
	if err != nil {
		return nil, nil, err
	}
	if files, err = j.removeSpares(files); err != nil {
		return nil, nil, err
	}
	p := &pruning{journal: j, event: event{Kind: prunedKind}}
	for _, f := range files {
		p.total += f.size
	}
	for _, f := range files {
		if f.current {
			break
		}
		if err := p.inspect(f); err != nil {
			return nil, nil, err
		}
	}
	if err := p.pruneBySize(); err != nil {
		return nil, nil, err
	}
	if len(p.toDelete) == 0 {
		return nil, nil, nil
	}
	p.event.Files = len(p.toDelete)
	return p.toDelete, []event{p.event}, nil
}

// removeSpares deletes kept lines that an interrupted pruning left: all of them exist in
// other files, and the next ones may get the same name. The deletion is on disk before new
// kept lines exist, so that no crash restores both.
func (j *Journal) removeSpares(files []journalFile) (rest []journalFile, err error) {
	for _, f := range files {
		if !f.isCopy {
			rest = append(rest, f)
		} else if err := j.remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("delete spare lines of the journal: %w", err)
		}
	}
	if len(rest) == len(files) {
		return files, nil
	}
	if err := j.syncDir(filepath.Dir(j.path)); err != nil {
		return nil, fmt.Errorf("flush the journal's folder: %w", err)
	}
	return rest, nil
}

// pruning collects the files to delete.
type pruning struct {
	journal  *Journal
	event    event
	toDelete []string
	total    int64 // bytes of the remaining files

	copiedThrough uint64 // records up to this one are in files of kept lines
	kept          []journalFile
	rotated       []journalFile
}

func (p *pruning) markForDeletion(f journalFile) {
	p.toDelete = append(p.toDelete, f.path)
	p.total -= f.size
}

// inspect selects a file for deletion if it is too old, if it is outside the chain and beyond MaxSize,
// or if an interrupted pruning already kept its lines. It collects other files.
func (p *pruning) inspect(f journalFile) (err error) {
	old := p.journal.now().Sub(f.changed) > p.journal.maxAge
	switch {
	case f.kept && old && len(p.kept) == 0:
		p.event.Forgot = f.last
		p.markForDeletion(f)
	case f.kept:
		p.kept, p.copiedThrough = append(p.kept, f), max(p.copiedThrough, f.last)
	case f.first == 0 && (old || p.total > p.journal.maxSize):
		p.markForDeletion(f)
	case f.first == 0:
	case f.first <= p.copiedThrough:
		_, err = lastRecordOf([]journalFile{f}, &p.event)
		p.markForDeletion(f)
	case old && len(p.kept) == 0 && len(p.rotated) == 0:
		var last uint64
		last, err = lastRecordOf([]journalFile{f}, &p.event)
		p.event.Forgot = max(p.event.Forgot, last) // an interrupted pruning may have recorded kept lines of it
		p.markForDeletion(f)
	default:
		p.rotated = append(p.rotated, f)
	}
	return err
}

// mergeable returns the last file of kept lines, if it has room for more, or nil
// otherwise.
func (p *pruning) mergeable() *journalFile {
	if n := len(p.kept); n > 0 && p.kept[n-1].size < p.journal.rotateSize {
		return &p.kept[n-1]
	}
	return nil
}

// pruneBySize selects files beyond MaxSize.
func (p *pruning) pruneBySize() error {
	tooMuch := p.total - p.journal.maxSize
	if tooMuch <= 0 {
		return nil
	}
	if len(p.rotated) > 0 {
		into, reaped, saved, err := p.journal.collectKept(p.mergeable(), p.rotated, tooMuch, &p.event)
		if err != nil {
			return err
		}
		if into {
			// It goes first: as long as it exists, no other file is deleted.
			p.toDelete = append([]string{p.kept[len(p.kept)-1].path}, p.toDelete...)
			p.kept = p.kept[:len(p.kept)-1]
		}
		for _, f := range p.rotated[:reaped] {
			p.toDelete = append(p.toDelete, f.path)
		}
		p.total -= saved
		if reaped < len(p.rotated) {
			return nil
		}
	}
	for _, f := range p.kept {
		if p.total <= p.journal.maxSize {
			break
		}
		p.event.Forgot = f.last
		p.markForDeletion(f)
	}
	return nil
}

// deleteFiles deletes files, in order, once their event is on disk. A failed deletion is
// tried again at the next rotation. If the flush fails, the entries that were written with
// the event, and have no number yet, are lost with it.
func (j *Journal) deleteFiles(doomed []string, batch []*pendingEntry) {
	if len(doomed) == 0 {
		return
	}
	if err := j.syncFile(j.file); err != nil {
		j.lost = j.written
		for _, w := range batch {
			if w.err == nil {
				j.lost++
			}
		}
		return
	}
	for _, path := range doomed {
		if err := j.remove(path); err != nil {
			j.warn(fmt.Errorf("delete an old file of the journal: %w", err))
			return
		}
	}
}
