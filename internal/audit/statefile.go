package audit

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"
)

// How long a process waits for the others. An append takes microseconds: where none comes
// about for so long, whoever holds the lock is stopped or stuck. Where many do, on a busy
// computer, it is waited for several times as long.
const (
	lockTimeout       = 5 * time.Second
	lockTimeoutFactor = 6
	lockMinSleep      = 20 * time.Microsecond
	lockMaxSleep      = time.Millisecond
)

// lookEvery is how long the files that are open are believed to be those at their
// paths; settling is longer than anybody believes it.
const (
	pathCheckInterval = 100 * time.Millisecond
	settleTime        = 2*pathCheckInterval + pathCheckInterval/2
)

// Behind the state is one byte more: it is not zero from before a record is written
// until the state is, so that whoever finds it knows that somebody was stopped there.
const (
	inProgressOffset = stateSize
	mappedSize       = stateSize + 1
)

// A stateFile is the file of the state, open, and what was last read of it.
type stateFile struct {
	path            string
	lockTimeout     time.Duration
	recheckInterval time.Duration        // lookEvery
	settleTime      time.Duration        // for how long nobody appends who found no state
	toDisk          func(*os.File) error // its Sync
	readOnly        bool                 // it is only read, such as on a disk that cannot be written

	file         *os.File
	opened       os.FileInfo
	mapped       []byte    // of all processes; nil where the file is read and written instead
	checkedAt    time.Time // at the path
	recentlyUsed bool      // by the last lock
	image        stateImage
	state        state
	ok           bool // image holds a state
}

func newStateFile(path string) stateFile {
	return stateFile{path: path, lockTimeout: lockTimeout, recheckInterval: pathCheckInterval, settleTime: settleTime, toDisk: (*os.File).Sync}
}

// lock opens the file if need be, locks it against other processes and reads it. The
// file at the path is the one that counts: another one in its place is opened anew.
// Whether there is one is looked at now and then, if the caller says so, and whenever
// what was read is not as a process leaves it.
func (f *stateFile) lock(look bool) error {
	for range 10 {
		if f.file == nil {
			if err := f.open(); err != nil {
				return err
			}
		}
		if err := f.waitForLock(); err != nil {
			return err
		}
		f.recentlyUsed = look || f.mapped == nil || time.Since(f.checkedAt) >= f.recheckInterval || !f.readMapped() || !f.ok
		if !f.recentlyUsed {
			return nil
		}
		info, err := os.Lstat(f.path)
		if err == nil && os.SameFile(info, f.opened) {
			f.checkedAt = time.Now()
			if err = f.load(info.Size()); err != nil {
				f.unlock()
			}
			return err
		}
		if err := f.close(); err != nil {
			return fmt.Errorf("close the state of the journal: %w", err)
		}
	}
	return fmt.Errorf("%s is replaced again and again", f.path)
}

