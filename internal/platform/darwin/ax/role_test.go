package ax

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/query"
	"github.com/gybob/aai-gateway/internal/platform/darwin/native"
)

// TestRoles: every word of the lists is a role of ours, and subroles win.
func TestRoles(t *testing.T) {
	t.Parallel()
	for _, list := range []string{roles, subroles} {
		words := strings.Fields(list)
		for i := 0; i < len(words); i += 2 {
			_, err := query.Parse(words[i+1], query.ByRole)
			assert.Check(t, err == nil, "%s: %s", words[i], words[i+1])
			assert.Check(t, strings.HasPrefix(words[i], "AX"), words[i])
		}
	}
	for _, c := range []struct {
		role, subrole string
		want          desktop.Role
	}{
		{"AXButton", "", desktop.Button}, {"AXTextField", "AXSearchField", desktop.Searchbox}, {"AXWindow", "AXDialog", desktop.Dialog},
		{"AXRow", "AXOutlineRow", desktop.TreeItem}, {"AXCheckBox", "AXSwitch", desktop.Switch}, {"AXGroup", "AXLandmarkMain", desktop.Main},
		{"button", "", desktop.Generic}, {"", "", desktop.Generic}, {"AXButton button", "", desktop.Generic}, {"AXUnheardOf", "AXAlso", desktop.Generic},
	} {
		assert.Equal(t, roleOf(c.role, c.subrole), c.want, "%s %s", c.role, c.subrole)
	}
}

// TestActions: the default action comes first, other verbs of ours are left out, and an app's own actions have their names.
func TestActions(t *testing.T) {
	t.Parallel()
	got := orderActions([]string{"AXScrollToVisible", "Name:Archive\nTarget:0x0\nSelector:(null)", "AXShowMenu", "AXPress", "AXPress"})
	assert.DeepEqual(t, got, []string{"press", "show_menu", "Archive"})
}

// TestNotifications: every notification that is requested has an event.
func TestNotifications(t *testing.T) {
	t.Parallel()
	for _, name := range notifications() {
		assert.Check(t, eventOf(name).Kind != "", name)
	}
	assert.Equal(t, eventOf("AXNonsense"), desktop.Event{})
}

// TestPrograms: names and identities of programs by their paths.
func TestPrograms(t *testing.T) {
	t.Parallel()
	const helper = "/Applications/Google Chrome.app/Contents/Frameworks/Google Chrome Helper.app/Contents/MacOS/Google Chrome Helper"
	assert.Equal(t, bundleName(helper), "Google Chrome")
	assert.Equal(t, bundleName("/usr/bin/python3"), "")
	assert.Equal(t, programID("/usr/bin/Python3"), "python3")
	assert.Check(t, isBrowser(helper))
	assert.Equal(t, identify("/System/Applications/Notes.app/Contents/MacOS/Notes", "", nil, "ab"), "/System/Applications/Notes.app/Contents/MacOS/Notes")
	assert.Equal(t, identify("/Applications/A.app/Contents/MacOS/A", "", nil, "ab"), "/Applications/A.app/Contents/MacOS/A code:ab")
	assert.Equal(t, identify("", "", nil, "ab"), "")
	one, other := identify("/System/python3", "x.py", []string{"python3", "x.py"}, ""), identify("/System/python3", "x.py", []string{"python3", "x.py", "-v"}, "")
	assert.Check(t, one != other, "a script in a folder that is not known is identified by its command")
}

// TestFailures: every error of the accessibility API has a code and words.
func TestFailures(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for code, want := range map[native.AXError]aai.Code{
		native.ErrDisabled: aai.PermissionDenied, native.ErrCannotComplete: aai.Timeout, native.ErrInvalidElement: aai.StaleRef,
		native.ErrAttributeUnsupported: aai.AutomationNotSupported, native.ErrActionUnsupported: aai.AutomationNotSupported,
		native.ErrNotImplemented: aai.AutomationNotSupported, native.ErrParameterUnsupported: aai.AutomationNotSupported,
		native.ErrNoNotification: aai.AutomationNotSupported, native.ErrFailure: aai.AutomationFailed, native.ErrIllegalArgument: aai.AutomationFailed,
		native.ErrInvalidObserver: aai.AutomationFailed, native.ErrAlreadyRegistered: aai.AutomationFailed, native.ErrNotRegistered: aai.AutomationFailed,
		native.ErrNoValue: aai.AutomationFailed, native.ErrNotEnoughPrecision: aai.AutomationFailed, -1: aai.AutomationFailed,
	} {
		err := failure(code, true, "Terminal")
		assert.Equal(t, err.Code, want, "%d", code)
		assert.Check(t, !seen[err.Message], "%d: %s is there twice", code, err.Message)
		seen[err.Message] = true
	}
	assert.Equal(t, failure(native.ErrCannotComplete, false, "").Code, aai.AppNotRunning)
	assert.Check(t, strings.Contains(failure(native.ErrDisabled, true, "").Hint, permissionPlace))
}
