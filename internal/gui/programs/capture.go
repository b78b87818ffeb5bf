package programs

import (
	"context"
	"image"
	"reflect"
	"slices"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gui/screenshot"
)

// RedactedHint tells a caller how to see the parts that CaptureArea blackened.
const RedactedHint = "Name a program in app, and the person is asked; windows that protect the person are never shown."

// stillTries limits how often a screenshot is repeated until no window has moved meanwhile.
const stillTries = 5

// CaptureArea captures a part of the screen, with the windows of all programs that the caller may
// not see blackened, and returns their names. It reads the window layers before and after: if they
// differ, the capture may show a new window, and CaptureArea discards it.
func (r *Registry) CaptureArea(ctx context.Context, screen desktop.Screen, area desktop.Rect) (*image.RGBA, []string, error) {
	asked, _ := r.passwordPrompt(ctx)
	before, err := screen.Layers(ctx)
	if err != nil {
		return nil, nil, err
	}
	for range stillTries {
		picture, err := screen.Capture(ctx, area)
		if err != nil {
			return nil, nil, err
		}
		after, err := screen.Layers(ctx)
		if err != nil {
			return nil, nil, err
		}
		if reflect.DeepEqual(before, after) {
			asks, _ := r.passwordPrompt(ctx)
			hidden, err := r.blacken(ctx, picture, area, after, asked, asks)
			return picture, hidden, err
		}
		before = after
	}
	e := aai.Errorf(aai.AutomationFailed, "the windows on the screen change all the time, so a picture might show a window that you may not see")
	e.Hint = "Take a picture of one program, by app, or try again."
	e.Delivery = aai.NotDelivered
	return nil, nil, e
}

// blacken paints over the windows that the caller may not see, and returns their programs' names.
// That includes windows of unknown programs, and of the processes in asking, which request a
// password.
func (r *Registry) blacken(ctx context.Context, picture *image.RGBA, area desktop.Rect, layers []desktop.Layer, asking ...int) ([]string, error) {
	apps, err := r.Apps(ctx)
	if err != nil {
		return nil, err
	}
	sees, hidden := make(map[int]bool), []string{}
	screenshot.Blacken(picture, area, layers, func(l desktop.Layer) bool {
		name := "an unknown program"
		if i := slices.IndexFunc(apps, func(a desktop.App) bool { return a.PID == l.PID && l.PID != 0 }); i >= 0 {
			if _, asked := sees[l.PID]; !asked {
				target, err := r.newTarget(apps[i])
				sees[l.PID] = err == nil && !slices.Contains(asking, l.PID) && gateway.CanSee(ctx, target)
			}
			name = aai.CleanLabel(apps[i].ID, 60) // the program's own name may be text from its content
		}
		if !sees[l.PID] && !slices.Contains(hidden, name) {
			hidden = append(hidden, name)
		}
		return sees[l.PID]
	})
	return hidden, nil
}
