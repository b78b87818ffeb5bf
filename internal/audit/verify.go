package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

// maxFaults is the maximum number of listed faults.
const maxFaults = 100

// addFault inserts a fault by its record, and after all faults that prove a change if it does not:
// faults at the beginning are found last.
func addFault(v *answer.Verification, verdict answer.Verdict, record uint64, file, reason string, args ...any) {
	at := len(v.Faults)
	for at > 0 {
		before, weak := v.Faults[at-1], v.Faults[at-1].Verdict == answer.Unproven
		if same := weak == (verdict == answer.Unproven); same && before.Record <= record || !same && !weak {
			break
		}
		at--
	}
	v.Faults = slices.Insert(v.Faults, at, answer.Fault{Verdict: verdict, Record: record, File: file, Reason: fmt.Sprintf(reason, args...)})
	if len(v.Faults) > maxFaults {
		v.Faults, v.OmittedFaults = v.Faults[:maxFaults], v.OmittedFaults+1
	}
	v.Verdict = v.Faults[0].Verdict
}

// Verify follows the chain through all files. It returns an error only if that is
// impossible; faults of the journal are in the Verification. Other processes may record
// meanwhile.
func (j *Journal) Verify(ctx context.Context) (*answer.Verification, error) {
	return j.verify(ctx, func([]byte, bool, string) error { return nil })
}

// verify also passes each line to visit, and whether it is an unchanged record.
func (j *Journal) verify(ctx context.Context, visit func(line []byte, good bool, file string) error) (*answer.Verification, error) {
	seen, err := j.openSnapshot(true)
	if err != nil {
		return nil, err
	}
	defer seen.close()
	kept, err := loadKeys(j.keyStore)
	if err != nil {
		return nil, err
	}
	v := &answer.Verification{Verdict: answer.Intact, Files: len(seen.files)}
	if kept == nil {
		if len(seen.files) > 0 {
			return nil, &aai.Error{
				Code: aai.AutomationFailed, Message: "the journal cannot be verified: the key of its first record is gone",
				Hint: "Put back what was beside the journal (" + j.path + ".key), or where it was kept.",
			}
		}
		return v, nil
	}
	c := &checker{v: v, keys: kept, next: kept.First, visitLine: visit, keptKey: kept.First}
	for i, f := range seen.files {
		c.file, c.lastFile = f.name, i == len(seen.files)-1
		read := c.read
		if f.kept {
			read = c.readKept
		}
		if err := read(ctx, f); err != nil {
			return nil, err
		}
	}
	c.checkEnd(seen, j.boot())
	return v, nil
}

// A snapshot holds the files at one moment.
type snapshot struct {
	files    []openFile
	state    state
	hasState bool // there is a state

	firstRecord uint64 // the first record of the chain's files
}

type openFile struct {
	name      string
	file      *os.File
	size      int64
	chained   bool
	first     uint64 // the record it should begin with; zero if unknown
	kept      bool   // the file holds lines preserved from deleted files, which held the records first to last
	last      uint64
	spare     bool   // all its lines are also in other files
	spareFrom uint64 // lines from this record on are also in other files
}

func (s *snapshot) close() {
	for _, f := range s.files {
		_ = f.file.Close() // they were only read
	}
}

// includes reports whether a line of the file counts, because it is in no other file.
func (f *openFile) includes(line []byte) bool {
	if !f.kept {
		return true
	}
	l, ok := parseText(line)
	return ok && !f.spare && l.seq < f.spareFrom
}

// openSnapshot opens the files under the state's lock. If alone is false, it opens them
// even if the lock is unavailable.
func (j *Journal) openSnapshot(alone bool) (*snapshot, error) {
	j.write.Lock()
	defer j.write.Unlock()
	s := &snapshot{}
	if _, err := os.Lstat(j.stateFile.path); err == nil {
		side := &j.stateFile
		err := side.lock()
		if errors.Is(err, syscall.EROFS) || errors.Is(err, os.ErrPermission) {
			// Reading needs no permission to write.
			reading := newStateFile(j.stateFile.path)
			reading.readOnly = true
			defer reading.close() //nolint:errcheck // it was only read
			side = &reading
			err = side.lock()
		}
		if err != nil && alone {
			return nil, err
		}
		if err == nil {
			defer side.unlock()
			s.state, s.hasState = side.state, side.ok
		}
	}
	files, err := j.files()
	if err != nil {
		return nil, err
	}
	begins := chainBegins(files)
	s.firstRecord = begins
	for _, f := range files {
		file, err := openRead(f.path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			s.close()
			return nil, fmt.Errorf("read the journal: %w", err)
		}
		info, err := file.Stat()
		if err != nil {
			s.close()
			return nil, errors.Join(fmt.Errorf("read the journal: %w", err), file.Close())
		}
		first := f.first
		if f.current && s.hasState {
			first = s.state.first
		}
		s.files = append(s.files, openFile{
			filepath.Base(f.path), file, info.Size(), f.current || f.rank() == 2, first, f.kept, f.last, f.isCopy, begins,
		})
	}
	return s, nil
}

// Export writes every line of the journal as a JSON object on a separate line,
// {"verified": …, "file": …, "record": …}, oldest first, and then {"verification": …}.
// With a filter, it writes only the lines of matching calls. A line that is no JSON is
// written as a string.
func (j *Journal) Export(ctx context.Context, w io.Writer, f Filter) (*answer.Verification, error) {
	calls, err := j.exportedCalls(ctx, f)
	if err != nil {
		return nil, err
	}
	out := newExporter(w, calls)
	v, err := j.verify(ctx, out.line)
	if err != nil {
		return nil, err
	}
	return v, out.end(v)
}
