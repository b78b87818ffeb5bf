package audit

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/gybob/aai-gateway"
)

// Records of actions are never dropped to make room for other records. When files are
// deleted for their size, the lines of calls that acted are copied unchanged into a file
// of kept lines, "audit-kept-000000000001-000000000900.jsonl" for records 1 to 900. Each
// line has its seal, and the first key suffices to verify it. The record of the deletion
// holds the digest of the file, so that the chain covers it.

// A keptWriter copies the lines to keep.
type keptWriter struct {
	out   *bufio.Writer
	sum   hash.Hash
	size  int64
	lines int
	first uint64 // first record of the file's range
}

// lineHead holds the first fields of a line.
type lineHead struct {
	kind aai.EntryKind
	call string
}

func headOf(l link) (h lineHead) {
	_, rest, _ := bytes.Cut(l.signed, []byte(`,"kind":"`))
	kind, rest, _ := bytes.Cut(rest, []byte(`"`))
	h.kind = aai.EntryKind(kind)
	if call, ok := bytes.CutPrefix(rest, []byte(`,"call":"`)); ok {
		call, _, _ := bytes.Cut(call, []byte(`"`)) // still escaped, which suffices for comparisons
		h.call = string(call)
	}
	return h
}

// callFacts are the facts in a file about a call with several lines.
type callFacts struct{ acts, ended bool }

