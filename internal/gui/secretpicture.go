package gui

import (
	"context"
	"image"
	"image/color"
	"image/draw"
	"slices"
	"time"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gui/conversation"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
)

// passwordReadTimeout limits the reading of a program without filled secrets before its picture is shown.
const passwordReadTimeout = 500 * time.Millisecond

// withoutSecrets takes a picture of the area of the screen, and paints over what shows a secret of the person in the
// windows of the programs.
func (d *engine) withoutSecrets(ctx context.Context, apps []desktop.App, area desktop.Rect, take func() (*image.RGBA, error)) (*image.RGBA, error) {
	return paintedOver(area, func() ([]desktop.Rect, error) { return d.secretFrames(ctx, apps) }, take)
}

// paintedOver takes a picture of the area of the screen, and paints over the frames. It reads them before and after, since
// an element may move meanwhile.
func paintedOver(area desktop.Rect, frames func() ([]desktop.Rect, error), take func() (*image.RGBA, error)) (*image.RGBA, error) {
	before, err := frames()
	if err != nil {
		return nil, err
	}
	picture, err := take()
	if err != nil {
		return nil, err
	}
	after, err := frames()
	if err != nil {
		return nil, err
	}
	origin := picture.Bounds().Min.Sub(image.Pt(area.X, area.Y))
	for _, f := range slices.Concat(before, after) {
		draw.Draw(picture, image.Rect(f.X, f.Y, f.X+f.W, f.Y+f.H).Add(origin), image.NewUniform(color.Black), image.Point{}, draw.Src)
	}
	return picture, nil
}

// secretFrames returns the places in the windows of the programs that may show a secret of the person: fields for
// passwords, which a page can show in the clear, fields into which the gateway filled a secret, and the innermost elements
// with the text of one. Of several programs without filled secrets it reads only browsers, to save time.
func (d *engine) secretFrames(ctx context.Context, apps []desktop.App) (frames []desktop.Rect, err error) {
	some := gateway.HasSecrets(ctx)
	for _, app := range apps {
		needed := some || d.filled.Has(app)
		if app.HiddenReason != "" || !needed && len(apps) > 1 && !app.IsBrowser {
			continue
		}
		reading, cancel := ctx, context.CancelFunc(func() {})
		if !needed {
			reading, cancel = context.WithTimeout(ctx, passwordReadTimeout)
		}
		shot, err := d.OpenBackend().Tree.Snapshot(reading, app)
		cancel()
		switch {
		case err != nil && needed:
			return nil, guierr.Unreadable(err)
		case err != nil: // such as a program that hangs: its last picture is shown
			frames = append(frames, d.filled.LastFrames(app)...)
			continue
		}
		for i := range shot.Elements {
			if e := &shot.Elements[i]; e.States.Has(desktop.Protected) && !e.Frame.Empty() && shot.IsVisible(i) {
				frames = append(frames, e.Frame)
			}
		}
		frames = append(frames, d.filled.Frames(shot)...)
		if !some {
			continue
		}
		shows := make([]bool, len(shot.Elements))
		for i := len(shot.Elements) - 1; i >= 0; i-- {
			e := &shot.Elements[i]
			if e.Frame.Empty() || !conversation.HidesSecret(e) {
				continue
			}
			shows[i] = true
			if !slices.Contains(shows[i+1:e.End], true) {
				frames = append(frames, e.Frame)
			}
		}
	}
	return frames, nil
}
