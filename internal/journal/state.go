package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// A state is where the chain stands: all that the next record needs. It lies in a
// small file beside the journal that every gateway locks before it appends, and is
// overwritten in place, within one sector, because so the old key is gone, and
// because a file that is flushed and renamed costs milliseconds.
//
// It is written after the record. If the process ends between the two, the records
// that the state does not know are found by following the chain with its key; if
// the computer does, and the file has lost records that were not yet on disk, the
// state knows more than the file, and the next record says what is missing.
type state struct {
	next chainKey // of the record after seq
	seq  uint64   // of the last record
	last seal     // of the last record
	size int64    // of the file with that record

	first uint64 // record of the file
	began int64  // when it was written, in Unix nanoseconds

	durable    uint64 // the last record that is known to be on disk
	anchored   uint64 // the last record that somebody set out to anchor
	anchoredAt int64  // and when, in Unix nanoseconds

	boot [16]byte // of the computer that wrote the last record; zero if it does not say
	mark chainKey // marks hidden values, so that equal ones can be recognised
}

const (
	stateMagic = "aaichn1\n"
	stateSize  = len(stateMagic) + 32 + 8 + 16 + 8 + 8 + 8 + 8 + 8 + 8 + 16 + 32 + sha256.Size
)

// A stateImage is a state as the file has it.
type stateImage [stateSize]byte

func (st *state) encode() (image stateImage) {
	b := append(image[:0], stateMagic...)
	b = append(b, st.next[:]...)
	b = binary.BigEndian.AppendUint64(b, st.seq)
	b = append(b, st.last[:]...)
	for _, n := range []uint64{uint64(st.size), st.first, uint64(st.began), st.durable, st.anchored, uint64(st.anchoredAt)} {
		b = binary.BigEndian.AppendUint64(b, n)
	}
	b = append(b, st.boot[:]...)
	b = append(b, st.mark[:]...)
	sum := sha256.Sum256(b)
	copy(image[len(b):], sum[:])
	return image
}

// decodeState reports false for what is no state: an empty file, a torn one.
func decodeState(image *stateImage) (st state, ok bool) {
	body := image[:stateSize-sha256.Size]
	sum := sha256.Sum256(body)
	if !bytes.Equal(sum[:], image[len(body):]) || string(body[:len(stateMagic)]) != stateMagic {
		return state{}, false
	}
	rest := body[len(stateMagic):]
	take := func(n int) []byte {
		field := rest[:n]
		rest = rest[n:]
		return field
	}
	number := func() uint64 { return binary.BigEndian.Uint64(take(8)) }
	copy(st.next[:], take(len(st.next)))
	st.seq = number()
	copy(st.last[:], take(len(st.last)))
	st.size, st.first, st.began = int64(number()), number(), int64(number())
	st.durable, st.anchored, st.anchoredAt = number(), number(), int64(number())
	copy(st.boot[:], take(len(st.boot)))
	copy(st.mark[:], take(len(st.mark)))
	return st, true
}

// advance makes the state that of the record just seen, which has so many bytes.
func (st *state) advance(s seal, length int) {
	st.seq++
	st.last = s
	st.next = st.next.next()
	st.size += int64(length)
}

// How long a process waits for the others. An append takes microseconds: whoever
// holds the lock for so long is stopped or stuck.
const (
	lockPatience = 5 * time.Second
	lockFirstNap = 20 * time.Microsecond
	lockLongNap  = time.Millisecond
)

// A stateFile is the file of the state, open, and what was last read of it.
type stateFile struct {
	path     string
	patience time.Duration
	toDisk   func(*os.File) error // its Sync
	file     *os.File
	opened   os.FileInfo
	image    stateImage
	state    state
	ok       bool // image holds a state
}

// lock opens the file if need be and locks it against other processes. The file
// at the path is the one that counts: another one in its place is opened anew.
func (f *stateFile) lock() error {
	for range 10 {
		if f.file == nil {
			if err := f.open(); err != nil {
				return err
			}
		}
		if err := f.await(); err != nil {
			return err
		}
		info, err := os.Lstat(f.path)
		if err == nil && os.SameFile(info, f.opened) {
			return nil
		}
		if err := f.close(); err != nil {
			return fmt.Errorf("close the state of the journal: %w", err)
		}
	}
	return fmt.Errorf("%s is replaced again and again", f.path)
}

func (f *stateFile) open() error {
	if err := os.MkdirAll(filepath.Dir(f.path), folderMode); err != nil {
		return fmt.Errorf("make the journal's folder: %w", err)
	}
	file, err := openSide(f.path, fileMode)
	if err != nil {
		return fmt.Errorf("open the state of the journal: %w", err)
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", f.path)
	}
	if err != nil {
		_ = file.Close() // nothing was written to it
		return fmt.Errorf("open the state of the journal: %w", err)
	}
	f.file, f.opened, f.ok = file, info, false
	return nil
}

// await gets the lock, or gives up: another process that is stopped must not stop
// this one.
func (f *stateFile) await() error {
	var deadline time.Time
	for nap := lockFirstNap; ; nap = min(2*nap, lockLongNap) {
		got, err := tryLock(f.file)
		if err != nil {
			return fmt.Errorf("lock the state of the journal: %w", err)
		}
		if got {
			return nil
		}
		switch {
		case deadline.IsZero():
			deadline = time.Now().Add(f.patience)
		case time.Now().After(deadline):
			return fmt.Errorf("another process has held the lock on %s for %s", f.path, f.patience)
		}
		time.Sleep(nap)
	}
}

func (f *stateFile) unlock() {
	if f.file != nil {
		_ = unlock(f.file) // closing the file does it too
	}
}

func (f *stateFile) close() error {
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	f.file, f.ok = nil, false
	return err
}

// read returns the state in the locked file; ok is false if it holds none.
func (f *stateFile) read() (st state, ok bool, err error) {
	var image stateImage
	n, err := f.file.ReadAt(image[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return state{}, false, fmt.Errorf("read the state of the journal: %w", err)
	}
	if n == len(image) && f.ok && image == f.image {
		return f.state, true, nil
	}
	f.state, f.ok = decodeState(&image)
	f.image = image
	return f.state, f.ok, nil
}

// write replaces the state in the locked file.
func (f *stateFile) write(st *state) error {
	image := st.encode()
	if _, err := f.file.WriteAt(image[:], 0); err != nil {
		f.ok = false
		return fmt.Errorf("write the state of the journal: %w", err)
	}
	f.image, f.state, f.ok = image, *st, true
	return nil
}

// writeThrough is write, on disk.
func (f *stateFile) writeThrough(st *state) error {
	if err := f.write(st); err != nil {
		return err
	}
	if err := f.toDisk(f.file); err != nil {
		return fmt.Errorf("flush the state of the journal: %w", err)
	}
	return nil
}
