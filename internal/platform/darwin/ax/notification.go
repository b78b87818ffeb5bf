package ax

import "github.com/gybob/aai-gateway/internal/desktop"

// notifications returns the notifications of macOS that eventOf knows.
func notifications() []string {
	return []string{
		"AXValueChanged", "AXTitleChanged", "AXFocusedUIElementChanged", "AXFocusedWindowChanged", "AXMainWindowChanged", "AXWindowCreated",
		"AXUIElementDestroyed", "AXCreated", "AXLayoutChanged", "AXRowCountChanged", "AXRowExpanded", "AXRowCollapsed", "AXSelectedRowsChanged",
		"AXSelectedChildrenChanged", "AXSelectedCellsChanged", "AXSelectedTextChanged", "AXMenuOpened", "AXMenuClosed", "AXSheetCreated",
		"AXWindowMoved", "AXWindowResized", "AXWindowMiniaturized", "AXWindowDeminiaturized", "AXMoved", "AXResized",
		"AXApplicationActivated", "AXApplicationDeactivated", "AXElementBusyChanged", "AXLoadComplete", "AXExpandedChanged", "AXInvalidStatusChanged",
	}
}

// eventOf returns the event of a notification, without element and time. Its kind is "" for an unknown notification.
func eventOf(notification string) desktop.Event {
	switch notification {
	case "AXValueChanged":
		return desktop.Event{Kind: desktop.ValueChanged}
	case "AXTitleChanged":
		return desktop.Event{Kind: desktop.NameChanged}
	case "AXFocusedUIElementChanged":
		return desktop.Event{Kind: desktop.FocusMoved}
	case "AXWindowCreated", "AXSheetCreated":
		return desktop.Event{Kind: desktop.WindowChanged, Detail: "opened"}
	case "AXFocusedWindowChanged", "AXMainWindowChanged", "AXApplicationActivated", "AXWindowDeminiaturized":
		return desktop.Event{Kind: desktop.WindowChanged, Detail: "activated"}
	case "AXApplicationDeactivated", "AXWindowMiniaturized":
		return desktop.Event{Kind: desktop.WindowChanged, Detail: "deactivated"}
	case "AXUIElementDestroyed", "AXCreated", "AXLayoutChanged", "AXRowCountChanged", "AXMenuOpened", "AXMenuClosed", "AXLoadComplete":
		return desktop.Event{Kind: desktop.ChildrenChanged}
	case "AXRowExpanded", "AXRowCollapsed", "AXExpandedChanged":
		return desktop.Event{Kind: desktop.StateChanged, Detail: "expanded", Unset: notification == "AXRowCollapsed"}
	case "AXElementBusyChanged":
		return desktop.Event{Kind: desktop.StateChanged, Detail: "busy"}
	case "AXInvalidStatusChanged":
		return desktop.Event{Kind: desktop.StateChanged, Detail: "invalid"}
	case "AXSelectedRowsChanged", "AXSelectedChildrenChanged", "AXSelectedCellsChanged":
		return desktop.Event{Kind: desktop.SelectionMoved}
	case "AXSelectedTextChanged":
		return desktop.Event{Kind: desktop.CaretMoved}
	case "AXWindowMoved", "AXWindowResized", "AXMoved", "AXResized":
		return desktop.Event{Kind: desktop.BoundsChanged}
	}
	return desktop.Event{}
}
