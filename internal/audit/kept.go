package audit

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/gybob/aai-gateway"
)

// Nothing that acted is dropped to make room for something that did not. Of files that
// are deleted for their size, the lines of calls that acted are copied as they are into
// a file of kept lines, "audit-kept-000000000001-000000000900.jsonl" for records 1 to
// 900. Each has its seal, whose key can be made from the first; the record of the
// deletion has the digest of the file, so that the chain covers it.

// A harvest copies the lines to be kept.
type keptWriter struct {
	out   *bufio.Writer
	sum   hash.Hash
	size  int64
	lines int
	first uint64 // record that the file stands for
}

// lineHead is what a line says before all else.
type lineHead struct {
	kind aai.EntryKind
	call string
}

func headOf(l link) (h lineHead) {
	_, rest, _ := bytes.Cut(l.signed, []byte(`,"kind":"`))
	kind, rest, _ := bytes.Cut(rest, []byte(`"`))
	h.kind = aai.EntryKind(kind)
	if call, ok := bytes.CutPrefix(rest, []byte(`,"call":"`)); ok {
		call, _, _ := bytes.Cut(call, []byte(`"`)) // as it is written, which is enough to compare
		h.call = string(call)
	}
	return h
}

// callFacts are what a file tells of a call that has several lines.
type callFacts struct{ started, acts, ended bool }

// keepFrom copies what is to be kept of one file.
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
	err = eachLink(f, func(_ []byte, l link) error {
		head := headOf(l)
		facts, known := calls[head.call]
		switch head.kind {
		case aai.Received:
			facts.started = true
		case aai.Intent:
			facts.acts = facts.acts || mayAct(l)
		case aai.Outcome:
			if !known {
				return nil
			}
			facts.ended = true
		default:
			return nil
		}
		calls[head.call] = facts
		return nil
	})
	if err != nil {
		return err
	}
	return eachLink(f, func(text []byte, l link) error {
		if !h.isKept(l, calls) {
			return nil
		}
		h.lines++
		return h.copy(text)
	})
}

// mayAct reports whether a line is of something that acts, or does not say that it only
// reads.
func mayAct(l link) bool {
	var of struct {
		Effect string `json:"effect"`
	}
	return json.Unmarshal(append(bytes.Clone(l.signed), '}'), &of) != nil || of.Effect != aai.Reads.String()
}

// isKept reports whether a line is of a call that acted, or may be: its other lines may
// be in another file; or one by which the journal tells of itself what it must not forget.
func (h *keptWriter) isKept(l link, calls map[string]callFacts) bool {
	head := headOf(l)
	facts, several := calls[head.call]
	switch head.kind {
	case repairedKind:
		return true
	case prunedKind: // what it told of this file is told anew
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
	if json.Unmarshal(append(bytes.Clone(l.signed), '}'), &of) != nil {
		return true
	}
	alone := of.Door != ""
	return of.Effect != aai.Reads.String() && (!alone || of.Ran)
}

// eachLink gives each record of a file, with its line as it stands there.
func eachLink(f *os.File, to func(text []byte, l link) error) error {
	lines := bufio.NewReaderSize(io.NewSectionReader(f, 0, 1<<62), maxLine)
	for {
		text, err := lines.ReadSlice('\n')
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
			return fmt.Errorf("read the journal: %w", err)
		}
		if l, ok := parseLink(bytes.TrimSuffix(text, []byte("\n"))); ok {
			if err := to(text, l); err != nil {
				return fmt.Errorf("keep lines of the journal: %w", err)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
	}
}

// maxKeepBytes is how many bytes are read at most to keep lines, all others waiting
// meanwhile: where more is to go, it goes with the next file.
const maxKeepBytes = 96 << 20

// collectKept copies what is to be kept of files, oldest first, until so many bytes are saved,
// into one file of kept lines that is on disk when it returns; behind what is in another
// one already, which it then stands for. It says whether it does and how many of the
// files it read, and tells it all in the event.
func (j *Journal) collectKept(old *journalFile, files []journalFile, tooMuch int64, e *event) (into bool, reaped int, saved int64, err error) {
	draft := j.path + ".kept"
	if err := os.Remove(draft); err != nil && !errors.Is(err, os.ErrNotExist) { // of somebody who was stopped
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
		_ = os.Remove(draft) // there is nothing in it
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

// keepAll copies the lines of an older file of kept ones, if there is one, and then what is
// to be kept of the others, until so much is saved, of which at most so much is read.
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

// copyFile copies all lines of a file, as they are.
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
	_, _ = h.sum.Write(text) // a hash takes everything
	_, err := h.out.Write(text)
	return err
}

// lastRecordOf notes in the event which records were in the files, and returns the last.
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

// keptRange reads such a name's middle.
func keptRange(middle string) (first, last uint64, ok bool) {
	numbers, is := strings.CutPrefix(middle, keptWord)
	from, to, cut := strings.Cut(numbers, "-")
	if !is || !cut {
		return 0, 0, false
	}
	first, last = recordNumber(from), recordNumber(to)
	return first, last, first > 0 && last >= first
}
