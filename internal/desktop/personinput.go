package desktop

import (
	"context"
	"time"
)

// A PersonInput reports that the person presses keys and buttons. It never reports a character that the person types.
type PersonInput interface {
	// WatchPerson calls ready once it listens, and then pressed for each fact, in order. Input of the gateways' own seats is
	// not reported. It returns when ctx ends, or with an error when it can listen no longer. pressed must not block.
	WatchPerson(ctx context.Context, ready func(), pressed func(PersonFact)) error
}

// A PersonFact is that the person pressed a button or a key.
type PersonFact struct {
	At time.Time
	// PID is the process with the window under the pointer, or for a key with the keyboard focus; 0 if unknown.
	PID int
	// Button is the button that was pressed, or released if IsRelease; 4 to 7 are the wheel. It is 0 for a key.
	Button    int
	IsRelease bool
	Point     Point
	// Window is the rectangle of the window under the pointer, which may be a menu; empty if unknown.
	Window Rect
	// Chord has the modifiers that were down, and the pressed key if it types no character: a named key, or one with ctrl,
	// alt or meta. Its Key is "" for all keys that type. A modifier alone is no fact.
	Chord Chord
}

// IsKey reports whether a key was pressed.
func (f PersonFact) IsKey() bool { return f.Button == 0 }
