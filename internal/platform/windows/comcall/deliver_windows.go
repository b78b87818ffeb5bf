package comcall

import (
	"context"
	"runtime"
	"time"

	"golang.org/x/sys/windows"
)

// answerTime is the time that a program has to answer a press.
const answerTime = 1500 * time.Millisecond

// Deliver makes a call on an object on a thread of its own. The call of a press often lasts until the person closes the dialog that it opened.
// Deliver returns 0 after answerTime or at the end of the context: the program has the call then, and goes on with it. It holds the object
// as long as the call lasts.
func Deliver(ctx context.Context, call func() uint32) uint32 {
	done := make(chan uint32, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := windows.CoInitializeEx(0, windows.COINIT_MULTITHREADED); err == nil || err == windows.Errno(1) { //nolint:errorlint // S_FALSE: it was there already
			defer windows.CoUninitialize()
		}
		done <- call()
	}()
	late := time.NewTimer(answerTime)
	defer late.Stop()
	select {
	case hr := <-done:
		return hr
	case <-late.C:
	case <-ctx.Done():
	}
	return 0
}
