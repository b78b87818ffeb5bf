package eventlog

import (
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/events"
)

// maxUnknown is the number of kept notifications of unknown programs.
const maxUnknown = 20

// An UnknownNotification is a notification that no running program with windows has sent. Its content belongs to no program
// that a caller could have consent for, so it is not kept.
type UnknownNotification struct {
	Sender string    `json:"sender"` // the name that the sender gives itself
	At     time.Time `json:"timestamp"`
}

// Unknown returns the last notifications of unknown programs while a program was recorded.
func (s *Recorders) Unknown() []UnknownNotification {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.unknown)
}

// addUnknown keeps that a notification has appeared. The caller holds s.mu.
func (s *Recorders) addUnknown(n desktop.Notification) {
	sender := ""
	if len(n.Claims) > 0 {
		sender = aai.CleanLabel(n.Claims[0], 80)
	}
	s.unknown = append(s.unknown[max(0, len(s.unknown)-maxUnknown+1):], UnknownNotification{sender, n.At})
}

// A note is a notification of a recorder's program.
type note struct {
	desktop.Notification
	isClaimed bool // another process sent it in the program's name
}

// event returns the notification as an event.
func (n note) event() events.Event {
	e := events.Event{Type: notificationType, Title: aai.CleanLabel(n.Title, maxTitle), Text: aai.CleanLabel(n.Text, maxText), At: n.At}
	if n.isClaimed {
		e.Detail = "sent by another process in its name"
	}
	return e
}

// senderOf returns the program that sent a notification: the process, its nearest parent that is a program with windows, or
// else the only program with a name that the sender gives. It returns nil if there is none.
func senderOf(n desktop.Notification, apps []desktop.App) (app *desktop.App, isClaimed bool) {
	for _, pid := range n.Processes {
		if i := slices.IndexFunc(apps, func(a desktop.App) bool { return a.PID == pid }); i >= 0 {
			return &apps[i], false
		}
	}
	for _, name := range n.Claims {
		var meant []*desktop.App
		for i, a := range apps {
			if name != "" && (strings.EqualFold(a.ID, name) || strings.EqualFold(a.Name, name)) {
				meant = append(meant, &apps[i])
			}
		}
		if len(meant) == 1 {
			return meant[0], true
		}
	}
	return nil, false
}
