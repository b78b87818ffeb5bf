package journal

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
	lockPatience = 5 * time.Second
	lockTimes    = 6
	lockFirstNap = 20 * time.Microsecond
	lockLongNap  = time.Millisecond
)

// lookEvery is how long the files that are open are believed to be those at their
// paths; settling is longer than anybody believes it.
const (
	lookEvery = 100 * time.Millisecond
	settling  = 2*lookEvery + lookEvery/2
)

// Behind the state is one byte more: it is not zero from before a record is written
// until the state is, so that whoever finds it knows that somebody was stopped there.
const (
	halfwayAt  = stateSize
	mappedSize = stateSize + 1
)

// A stateFile is the file of the state, open, and what was last read of it.
type stateFile struct {
	path     string
	patience time.Duration
	every    time.Duration        // lookEvery
	settling time.Duration        // for how long nobody appends who found no state
	toDisk   func(*os.File) error // its Sync
	reads    bool                 // it is only read, such as on a disk that cannot be written

	file   *os.File
	opened os.FileInfo
	mapped []byte    // of all processes; nil where the file is read and written instead
	looked time.Time // at the path
	lately bool      // by the last lock
	image  stateImage
	state  state
	ok     bool // image holds a state
}

func newStateFile(path string) stateFile {
	return stateFile{path: path, patience: lockPatience, every: lookEvery, settling: settling, toDisk: (*os.File).Sync}
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
		if err := f.await(); err != nil {
			return err
		}
		f.lately = look || f.mapped == nil || time.Since(f.looked) >= f.every || !f.peek() || !f.ok
		if !f.lately {
			return nil
		}
		info, err := os.Lstat(f.path)
		if err == nil && os.SameFile(info, f.opened) {
			f.looked = time.Now()
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
	if !f.reads {
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

// await gets the lock, or gives up: another process that is stopped must not stop
// this one.
func (f *stateFile) await() error {
	var deadline time.Time
	var seen stateImage
	waited := 0
	for nap := lockFirstNap; ; nap = min(2*nap, lockLongNap) {
		got, err := tryLock(f.file)
		if err != nil {
			return fmt.Errorf("lock the state of the journal: %w", err)
		}
		if got {
			return nil
		}
		if now := time.Now(); now.After(deadline) {
			was := seen
			seen = f.glance()
			if waited > 0 && seen == was || waited == lockTimes {
				return fmt.Errorf("another process has held the lock on %s for %s", f.path, time.Duration(waited)*f.patience)
			}
			deadline = now.Add(f.patience)
			waited++
		}
		time.Sleep(nap)
	}
}

// glance reads the file that another process has locked: it is another one after each append.
func (f *stateFile) glance() (image stateImage) {
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
		if mapsFiles && !f.reads && size < int64(mappedSize) {
			if _, err := f.file.WriteAt(make([]byte, int64(mappedSize)-size), size); err != nil {
				return fmt.Errorf("write the state of the journal: %w", err)
			}
		}
		f.mapped = mapFile(f.file, mappedSize)
	}
	if f.mapped != nil && f.peek() {
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
	f.take(&image)
	return nil
}

// take decodes what was read, unless it is what is known.
func (f *stateFile) take(image *stateImage) {
	if !f.ok || *image != f.image {
		f.state, f.ok = decodeState(image)
		f.image = *image
	}
}

// peek takes what is mapped, and reports false if that cannot be had, or if somebody
// was stopped between a record and its state. Who cuts the file off under our hands
// must not end the process.
func (f *stateFile) peek() (whole bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if fault(recover()) {
			f.ok, whole = false, false
		}
	}()
	whole = f.mapped[halfwayAt] == 0
	f.take((*stateImage)(f.mapped))
	return whole
}

// poke replaces what is mapped.
func (f *stateFile) poke(image *stateImage) (done bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if fault(recover()) {
			done = false
		}
	}()
	copy(f.mapped, image[:])
	f.mapped[halfwayAt] = 0
	return true
}

// begin notes that a record is about to be written whose state is not.
func (f *stateFile) begin() {
	if f.mapped == nil {
		return
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if fault(recover()) {
			f.ok = false
		}
	}()
	f.mapped[halfwayAt] = 1
}

// fault reports whether what was recovered is memory that went away; any other panic
// goes on.
func fault(recovered any) bool {
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
	if f.mapped == nil || !f.poke(&image) {
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