func (f *stateFile) open() error {
	open := openRead
	if !f.readOnly {
		if err := os.MkdirAll(filepath.Dir(f.path), folderMode); err != nil {
			return fmt.Errorf("make the journal's folder: %w", err)
		}
		open = openSide
	}
	file, err := open(f.path)
	if err != nil {
		return fmt.Errorf("open the state of the journal: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		_ = file.Close() // nothing was written to it
		return fmt.Errorf("open the state of the journal: %w", err)
	}
	f.file, f.opened, f.ok = file, info, false
	return nil
}

// waitForLock gets the lock, or gives up: another process that is stopped must not stop
// this one.
func (f *stateFile) waitForLock() error {
	var deadline time.Time
	var seen stateImage
	waited := 0
	for nap := lockMinSleep; ; nap = min(2*nap, lockMaxSleep) {
		got, err := tryLock(f.file)
		if err != nil {
			return fmt.Errorf("lock the state of the journal: %w", err)
		}
		if got {
			return nil
		}
		if now := time.Now(); now.After(deadline) {
			was := seen
			seen = f.readUnlocked()
			if waited > 0 && seen == was || waited == lockTimeoutFactor {
				return fmt.Errorf("another process has held the lock on %s for %s", f.path, time.Duration(waited)*f.lockTimeout)
			}
			deadline = now.Add(f.lockTimeout)
			waited++
		}
		time.Sleep(nap)
	}
}

// readUnlocked reads the file that another process has locked: it is another one after each append.
func (f *stateFile) readUnlocked() (image stateImage) {
	_, _ = f.file.ReadAt(image[:], 0) // what cannot be read does not change
	return image
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
	f.unmap()
	err := f.file.Close()
	f.file, f.ok = nil, false
	return err
}

func (f *stateFile) unmap() {
	if f.mapped != nil {
		_ = unmapFile(f.mapped) // what is mapped stays, at worst
		f.mapped = nil
	}
}

// load reads the locked file of that size, and maps it where that can be done. What
// is mapped has its place on the disk first: a disk that is full fails here, and not
// in the middle of a copy.
func (f *stateFile) load(size int64) error {
	if f.mapped == nil || size < int64(mappedSize) {
		f.unmap()
		if mapsFiles && !f.readOnly && size < int64(mappedSize) {
			if _, err := f.file.WriteAt(make([]byte, int64(mappedSize)-size), size); err != nil {
				return fmt.Errorf("write the state of the journal: %w", err)
			}
		}
		f.mapped = mapFile(f.file, mappedSize)
	}
	if f.mapped != nil && f.readMapped() {
		return nil
	}
	f.unmap()
	var image stateImage
	n, err := f.file.ReadAt(image[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the state of the journal: %w", err)
	}
	if n < len(image) {
		image = stateImage{}
	}
	f.decode(&image)
	return nil
}

// decode decodes what was read, unless it is what is known.
func (f *stateFile) decode(image *stateImage) {
	if !f.ok || *image != f.image {
		f.state, f.ok = decodeState(image)
		f.image = *image
	}
}

// readMapped takes what is mapped, and reports false if that cannot be had, or if somebody
// was stopped between a record and its state. Who cuts the file off under our hands
// must not end the process.
func (f *stateFile) readMapped() (whole bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if isMemoryFault(recover()) {
			f.ok, whole = false, false
		}
	}()
	whole = f.mapped[inProgressOffset] == 0
	f.decode((*stateImage)(f.mapped))
	return whole
}

// writeMapped replaces what is mapped.
func (f *stateFile) writeMapped(image *stateImage) (done bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if isMemoryFault(recover()) {
			done = false
		}
	}()
	copy(f.mapped, image[:])
	f.mapped[inProgressOffset] = 0
	return true
}

// markInProgress notes that a record is about to be written whose state is not.
func (f *stateFile) markInProgress() {
	if f.mapped == nil {
		return
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if isMemoryFault(recover()) {
			f.ok = false
		}
	}()
	f.mapped[inProgressOffset] = 1
}

// isMemoryFault reports whether what was recovered is memory that went away; any other panic
// goes on.
func isMemoryFault(recovered any) bool {
	if recovered == nil {
		return false
	}
	if _, ok := recovered.(interface{ Addr() uintptr }); !ok {
		panic(recovered)
	}
	return true
}

// write replaces the state in the locked file.
func (f *stateFile) write(st *state) error {
	image := st.encode()
	if f.mapped == nil || !f.writeMapped(&image) {
		if err := f.writeFile(&image); err != nil {
			return err
		}
	}
	f.image, f.state, f.ok = image, *st, true
	return nil
}

// writeFile is write where nothing is mapped, or no longer.
func (f *stateFile) writeFile(image *stateImage) error {
	f.unmap()
	f.ok = false
	if _, err := f.file.WriteAt(append(image[:], 0), 0); err != nil {
		return fmt.Errorf("write the state of the journal: %w", err)
	}
	return nil
}

// writeThrough is write, on disk. Some systems flush only what was written, and not
// what was mapped.
func (f *stateFile) writeThrough(st *state) error {
	if err := f.write(st); err != nil {
		return err
	}
	if _, err := f.file.WriteAt(f.image[:], 0); err != nil {
		return fmt.Errorf("write the state of the journal: %w", err)
	}
	if err := f.toDisk(f.file); err != nil {
		return fmt.Errorf("flush the state of the journal: %w", err)
	}
	return nil
}
