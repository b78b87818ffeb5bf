package ax

import (
	"context"
	"image"
	"image/color"
	"image/draw"
	"reflect"
	"slices"

	"aai"
	"aai/internal/desktop"
)

// blackHint says how to see what is black.
const blackHint = "Name a program in app to have the person asked for it; what guards the person is never seen."

// stillTries is how often a picture is taken until nothing has moved meanwhile.
const stillTries = 5

// photograph takes a picture of a part of the screen, in which the windows of every
// program that the caller may not see are black, and returns their names. What lies
// on the screen is looked at before and after: where it was not the same, the picture
// may show what just came, and is thrown away.
func (d *desk) photograph(ctx context.Context, screen desktop.Screen, area desktop.Rect) (*image.RGBA, []string, error) {
	asked := d.asksPassword(ctx)
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
			hidden, err := d.blacken(ctx, picture, area, after, asked, d.asksPassword(ctx))
			return picture, hidden, err
		}
		before = after
	}
	e := aai.Errorf(aai.AutomationFailed, "the windows on the screen come, go or move all the time, so a picture might show what you may not see")
	e.Hint = "Take a picture of one program, by app, or try again."
	e.Delivery = aai.NotDelivered
	return nil, nil, e
}

// blacken paints over what the caller may not see, and returns the programs' names.
// A window of nobody knows whom is not seen, nor are those of the processes that ask for
// a password.
func (d *desk) blacken(ctx context.Context, picture *image.RGBA, area desktop.Rect, layers []desktop.Layer, asking ...int) ([]string, error) {
	apps, err := d.apps(ctx)
	if err != nil {
		return nil, err
	}
	mask := image.NewAlpha(picture.Bounds())
	paint := func(r desktop.Rect, with color.Alpha) {
		r.X, r.Y = r.X-area.X+mask.Rect.Min.X, r.Y-area.Y+mask.Rect.Min.Y
		draw.Draw(mask, image.Rect(r.X, r.Y, r.X+r.W, r.Y+r.H), image.NewUniform(with), image.Point{}, draw.Src)
	}
	sees, hidden := make(map[int]bool), []string{}
	for _, l := range layers {
		if l.Frame.Intersect(area).Empty() {
			continue
		}
		name := "a program that is not known"
		if i := slices.IndexFunc(apps, func(a desktop.App) bool { return a.PID == l.PID && l.PID != 0 }); i >= 0 {
			if _, asked := sees[l.PID]; !asked {
				target, err := d.asTarget(apps[i])
				sees[l.PID] = err == nil && !slices.Contains(asking, l.PID) && aai.Sees(ctx, target)
			}
			name = aai.CleanLabel(apps[i].ID, 60) // what it calls itself may be what it shows
		}
		if sees[l.PID] {
			for _, r := range l.Hides {
				paint(r, color.Alpha{})
			}
			continue
		}
		paint(l.Frame, color.Alpha{A: 255})
		if !slices.Contains(hidden, name) {
			hidden = append(hidden, name)
		}
	}
	draw.DrawMask(picture, picture.Bounds(), image.NewUniform(color.Black), image.Point{}, mask, mask.Rect.Min, draw.Over)
	return hidden, nil
}
