package takeover

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/platform/linux/private"
)

// pictureInterval is the time between two looks at a screen.
const pictureInterval = time.Second / 5

// Watch calls show with the picture of the session's screen, as PNG, and then with each changed one, at most five a
// second. It ends with ctx, with an error of show, or when the session has ended; the last picture then is dark.
func Watch(ctx context.Context, id string, show func(png []byte) error) error {
	s, err := private.RunningSession(id)
	if err != nil {
		return refuse(aai.AppNotFound, "no isolated session %s runs", aai.CleanLabel(id, 30))
	}
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	send := func(picture *image.RGBA) error {
		var b bytes.Buffer
		if err := encoder.Encode(&b, picture); err != nil {
			return err
		}
		return show(b.Bytes())
	}
	var shown *image.RGBA
	take, end := pictures(s)
	defer end() //nolint:errcheck // it took pictures only
	for err == nil {
		s.KeepTaken()
		picture, unread := take(ctx)
		switch {
		case !s.IsRunning():
			if shown == nil {
				return nil
			}
			darken(shown)
			return send(shown)
		case unread == nil && (shown == nil || !bytes.Equal(picture.Pix, shown.Pix)):
			shown, err = picture, send(picture)
		}
		if err == nil {
			err = aai.Sleep(ctx, pictureInterval)
		}
	}
	return err
}

// darken shows that a picture is out of date.
func darken(picture *image.RGBA) {
	for i := range picture.Pix {
		if i%4 != 3 {
			picture.Pix[i] /= 3
		}
	}
}
