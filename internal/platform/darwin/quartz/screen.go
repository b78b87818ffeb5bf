//go:build darwin || axdouble

package quartz

import (
	"context"
	"image"
	"slices"
	"strconv"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/darwin/native"
)

// recordHint is the next step for a program that may not record the screen.
const recordHint = "In System Settings > Privacy & Security > Screen & System Audio Recording, switch on the program that started aai-gateway, then restart it."

// Monitors implements desktop.Screen.
func (d *Display) Monitors(ctx context.Context) ([]desktop.Monitor, error) {
	return within(ctx, func() ([]desktop.Monitor, error) {
		const most = 16
		ids, count := make([]uint32, most), uint32(0)
		if code := d.api.CGGetActiveDisplayList(most, &ids[0], &count); code != 0 {
			return nil, aai.Errorf(aai.AutomationFailed, "the displays cannot be listed: error %d of Quartz", code)
		}
		var monitors []desktop.Monitor
		for _, id := range ids[:min(count, most)] {
			monitor := desktop.Monitor{Name: "display " + strconv.Itoa(int(id)), Frame: frameOf(d.api.CGDisplayBounds(id)), Primary: id == d.api.CGMainDisplayID(), Scale: 1}
			if mode := d.api.CGDisplayCopyDisplayMode(id); mode != 0 {
				if width := d.api.CGDisplayModeGetWidth(mode); width > 0 {
					monitor.Scale = float64(d.api.CGDisplayModeGetPixelWidth(mode)) / float64(width)
				}
				d.api.CFRelease(mode)
			}
			monitors = append(monitors, monitor)
		}
		return monitors, nil
	})
}

// Layers implements desktop.Screen.
func (d *Display) Layers(ctx context.Context) ([]desktop.Layer, error) {
	return within(ctx, func() ([]desktop.Layer, error) {
		var layers []desktop.Layer
		for _, w := range slices.Backward(d.api.Windows(true)) {
			layers = append(layers, desktop.Layer{PID: w.PID, Frame: frameOf(w.Frame), Unmanaged: w.Layer != 0})
		}
		return layers, nil
	})
}

// The options of CGWindowListCreateImage.
const (
	onScreenOnly, includingWindow = 1, 8
	withoutFrame, onePixelAPoint  = 1, 16
)

// Capture implements desktop.Screen.
func (d *Display) Capture(ctx context.Context, area desktop.Rect) (*image.RGBA, error) {
	return within(ctx, func() (*image.RGBA, error) {
		r := native.Rect{
			Origin: native.Point{X: float64(area.X), Y: float64(area.Y)}, Size: native.Size{W: float64(area.W), H: float64(area.H)},
		}
		return d.picture(r, onScreenOnly, 0)
	})
}

// CaptureWindow implements desktop.Screen.
func (d *Display) CaptureWindow(ctx context.Context, id desktop.WindowID) (*image.RGBA, error) {
	if id > 1<<32-1 {
		return nil, &aai.Error{Code: aai.StaleRef, Message: "the window no longer exists", Delivery: aai.NotDelivered}
	}
	return within(ctx, func() (*image.RGBA, error) {
		for _, w := range d.api.Windows(true) {
			if desktop.WindowID(w.ID) == id {
				return d.picture(w.Frame, includingWindow, uint32(id))
			}
		}
		return nil, &aai.Error{Code: aai.AutomationNotSupported, Message: "the window is not on the screen: it is closed, minimized or on another space", Delivery: aai.NotDelivered}
	})
}

// picture takes a picture by the old function of Quartz, which systems after macOS 14 may lack.
func (d *Display) picture(area native.Rect, options, window uint32) (*image.RGBA, error) {
	if d.api.CGWindowListCreateImage == nil {
		return nil, &aai.Error{Code: aai.AutomationNotSupported, Message: "this version of macOS has no function for pictures of the screen that the gateway knows", Delivery: aai.NotDelivered}
	}
	if d.api.CGPreflightScreenCaptureAccess != nil && !d.api.CGPreflightScreenCaptureAccess() {
		return nil, &aai.Error{Code: aai.PermissionDenied, Message: "macOS does not let this program record the screen", Hint: recordHint, Delivery: aai.NotDelivered}
	}
	failed := aai.Errorf(aai.AutomationFailed, "the window system made no picture")
	pool := native.Pool{API: d.api}
	defer pool.Drain()
	source := pool.Own(d.api.CGWindowListCreateImage(area, options, window, withoutFrame|onePixelAPoint))
	if source == 0 {
		return nil, failed
	}
	const longest = 1 << 15
	width, height := d.api.CGImageGetWidth(source), d.api.CGImageGetHeight(source)
	if width == 0 || height == 0 || width > longest || height > longest {
		return nil, failed
	}
	picture := image.NewRGBA(image.Rect(0, 0, int(width), int(height)))
	const bits, alphaLast = 8, 1 // kCGImageAlphaPremultipliedLast
	space := pool.Own(d.api.CGColorSpaceCreateDeviceRGB())
	context := d.api.CGBitmapContextCreate(&picture.Pix[0], width, height, bits, uintptr(picture.Stride), space, alphaLast)
	if context == 0 {
		return nil, failed
	}
	d.api.CGContextDrawImage(context, native.Rect{Size: native.Size{W: float64(width), H: float64(height)}}, source)
	d.api.CFRelease(context) // before the memory can go
	for i := 3; i < len(picture.Pix); i += 4 {
		picture.Pix[i] = 0xFF // round corners let nothing show through
	}
	return picture, nil
}
