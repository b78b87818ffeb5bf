package eventlog

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// TestSenderOf: a notification counts for the nearest program in the chain of its sender's parents, and only without one for
// the program that the sender names.
func TestSenderOf(t *testing.T) {
	apps := []desktop.App{{PID: 10, ID: "panel", Name: "Panel"}, {PID: 20, ID: "org.example.Mail", Name: "Mail"}, {PID: 30, ID: "two", Name: "Two"}, {PID: 31, ID: "two", Name: "Two"}}
	for name, c := range map[string]struct {
		sent      desktop.Notification
		pid       int
		isClaimed bool
	}{
		"the program itself":         {desktop.Notification{Processes: []int{20, 10}}, 20, false},
		"a command of the program":   {desktop.Notification{Processes: []int{99, 98, 20, 10}, Claims: []string{"panel"}}, 20, false},
		"a claim of another":         {desktop.Notification{Processes: []int{99}, Claims: []string{"", "mail"}}, 20, true},
		"an ambiguous claim":         {desktop.Notification{Processes: []int{99}, Claims: []string{"two"}}, 0, false},
		"notify-send without a name": {desktop.Notification{Claims: []string{"notify-send"}}, 0, false},
	} {
		app, isClaimed := senderOf(c.sent, apps)
		pid := 0
		if app != nil {
			pid = app.PID
		}
		assert.Check(t, is.Equal(pid, c.pid), name)
		assert.Check(t, is.Equal(isClaimed, c.isClaimed), name)
	}
}
