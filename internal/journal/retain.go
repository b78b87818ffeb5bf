package journal

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
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
	first   uint64 // its first record, by its name; zero if the file is not of the chain
	size    int64
	changed time.Time
}

// The names of files that were put aside, beside "audit.jsonl":
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

// files returns the journal's files, oldest first, the current one last if there
// is one.
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
		case isStem && isExt && len(middle) >= 12:
			n, err := strconv.ParseUint(middle, 10, 63)
			if err != nil || n == 0 {
				continue
			}
			f.first = n
		default:
			continue
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // put aside or deleted by another process meanwhile
		}
		if err != nil {
			return nil, fmt.Errorf("look for the journal's files: %w", err)
		}
		if !info.Mode().IsRegular() {
			if f.current {
				return nil, fmt.Errorf("read the journal: %s is no regular file", f.path)
			}
			continue
		}
		f.size, f.changed = info.Size(), info.ModTime()
		found = append(found, f)
	}
	slices.SortStableFunc(found, func(a, b journalFile) int {
		switch {
		case a.current != b.current:
			return compareBool(a.current, b.current)
		case a.first != b.first:
			return cmp.Compare(a.first, b.first)
		}
		return strings.Compare(a.path, b.path)
	})
	return found, nil
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// rotate puts the file aside when it is full, or so old that the records in it
// would be kept for too long, and says what is then to be deleted and the record
// of that.
func (j *Journal) rotate(st *state) (doomed []string, told []event, err error) {
	age := j.now().Sub(time.Unix(0, st.began))
	if st.size == 0 || st.size < max(j.rotateSize, j.full) && age < j.maxAge/10 {
		return nil, nil, nil
	}
	if err := j.toDisk(j.file); err != nil {
		j.lost = j.written
		return nil, nil, fmt.Errorf("flush the journal: %w", err)
	}
	// A state from before would look in the new file for what is in the old one.
	if err := j.side.writeThrough(st); err != nil {
		return nil, nil, err
	}
	aside := rotatedPath(j.path, st.first)
	if !moved(j.path, aside) {
		// On Windows nobody can rename what another process has open. The file goes
		// on growing, and this is tried again.
		j.full = st.size + j.rotateSize/16 + 1
		return nil, nil, nil
	}
	j.full = 0
	if err := j.folderToDisk(filepath.Dir(j.path)); err != nil {
		return nil, nil, fmt.Errorf("flush the journal's folder: %w", err)
	}
	j.letGo()
	if err := j.begin(st); err != nil {
		return nil, nil, err
	}
	return j.prune()
}

// moved renames a file, unless there is one of the new name.
func moved(from, to string) bool {
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	return os.Rename(from, to) == nil
}

// prune says which files are too old or too much, and the event that tells of it.
func (j *Journal) prune() (doomed []string, told []event, err error) {
	files, err := j.files()
	if err != nil {
		return nil, nil, err
	}
	var total int64
	for _, f := range files {
		total += f.size
	}
	e := event{Kind: prunedKind}
	for _, f := range files {
		old := j.now().Sub(f.changed) > j.maxAge
		if f.current || !old && total <= j.maxSize {
			break
		}
		if f.first > 0 {
			last, err := lastLink(f.path)
			if err != nil {
				return nil, nil, fmt.Errorf("read the journal: %w", err)
			}
			if last.seq > 0 {
				e.Through, e.Seal = last.seq, last.seal.String()
			}
		}
		total -= f.size
		doomed = append(doomed, f.path)
	}
	if len(doomed) == 0 {
		return nil, nil, nil
	}
	e.Files = len(doomed)
	return doomed, []event{e}, nil
}

// drop deletes files, once the record of that is on disk. What cannot be deleted
// is tried again with the next file.
func (j *Journal) drop(doomed []string) {
	if len(doomed) == 0 {
		return
	}
	if err := j.toDisk(j.file); err != nil {
		j.lost = j.written
		return
	}
	for _, path := range doomed {
		if err := os.Remove(path); err != nil {
			j.warn(fmt.Errorf("delete an old file of the journal: %w", err))
		}
	}
}