// keepFrom copies the lines to keep of one file.
func (h *keptWriter) keepFrom(path string) error {
	f, err := openRead(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	calls := make(map[string]callFacts)
	for text, err := range splitLines(io.NewSectionReader(f, 0, 1<<62)) {
		if err != nil {
			return err
		}
		l, ok := parseText(text)
		if !ok {
			continue
		}
		head := headOf(l)
		facts, known := calls[head.call]
		switch head.kind {
		case aai.Received:
		case aai.Intent:
			facts.acts = facts.acts || mayAct(l)
		case aai.Outcome:
			facts.ended = true
		default:
			continue
		}
		if known || head.kind != aai.Outcome {
			calls[head.call] = facts
		}
	}
	for text, err := range splitLines(io.NewSectionReader(f, 0, 1<<62)) {
		if l, ok := parseText(text); ok && h.isKept(l, calls) {
			h.lines++
			err = h.copy(text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// mayAct reports whether a line's effect is more than reading, or unknown.
func mayAct(l link) bool {
	var of struct {
		Effect string `json:"effect"`
	}
	return l.decode(&of) != nil || of.Effect != aai.Reads.String()
}

// isKept reports whether a line belongs to a call that acted, or may have acted because
// other lines are missing. Some records about the journal itself are kept too.
func (h *keptWriter) isKept(l link, calls map[string]callFacts) bool {
	head := headOf(l)
	facts, several := calls[head.call]
	switch head.kind {
	case repairedKind:
		return true
	case prunedKind: // the facts about this file are recorded again
		e := l.event()
		return e.Forgot > 0 || e.Kept > 0 && e.From != h.first
	case aai.Received:
		return facts.acts || !facts.ended
	case aai.Intent:
		return facts.acts
	case aai.Outcome:
		if several {
			return facts.acts
		}
	default:
		return false
	}
	var of struct {
		Door   string `json:"door"`
		Effect string `json:"effect"`
		Ran    bool   `json:"ran"`
	}
	if l.decode(&of) != nil {
		return true
	}
	alone := of.Door != ""
	return of.Effect != aai.Reads.String() && (!alone || of.Ran)
}

// maxKeepBytes is the maximum number of bytes to read for kept lines, since all writers
// wait meanwhile. The next rotation handles the rest.
const maxKeepBytes = 96 << 20

// collectKept copies the lines to keep of files, oldest first, until that saves tooMuch
// bytes. A new file of kept lines holds the lines of old, if there is one, and then these
// lines. The event describes that file. collectKept returns whether the new file replaces
// old, the number of files read, and the bytes saved.
func (j *Journal) collectKept(old *journalFile, files []journalFile, tooMuch int64, e *event) (into bool, reaped int, saved int64, err error) {
	draft := j.path + ".kept"
	if err := os.Remove(draft); err != nil && !errors.Is(err, os.ErrNotExist) { // left by a process that was stopped
		return false, 0, 0, fmt.Errorf("keep lines of the journal: %w", err)
	}
	out, err := openSide(draft)
	if err != nil {
		return false, 0, 0, fmt.Errorf("keep lines of the journal: %w", err)
	}
	first := files[0].first
	if old != nil {
		first = old.first
	}
	h := &keptWriter{out: bufio.NewWriterSize(out, 256<<10), sum: sha256.New(), first: first}
	reaped, saved, err = h.keepAll(old, files, tooMuch, j.maxKeepBytes)
	if err = errors.Join(err, h.out.Flush(), j.syncFile(out), out.Close()); err != nil {
		return false, 0, 0, fmt.Errorf("keep lines of the journal: %w", err)
	}
	through, err := lastRecordOf(files[:reaped], e)
	if err != nil {
		return false, 0, 0, err
	}
	if h.lines == 0 || through == 0 {
		_ = os.Remove(draft) // it is empty
		return false, reaped, saved, nil
	}
	name := keptPath(j.path, first, through)
	changed := files[reaped-1].changed
	if err := errors.Join(os.Chtimes(draft, changed, changed), os.Rename(draft, name), j.syncDir(filepath.Dir(j.path))); err != nil {
		return false, 0, 0, fmt.Errorf("keep lines of the journal: %w", err)
	}
	e.From, e.Kept, e.Digest = first, h.lines, hex.EncodeToString(h.sum.Sum(nil))
	return old != nil, reaped, saved, nil
}

// keepAll copies the lines of old, if there is one, and then the lines to keep of the
// files. It stops when tooMuch bytes are saved or most bytes are read.
func (h *keptWriter) keepAll(old *journalFile, files []journalFile, tooMuch, most int64) (reaped int, saved int64, err error) {
	if old != nil {
		if err := h.copyFile(old.path); err != nil {
			return 0, 0, err
		}
	}
	var read int64
	for reaped < len(files) && saved < tooMuch && (read == 0 || read+files[reaped].size <= most) {
		f, before := files[reaped], h.size
		if err := h.keepFrom(f.path); err != nil {
			return 0, 0, err
		}
		read += f.size
		saved += f.size - (h.size - before)
		reaped++
	}
	return reaped, saved, nil
}

// copyFile copies all lines of a file unchanged.
func (h *keptWriter) copyFile(path string) error {
	f, err := openRead(path)
	if err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(f)
	if err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	h.lines += bytes.Count(text, []byte("\n"))
	return h.copy(text)
}

func (h *keptWriter) copy(text []byte) error {
	h.size += int64(len(text))
	_, _ = h.sum.Write(text) // a hash never fails
	_, err := h.out.Write(text)
	return err
}

// lastRecordOf records the last record of the files in the event, and returns its number.
func lastRecordOf(files []journalFile, e *event) (through uint64, err error) {
	for _, f := range files {
		last, err := lastLink(f.path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("read the journal: %w", err)
		}
		if last.seq > 0 {
			through, e.Through, e.Seal = last.seq, last.seq, last.seal.String()
		}
	}
	return through, nil
}

const keptWord = "kept-"

func keptPath(path string, first, last uint64) string {
	folder, stem, ext := nameParts(path)
	return filepath.Join(folder, fmt.Sprintf("%s%s%012d-%012d%s", stem, keptWord, first, last, ext))
}

// keptRange parses the range in the name of a file of kept lines.
func keptRange(middle string) (first, last uint64, ok bool) {
	numbers, is := strings.CutPrefix(middle, keptWord)
	from, to, cut := strings.Cut(numbers, "-")
	if !is || !cut {
		return 0, 0, false
	}
	first, last = recordNumber(from), recordNumber(to)
	return first, last, first > 0 && last >= first
}
