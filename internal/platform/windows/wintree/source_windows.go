package wintree

import (
	"context"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
)

// A Source reads and operates elements by one technology. The methods run on threads of the multithreaded apartment. They may block
// while a program hangs; the tree abandons them at the deadline of the context. They fail with an *aai.Error: STALE_REF if the element is
// gone, AUTOMATION_NOT_SUPPORTED with delivery not_delivered if it does not support an act.
type Source interface {
	// Prefix begins the IDs of the source's elements, such as "uia:".
	Prefix() string
	// Read reads a window, top-level or child, with its content, in reading order. The first element is the window itself, with Parent -1.
	// Parents are indexes of the slice; End is left zero. Values are cut to desktop.MaxValue. It returns nil without an error if the
	// source knows nothing below the window that another source could not know better.
	Read(ctx context.Context, window win32.Window) ([]desktop.Element, error)
	// Element reads one element afresh; its value is not cut.
	Element(ctx context.Context, id desktop.ID) (desktop.Element, error)
	// Children reads count children of an element with UnreadChildren, starting at index first.
	Children(ctx context.Context, id desktop.ID, first, count int) ([]desktop.Element, error)
	// Execute executes an act, see desktop.Actor. It does nothing to an element that is disabled or not showing.
	Execute(ctx context.Context, id desktop.ID, act desktop.Act) error
}
