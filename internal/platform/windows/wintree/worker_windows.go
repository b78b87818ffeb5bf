package wintree

import (
	"context"
	"runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
)

// A worker runs the calls of one app, one at a time. A call that outlives its context keeps the worker, so that an app that hangs
// costs at most one thread.
type worker struct{ turn chan struct{} }

// workers are the workers of the apps, by process. The zero value is ready.
type workers struct {
	mu  sync.Mutex
	all map[int]*worker
}

// of returns the worker of a process.
func (w *workers) of(pid int) *worker {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all == nil {
		w.all = make(map[int]*worker)
	}
	if w.all[pid] == nil {
		w.all[pid] = &worker{make(chan struct{}, 1)}
	}
	return w.all[pid]
}

// forget removes the worker of a process that has ended.
func (w *workers) forget(pid int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.all, pid)
}

// run runs call on a thread of the multithreaded apartment, and returns at the end of the context even if call does not.
func run[T any](ctx context.Context, w *worker, call func(context.Context) (T, error)) (T, error) {
	var none T
	if ctx.Err() != nil {
		return none, expired(ctx)
	}
	select {
	case w.turn <- struct{}{}:
	case <-ctx.Done():
		return none, win32.NotAnswered(ctx)
	}
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		defer func() { <-w.turn }()
		leave, err := enterApartment()
		if err != nil {
			done <- outcome{none, err}
			return
		}
		defer leave()
		value, err := call(ctx)
		done <- outcome{value, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		return none, win32.NotAnswered(ctx)
	}
}

// enterApartment makes the goroutine's thread one of the multithreaded apartment.
func enterApartment() (leave func(), err error) {
	runtime.LockOSThread()
	if err := windows.CoInitializeEx(0, windows.COINIT_MULTITHREADED); err != nil && err != windows.Errno(1) { //nolint:errorlint // S_FALSE: it was there already
		runtime.UnlockOSThread()
		return nil, aai.Errorf(aai.Internal, "a thread cannot enter the multithreaded apartment: %v", err)
	}
	return func() {
		windows.CoUninitialize()
		runtime.UnlockOSThread()
	}, nil
}

// keepApartment keeps the multithreaded apartment for the life of the process. Without it the apartment ends with its last thread, and the
// objects that sources keep between calls end too. Windows 7 lacks the function.
func keepApartment() {
	increment := windows.NewLazySystemDLL("ole32.dll").NewProc("CoIncrementMTAUsage")
	var cookie uintptr
	if increment.Find() == nil {
		_, _, _ = increment.Call(uintptr(unsafe.Pointer(&cookie))) //nolint:gosec // the system fills in the cookie
	}
}

// expired returns the error of a context that ended before the call began.
func expired(ctx context.Context) *aai.Error {
	err := win32.NotAnswered(ctx)
	err.Message, err.Delivery = "the time for the call was over before it began", aai.NotDelivered
	return err
}
