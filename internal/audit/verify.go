package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/gybob/aai-gateway"
)

// A Verdict is what is to be thought of a journal.
type Verdict string

// The verdicts. Of a journal that is both, the fault at the first record decides.
const (
	Intact    Verdict = "ok"
	Tampered  Verdict = "tampered"  // a record was changed, taken out, moved or put in
	Truncated Verdict = "truncated" // records are missing at the beginning or at the end
)

// A Fault is one place where the chain is not as it was written.
type Fault struct {
	Verdict Verdict `json:"status"`
	Record  uint64  `json:"record"` // the number of the record that should be there
	File    string  `json:"file,omitempty"`
	Reason  string  `json:"reason"`
}

// A Repair is what a crash did to the file, of which nothing was acknowledged to
// be on disk. It is no fault.
type Repair struct {
	Record  uint64 `json:"record"`            // that tells of it; zero if the next one will
	Torn    int64  `json:"torn,omitempty"`    // bytes that are no record
	Lost    uint64 `json:"lost,omitempty"`    // records that were not on disk yet
	Pending bool   `json:"pending,omitempty"` // it was found just now
}

// A Verification is what Verify found.
type Verification struct {
	Verdict       Verdict  `json:"status"`
	Records       uint64   `json:"records"` // that are as they were written
	First         uint64   `json:"first,omitempty"`
	Last          uint64   `json:"last,omitempty"`
	Files         int      `json:"files"`
	Faults        []Fault  `json:"faults,omitempty"` // by record, the first of them
	OmittedFaults int      `json:"more,omitempty"`   // faults at later records, which are not listed
	Repairs       []Repair `json:"repairs,omitempty"`
	Pruned        uint64   `json:"pruned,omitempty"`    // records up to this one were deleted for their age or size
	Kept          uint64   `json:"kept,omitempty"`      // of these, so many that are kept because their calls acted
	Anchor        uint64   `json:"anchor,omitempty"`    // the record that the keeper vouches for
	Unchained     []string `json:"unchained,omitempty"` // files that are not of the chain, and tell nothing
}

// String says it in a sentence: first what is missing or wrong, beginning with the
// first record of which that is so, and then what is left.
func (v *Verification) String() string {
	if v.Verdict != Intact {
		f := v.Faults[0]
		text := fmt.Sprintf("%s at record %d: %s", f.Verdict, f.Record, f.Reason)
		if more := len(v.Faults) - 1 + v.OmittedFaults; more > 0 {
			text += fmt.Sprintf("; %d more faults after it", more)
		}
		return text + fmt.Sprintf("; %d records are as they were written", v.Records)
	}
	text := fmt.Sprintf("ok, %d records", v.Records)
	if v.Kept > 0 {
		text += fmt.Sprintf(", and %d of calls that acted, kept of what was deleted for its size", v.Kept)
	}
	for _, r := range v.Repairs {
		switch {
		case r.Torn > 0 && r.Pending:
			text += "; a torn tail will be repaired"
		case r.Torn > 0:
			text += fmt.Sprintf("; a torn tail was repaired at record %d", r.Record)
		}
		if r.Lost > 0 {
			text += fmt.Sprintf("; %d records were not on disk yet when the computer went down", r.Lost)
		}
	}
	return text
}

// maxFaults is how many faults are listed.
const maxFaults = 100

// fault notes a fault in its place: what is missing at the beginning is found last.
func (v *Verification) fault(verdict Verdict, record uint64, file, reason string, args ...any) {
	at := len(v.Faults)
	for at > 0 && v.Faults[at-1].Record > record {
		at--
	}
	v.Faults = slices.Insert(v.Faults, at, Fault{verdict, record, file, fmt.Sprintf(reason, args...)})
	if len(v.Faults) > maxFaults {
		v.Faults, v.OmittedFaults = v.Faults[:maxFaults], v.OmittedFaults+1
	}
	v.Verdict = v.Faults[0].Verdict
}

// Verify follows the chain through all files. It is an error only if that cannot
// be done: what is wrong with the journal is in the Verification. Others may
// record meanwhile.
func (j *Journal) Verify(ctx context.Context) (*Verification, error) {
	return j.verify(ctx, func([]byte, bool, string) error { return nil })
}

// verify also shows each line to a visitor, and whether it is a record that is as
// it was written.
func (j *Journal) verify(ctx context.Context, visit func(line []byte, good bool, file string) error) (*Verification, error) {
	seen, err := j.openSnapshot(true)
	if err != nil {
		return nil, err
	}
	defer seen.close()
	kept, err := loadKeys(j.keyStore)
	if err != nil {
		return nil, err
	}
	v := &Verification{Verdict: Intact, Files: len(seen.files)}
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
			return nil, fmt.Errorf("read the journal: %w", err)
		}
	}
	c.checkEnd(seen, j.boot())
	return v, nil
}

// A sight is what the files were at one moment.
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
	first     uint64 // the record it should begin with; zero if nobody knows
	kept      bool   // it has lines of files that were deleted, of records first to last
	last      uint64
	spare     bool   // which are all in other files
	spareFrom uint64 // from this record on they are
}

func (s *snapshot) close() {
	for _, f := range s.files {
		_ = f.file.Close() // they were only read
	}
}

// includes reports whether a line of the file counts, or stands in another file too.
func (f *openFile) includes(line []byte) bool {
	if !f.kept {
		return true
	}
	l, ok := parseLink(bytes.TrimSuffix(line, []byte("\n")))
	return ok && !f.spare && l.seq < f.spareFrom
}

// openSnapshot opens the files while nobody writes to them; where that cannot be had and need
// not be, while somebody may.
func (j *Journal) openSnapshot(alone bool) (*snapshot, error) {
	j.write.Lock()
	defer j.write.Unlock()
	s := &snapshot{}
	if _, err := os.Lstat(j.stateFile.path); err == nil {
		side := &j.stateFile
		err := side.lock(true)
		if errors.Is(err, syscall.EROFS) || errors.Is(err, os.ErrPermission) {
			// To read needs no right to write.
			reading := newStateFile(j.stateFile.path)
			reading.readOnly = true
			defer reading.close() //nolint:errcheck // it was only read
			side = &reading
			err = side.lock(true)
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

// Export writes every line of the journal as a JSON object on a line of its own,
// {"verified": …, "file": …, "record": …}, oldest first, and then
// {"verification": …}. With a filter, only what belongs to calls that pass it. A
// line that is no JSON is given as a string.
func (j *Journal) Export(ctx context.Context, w io.Writer, f Filter) (*Verification, error) {
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
