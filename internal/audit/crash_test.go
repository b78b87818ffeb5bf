package audit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

// A crashWorld is a journal, gateways that use it, and a disk that may lose unflushed
// data.
type crashWorld struct {
	t     *rapid.T
	path  string
	boot  byte
	clock time.Time
	open  []*Journal

	whole    bool     // the last event was a record
	durable  int64    // bytes of the file that the disk has to keep
	file     string   // the file of durable, by its first record
	states   [][]byte // possible contents of the state on disk
	unproven bool     // the state was lost
	keeper   memoryKeyStore
	acked    map[string]bool
	synced   map[string]bool // the durable records among these
	calls    int
}

func newCrashWorld(t *rapid.T, folder string) *crashWorld {
	w := &crashWorld{
		t: t, path: filepath.Join(folder, "audit.jsonl"), boot: 1, clock: epoch(),
		acked: make(map[string]bool), synced: make(map[string]bool),
	}
	w.open = []*Journal{w.gateway(), w.gateway()}
	return w
}

// gateway returns the journal of a process.
func (w *crashWorld) gateway() *Journal {
	j := NewFromConfig(Config{Path: w.path, RotateSize: 3000, KeyStore: &w.keeper})
	inAHurry(j)
	j.boot = func() [16]byte { return [16]byte{w.boot} }
	j.now = func() time.Time { w.clock = w.clock.Add(time.Second); return w.clock }
	j.syncFile = func(f *os.File) error {
		info, err := f.Stat()
		if now, gone := os.Lstat(w.path); err == nil && gone == nil && os.SameFile(info, now) {
			w.durable = info.Size()
		}
		return err
	}
	return j
}

func (w *crashWorld) check(err error) {
	w.t.Helper()
	assert.NilError(w.t, err)
}

// remember records the possible contents of the state on disk. The start of a file flushes
// the state and the file before it.
func (w *crashWorld) remember() {
	image, err := os.ReadFile(w.path + ".chain")
	w.check(err)
	st, ok := decodeState((*stateImage)(image))
	assert.Assert(w.t, ok, "the state is none")
	if file := fmt.Sprint(st.first); file != w.file {
		w.file, w.states = file, nil
		if w.durable > st.size {
			w.durable = 0
		}
	}
	w.states = append(w.states, image)
}

func (w *crashWorld) record(t *rapid.T) {
	j := w.open[rapid.IntRange(0, len(w.open)-1).Draw(t, "gateway")]
	for range rapid.IntRange(1, 4).Draw(t, "entries") {
		w.calls++
		id := fmt.Sprint("c", w.calls)
		kinds := []*aai.Entry{reading(id), received(id), refusal(id, aai.AppNotFound), mutation(id)[0], asked(id)[0]}
		e := kinds[rapid.IntRange(0, len(kinds)-1).Draw(t, "kind")]
		w.check(j.Record(t.Context(), e))
		w.acked[e.Call] = true
		if e.Durable {
			w.synced = maps.Clone(w.acked)
		}
		w.remember()
	}
	w.whole = true
}

// killProcess ends a gateway, possibly in the middle of a write.
func (w *crashWorld) killProcess(t *rapid.T) {
	i := rapid.IntRange(0, len(w.open)-1).Draw(t, "gateway")
	w.check(w.open[i].Close())
	w.open[i] = w.gateway()
	if len(w.acked) == 0 {
		return
	}
	defer func() { w.whole = false }()
	image, err := os.ReadFile(w.path + ".chain")
	if err != nil {
		return // without a state, the next gateway checks
	}
	half := rapid.IntRange(0, 60).Draw(t, "half a line")
	w.extend([]byte(goodLine[:half]))
	if w.whole && len(w.states) > 1 && rapid.Bool().Draw(t, "before the state") {
		image = slices.Clone(w.states[len(w.states)-2])
	}
	w.check(overwrite(w.path+".chain", image))
}

// overwrite replaces the beginning of an open file.
func overwrite(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(b, 0)
	return errors.Join(err, f.Close())
}

func (w *crashWorld) extend(b []byte) {
	f, err := openAppend(w.path)
	w.check(err)
	_, err = f.Write(b)
	w.check(err)
	w.check(f.Close())
}

// powerLoss loses unflushed data.
func (w *crashWorld) powerLoss(t *rapid.T) {
	for i, j := range w.open {
		w.check(j.Close())
		w.open[i] = w.gateway()
	}
	w.boot++
	w.whole = false
	if len(w.states) == 0 {
		return
	}
	info, err := os.Stat(w.path)
	w.check(err)
	keep := w.durable + rapid.Int64Range(0, max(0, info.Size()-w.durable)).Draw(t, "kept")
	if keep < info.Size() {
		w.check(os.Truncate(w.path, keep))
		if zeros := rapid.IntRange(0, 50).Draw(t, "zeros"); zeros > 0 && keep > w.durable {
			w.extend(make([]byte, zeros))
		}
	}
	i := rapid.IntRange(0, len(w.states)-1).Draw(t, "state")
	w.check(os.WriteFile(w.path+".chain", w.states[i], 0o600))
	w.states = w.states[i : i+1] // only this state remains
	w.acked = maps.Clone(w.synced)
}

// loseState deletes the state.
func (w *crashWorld) loseState(*rapid.T) {
	for i, j := range w.open {
		w.check(j.Close())
		w.open[i] = w.gateway()
	}
	err := os.Remove(w.path + ".chain")
	assert.Assert(w.t, err == nil || os.IsNotExist(err), err)
	w.states, w.file, w.whole = nil, "", false
	_, missing := os.Lstat(w.path)
	w.unproven = w.unproven || missing == nil
}

// invariant checks that Verify finds no fault and that durable records exist.
func (w *crashWorld) invariant(t *rapid.T) {
	j := w.gateway()
	v, err := j.Verify(t.Context())
	w.check(err)
	want := answer.Intact
	if w.unproven {
		want = answer.Unproven
	}
	assert.Equal(t, v.Verdict, want, "%v %+v", v, v)
	found, err := j.scanFiles(t.Context(), Filter{Limit: 1 << 30})
	w.check(err)
	kept := make(map[string]bool)
	for _, p := range found {
		kept[p.Call] = true
	}
	for id := range w.acked {
		assert.Assert(t, kept[id], "%s is gone", id)
	}
	w.check(j.Close())
}

// A memoryKeyStore is a key store in memory.
type memoryKeyStore struct {
	mu   sync.Mutex
	kept []byte
	err  error

	before func() // called before each Store; may be nil
}

func (k *memoryKeyStore) Load(context.Context) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.kept, k.err
}

func (k *memoryKeyStore) Store(_ context.Context, kept []byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.before != nil {
		k.before()
	}
	if k.err == nil {
		k.kept = kept
	}
	return k.err
}

// TestCrashes mixes records, rotations, killed processes and power losses in any order.
func TestCrashes(t *testing.T) {
	folder := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		place := filepath.Join(folder, fmt.Sprint(n))
		assert.NilError(t, os.Mkdir(place, 0o700))
		w := newCrashWorld(t, place)
		t.Repeat(map[string]func(*rapid.T){
			"record":     w.record,
			"kill":       w.killProcess,
			"power loss": w.powerLoss,
			"lose state": w.loseState,
			"":           w.invariant,
		})
		for _, j := range w.open {
			w.check(j.Close())
		}
	})
}
