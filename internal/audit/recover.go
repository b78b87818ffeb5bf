package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// longestChain is the maximum record number that an unverified line is trusted to have.
// Deriving its key takes seconds.
const longestChain = 1 << 27

// A founding describes a state of the chain that no file contained.
type founding struct {
	*keys
	lostState bool // there were files of the journal, but not their state
}

// currentState returns the state of the chain. On first use that is its beginning; if the
// state is lost, it is rebuilt from the first key. In both cases currentState also returns
// a founding.
func (j *Journal) currentState() (state, *founding, error) {
	if j.stateFile.ok {
		return j.stateFile.state, nil, nil
	}
	kept, err := loadKeys(j.keyStore)
	if err != nil {
		return state{}, nil, err
	}
	files, err := j.files()
	if err != nil {
		return state{}, nil, err
	}
	founded := &founding{kept, kept != nil && len(files) > 0}
	if kept == nil {
		founded.keys = newKeys()
		if err := storeKeys(j.keyStore, founded.keys); err != nil {
			return state{}, nil, err
		}
	}
	st, err := j.initialState(files, founded.First)
	now := j.now().UnixNano()
	st.mark, st.writtenAt, st.anchoredAt = founded.First.derive(markWord), now, now
	return st, founded, err
}

// initialState returns the state before the first record of the file, from which recover
// follows its records. A file of another chain, such as one from before chains, is set
// aside.
func (j *Journal) initialState(files []journalFile, first chainKey) (state, error) {
	st := state{}
	for _, f := range files { // the last rotated file determines the last record
		if f.first == 0 || f.current || f.kept {
			continue
		}
		if r, err := lastLink(f.path); err == nil && st.seq < r.seq && r.seq < longestChain {
			st.seq, st.last = r.seq, r.seal
		}
	}
	head, size, err := firstLink(j.path)
	switch {
	case err != nil:
		return st, err
	case 0 < head.seq && head.seq < longestChain && head.sealedBy(first.ahead(head.seq-1)):
		st.seq, st.last = head.first()-1, head.prev
	case size > 0:
		if err := j.setAside(); err != nil {
			return st, err
		}
	}
	st.next = first.ahead(st.seq)
	st.first = st.seq + 1
	return st, nil
}

// advanceToAnchor advances the state to the last anchor, if a rebuilt chain does not reach
// it, and returns an event with the number of missing records.
func (st *state) advanceToAnchor(kept *keys) []event {
	a := kept.Anchor
	if a == nil || a.Seq <= st.seq || a.Seq >= longestChain || !kept.signed(a) {
		return nil
	}
	var last seal
	if !parseSeal(&last, []byte(a.Seal)) {
		return nil
	}
	lost := a.Seq - st.seq
	st.next, st.seq, st.last = st.next.ahead(lost), a.Seq, last
	return []event{{Kind: repairedKind, Lost: lost, Cause: causeCut}}
}

// setAside renames the file to a name for files outside the chain.
func (j *Journal) setAside() error {
	j.releaseFile()
	aside := asidePath(j.path, j.now())
	if err := os.Rename(j.path, aside); err != nil {
		return fmt.Errorf("put a file aside that is not of the journal's chain: %w", err)
	}
	return j.syncDir(filepath.Dir(j.path))
}

// recover updates a state that does not match the file. It advances the state along the
// records that the state does not know yet. Further bytes were torn by a crash, or
// inserted; a file that is too short has lost records. The returned events describe both,
// and the caller must record them. newLine means that the last line lacks its newline.
func (j *Journal) recover(st *state) (events []event, newLine bool, err error) {
	info, err := j.file.Stat()
	if err != nil {
		return nil, false, fmt.Errorf("read the journal: %w", err)
	}
	before := st.seq
	sealed, err := sealedIn(j.file, st)
	if err != nil {
		return nil, false, err
	}
	known := st.size
	if !sealed {
		// The file became shorter, and may have grown again since.
		known = 0
	}
	end, ended, err := follow(j.file, known, st)
	if err != nil {
		return nil, false, err
	}
	if !sealed && st.seq == before {
		e, err := j.missing(st, info.Size())
		if e.Lost > 0 || e.Torn > 0 {
			events = []event{e}
		}
		return events, !endsInLine(j.file, st.size), err
	}
	torn := info.Size() - end
	st.size = info.Size()
	if torn == 0 {
		return nil, !ended, nil
	}
	return []event{{Kind: repairedKind, Torn: torn}}, !endsInLine(j.file, st.size), nil
}

