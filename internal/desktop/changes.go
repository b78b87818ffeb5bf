package desktop

import (
	"context"
	"time"
)

// Changes reports changes outside the trees of apps, as the system announces them. Each method first calls its
// function once it listens, except for notifications, and returns when ctx ends, or with an error when it can listen no
// longer. It fails with AUTOMATION_NOT_SUPPORTED where the system announces nothing; callers then look regularly. The
// functions are called by one goroutine and must not block.
type Changes interface {
	// WatchWindows reports that an app or a window may have come or gone.
	WatchWindows(ctx context.Context, changed func()) error
	// WatchClipboard reports that something was copied.
	WatchClipboard(ctx context.Context, changed func()) error
	// WatchNotifications reports the notifications that apps show.
	WatchNotifications(ctx context.Context, shown func(Notification)) error
}

// A Notification is a message that an app shows through the desktop's notification service.
type Notification struct {
	// Processes are the process that sent it, its parent, and so on; empty if unknown.
	Processes []int
	// Claims are the names of the app that the sender gives. Anyone can give any.
	Claims []string
	Title  string
	Text   string
	At     time.Time
}
