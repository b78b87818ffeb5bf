package wayland

import (
	"context"
	"errors"
	"image"
	"image/draw"
	"image/png"
	"net/url"
	"os"
	"time"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// shotInterface is the portal's interface for pictures of the screen.
const shotInterface = "org.freedesktop.portal.Screenshot"

// hasShots reports whether the desktop portal takes pictures.
func (d *Display) hasShots(ctx context.Context) bool { return d.portalVersion(ctx, shotInterface) > 0 }

// captureByPortal takes a picture of a part of the screen by the desktop portal, in logical pixels. The desktop asks the
// person the first time. The gateway gives no application ID: GNOME refuses a program with one at once.
func (d *Display) captureByPortal(ctx context.Context, c *conn, area desktop.Rect) (*image.RGBA, error) {
	all, err := c.outputs(ctx)
	if err != nil {
		return nil, err
	}
	var screen desktop.Rect
	for _, o := range all {
		screen = union(screen, o.Frame)
	}
	picture, err := d.shot(ctx)
	if err != nil {
		return nil, err
	}
	whole := image.NewRGBA(image.Rect(0, 0, picture.Bounds().Dx(), picture.Bounds().Dy()))
	draw.Draw(whole, whole.Bounds(), picture, picture.Bounds().Min, draw.Src)
	whole = scaled(whole, screen.W, screen.H)
	part := image.NewRGBA(image.Rect(0, 0, area.W, area.H))
	draw.Draw(part, part.Bounds(), image.Black, image.Point{}, draw.Src)
	draw.Draw(part, part.Bounds(), whole, image.Pt(area.X-screen.X, area.Y-screen.Y), draw.Src)
	return part, nil
}

// shot makes the portal take a picture of the whole screen, and deletes the file that it leaves.
func (d *Display) shot(ctx context.Context) (image.Image, error) {
	r, err := dialRemote(ctx, d.config.Getenv)
	if err != nil {
		return nil, err
	}
	defer r.close()
	unique, _, err := owner(ctx, r.bus, portalName)
	if err != nil || unique == "" {
		return nil, errors.Join(errors.New("the desktop portal is gone"), err)
	}
	p := &portalClient{remote: r, iface: shotInterface, owner: unique, responses: make(chan *wire.Message, 16)}
	r.clip.mu.Lock()
	r.clip.others = p.onSignal
	r.clip.mu.Unlock()
	if _, err := r.bus.CallBus(ctx, "AddMatch", "type='signal',sender='"+unique+"',interface='org.freedesktop.portal.Request'"); err != nil {
		return nil, err
	}
	asked := time.Now()
	results, err := p.request(ctx, "Screenshot", "sa{sv}", "", []option{{"interactive", false}})
	if err != nil {
		return nil, err
	}
	text, _ := results["uri"].(string)
	at, err := url.Parse(text)
	if err != nil || at.Scheme != "file" || at.Host != "" {
		return nil, errNoPicture
	}
	return readShot(at.Path, asked)
}

// readShot decodes a picture that the portal wrote since a time, and deletes it. Any other file stays.
func readShot(path string, since time.Time) (image.Image, error) {
	const coarse = time.Second // times of files are rounded
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.ModTime().Before(since.Add(-coarse)) {
		return nil, errors.Join(errNoPicture, err)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	size, err := png.DecodeConfig(file)
	if err != nil || size.Height <= 0 || size.Width > maxPixels/size.Height {
		return nil, errors.Join(errNoPicture, err)
	}
	if _, err := file.Seek(0, 0); err != nil {
		return nil, err
	}
	picture, err := png.Decode(file)
	if err != nil {
		return nil, err
	}
	return picture, os.Remove(path)
}