// missing returns the event for a file that is shorter than in the state.
func (j *Journal) missing(st *state, size int64) (event, error) {
	e := event{Kind: repairedKind, Cause: st.causeOfLoss(j.boot())}
	last, end, err := lastLinkOf(io.NewSectionReader(j.file, 0, size), size)
	if err != nil {
		return e, fmt.Errorf("read the journal: %w", err)
	}
	have := st.first - 1
	if last.seq >= st.first && last.seq <= st.seq {
		have = last.seq
	}
	if have < st.durable {
		e.Cause = causeCut // flushed records are not lost without interference
	}
	e.Lost, e.Torn = st.seq-have, size-end
	st.size = size
	return e, nil
}

// causeOfLoss returns causeCrash if the computer was restarted since the state was
// written, or if that is unknown. Without a restart, written data stays.
func (st *state) causeOfLoss(boot [16]byte) string {
	if boot == st.boot && boot != ([16]byte{}) {
		return causeCut
	}
	return causeCrash
}

// maxKeyStepsLocked is the maximum number of derived keys for records ahead of the state,
// for all lines together. Other processes wait meanwhile, a tenth of a second.
const maxKeyStepsLocked = 1 << 20

// follow advances the state to the last later record of the file. It returns the end of
// that record and whether a newline follows. It skips bytes that are no record, which a
// state from before a repair requires; Verify reports whether they are valid.
func follow(f *os.File, from int64, st *state) (end int64, ended bool, err error) {
	at := from
	end, ended = from, true
	left := uint64(maxKeyStepsLocked)
	for text, err := range splitLines(io.NewSectionReader(f, from, 1<<62)) {
		if err != nil {
			return end, ended, err
		}
		at += int64(len(text))
		if l, ok := parseText(text); ok && st.advanceTo(l, &left) {
			end, ended = at, text[len(text)-1] == '\n'
		}
	}
	return end, ended, nil
}

// advanceTo advances the state to a later record, and reports whether l is one. It derives
// at most left keys.
func (st *state) advanceTo(l link, left *uint64) bool {
	skipped := l.seq - st.seq - 1
	if l.seq <= st.seq || skipped > *left {
		return false
	}
	*left -= skipped
	key := st.next.ahead(skipped)
	if !l.sealedBy(key) {
		return false
	}
	st.seq, st.last, st.next = l.seq, l.seal, key.next()
	return true
}

func endsInLine(f *os.File, size int64) bool {
	if size == 0 {
		return true
	}
	var last [1]byte
	_, err := f.ReadAt(last[:], size-1)
	return err == nil && last[0] == '\n'
}

// firstLink returns the first record of the file, unverified; its seq is zero if there is
// none.
func firstLink(path string) (l link, size int64, err error) {
	f, err := openRead(path)
	if errors.Is(err, os.ErrNotExist) {
		return l, 0, nil
	}
	if err != nil {
		return l, 0, fmt.Errorf("read the journal: %w", err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	return firstLinkOf(f)
}

// firstLinkOf searches the first megabytes: a crash may have torn the first line, and a
// file with many other lines is not of the chain.
func firstLinkOf(f *os.File) (l link, size int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return l, 0, fmt.Errorf("read the journal: %w", err)
	}
	for text, err := range splitLines(io.NewSectionReader(f, 0, min(info.Size(), 4*maxLine))) {
		if err != nil {
			return l, 0, err
		}
		if l, ok := parseText(text); ok {
			l.signed = bytes.Clone(l.signed)
			return l, info.Size(), nil
		}
	}
	return link{}, info.Size(), nil
}

// lastLink returns the last record of a file, unverified.
func lastLink(path string) (link, error) {
	f, err := openRead(path)
	if err != nil {
		return link{}, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	info, err := f.Stat()
	if err != nil {
		return link{}, err
	}
	l, _, err := lastLinkOf(f, info.Size())
	return l, err
}

// lastLinkOf searches backwards for a line that is a record, and returns it and its end
// with the newline, which the last line may lack. The seq is zero if there is none.
func lastLinkOf(f io.ReaderAt, size int64) (link, int64, error) {
	const step = 64 << 10
	var tail []byte // from begin to size
	for begin := size; begin > 0 && len(tail) <= 8*maxLine; {
		n := min(step, begin)
		begin -= n
		more := make([]byte, n, int(n)+len(tail))
		if _, err := f.ReadAt(more, begin); err != nil && !errors.Is(err, io.EOF) {
			return link{}, 0, err
		}
		tail = append(more, tail...)
		for end := len(tail); end >= 0; {
			start := bytes.LastIndexByte(tail[:end], '\n')
			if start < 0 && begin > 0 {
				break // the line begins further in front
			}
			if l, ok := parseLink(tail[start+1 : end]); ok {
				return l, min(begin+int64(end)+1, size), nil
			}
			end = start
		}
	}
	return link{}, 0, nil
}
