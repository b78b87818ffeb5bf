//go:build darwin || axdouble

package native

// maxNotification is the maximum length of a notification's name, in UTF-16 units.
const maxNotification = 200

// observed is the callback of all observers.
func (a *API) observed(_, element, notification Ref, context uintptr) uintptr {
	a.mu.Lock()
	tell := a.observers[context]
	a.mu.Unlock()
	if tell != nil {
		tell(element, a.TextOf(notification, maxNotification))
	}
	return 0
}

// Observe calls tell for the notifications of the process, while the run loop of the calling thread runs, until stop is called on this
// thread. It returns an error if none of the notifications could be requested. The element of a call of tell lives during the call.
func (a *API) Observe(pid int, application Ref, notifications []string, tell func(element Ref, notification string)) (stop func(), err AXError) {
	var observer Ref
	if err := a.AXObserverCreate(int32(pid), a.observerCallback, &observer); err != 0 {
		return nil, err
	}
	a.mu.Lock()
	a.nextObserver++
	context := a.nextObserver
	a.observers[context] = tell
	a.mu.Unlock()
	loop, mode, source := a.CFRunLoopGetCurrent(), a.Name("kCFRunLoopDefaultMode"), a.AXObserverGetRunLoopSource(observer)
	a.CFRunLoopAddSource(loop, source, mode)
	stop = func() {
		a.CFRunLoopRemoveSource(loop, source, mode)
		a.CFRelease(observer)
		a.mu.Lock()
		delete(a.observers, context)
		a.mu.Unlock()
	}
	requested := false
	for _, name := range notifications {
		if e := a.AXObserverAddNotification(observer, application, a.Name(name), context); e == 0 || e == ErrAlreadyRegistered {
			requested = true
		} else if err == 0 {
			err = e
		}
	}
	if !requested {
		stop()
		return nil, err
	}
	return stop, 0
}

// RunLoop runs the run loop of the calling thread for at most the time, in seconds. It returns false if the loop has nothing to run.
func (a *API) RunLoop(seconds float64) bool {
	const finished = 1
	return a.CFRunLoopRunInMode(a.Name("kCFRunLoopDefaultMode"), seconds, false) != finished
}
