package audit

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// longestChain is how many records a chain is believed to have by what an unverified
// line says. To walk there takes seconds.
const longestChain = 1 << 27

// currentState returns where the chain stands. The first time that is its beginning; when
// the state was lost, it is found again by the first key. In both cases the keys
// come with it.
func (j *Journal) currentState() (state, *keys, error) {
	if j.stateFile.ok {
		return j.stateFile.state, nil, nil
	}
	j.waitForOtherState()
	kept, err := loadKeys(j.keyStore)
	if err != nil {
		return state{}, nil, err
	}
	if kept == nil {
		kept = newKeys()
		if err := storeKeys(j.keyStore, kept); err != nil {
			return state{}, nil, err
		}
	}
	st, err := j.initialState(kept.First)
	now := j.now().UnixNano()
	st.mark, st.writtenAt, st.anchoredAt = kept.First.derive(markWord), now, now
	return st, kept, err
}

// waitForOtherState waits, where there is a journal but no state of it, until every gateway that
// has the state open that was there before has looked at its path.
func (j *Journal) waitForOtherState() {
	if head, _, err := firstLink(j.path); mapsFiles && err == nil && head.seq > 0 {
		time.Sleep(j.stateFile.settleTime)
	}
}

// initialState returns the state before the first record of the file, from which the
// records in it are followed. A file that is not of this chain, such as one from
// before there was a chain, is put aside.
func (j *Journal) initialState(first chainKey) (state, error) {
	st := state{}
	files, err := j.files()
	if err != nil {
		return st, err
	}
	for _, f := range files { // the last of those put aside says how far they went
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

// advanceToAnchor makes the state that of the last anchor, if a chain that was found again
// does not reach it, and says how many records are missing.
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

// setAside renames the file to one that says it is not of the chain.
func (j *Journal) setAside() error {
	j.releaseFile()
	aside := asidePath(j.path, j.now())
	if err := os.Rename(j.path, aside); err != nil {
		return fmt.Errorf("put a file aside that is not of the journal's chain: %w", err)
	}
	return j.syncDir(filepath.Dir(j.path))
}

// recover makes a state of one that does not fit the file. Records that the state
// does not know yet are followed by its key. What lies behind them was torn by a
// crash, or put there by somebody; a file that is too short has lost records. The
// event, for which the caller has to make a record, says which.
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
		return nil, false, fmt.Errorf("read the journal: %w", err)
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

// missing says what a file has lost that is shorter than the state knows it.
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
		e.Cause = causeCut // what was on disk does not go by itself
	}
	e.Lost, e.Torn = st.seq-have, size-end
	st.size = size
	return e, nil
}

// causeOfLoss is crash where the computer was started anew since the state was
// written, or does not tell; as long as it runs, what was written stays.
func (st *state) causeOfLoss(boot [16]byte) string {
	if boot == st.boot && boot != ([16]byte{}) {
		return causeCut
	}
	return causeCrash
}

// maxKeyStepsLocked is how many keys are made, all lines together, for records that are said to
// be ahead of the state: others wait meanwhile, so it takes a tenth of a second.
const maxKeyStepsLocked = 1 << 20

// follow makes the state that of the last record of the file that was made after
// it, and returns where that ends and whether with an end of line. It goes on
// behind what is no record, as a state from before a repair must; whether all that
// is right, Verify tells.
func follow(f *os.File, from int64, st *state) (end int64, ended bool, err error) {
	at := from
	end, ended = from, true
	lines := bufio.NewReaderSize(io.NewSectionReader(f, from, 1<<62), maxLine)
	left := uint64(maxKeyStepsLocked)
	for {
		text, err := lines.ReadSlice('\n')
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
			return end, ended, err
		}
		at += int64(len(text))
		whole := bytes.TrimSuffix(text, []byte("\n"))
		if l, ok := parseLink(whole); ok && st.advanceTo(l, &left) {
			end, ended = at, len(whole) < len(text)
		}
		if errors.Is(err, io.EOF) {
			return end, ended, nil
		}
	}
}

// advanceTo makes the state that of a record, if it was made after the state's. It
// takes no more keys than are left.
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

// firstLink returns the first record of the file, unverified; its seq is zero if
// there is none.
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

// firstLinkOf looks among the first megabytes: a crash may have torn the first line,
// and many lines that are none of ours are another file.
func firstLinkOf(f *os.File) (l link, size int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return l, 0, fmt.Errorf("read the journal: %w", err)
	}
	lines := bufio.NewReaderSize(io.NewSectionReader(f, 0, min(info.Size(), 4*maxLine)), maxLine)
	for {
		text, err := lines.ReadSlice('\n')
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
			return l, 0, fmt.Errorf("read the journal: %w", err)
		}
		if l, ok := parseLink(bytes.TrimSuffix(text, []byte("\n"))); ok {
			l.signed = bytes.Clone(l.signed)
			return l, info.Size(), nil
		}
		if errors.Is(err, io.EOF) {
			return link{}, info.Size(), nil
		}
	}
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

// lastLinkOf looks from the end of the file for a line that is a record, its end
// with it; the last line may lack that. The seq is zero if there is none.
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
