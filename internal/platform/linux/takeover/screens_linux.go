package takeover

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/platform/linux/private"
	"github.com/gybob/aai-gateway/internal/platform/linux/wayland"
	"github.com/gybob/aai-gateway/internal/platform/linux/x11"
)

// screenRest is the time for which the connection to a screen stays after its last use. Closing it takes borrowed keys
// back, which a slow program may not have read yet.
const screenRest = 10 * time.Second

// screens holds the connections to the screens of sessions, by their folders. It is safe for concurrent use.
type screens struct {
	mu   sync.Mutex
	open map[string]*openScreen
}

// A screen takes the person's input.
type screen interface {
	ClickAt(ctx context.Context, at desktop.Point, button desktop.MouseButton, count int) error
	FocusedWindow(ctx context.Context) (desktop.WindowID, error)
	Type(ctx context.Context, seat desktop.Seat, window desktop.WindowID, text string) error
	Key(ctx context.Context, seat desktop.Seat, window desktop.WindowID, chord desktop.Chord) error
	Close() error
}

type openScreen struct {
	screen
	users int
	rest  *time.Timer
}

// hold returns the connection to the screen of a session, and opens it if necessary. The caller calls release once.
func (s *screens) hold(of *private.Isolated) (opened screen, release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.open[of.Folder]
	if o == nil {
		lock := inputlock.New(inputlock.Config{Folder: inputlock.Folder, Getenv: of.Getenv})
		o = &openScreen{screen: x11.New(x11.Config{Getenv: of.Getenv, InputLock: lock})}
		if of.Options.Wayland {
			o.screen = swayScreen{wayland.New(wayland.Config{Getenv: of.Getenv, InputLock: lock})}
		}
		o.rest = time.AfterFunc(screenRest, func() { s.drop(of.Folder, o) })
		s.open[of.Folder] = o
	}
	o.users++
	return o.screen, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		o.users--
		o.rest.Reset(screenRest)
	}
}

// drop closes the connection unless it is in use.
func (s *screens) drop(folder string, o *openScreen) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.users == 0 && s.open[folder] == o {
		delete(s.open, folder)
		go o.Close() //nolint:errcheck // it returns none
	}
}

// Close closes all connections.
func (s *screens) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for folder, o := range s.open {
		o.rest.Stop()
		errs = append(errs, o.Close())
		delete(s.open, folder)
	}
	return errors.Join(errs...)
}
