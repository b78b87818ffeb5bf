package screen

import (
	"context"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
)

// WatchWindows implements desktop.Changes.
func (d *Display) WatchWindows(ctx context.Context, changed func()) error {
	pairs := [][2]uint32{
		{win32.EventForeground, win32.EventForeground}, {win32.EventMinimizeStart, win32.EventMinimizeEnd},
		{win32.EventShow, win32.EventHide}, {win32.EventCloaked, win32.EventUncloaked},
	}
	return d.events.Watch(ctx, pairs, changed, func(_ uint32, w win32.Window) {
		if root := w.Root(); root == w || root == 0 { // no child window, or one that is gone
			changed()
		}
	})
}

// WatchClipboard implements desktop.Changes.
func (*Display) WatchClipboard(ctx context.Context, changed func()) error {
	return win32.RunLoop(ctx, func() error {
		w, err := win32.NewWindow(win32.WindowSpec{Class: "Static", MessageOnly: true})
		if err == nil {
			err = w.ListenToClipboard()
		}
		if err != nil {
			return systemError("watching the clipboard", err)
		}
		changed()
		return nil
	}, func(m win32.Message) {
		if m.ID == win32.MessageClipboard {
			changed()
		}
	})
}

// WatchNotifications implements desktop.Changes: Windows shows the notifications of other apps only to programs with a package identity.
func (*Display) WatchNotifications(context.Context, func(desktop.Notification)) error {
	return notDelivered(aai.AutomationNotSupported, "Windows does not tell this gateway about the notifications of apps")
}
