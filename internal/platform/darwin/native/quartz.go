//go:build darwin || axdouble

package native

// Quartz are the functions of CoreGraphics for windows, displays and pictures.
type Quartz struct {
	CGWindowListCopyWindowInfo     func(options, relative uint32) Ref
	CGWindowListCreateImage        func(area Rect, options, window, imageOptions uint32) Ref `optional:"true"`
	CGPreflightScreenCaptureAccess func() bool                                               `optional:"true"`
	CGGetActiveDisplayList         func(max uint32, displays *uint32, count *uint32) int32
	CGMainDisplayID                func() uint32
	CGDisplayBounds                func(display uint32) Rect
	CGDisplayCopyDisplayMode       func(display uint32) Ref
	CGDisplayModeGetPixelWidth     func(mode Ref) uintptr
	CGDisplayModeGetWidth          func(mode Ref) uintptr
	CGImageGetWidth                func(image Ref) uintptr
	CGImageGetHeight               func(image Ref) uintptr
	CGColorSpaceCreateDeviceRGB    func() Ref
	CGBitmapContextCreate          func(data *byte, width, height, bits, row uintptr, space Ref, info uint32) Ref
	CGContextDrawImage             func(context Ref, area Rect, image Ref)
}
